"""Flows: how many go from each zone of one place to each zone of another, from a release of trips.

Everything here is a function of released numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.errors import InputError
from explorer.grid.places import TripDomain
from explorer.grid.whole_file import write_whole
from explorer.releases.answers import Z95
from explorer.releases.nodes import Ints
from explorer.releases.place_maps import table_of
from explorer.releases.release import Release
from explorer.releases.zone_counts import scattered
from explorer.releases.zones import Zones

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
