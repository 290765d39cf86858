"""Which CRS coordinates are in: what a person says, what their file says, or degrees."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyproj
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid.projection import LONLAT, as_crs, transform

Floats = NDArray[np.float64]

# Coordinates that are looked at; further from where a CRS is used than this, in degrees, they are
# in another one: national systems are used a zone or two beyond what their register says.
_SAMPLE, _BEYOND = 10_000, 15.0


class AssumedCRS(pyproj.CRS):
    """A CRS that a file does not name: its format, or the names of its columns, promise degrees."""


#: WGS 84 of GeoJSON and GeoParquet without a CRS, and of columns called longitude and latitude.
ASSUMED = AssumedCRS(4326)


class UnknownCRS(InputError):
    """Coordinates of which nothing says the CRS, or whose CRS they cannot be in."""


def which_crs(
    own: pyproj.CRS | None,
    given: Any,
    places: Callable[[], tuple[Floats, Floats]],
    instead: str = "",
) -> tuple[pyproj.CRS, list[str]]:
    """The CRS of coordinates, and sentences on how it was chosen.

    What a person gives wins, unless the source has another one that fits its coordinates.

    Parameters
    ----------
    own : what the source says; `ASSUMED` where it only implies it, None where it says nothing
    given : int, str, CRS or None
        What a person says.
    places : returns x and y (n,) of the coordinates, or of the first of them; asked only where
        both say something else
    instead : how else to go on, such as "or name the columns in metres", for a refusal

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
    known = own if given is None else as_crs(given)
    if known is not None and not (known.is_geographic or known.is_projected):
        raise InputError(f"{known.name} has no longitude or easting; give another CRS.")
    if known is None:
        return LONLAT, ["The coordinates were taken as degrees of longitude and latitude."]
    if given is None or own is None or known == own:
        return known, []
    if isinstance(own, AssumedCRS) and known.is_geographic:
        return known, [f"The coordinates were taken as {known.name}."]
    x, y = places()
    if not fits(own, x, y):
        why = "degrees" if own.is_geographic else f"{own.name}, as the file says"
        return known, [f"The coordinates were taken as {known.name}: they cannot be {why}."]
    if isinstance(own, AssumedCRS):
        raise InputError(
            f"These coordinates are degrees of longitude and latitude, not {known.name}; leave out "
            f"crs=...{instead}."
        )
    raise InputError(
        f"The file says that its CRS is {own.name}, and its coordinates fit that, so that "
        f"{known.name} cannot be right as well; leave out crs=..., or, if the file is wrong, "
        f"save it again without a CRS."
    )


def fits(crs: pyproj.CRS, x: Floats, y: Floats) -> bool:
    """Whether most of some coordinates can be in a CRS; what is missing or 0 0 says nothing."""
    at = np.isfinite(x) & np.isfinite(y) & ((x != 0.0) | (y != 0.0))
    x, y = x[at][:_SAMPLE], y[at][:_SAMPLE]
    if not len(x):
        return True
    # In either order: a latitude that stands first is said by whoever reads.
    degrees = (np.minimum(np.abs(x), np.abs(y)) <= 90.0) & (np.maximum(np.abs(x), np.abs(y)) <= 360)
    if crs.is_geographic:
        return crs.axis_info[0].unit_name != "degree" or bool(degrees.mean() > 0.5)
    lon, lat = transform(crs, LONLAT, x, y)
    there = ~degrees & np.isfinite(lon) & np.isfinite(lat)
    area = crs.area_of_use
    if area is not None and area.west <= area.east:
        there &= (lon >= area.west - _BEYOND) & (lon <= area.east + _BEYOND)
        there &= (lat >= area.south - _BEYOND) & (lat <= area.north + _BEYOND)
    return bool(there.mean() > 0.5)


def in_degrees(crs: pyproj.CRS) -> bool:
    """Whether coordinates are degrees of longitude and latitude."""
    return bool(crs.is_geographic and crs.axis_info[0].unit_name == "degree")
