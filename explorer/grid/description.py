"""A public extent as written in a description of a city, as a grid."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from explorer.errors import InputError
from explorer.grid.extent import as_bounds, as_shape
from explorer.grid.grid import Grid

Shape = int | tuple[int, int]

# The three ways of declaring an extent; the first that is complete counts.
WAYS = (("around", "size_km"), ("bounds", "crs"), ("boundary",))


def declared_grid(extent: Mapping[str, Any], cells: Shape, name: str = "") -> Grid:
    """Return the grid of a declared extent.

    Parameters
    ----------
    extent : mapping
        "around" = [lon, lat] and "size_km" = number or [width, height]; or "bounds" = [x0, y0,
        x1, y1] in metres of "crs"; or "boundary" = path of a file of polygons.
    cells : int or (rows, columns)
        One number counts the cells of the longer side; the cells are then as square as whole
        numbers allow.

    Raises
    ------
    InputError
        If none of the three is complete, or it is not an extent.
    """
    for way in WAYS:
        if all(entry in extent for entry in way):
            break
    else:
        raise InputError(
            "The public extent is missing; give around and size_km, or bounds and crs, or a "
            "boundary."
        )
    if way[0] == "around":
        lon, lat = _two(extent["around"], "around", "longitude and latitude")
        size = extent["size_km"]
        width, height = (size, size) if _is_number(size) else _two(size, "size_km", "two lengths")
        coarse = Grid.around(lon, lat, width * 1000, height * 1000, shape=1, name=name)
    elif way[0] == "bounds":
        bounds = as_bounds(extent["bounds"])
        coarse = Grid.from_bounds(*bounds, crs=extent["crs"], shape=1, name=name)
    else:
        coarse = Grid.from_boundary(extent["boundary"], shape=1, crs=extent.get("crs"), name=name)
    return Grid(coarse.bounds, _fitting(cells, coarse), coarse.crs, name)


def _fitting(cells: Shape, grid: Grid) -> tuple[int, int]:
    if not isinstance(cells, int):
        return as_shape(cells)
    as_shape(min(cells, 1))  # refuses 0 and less
    longer = max(grid.width, grid.height)
    rows, cols = (max(round(cells * side / longer), 1) for side in (grid.height, grid.width))
    return as_shape((rows, cols))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _two(value: Any, entry: str, what: str) -> tuple[float, float]:
    if not (isinstance(value, list | tuple) and len(value) == 2 and all(map(_is_number, value))):
        raise InputError(f"The entry {entry!r} is {value!r}; give {what} as two numbers.")
    return float(value[0]), float(value[1])
