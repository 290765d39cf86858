"""A city in memory: loaded once per process and shared by all visitors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from explorer.app.work.cache import Shelf
from explorer.cities import catalogue as cities
from explorer.cities.base_maps import base_map
from explorer.errors import InputError
from explorer.grid.base_map import BaseMap
from explorer.grid.grid import Grid
from explorer.points.counting import Placed
from explorer.points.matrix import FrequencyMatrix
from explorer.points.truth import of_all_records
from explorer.views.heat import PointHeat
from explorer.views.markup import safe_text
from explorer.views.scale import Kind, top_value
from explorer.views.truth import Truth, true_map
from explorer.views.viewport import Viewport

if TYPE_CHECKING:
    from explorer.app.curator.own import OwnPoints
    from explorer.grid.base_map import BaseMap
    from explorer.grid.grid import Grid
    from explorer.points.points import Points


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


#: So many true maps are stored for a city, about 2 MB each.
MOST_TRUTHS = 12


@dataclass(eq=False)
class CityData:
    """What the page needs of a city. Holds exact counts: curator mode only.

    Parameters
    ----------
    title : str
        Safe to show (see `safe_text`).
    matrix : FrequencyMatrix
        Prepared: its tables are built.
    heat : PointHeat or None
        All records on the map, for the true map; None when only counts exist.
    notes : tuple of str
        Sentences about how the points were read.
    city : (key, side, bound)
        Where it is in the catalogue; ``bound`` as for `load_city`.
    has_users : bool
        Whether records know their user, so that a record can be a person.
    base_maps : (1,) what its place looks like on its grid; None where no one has drawn it
    """

    title: str
    matrix: FrequencyMatrix
    heat: PointHeat | None = None
    notes: tuple[str, ...] = ()
    city: tuple[str, int, int] = ("yours", 0, 0)
    has_users: bool = False
    base_maps: tuple[BaseMap | None, ...] = (None,)
    _tops: dict[str, float] = field(default_factory=dict)
    _truths: dict[tuple[Viewport, bool], Truth] = field(default_factory=dict)

    @property
    def grid(self) -> Grid:
        return self.matrix.grid

    @property
    def every(self) -> FrequencyMatrix:
        """Exact counts of all records on the map, which a contribution bound may not all count."""
        result: FrequencyMatrix = of_all_records(self.matrix)
        return result

    def truth(self, view: Viewport, points: bool) -> Truth:
        """The true map of ``view``; visitors with windows of one size share the last few."""
        key = view, points and self.heat is not None
        result = self._truths.get(key)
        if result is None:
            heat = self.heat if key[1] else None
            result = true_map(self.every.counts, self.grid, view, heat)
            for old in list(self._truths)[: max(0, len(self._truths) - MOST_TRUTHS + 1)]:
                self._truths.pop(old, None)
            self._truths[key] = result
        return result

    def top(self, kind: Kind) -> float:
        """Top of a colour scale read from the exact counts, computed once."""
        if kind not in self._tops:
            self._tops[kind] = top_value(self.every.counts, kind)
        return self._tops[kind]


#: So many cities are stored, about 0.1 to 0.3 GB each, with the points behind so many of them.
_CITIES: Shelf[CityData] = Shelf(8)
_HEATS: Shelf[PointHeat] = Shelf(4)


def load_city(key: str, side: int, bound: int = 0) -> CityData:
    """The city ``key`` of the catalogue on ``side`` x ``side`` cells, from memory if it is there.

    With a ``bound`` above 0 at most so many points of each user count, and a record is a user; a
    city without users has none.

    Raises
    ------
    InputError
        For a city that is not in the catalogue or whose file cannot be had.
    """
    city = cities.find(key)

    def load() -> CityData:
        # A matrix without points has the cells it has.
        shape = None if city.is_matrix else side
        points, matrix, placed = city.load_placed(shape, bound or None)
        if points is None or placed is None:
            data = own_city(matrix, city.title)
        else:
            # Of all records, so the same under every bound.
            heat = _HEATS.get(key, partial(heat_of, placed, matrix.grid))
            data = prepared(city.title, points, matrix, heat)
        data.city = (key, side, bound)
        data.base_maps, notes = base_maps_on(key, (data.grid,))
        data.notes += notes
        return data

    bound = bound if city.has_users else 0
    return _CITIES.get((key, side, bound), load)


def is_loaded(key: str, side: int, bound: int = 0) -> bool:
    """Whether `load_city` would answer at once."""
    return (key, side, bound) in _CITIES


def prepared(title: str, points: Points, matrix: FrequencyMatrix, heat: PointHeat) -> CityData:
    """A city whose tables are built and whose strings are safe to show."""
    matrix.prepare()
    notes = tuple(safe_text(note, 300) for note in points.notes)
    data = CityData(safe_text(title), matrix, heat, notes, has_users=points.user is not None)
    for kind in ("log", "linear"):
        data.top(kind)
    return data


def heat_of(placed: Placed, grid: Grid) -> PointHeat:
    """Records that were placed on ``grid``, as a heatmap."""
    return PointHeat(placed.column, placed.row, placed.records, grid)


def own_city(matrix: FrequencyMatrix, title: str = "your own counts") -> CityData:
    """Counts that someone brought along, without points."""
    matrix.prepare()
    return CityData(safe_text(title), matrix)


def counted(own_data: OwnPoints[Points], place: tuple[str, int, int]) -> CityData:
    """Points of one's own on a grid of the extent that was declared for them."""
    key, side, bound = place
    bound = bound if own_data.points.user is not None else 0
    grid = own_data.grid(side)
    matrix, placed = own_data.points.place_on(grid, bound or None)
    data = prepared(own_data.title, own_data.points, matrix, heat_of(placed, matrix.grid))
    few = own_data.points.few_inside(matrix)
    data.notes += () if few is None else (few,)
    data.city = (key, side, bound)
    return data


def same_extent(a: Grid, b: Grid) -> bool:
    """Whether two grids cover the same ground; their cells may differ."""
    return a.bounds == b.bounds and a.crs == b.crs
