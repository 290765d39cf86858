"""Which CRS coordinates are in: what a person says, what their file says, or degrees."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyproj
import shapely
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid.projection import LONLAT, as_crs, transform

Floats = NDArray[np.float64]

# Coordinates that are looked at; further from where a CRS is used than this, in degrees, they are
# in another one: national systems are used a zone or two beyond what their register says.
_SAMPLE, _BEYOND = 10_000, 15.0
# Polygons may go on over the antimeridian, and corners on a pole are rounded.
_MOST_LON, _ROUNDED = 540.0, 1e-6


class AssumedCRS(pyproj.CRS):
    """A CRS that a file does not name: its format, or the names of its columns, promise degrees."""


#: WGS 84 of GeoJSON and GeoParquet without a CRS, and of columns called longitude and latitude.
ASSUMED = AssumedCRS(4326)


class UnknownCRS(InputError):
    """Coordinates of which nothing says the CRS, or whose CRS they cannot be in."""


def which_crs(
    source_crs: pyproj.CRS | None,
    user_crs: Any,
    places: Callable[[], tuple[Floats, Floats]],
    instead: str = "",
    least: float = 0.5,
    option: str = "crs",
) -> tuple[pyproj.CRS, list[str]]:
    """The CRS of coordinates, and sentences on how it was chosen.

    What a person gives wins, unless the source has another one that fits its coordinates.

    Parameters
    ----------
    source_crs : what the source says; `ASSUMED` where it only implies it, None where it says none
    user_crs : int, str, CRS or None
        What a person says.
    places : returns x and y (n,) of the coordinates, or of the first of them; asked only where
        the CRS that is given is to be held against them
    instead : how else to go on, such as "or name the columns in metres", for a refusal
    least : part of the coordinates that has to fit the source's own CRS
    option : what a person says the CRS with, for a refusal

    Raises
    ------
    InputError
        For a CRS without longitude or easting, and for one that the coordinates contradict.

    Examples
    --------
    >>> def places():
    ...     return np.array([386233.5, 391513.7]), np.array([5813009.7, 5823844.4])
    >>> crs, notes = which_crs(ASSUMED, 25833, places)
    >>> crs.to_epsg(), notes
    (25833, ['The coordinates were taken as ETRS89 / UTM zone 33N: they cannot be degrees.'])
    """
    crs = source_crs if user_crs is None else as_crs(user_crs)
    if crs is not None and not (crs.is_geographic or crs.is_projected):
        raise InputError(f"{crs.name} has no longitude or easting; give another CRS.")
    if crs is None:
        return LONLAT, ["The coordinates were taken as degrees of longitude and latitude."]
    stated = source_crs is not None and not isinstance(source_crs, AssumedCRS)
    if user_crs is None or crs == source_crs:
        # Close to the origin of a registered CRS, such as that of a country, is no such place.
        if stated and least < 1.0 and crs.is_projected and crs.area_of_use is not None:
            x, y = places()
            if not fits(crs, x, y, least) and fits(LONLAT, x, y, least, otherwise=False):
                raise InputError(
                    f"The CRS of this file is said to be {crs.name}, and its coordinates are "
                    f"degrees of longitude and latitude: save it again with the right CRS, or give "
                    f"{option}='EPSG:4326'."
                )
        return crs, []
    sentence = f"The coordinates were taken as {crs.name}"
    # People live around the origin of a CRS of their own, and of no registered one.
    if not stated and (crs.is_geographic or (source_crs is None and crs.area_of_use is None)):
        return crs, [f"{sentence}."]
    if not fits(source_crs or LONLAT, *places(), least, otherwise=source_crs is not None):
        why = (
            "degrees"
            if source_crs is None or source_crs.is_geographic
            else f"{source_crs.name}, as the file says"
        )
        return crs, [f"{sentence}." if source_crs is None else f"{sentence}: they cannot be {why}."]
    if source_crs is None or not stated:
        raise InputError(
            f"These coordinates are degrees of longitude and latitude, not {crs.name}; leave out "
            f"{option}=...{instead}."
        )
    raise InputError(
        f"The file says that its CRS is {source_crs.name}, and its coordinates fit that, so that "
        f"{crs.name} cannot be right as well; leave out {option}=..., or, if the file is wrong, "
        "save it again with the CRS that it is in."
    )


def crs_of_polygons(
    source_crs: pyproj.CRS | None,
    user_crs: Any,
    geometry: NDArray[Any],
    what: str = "polygons",
    option: str = "crs",
) -> pyproj.CRS:
    """The CRS of polygons (n,), as `which_crs` has it, with every corner where it can be.

    Raises
    ------
    UnknownCRS
        For polygons of which nothing says the CRS, and for metres that are called degrees.
    """
    if source_crs is None and user_crs is None:
        raise UnknownCRS(
            f"The {what} have no CRS: save them with one, or give it with {option}=..., such as "
            f"{option}='EPSG:4326'."
        )
    x, y = shapely.get_coordinates(geometry).T
    crs, _ = which_crs(source_crs, user_crs, lambda: (x, y), least=1.0, option=option)
    refuse_metres(crs, x, y, what, option)
    return crs


def refuse_metres(
    crs: pyproj.CRS, x: Floats, y: Floats, what: str = "polygons", option: str = "crs"
) -> None:
    """Raise `UnknownCRS` for corners (n,) of polygons that cannot be degrees, which they should."""
    x, y = np.abs(x[np.isfinite(x + y)]), np.abs(y[np.isfinite(x + y)])
    # A few corners beyond a pole are a slip in one polygon, which is said of that polygon.
    if not in_degrees(crs) or not len(x):
        return
    if max(x.max(), y.max()) <= _MOST_LON and np.mean(y > 90.0 + _ROUNDED) <= 0.5:
        return
    if y.max() <= _MOST_LON and x.max() <= 90.0 + _ROUNDED:
        raise InputError(f"Latitudes seem to stand first in the {what}; save longitudes first.")
    raise UnknownCRS(
        f"The {what} cannot be degrees of longitude and latitude, which they are called: save them "
        f"with the CRS that they are in, or give it with {option}=..., such as "
        f"{option}='EPSG:27700'."
    )


def fits(crs: pyproj.CRS, x: Floats, y: Floats, least: float = 0.5, otherwise: bool = True) -> bool:
    """Whether more than a part of some coordinates, or all, can be in a CRS.

    What is missing or 0 0 says nothing; where no other is there, the answer is ``otherwise``.
    """
    at = np.isfinite(x) & np.isfinite(y) & ((x != 0.0) | (y != 0.0))
    step = max(1, np.count_nonzero(at) // _SAMPLE) if least < 1.0 else 1
    x, y = x[at][::step], y[at][::step]
    if not len(x):
        return otherwise

    def enough(fine: NDArray[np.bool_]) -> bool:
        return bool(fine.all() if least == 1.0 else fine.mean() > least)

    # In either order: readers of files report latitudes that come first.
    degrees = np.minimum(np.abs(x), np.abs(y)) <= 90.0 + _ROUNDED
    degrees &= np.maximum(np.abs(x), np.abs(y)) <= (_MOST_LON if least == 1.0 else 360.0)
    if crs.is_geographic:
        return not in_degrees(crs) or enough(degrees)
    lon, lat = transform(crs, LONLAT, x, y)
    there = ~degrees & np.isfinite(lon) & np.isfinite(lat)
    area = crs.area_of_use
    if area is not None and area.west <= area.east:
        there &= (lon >= area.west - _BEYOND) & (lon <= area.east + _BEYOND)
        there &= (lat >= area.south - _BEYOND) & (lat <= area.north + _BEYOND)
    return enough(there)


def in_degrees(crs: pyproj.CRS) -> bool:
    """Whether coordinates are degrees of longitude and latitude."""
    return bool(crs.is_geographic and crs.axis_info[0].unit_name == "degree")
