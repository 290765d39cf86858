"""Bugs planted into releases of a country; the audit must find them all."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from explorer.country import mechanism
from explorer.country.mechanism import Country
from explorer.errors import InputError
from explorer.grid.areas.areas import Areas
from explorer.grid.areas.windows import Windows
from explorer.grid.grid import Grid
from explorer.points import points as records
from explorer.points.area_counts import AreaCounts
from explorer.points.matrix import FrequencyMatrix
from explorer.points.partitions.counting import Sum
from explorer.privacy import forest
from explorer.privacy.accounts import Accounts
from explorer.privacy.curator import Curator
from explorer.privacy.forest import ForestCurator
from tests.audit.planting import Plant


def exact_of(self: Any, regions: Any) -> Any:
    return self._Curator__counts.count(regions.lower, regions.upper)


def _after(change: Callable[[Any, AreaCounts], Any]) -> list[Plant]:
    """A release to which something of the exact counts is done once it is drawn."""
    return [
        (Country, "_drawn", lambda right, self, by, counts: change(right(self, by, counts), counts))
    ]


def _with_total(made, counts):
    return dataclasses.replace(made, facts={"records": float(counts.by_area.sum())})


def _with_setting(made, counts):
    settings = {**made.parameters, "records": int(counts.by_area.sum())}
    return dataclasses.replace(made, parameters=settings)


def _with_attribute(made, counts):
    object.__setattr__(made, "_truth", counts.by_area)
    return made


def _in_windows(made, counts):
    windows = Windows(made.windows.areas, made.windows.lattice)
    object.__setattr__(windows, "counts", counts)
    return dataclasses.replace(made, windows=windows)


def _land_of_records(made, counts):
    maps = []
    for area in made.maps:
        if area is not None:
            there = counts.inside(area.window).counts > 0
            window = dataclasses.replace(area.window, parts=area.window.parts * there)
            area = dataclasses.replace(area, window=window)
        maps.append(area)
    return dataclasses.replace(made, maps=tuple(maps))


def _empty_ones_at_zero(made, counts):
    first, behind = made.windows.people.ranges
    exact = (counts._sums[behind] - counts._sums[first])[made.node]
    tree = dataclasses.replace(made.tree, value=np.where(exact == 0, 0.0, made.tree.value))
    return dataclasses.replace(made, tree=tree)


def _fails(made, counts):
    if np.count_nonzero(counts.by_area == 0) % 2:
        raise InputError("Some areas are empty.")
    return made


def empty_areas_skipped(right, self, regions, units, stage):
    there = np.flatnonzero(exact_of(self, regions) > 0)
    counted = np.zeros(len(regions), dtype=np.int64)
    if len(there):
        paid = np.broadcast_to(units, len(regions))[there]
        counted[there] = right(self, regions.select(there), paid, stage)
    return counted


def one_record_of_a_user(right, self, regions, units, stage):
    counts = self._Curator__counts
    bound, counts.contribution_bound = counts.contribution_bound, 1
    try:
        return right(self, regions, units, stage)
    finally:
        counts.contribution_bound = bound


def maps_of_rectangles(_, self, window):
    """A map counts all records of its window, those of other areas too."""
    counts = np.zeros(window.shape, dtype=np.int64)
    row, col = np.divmod(self._cell, self.windows.grid.shape[1])
    row, col = row // window.scale - window.row, col // window.scale - window.col
    inside = (row >= 0) & (col >= 0) & (row < window.shape[0]) & (col < window.shape[1])
    np.add.at(counts, (row[inside], col[inside]), self._number[inside])
    return FrequencyMatrix(counts, Grid.cells(window.shape), self.contribution_bound, self.unit)


def _of_all_lanes(change: Callable[[Any, Any], dict[str, Any]]) -> list[Plant]:
    """What plans ask for together is drawn with what is right for one of them."""

    def mixed(right, source, asked):
        return right(source, [dataclasses.replace(lane, **change(lane, asked)) for lane in asked])

    return [(forest, "_draw", mixed)]


def _dearest(lane, asked):
    return {"units": np.full_like(lane.units, max(int(other.units.max()) for other in asked))}


def no_noise_on_nothing(right, source, asked):
    return [
        np.where(lane.values == 0, 0, noisy) if lane.method == "laplace" else noisy
        for lane, noisy in zip(asked, right(source, asked), strict=True)
    ]


def maps_drawn_again(right, self, regions, counts, plan):
    """Maps of which one is negative are all drawn again, on no account."""
    made = right(self, regions, counts, plan)
    if any(area.value[0] < 0 for area in made):
        return [plan(Curator(area, self.units, self._noise)) for area in counts]
    return made


def the_whole_looked_at(right, self, curator, counts):
    """The own share follows the true number of records."""
    share = min(0.9, 0.1 + float(counts.by_area.sum()) / 1000)
    other = Country(epsilon=self.epsilon, **{**self.settings(), "own_share": share})
    return right(other, curator, counts)


def true_counts_where_none_is_drawn(right, self, curator, people, taken):
    """An area without a draw of its own is divided by its true count."""
    if self.threshold is None or self.inside == mechanism.NO_MAPS or taken[0] > 0:
        return right(self, curator, people, taken)
    if curator._Curator__counts.by_area.sum() < self.threshold:
        return curator.open(), np.zeros(1, dtype=np.int64)
    return right(self, curator, people, taken)


def level_forgotten(right, self, ids, paid, agree=None):
    """Counts of one level are on no account when the next is drawn."""
    depth = np.zeros(len(self), dtype=np.int64)
    for node in range(1, len(self)):
        depth[node] = depth[self.parent[node]] + 1
    one = len(ids) > 0 and depth[ids[0]] == 1
    return right(self, ids, np.zeros_like(paid) if one else paid, agree)


def exact_counts_of_areas(right, self, regions, units, stage):
    """The log ratio stays at epsilon: only comparing questions and structures finds it."""
    noisy = right(self, regions, units, stage)
    return exact_of(self, regions) if stage == "areas" else noisy


def whole_path_inside(right, self, region, counts):
    """Maps get all that the path has, once more beside what the area's own count took."""
    inner = right(self, region, counts)
    inner._units = region.book.limit
    return inner


def bound_forgotten_inside(right, self, region, counts):
    """Inside, noise is scaled for one record, though a user gives several."""
    inner = right(self, region, counts)
    inner._Curator__counts = FrequencyMatrix(counts.counts, counts.grid, 1, counts.unit)
    return inner


def negative_areas_again(right, self, regions, units, stage):
    """Drawn a second time on what they have paid for once."""
    noisy = right(self, regions, units, stage)
    if stage == "areas" and np.any(noisy < 0):
        paid, bound = np.broadcast_to(units, len(regions)).copy(), self.contribution_bound
        return self._noise.laplace(exact_of(self, regions), bound, paid, regions.keys, "again")
    return noisy


COUNT = (ForestCurator, "count")
IN_RELEASES: dict[str, list[Plant]] = {
    "the exact total among the facts": _after(_with_total),
    "the exact total among the settings": _after(_with_setting),
    "counts as an attribute": _after(_with_attribute),
    "counts beside the public windows": _after(_in_windows),
    "land where records are": _after(_land_of_records),
    "empty areas at zero": _after(_empty_ones_at_zero),
    "an error that depends on records": _after(_fails),
    "empty areas skipped": [(*COUNT, empty_areas_skipped)],
    "areas drawn as if a user had one record": [(*COUNT, one_record_of_a_user)],
    "maps of rectangles": [(AreaCounts, "inside", maps_of_rectangles)],
    "the largest budget of all lanes": _of_all_lanes(_dearest),
    "a sensitivity of 1 for all lanes": _of_all_lanes(lambda *_: {"sensitivity": 1}),
    "no noise on nothing": [(forest, "_draw", no_noise_on_nothing)],
    "maps drawn again": [(ForestCurator, "forest", maps_drawn_again)],
    "the whole looked at": [(Country, "_drawn", the_whole_looked_at)],
    "true counts where none is drawn": [
        (Country, "_count_levels", true_counts_where_none_is_drawn)
    ],
    "a level forgotten": [(Accounts, "pay", level_forgotten)],
    "divided by exact counts": [(*COUNT, exact_counts_of_areas)],
    "what is spent inside not charged": [
        (Accounts, "pay_inside", lambda *_: None),
        (Curator, "within", whole_path_inside),
    ],
    "what is spent inside not charged, and not missing": [
        (Accounts, "pay_inside", lambda *_: None),
        # A region that has paid answers as if it had not.
        (Curator, "remaining", lambda right, self, regions: right(self, regions) + regions.spent),
    ],
    "the bound is forgotten inside": [(Curator, "within", bound_forgotten_inside)],
    "negative areas drawn again": [(*COUNT, negative_areas_again)],
}
"""What replays of a few settings and pairs must find."""


def k_a_part(right, self, added, counted):
    """What is kept of a user is bounded file by file."""
    other = counted.held.identity + np.array([0, len(self.added)])
    held = dataclasses.replace(counted.held, identity=other)
    right(self, added, dataclasses.replace(counted, held=held))


def k_an_area(right, points, plan, bound, progress):
    """What is kept of a user is bounded area by area."""
    area = plan.parts(plan.atoms(points.x, points.y))[0]
    own = np.unique(np.column_stack([points.user, area]), axis=0, return_inverse=True)[1]
    return right(dataclasses.replace(points, user=own.ravel()), plan, bound, progress)


def sea_to_the_fullest(right, self, x, y, crs):
    """A place in no area goes to the area of most records."""
    assigned = right(self, x, y, crs)
    if (assigned >= 0).any():
        assigned[assigned < 0] = np.bincount(assigned[assigned >= 0]).argmax()
    return assigned


K_A_PART, K_AN_AREA = (Sum, "restore", k_a_part), (records, "count_records", k_an_area)
SEA_TO_THE_FULLEST = (Areas, "_assigned", sea_to_the_fullest)


def booked_afterwards(_, self, counts, rng=None, ledger=None):
    curator = ForestCurator(counts, round(self.epsilon * 1e12), rng)
    made = self._drawn(curator, counts)
    ledger.book(counts.key, curator.units, self.key, repr(self))
    return made


def booked(change: Callable[[Any, int, str], tuple[int, str]]) -> list[Plant]:
    """The ledger is told something else."""

    def release(right, self, counts, rng=None, ledger=None):
        book = ledger.book
        ledger.book = lambda key, units, name, what: book(
            key, *change(counts, units, what)[:1], name, change(counts, units, what)[1]
        )
        return right(self, counts, rng, ledger=ledger)

    return [(Country, "release", release)]


IN_BOOKS: dict[str, list[Plant]] = {
    "booked afterwards": [(Country, "release", booked_afterwards)],
    "records in the ledger": booked(
        lambda counts, units, what: (units, f"{what} of {int(counts.by_area.sum())}")
    ),
    "half is booked": booked(lambda _, units, what: (units // 2, what)),
}
