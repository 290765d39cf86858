"""How large areas are, and where two of them claim the same ground."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyproj
import shapely
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid.areas.tree import Path, spoken
from explorer.grid.plane import on_plane

Floats = NDArray[np.float64]

#: An overlap goes to the first area of the file up to so many km2, or up to this part of the
#: smaller area; above the last part it is refused however small it is.
TOLERATED_KM2, TOLERATED_PART, MOST_PART = 1.0, 0.001, 0.1
# Overlaps below a square metre are rounding of corners, and not spoken of.
_SPOKEN_KM2 = 1e-6


def measured(
    geometry: NDArray[Any], flat: NDArray[Any], crs: pyproj.CRS, plane: pyproj.CRS
) -> dict[str, NDArray[Any]]:
    """Sizes and overlaps of polygons in km2, on an equal-area plane.

    Parameters
    ----------
    geometry, flat : (m,) the polygons in `crs` and on the plane
    crs, plane

    Returns
    -------
    "sizes" : (m,)
    "pairs" : (k, 2) areas that overlap, the first in file order first
    "shared" : (k,) what they share
    """
    sizes = shapely.area(flat) / 1e6
    tree = shapely.STRtree(geometry)
    first, second = tree.query(geometry, predicate="intersects")
    first, second = first[first < second], second[first < second]
    common = shapely.intersection(geometry[first], geometry[second])
    has = shapely.area(common) > 0
    shared = np.zeros(len(first))
    shared[has] = shapely.area(on_plane(common[has], crs, plane)) / 1e6
    order = np.lexsort([second[has], first[has]])
    pairs = np.stack([first[has], second[has]], axis=1)[order]
    return {"sizes": sizes, "pairs": pairs, "shared": shared[has][order]}


def check_overlaps(
    sizes: Floats, pairs: NDArray[np.int64], shared: Floats, paths: Sequence[Path]
) -> list[str]:
    """Notes on small overlaps.

    Raises
    ------
    InputError
        For two areas that share more than a crooked border, by their names.
    """
    if not len(pairs):
        return []
    smaller = sizes[pairs].min(axis=1)
    fine = (shared <= TOLERATED_KM2) | (shared <= TOLERATED_PART * smaller)
    fine &= (shared <= MOST_PART * smaller) | (shared <= _SPOKEN_KM2)
    if not fine.all():
        worst = np.flatnonzero(~fine)[np.argmax(shared[~fine])]
        one, other = (spoken(paths[number]) for number in pairs[worst])
        more = np.count_nonzero(~fine) - 1
        more_pairs = "1 more pair does" if more == 1 else f"{more:,} more pairs do"
        others = f" (and {more_pairs})" if more else ""
        raise InputError(
            f"The areas {one} and {other} overlap by {shared[worst]:.3g} km2{others}; each place "
            "may lie in one area only, so mend the borders."
        )
    mentioned = shared > _SPOKEN_KM2
    if not mentioned.any():
        return []
    number, largest = int(np.count_nonzero(mentioned)), float(shared.max())
    pairs_overlap = (
        "1 pair of areas overlaps" if number == 1 else f"{number:,} pairs of areas overlap"
    )
    return [f"{pairs_overlap}, by {largest:.2g} km2 at most: that goes to the first in the file."]
