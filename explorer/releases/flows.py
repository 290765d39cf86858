"""Flows: how many go from each zone of one place to each zone of another, from a release of trips.

Everything here is a function of released numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.grid.places import TripDomain
from explorer.grid.whole_file import write_whole
from explorer.releases.answers import Z95
from explorer.releases.nodes import Ints
from explorer.releases.place_maps import mass, table_of
from explorer.releases.release import Release
from explorer.releases.tree import Tree

if TYPE_CHECKING:
    import pandas as pd


Floats = NDArray[np.float64]
Direction = Literal["between", "incoming", "outgoing"]
#: Flows between zones at once.
MOST_FLOWS = 2**22
#: A flow is shown where it is released as so many scales of the noise of one count, or more.
SHOWN = 3.0
NOISE_ALONE = "noise alone, not how unevenly trips lie inside leaves: too narrow"
SIMULATED = "noise and uneven spread inside leaves, by simulation"


@dataclass(frozen=True, eq=False)
class Flows:
    """n flows between zones of two places, whatever the way.

    Attributes
    ----------
    origin, destination : (n,) int64, numbers of zones in `origins` and `destinations`
    value : (n,) private counts
    half_width : (n,) of their 95 % intervals
    origins, destinations : the zones of either place, with their boxes and middles
    threshold : private counts from here on are shown, see `shown`
    zones, pair : what was asked for: into how many along a side, and between which two places
    simulated : whether the half widths come from simulation; else they are of `NOISE_ALONE`
    """

    origin: Ints
    destination: Ints
    value: Floats
    half_width: Floats
    origins: Zones
    destinations: Zones
    threshold: float
    zones: int
    pair: tuple[int, int]
    simulated: bool = False

    def __len__(self) -> int:
        return len(self.value)

    @property
    def covers(self) -> str:
        """What the intervals cover, in words."""
        return SIMULATED if self.simulated else NOISE_ALONE

    @property
    def holds_zero(self) -> NDArray[np.bool_]:
        """Whether the interval of a flow holds 0, (n,): there may be no one."""
        inside: NDArray[np.bool_] = np.abs(self.value) <= self.half_width
        return inside

    @property
    def shown(self) -> NDArray[np.bool_]:
        """Flows released as 3 k / epsilon or more, (n,): such as are above the noise.

        k is the contribution bound: three times the scale of a count that has the whole budget.
        """
        above: NDArray[np.bool_] = self.value >= self.threshold
        return above

    @property
    def loops(self) -> NDArray[np.bool_]:
        """Flows that end in the zone where they began, (n,); none where the places differ."""
        if not self.origins.same_as(self.destinations):
            return np.zeros(len(self), dtype=bool)
        return self.origin == self.destination

    def select(self, which: ArrayLike) -> Flows:
        """Some of the flows, by positions or by a mask, in that order."""
        chosen = np.asarray(which)
        names = ("origin", "destination", "value", "half_width")
        return replace(self, **{name: getattr(self, name)[chosen] for name in names})

    def largest(
        self, m: int, direction: Direction = "between", zone: int | None = None, loops: bool = True
    ) -> Flows:
        """The m largest flows, largest first; of equal ones the first.

        Parameters
        ----------
        m : 1 or more; all where there are fewer
        direction : "incoming" to one zone, "outgoing" from one, or "between" all
        zone : number of that zone, in `destinations` or `origins`
        loops : whether flows inside one zone belong to them

        Raises
        ------
        InputError
            For another direction, or a zone that is missing, not there, or not asked for.
        """
        if direction not in ("between", "incoming", "outgoing"):
            raise InputError(
                f"The direction is {direction!r}: choose between, incoming or outgoing."
            )
        if m < 1:
            raise InputError(f"The number of flows is {m!r}: give a whole number, 1 or more.")
        selected = np.ones(len(self), dtype=bool)
        if direction == "between":
            if zone is not None:
                raise InputError("Flows between all zones have no zone: leave it out.")
        else:
            ends, zones = self._ends(direction)
            if zone not in range(len(zones)):
                raise InputError(
                    f"The zone is {zone!r}: give the number of one, 0 to {len(zones) - 1}."
                )
            selected = ends == zone
        if not loops:
            selected &= ~self.loops
        there = np.flatnonzero(selected)
        return self.select(there[np.argsort(-self.value[there], kind="stable")[:m]])

    def totals(self, direction: Literal["incoming", "outgoing"]) -> Floats:
        """What arrives in each zone of `destinations`, or leaves each of `origins`, (zones,)."""
        ends, zones = self._ends(direction)
        totals: Floats = np.bincount(ends, self.value, len(zones)).astype(np.float64)
        return totals

    def matrix(self) -> Floats:
        """Counts from each zone (row) to each zone (column), (z^2, z^2); NaN where left out."""
        result = np.full((len(self.origins), len(self.destinations)), np.nan)
        result[self.origin, self.destination] = self.value
        return result

    def with_half_width(self, half_width: ArrayLike) -> Flows:
        """The same flows with half widths (n,) from simulation, see `evaluate.simulate`."""
        return replace(self, half_width=np.asarray(half_width, np.float64), simulated=True)

    def to_frame(self) -> pd.DataFrame:
        """Columns origin, dest, count, half_width; origin and dest are ids of `locations`."""
        import pandas as pd

        starts, ends = self._ids()
        return pd.DataFrame(
            {
                "origin": starts[self.origin],
                "dest": ends[self.destination],
                "count": self.value,
                "half_width": self.half_width,
            }
        )

    def locations(self) -> pd.DataFrame:
        """The zones' middles: id, name, lat, lon in degrees (x, y where there are cells alone).

        Where both places are divided alike a zone is there once, else once for either.
        """
        import pandas as pd

        places = [self.origins, self.destinations]
        if self.origins.same_as(self.destinations):
            places = places[:1]
        tables = []
        for zones, ids in zip(places, self._ids(), strict=False):
            names = [f"zone {label}" for label in zones.labels]
            if len(places) > 1:
                names = [f"{zones.name} {name}" for name in names]
            where = zones.centres if zones.lonlat is None else zones.lonlat
            first, second = ("x", "y") if zones.lonlat is None else ("lon", "lat")
            table = {"id": ids, "name": names, second: where[:, 1], first: where[:, 0]}
            tables.append(pd.DataFrame(table))
        return pd.concat(tables, ignore_index=True)

    def to_csv(self, path: str | Path) -> tuple[Path, Path]:
        """Write the flows, and with them the zones as NAME-locations.csv, as flow maps read them.

        The columns are those of flowmap.blue: origin, dest, count (and half_width) in one table,
        id, name, lat, lon in the other. Files of these names are replaced without a question.

        Returns
        -------
        Both paths.

        Raises
        ------
        InputError
            When a file cannot be written.
        """
        flows_path = Path(path)
        zones_path = flows_path.with_name(f"{flows_path.stem}-locations.csv")
        tables = (self.to_frame(), flows_path, "%.6g"), (self.locations(), zones_path, "%.8g")
        for table, where, form in tables:
            write_whole(where, partial(table.to_csv, index=False, float_format=form))
        return flows_path, zones_path

    def _ends(self, direction: Direction) -> tuple[Ints, Zones]:
        """The end of every flow that is in the asked zones, (n,), and those zones."""
        if direction == "incoming":
            return self.destination, self.destinations
        return self.origin, self.origins

    def _ids(self) -> tuple[NDArray[np.str_], NDArray[np.str_]]:
        starts, ends = np.array(self.origins.labels), np.array(self.destinations.labels)
        if self.origins.same_as(self.destinations):
            return starts, ends
        names = self.origins.name, self.destinations.name
        return np.char.add(f"{names[0]} ", starts), np.char.add(f"{names[1]} ", ends)


def flows(release: Release, zones: int, pair: Sequence[int] = (0, -1)) -> Flows:
    """All flows between the zones of two places of a release of trips.

    Parameters
    ----------
    release : Release
        Of two places or more. Trips are counted whatever their other places are.
    zones : z, into z x z of which each place is divided, see `Zones`
    pair : the two places, from 0; -1 is the last one

    Returns
    -------
    Flows
        z^4 of them, by origin, then destination; they add up to the release's total. Half widths
        are those of the noise alone.

    Raises
    ------
    InputError
        For a release of one place, places that are not two of its own, zones finer than the grid,
        or more than 2^22 flows.

    Notes
    -----
    Counts of a leaf are spread inside it as products over places, so a leaf of count c adds
    c s_o t_d to every flow, s_o the share of its chances in zone o of one place and t_d that in
    zone d of the other: one pass over the leaves, no walk for each box.
    """
    starts, ends, chosen = _zones(release, zones, pair)
    value = _values(release, starts, ends, chosen).ravel()
    origin, destination = np.divmod(np.arange(value.size, dtype=np.int64), len(ends))
    return Flows(
        origin,
        destination,
        value,
        Z95 * _noise(release, starts, ends, chosen),
        starts,
        ends,
        SHOWN * release.contribution_bound / release.epsilon,
        zones,
        chosen,
    )


def flow_values(release: Release, zones: int, pair: Sequence[int] = (0, -1)) -> Floats:
    """`flows` as counts alone, (z^2, z^2); without half widths, which take longer."""
    return _values(release, *_zones(release, zones, pair))


def zone_boxes(
    axes: int, shape: Sequence[int], starts: Zones, ends: Zones, pair: Sequence[int]
) -> Floats:
    """The boxes of all flows in cells, (z^4, 2, axes), by origin, then destination."""
    boxes = np.zeros((len(starts) * len(ends), 2, axes))
    boxes[:, 1] = shape
    first, second = (slice(2 * place, 2 * place + 2) for place in pair)
    boxes[:, :, first] = np.repeat(starts.cells, len(ends), axis=0)
    boxes[:, :, second] = np.tile(ends.cells, (len(starts), 1, 1))
    return boxes


def _zones(
    release: Release, zones: int, pair: Sequence[int]
) -> tuple[Zones, Zones, tuple[int, int]]:
    domain = release.domain
    if not isinstance(domain, TripDomain) or len(domain.grids) < 2:
        raise InputError("Flows go between two places: this release is of one.")
    k = len(domain.grids)
    chosen = tuple(int(place) + k * (int(place) < 0) for place in pair)
    if len(chosen) != 2 or chosen[0] == chosen[1] or not set(chosen) <= set(range(k)):
        raise InputError(
            f"The places are {tuple(pair)}: give two different ones of 0 to {k - 1}, "
            f"{', '.join(domain.names)}."
        )
    starts, ends = (Zones.of(domain.names[place], domain.grids[place], zones) for place in chosen)
    if len(starts) * len(ends) > MOST_FLOWS:
        raise InputError(
            f"{zones} x {zones} zones have {len(starts) * len(ends):,} flows between them, more "
            f"than the {MOST_FLOWS:,} that are possible: choose fewer zones."
        )
    return starts, ends, (chosen[0], chosen[1])


def _values(release: Release, starts: Zones, ends: Zones, pair: Sequence[int]) -> Floats:
    tables = [
        table_of(release.maps_inside, place, zones.grid.shape)
        for place, zones in zip(pair, (starts, ends), strict=True)
    ]
    return scattered(release.tree, pair, (starts.edges, ends.edges), tables)


def _noise(release: Release, starts: Zones, ends: Zones, pair: Sequence[int]) -> Floats:
    shape = release.domain.shape
    boxes = zone_boxes(len(shape), shape, starts, ends, pair)
    return release.answer(release.domain.from_cells(boxes)).sd


# Zones: one place divided into an even grid of rectangles, between which flows are counted.


@dataclass(frozen=True, eq=False)
class Zones:
    """The n = rows x columns zones of one place, numbered row by row from the south-west.

    Along a side of L cells divided by z, zone i has the cells floor(i L / z) up to
    floor((i + 1) L / z): whole cells, of uneven number where z does not divide L. A side of one
    cell is not divided.

    Attributes
    ----------
    name : what the place is called, such as "from"
    grid : the grid of the place
    rows, columns : zones along either side
    """

    name: str
    grid: Grid
    rows: int
    columns: int

    @classmethod
    def of(cls, name: str, grid: Grid, zones: Any) -> Zones:
        """``zones`` x ``zones`` zones of a place.

        Raises
        ------
        InputError
            For what is no whole number of 1 or more, and for more zones than a side has cells.
        """
        whole = isinstance(zones, int | np.integer) and not isinstance(zones, bool)
        if not whole or zones < 1:
            raise InputError(f"The number of zones is {zones!r}: give a whole number, 1 or more.")
        short = [side for side in grid.shape if 1 < side < zones]
        if short or max(grid.shape) < zones:
            raise InputError(
                f"{zones} x {zones} zones are finer than the {grid.shape[0]} x {grid.shape[1]} "
                f"cells of the place {name!r}: choose at most {min(short or grid.shape)}."
            )
        rows, columns = (int(min(zones, side)) for side in grid.shape)
        return cls(name, grid, rows, columns)

    def __len__(self) -> int:
        return self.rows * self.columns

    @cached_property
    def edges(self) -> tuple[Ints, Ints]:
        """Edges in cells along rows, (rows + 1,), and along columns, (columns + 1,)."""
        return _edges(self.grid.shape[0], self.rows), _edges(self.grid.shape[1], self.columns)

    @cached_property
    def cells(self) -> Ints:
        """Lower and upper cell of every zone, (n, 2, 2), half open."""
        north, east = np.divmod(np.arange(len(self)), self.columns)
        of_rows, of_columns = self.edges
        lower = np.stack([of_rows[north], of_columns[east]], axis=1)
        upper = np.stack([of_rows[north + 1], of_columns[east + 1]], axis=1)
        return np.stack([lower, upper], axis=1)

    @cached_property
    def boxes(self) -> Floats:
        """x0, y0, x1, y1 of every zone in the unit of its place, (n, 4)."""
        return self.grid.from_cells(self.cells.astype(np.float64))

    @cached_property
    def centres(self) -> Floats:
        """x, y of the middle of every zone in the unit of its place, (n, 2)."""
        boxes = self.boxes
        return (boxes[:, :2] + boxes[:, 2:]) / 2

    @cached_property
    def lonlat(self) -> Floats | None:
        """Longitude and latitude of the middles, (n, 2); None for a grid of cells."""
        if self.grid.crs is None:
            return None
        return np.stack(self.grid.to_lonlat(*self.centres.T), axis=1)

    @property
    def labels(self) -> list[str]:
        """Row and column of every zone from 1 on, such as "1-3": south first, west first."""
        return [f"{i + 1}-{j + 1}" for i in range(self.rows) for j in range(self.columns)]

    def at(self, x: float, y: float) -> int | None:
        """The number of the zone at a point in the unit of the place; None outside of it."""
        x0, y0, x1, y1 = self.grid.bounds
        if not (x0 <= x <= x1 and y0 <= y <= y1):
            return None
        cell = self.grid.to_cells([[x, y, x, y]])[0, 0]
        results = [
            min(int(np.searchsorted(edges, at, side="right")) - 1, len(edges) - 2)
            for edges, at in zip(self.edges, cell, strict=True)
        ]
        return results[0] * self.columns + results[1]

    def same_as(self, other: Zones) -> bool:
        """Whether both places are divided alike on one and the same grid."""
        return self.grid == other.grid and (self.rows, self.columns) == (other.rows, other.columns)


def _edges(side: int, parts: int) -> Ints:
    return np.arange(parts + 1, dtype=np.int64) * side // parts


# Counts of a tree's leaves shared out among the zones of two places.


def scattered(
    tree: Tree,
    pair: Sequence[int],
    edges: Sequence[tuple[Ints, Ints]],
    tables: Sequence[Floats],
) -> Floats:
    """Counts from every zone of one place to every zone of another, (n, m).

    `edges` are those of zones along rows and columns of either place, `tables` the summed-area
    tables
    of their chances, (rows + 1, columns + 1); place p has axes 2 p and 2 p + 1.
    """
    zones = [(len(rows) - 1) * (len(columns) - 1) for rows, columns in edges]
    result = np.zeros(zones)
    _scatter(
        tree.lower,
        tree.upper,
        tree.value,
        tree.leaves,
        int(pair[0]),
        int(pair[1]),
        tables[0],
        tables[1],
        *edges[0],
        *edges[1],
        result,
    )
    return result


@njit(cache=True, nogil=True)
def _shares(  # type: ignore[no-untyped-def]
    r0, r1, c0, c1, flat, rows, cols, of_rows, of_columns, number, share
):
    """Zones that a box of one place touches, and its chances in each; returns how many."""
    first = np.searchsorted(of_rows, r0, side="right") - 1
    left = np.searchsorted(of_columns, c0, side="right") - 1
    wide = len(of_columns) - 1
    if r1 <= of_rows[first + 1] and c1 <= of_columns[left + 1]:
        number[0], share[0] = first * wide + left, 1.0
        return 1
    whole = mass(flat, 0, rows, cols, float(r0), float(c0), float(r1), float(c1))
    shares = 0
    row = first
    while row < len(of_rows) - 1 and of_rows[row] < r1:
        top, bottom = float(max(of_rows[row], r0)), float(min(of_rows[row + 1], r1))
        col = left
        while col < wide and of_columns[col] < c1:
            begin, end = float(max(of_columns[col], c0)), float(min(of_columns[col + 1], c1))
            number[shares] = row * wide + col
            share[shares] = max(mass(flat, 0, rows, cols, top, begin, bottom, end), 0.0) / whole
            shares += 1
            col += 1
        row += 1
    return shares


@njit(cache=True, nogil=True)
def _scatter(  # type: ignore[no-untyped-def]
    lower, upper, value, leaves, one, two, table_1, table_2, rows_1, cols_1, rows_2, cols_2, flows
):
    number_1, number_2 = np.empty(flows.shape[0], np.int64), np.empty(flows.shape[1], np.int64)
    share_1, share_2 = np.empty(flows.shape[0]), np.empty(flows.shape[1])
    flat_1, flat_2 = table_1.ravel(), table_2.ravel()
    a, b = 2 * one, 2 * two
    for i in leaves:
        if value[i] == 0.0:
            continue
        n = _shares(
            lower[i, a], upper[i, a], lower[i, a + 1], upper[i, a + 1],
            flat_1, table_1.shape[0], table_1.shape[1], rows_1, cols_1, number_1, share_1,
        )  # fmt: skip
        m = _shares(
            lower[i, b], upper[i, b], lower[i, b + 1], upper[i, b + 1],
            flat_2, table_2.shape[0], table_2.shape[1], rows_2, cols_2, number_2, share_2,
        )  # fmt: skip
        for p in range(n):
            part = value[i] * share_1[p]
            for q in range(m):
                flows[number_1[p], number_2[q]] += part * share_2[q]
