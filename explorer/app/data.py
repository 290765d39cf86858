"""A city in memory: loaded once per process and shared by all visitors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import panel as pn

from explorer import cities
from explorer.errors import InputError
from explorer.matrix import FrequencyMatrix
from explorer.views.heat import PointHeat
from explorer.views.markup import safe_text
from explorer.views.pictures import Truth, true_map
from explorer.views.scale import Kind, top_value
from explorer.views.viewport import Viewport

if TYPE_CHECKING:
    from explorer.grid import Grid
    from explorer.points import Points


#: So many true maps are kept for a city, about 2 MB each.
MOST_TRUTHS = 12
_LOADED: set[str] = set()


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
        The points themselves for the true map; None when only counts exist.
    notes : tuple of str
        Sentences about how the points were read.
    city : (key, side)
        Where it stands in the catalogue.
    """

    title: str
    matrix: FrequencyMatrix
    heat: PointHeat | None = None
    notes: tuple[str, ...] = ()
    city: tuple[str, int] = ("yours", 0)
    _tops: dict[str, float] = field(default_factory=dict)
    _truths: dict[tuple[Viewport, bool], Truth] = field(default_factory=dict)

    @property
    def grid(self) -> Grid:
        """The public grid."""
        return self.matrix.grid

    def truth(self, view: Viewport, points: bool) -> Truth:
        """The true map of ``view``; visitors with windows of one size share the last few."""
        key = view, points and self.heat is not None
        found = self._truths.get(key)
        if found is None:
            heat = self.heat if key[1] else None
            found = true_map(self.matrix.counts, self.grid, view, heat)
            for old in list(self._truths)[: max(0, len(self._truths) - MOST_TRUTHS + 1)]:
                self._truths.pop(old, None)
            self._truths[key] = found
        return found

    def top(self, kind: Kind) -> float:
        """Top of a colour scale read from the exact counts, computed once."""
        if kind not in self._tops:
            self._tops[kind] = top_value(self.matrix.counts, kind)
        return self._tops[kind]


def load_city(key: str, side: int, progress: Callable[[str], None] | None = None) -> CityData:
    """The city ``key`` of the catalogue on ``side`` x ``side`` cells, from memory if it is there.

    Raises
    ------
    InputError
        For a city that is not in the catalogue or whose file cannot be had.
    """
    known = cities.cities()
    if key not in known:
        raise InputError(f"There is no city {key[:40]!r}: choose one of {', '.join(known)}.")

    def load() -> CityData:
        if progress is not None:
            progress(f"Reading the points of {known[key].title} …")
        # A matrix without points has the cells it has.
        points, matrix = known[key].load(None if known[key].is_matrix else side)
        if points is None:
            data = own_city(matrix, known[key].title)
        else:
            heat = pn.state.as_cached(
                f"explorer-heat-{key}", lambda: PointHeat(points, matrix.grid)
            )
            data = prepared(known[key].title, points, matrix, heat)
        data.city = (key, side)
        _LOADED.add(_name(key, side))
        return data

    data: CityData = pn.state.as_cached(_name(key, side), load)
    return data


def is_loaded(key: str, side: int) -> bool:
    """Whether `load_city` would answer at once."""
    return _name(key, side) in _LOADED


def prepared(
    title: str, points: Points, matrix: FrequencyMatrix, heat: PointHeat | None = None
) -> CityData:
    """A city whose tables are built and whose strings are safe to show."""
    matrix.prepare()
    heat = PointHeat(points, matrix.grid) if heat is None else heat
    data = CityData(
        safe_text(title), matrix, heat, tuple(safe_text(note, 300) for note in points.notes)
    )
    for kind in ("log", "linear"):
        data.top(kind)
    return data


def own_city(matrix: FrequencyMatrix, title: str = "your own counts") -> CityData:
    """Counts that someone brought along, without points."""
    matrix.prepare()
    return CityData(safe_text(title), matrix)


def same_extent(a: Grid, b: Grid) -> bool:
    """Whether two grids cover the same ground; their cells may differ."""
    return a.bounds == b.bounds and a.crs == b.crs


def _name(key: str, side: int) -> str:
    return f"explorer-city-{key}-{side}"
