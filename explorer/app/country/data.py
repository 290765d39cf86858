"""A country in memory: read and counted once per process and shared by all visitors."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import shapely
from numpy.typing import NDArray

from explorer.app.curator.own import OwnPoints
from explorer.app.work.cache import Shelf
from explorer.cities.countries import find
from explorer.country.benchmarks import benchmark
from explorer.grid.areas.areas import Areas
from explorer.grid.areas.windows import Window, Windows
from explorer.grid.base_map import MOST_NAMES, BaseMap
from explorer.grid.grid import Grid
from explorer.points.area_counts import AreaCounts
from explorer.points.matrix import FrequencyMatrix
from explorer.points.points import Points
from explorer.points.truth import of_all_records
from explorer.queries.boxes import Box
from explorer.views.choropleth import Shapes
from explorer.views.markup import safe_text

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Place = tuple[str, int, int]

#: Outlines leave out what is shorter than this part of the country's longer side: a pixel or so.
_COARSE = 1 / 1200
#: Sides of the map of a country in those of the country, and the least of its width in its height.
_SEA, _NARROWEST = 1.05, 0.76
#: How many boxes a page begins with, their sides in those of the areas around them, and the part of
#: the country's height that they leave free.
_EXAMPLES, _PART, _LOW = 2, 0.5, 0.3
#: How much finer outlines are where one looks closer.
FINER = (1.0, 0.4, 0.1)


@dataclass(eq=False)
class CountryData:
    """What the page needs of a country. Holds exact counts: curator mode only.

    Parameters
    ----------
    title : safe to show (see `safe_text`)
    matrix : what the mechanism releases
    notes : sentences about how areas and points were read
    city : where it is in the catalogue
    has_users : whether records know their user
    """

    title: str
    matrix: AreaCounts
    notes: tuple[str, ...] = ()
    city: Place = ("yours", 0, 0)
    has_users: bool = False
    _shapes: dict[float, Shapes] = field(default_factory=dict)
    _inside: dict[int, FrequencyMatrix] = field(default_factory=dict)
    _borders: dict[int, Shapes] = field(default_factory=dict)
    _benchmarks: dict[int, AreaCounts] = field(default_factory=dict)

    @property
    def areas(self) -> Areas:
        return self.matrix.areas

    @property
    def windows(self) -> Windows:
        """The public areas on their lattice."""
        return self.matrix.windows

    @property
    def grid(self) -> Grid:
        """The national lattice: what boxes are drawn on."""
        return self.windows.grid

    @cached_property
    def surroundings(self) -> Grid:
        """The country with some sea around it: what its map shows, never too narrow for a title."""
        x0, y0, x1, y1 = self.grid.bounds
        high = (y1 - y0) * _SEA
        wide = max((x1 - x0) * _SEA, high * _NARROWEST)
        x, y = (x0 + x1) / 2, (y0 + y1) / 2
        bounds = (x - wide / 2, y - high / 2, x + wide / 2, y + high / 2)
        return Grid(bounds, (1, 1), self.grid.crs)

    @cached_property
    def base_maps(self) -> tuple[BaseMap, ...]:
        """Names of its areas, coarse and large ones first; the map itself draws their outlines."""
        shapes, level = self.shapes().polygons, self.areas.level
        order = np.lexsort((-self.size_km2, level))
        order = order[(level[order] > 0) & ~shapely.is_empty(shapes[order])][:MOST_NAMES]
        return (
            BaseMap(
                (),
                (),
                [self.names[node] for node in order],
                shapely.get_coordinates(shapely.point_on_surface(shapes[order])),
                ["place"] * len(order),
                self.grid.crs,
            ),
        )

    @cached_property
    def examples(self) -> tuple[Box, ...]:
        """Boxes that a page begins with: in the middle of the areas that hold most others.

        Of public areas alone, so that they tell nothing of the records.
        """
        areas = self.areas
        inside = self.is_lowest.astype(np.int64)
        for node in range(len(inside) - 1, 0, -1):
            inside[areas.parent[node]] += inside[node]
        nodes = self.on_level(max(int(areas.level.max()) - 1, 1))
        shapes = self.shapes().polygons
        nodes = nodes[~shapely.is_empty(shapes[nodes])]
        nodes = nodes[np.lexsort((-self.size_km2[nodes], -inside[nodes]))]
        middle = shapely.get_coordinates(shapely.point_on_surface(shapes[nodes]))
        x0, y0, x1, y1 = shapely.bounds(shapes[nodes]).T
        half = np.stack([x1 - x0, y1 - y0], axis=1) * (_PART / 2)
        boxes = np.concatenate([middle - half, middle + half], axis=1)
        # The map's bar of colours is over its lower end.
        low = boxes[:, 1] < self.grid.bounds[1] + _LOW * self.grid.height
        first = np.argsort(low, kind="stable")[:_EXAMPLES]
        return tuple((x0, y0, x1, y1) for x0, y0, x1, y1 in boxes[first].tolist())

    @property
    def true(self) -> Ints:
        """Exact count of every node, (n,): of all records, whatever a bound leaves out."""
        every: AreaCounts = of_all_records(self.matrix)
        return every.by_node

    @property
    def counted(self) -> Ints | None:
        """Records of every node that a bound keeps, (n,); None where no bound is in force."""
        return None if self.matrix.unclipped is None else self.matrix.by_node

    @cached_property
    def national(self) -> FrequencyMatrix:
        """All records on the lattice, for boxes."""
        return self.matrix.national().prepare()

    @cached_property
    def size_km2(self) -> Floats:
        """Size of every node, (n,) km2."""
        areas = self.areas
        size = np.zeros(len(areas.parent))
        size[areas.lowest] = areas.sizes
        for node in range(len(size) - 1, 0, -1):
            size[areas.parent[node]] += size[node]
        return size

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What to call every node, (n,); safe to show."""
        return (self.title, *(safe_text(path[-1], 60) for path in self.areas.paths[1:]))

    @cached_property
    def nodes(self) -> dict[tuple[str, ...], int]:
        """Every node by the names on its path."""
        return {path: node for node, path in enumerate(self.areas.paths)}

    def path(self, node: int) -> list[int]:
        results = [node]
        while results[-1] > 0:
            results.append(int(self.areas.parent[results[-1]]))
        return results[::-1]

    def on_level(self, level: int) -> Ints:
        """The nodes that a map of a level shows: of that level, or where a branch ends above it."""
        areas = self.areas
        return np.flatnonzero((areas.level == level) | (self.is_lowest & (areas.level < level)))

    @cached_property
    def is_lowest(self) -> NDArray[np.bool_]:
        """Which nodes have no others in them, (n,)."""
        result = np.zeros(len(self.areas.parent), dtype=bool)
        result[self.areas.lowest] = True
        return result

    def window(self, node: int) -> Window:
        windows = self.windows
        return windows.of(windows.members(int(windows.people.of[node])))

    def frame(self, node: int) -> Grid:
        """A square around the window of a lowest area: what is shown next to the country."""
        x0, y0, x1, y1 = self.windows.grid_of(self.window(node)).bounds
        half = max(x1 - x0, y1 - y0) / 2
        x, y = (x0 + x1) / 2, (y0 + y1) / 2
        return Grid((x - half, y - half, x + half, y + half), (1, 1), self.grid.crs)

    def inside(self, node: int) -> FrequencyMatrix:
        """The exact counts inside a lowest area, on its window."""
        result = self._inside.get(node)
        if result is None:
            window = self.window(node)
            counts = self.matrix.inside(window)
            result = FrequencyMatrix(
                counts.counts,
                self.windows.grid_of(window),
                counts.contribution_bound,
                counts.unit,
                unclipped=None if counts.unclipped is None else counts.unclipped.counts,
            )
            if len(self._inside) > 40:
                self._inside.clear()
            self._inside[node] = result
        return result

    def benchmark(self, number: int) -> AreaCounts:
        """The same records in the rectangles of one of the paper's benchmarks, kept."""
        if number not in self._benchmarks:
            self._benchmarks[number] = benchmark(self.matrix, number)
        return self._benchmarks[number]

    def border(self, node: int) -> Shapes:
        """The outline of a lowest area, fine enough for the map inside it; the only one of it."""
        result = self._borders.get(node)
        if result is None:
            (area,) = np.flatnonzero(self.areas.lowest == node)
            shape = self.windows.shapes[[int(area)]]
            result = Shapes.of(shapely.simplify(shape, self.frame(node).width / 600))
            self._borders[node] = result
        return result

    def shapes(self, finer: float = 1.0) -> Shapes:
        """Outlines of all nodes, by one of `FINER`."""
        shapes = self._shapes.get(finer)
        if shapes is None:
            tolerance = _COARSE * max(self.grid.width, self.grid.height) * finer
            shapes = Shapes.of(self.areas.outlines(float(f"{tolerance:.1g}")))
            self._shapes[finer] = shapes
        return shapes


#: What was read of a country, and what was counted: some 50 MB each.
_READ: Shelf[tuple[Areas, Points]] = Shelf(3)
_COUNTED: Shelf[CountryData] = Shelf(6)


def load_country(place: Place) -> CountryData:
    """The country of the catalogue at a ``place`` of the state, from memory if it is there.

    Raises
    ------
    InputError
        For a country that is not in the catalogue, or files that cannot be used.
    """
    key, side, bound = place

    def load() -> CountryData:
        country = find(key)
        areas, points = _READ.get(key, lambda: (country.areas(), country.points()))
        return counted(country.title, areas, points, place)

    return _COUNTED.get((key, side, bound), load)


def is_loaded(place: Place) -> bool:
    """Whether `load_country` would answer at once."""
    return place in _COUNTED


def counted(title: str, areas: Areas, points: Points, place: Place) -> CountryData:
    """Points in areas, on cells of ``place``; outlines and pictures are made ready."""
    _, side, bound = place
    bound = bound if points.user is not None else 0
    matrix: AreaCounts = areas.count(
        points, float(side), bound or None, per="user" if bound else "record"
    )
    notes = tuple(safe_text(note, 300) for note in (*areas.notes, *points.notes))
    data = CountryData(safe_text(title), matrix, notes, place, points.user is not None)
    data.shapes()
    return data


def own_country(matrix: AreaCounts, title: str = "your own counts") -> CountryData:
    """Counts of areas that someone brought along."""
    data = CountryData(safe_text(title), matrix)
    data.shapes()
    return data


@dataclass(frozen=True, eq=False)
class OwnCountry(OwnPoints[Points]):
    """Points of a visitor with the boundaries that were given for them; they are the extent."""

    areas: Areas | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        return (*(self.areas.notes if self.areas is not None else ()), *super().notes)
