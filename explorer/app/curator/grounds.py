"""The base maps of what a page shows, on its grids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from explorer.cities.base_maps import base_map
from explorer.errors import InputError
from explorer.grid.base_map import BaseMap
from explorer.grid.grid import Grid
from explorer.views.markup import safe_text


def base_maps_on(
    key: str, grids: Sequence[Grid]
) -> tuple[tuple[BaseMap | None, ...], tuple[str, ...]]:
    """The base map of a key of the catalogue on each grid, and sentences about a bad file.

    A page without a base map is a page all the same.
    """
    none = (None,) * len(grids)
    try:
        base = base_map(key)
        if base is None:
            return none, ()
        by_ground: dict[Any, BaseMap] = {}
        for grid in grids:
            ground = grid.bounds, grid.crs
            if ground not in by_ground:
                by_ground[ground] = base.on(grid)
        return tuple(by_ground[grid.bounds, grid.crs] for grid in grids), ()
    except InputError as error:
        return none, (safe_text(f"No coast, roads and names: {error}", 300),)
