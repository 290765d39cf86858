"""Bugs planted into releases of a country, one function each; the audit must find them all."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from explorer.country import mechanism
from explorer.country.mechanism import Country
from explorer.errors import InputError
from explorer.grid.areas.areas import Areas
from explorer.grid.areas.windows import Windows
from explorer.grid.grid import Grid
from explorer.points.area_counts import AreaCounts
from explorer.points.matrix import FrequencyMatrix
from explorer.points.partitions.adding import Sum
from explorer.privacy import pool
from explorer.privacy.curator import Curator
from explorer.privacy.forest import ForestCurator
from explorer.privacy.regions import Regions

Plant = Callable[[pytest.MonkeyPatch], None]


def _after_release(change: Callable[[Any, AreaCounts], Any]) -> Plant:
    """A release to which something of the exact counts is done once it is drawn."""
    drawn = Country._drawn

    def plant(patch: pytest.MonkeyPatch) -> None:
        patch.setattr(
            Country, "_drawn", lambda self, by, counts: change(drawn(self, by, counts), counts)
        )

    return plant


def _with_total(made: Any, counts: AreaCounts) -> Any:
    return dataclasses.replace(made, facts={"records": float(counts.by_area.sum())})


def _with_setting(made: Any, counts: AreaCounts) -> Any:
    told = {**made.parameters, "records": int(counts.by_area.sum())}
    return dataclasses.replace(made, parameters=told)


def _with_attribute(made: Any, counts: AreaCounts) -> Any:
    object.__setattr__(made, "_truth", counts.by_area)
    return made


def _in_windows(made: Any, counts: AreaCounts) -> Any:
    windows = Windows(made.windows.areas, made.windows.lattice)
    object.__setattr__(windows, "counts", counts)
    return dataclasses.replace(made, windows=windows)


def _land_of_records(made: Any, counts: AreaCounts) -> Any:
    """Land of a map is where records are."""
    maps = []
    for each in made.maps:
        if each is not None:
            there = counts.inside(each.window).counts > 0
            window = dataclasses.replace(each.window, parts=each.window.parts * there)
            each = dataclasses.replace(each, window=window)
        maps.append(each)
    return dataclasses.replace(made, maps=tuple(maps))


def _empty_ones_at_zero(made: Any, counts: AreaCounts) -> Any:
    """Areas that hold nobody are published as 0."""
    first, behind = made.windows.people.ranges
    exact = (counts._sums[behind] - counts._sums[first])[made.node]
    tree = dataclasses.replace(made.tree, value=np.where(exact == 0, 0.0, made.tree.value))
    return dataclasses.replace(made, tree=tree)


def _fails(made: Any, counts: AreaCounts) -> Any:
    if np.count_nonzero(counts.by_area == 0) % 2:
        raise InputError("Some areas hold nobody.")
    return made


def empty_areas_skipped(patch: pytest.MonkeyPatch) -> None:
    """Areas that hold nobody are not measured."""
    count = ForestCurator.count

    def skipping(self: Any, regions: Regions, units: Any, stage: str) -> Any:
        exact = self._Curator__counts.count(regions.lower, regions.upper)
        there = np.flatnonzero(exact > 0)
        found = np.zeros(len(regions), dtype=np.int64)
        if len(there):
            paid = np.broadcast_to(units, len(regions))[there]
            found[there] = count(self, regions.select(there), paid, stage)
        return found

    patch.setattr(ForestCurator, "count", skipping)


def one_record_of_a_user(patch: pytest.MonkeyPatch) -> None:
    """Areas are drawn as if a user had one record."""
    count = Curator.count

    def narrow(self: Any, regions: Regions, units: Any, stage: str) -> Any:
        counts = self._Curator__counts
        bound, counts.contribution_bound = counts.contribution_bound, 1
        try:
            return count(self, regions, units, stage)
        finally:
            counts.contribution_bound = bound

    patch.setattr(ForestCurator, "count", narrow)


def maps_of_rectangles(patch: pytest.MonkeyPatch) -> None:
    """A map counts all records of its window, those of other areas too."""

    def inside(self: Any, window: Any) -> FrequencyMatrix:
        counts = np.zeros(window.shape, dtype=np.int64)
        row, col = np.divmod(self._cell, self.windows.grid.shape[1])
        row, col = row // window.scale - window.row, col // window.scale - window.col
        here = (row >= 0) & (col >= 0) & (row < window.shape[0]) & (col < window.shape[1])
        np.add.at(counts, (row[here], col[here]), self._number[here])
        grid = Grid.cells(window.shape)
        return FrequencyMatrix(counts, grid, self.contribution_bound, self.unit)

    patch.setattr(AreaCounts, "inside", inside)


def _of_all_lanes(**same: Callable[[Any], Any]) -> Plant:
    """What plans ask for together is drawn with what is right for one of them."""
    draw = pool._draw

    def plant(patch: pytest.MonkeyPatch) -> None:
        def mixed(source: Any, asked: Any) -> list[Any]:
            changed = [
                dataclasses.replace(
                    each,
                    **{
                        name: np.full_like(each.units, of(asked)) if name == "units" else of(asked)
                        for name, of in same.items()
                    },
                )
                for each in asked
            ]
            return draw(source, changed)

        patch.setattr(pool, "_draw", mixed)

    return plant


def no_noise_on_nothing(patch: pytest.MonkeyPatch) -> None:
    """Counts of 0 inside areas get no noise."""
    draw = pool._draw

    def quiet(source: Any, asked: Any) -> list[Any]:
        return [
            np.where(each.values == 0, 0, found) if each.method == "laplace" else found
            for each, found in zip(asked, draw(source, asked), strict=True)
        ]

    patch.setattr(pool, "_draw", quiet)


def maps_drawn_again(patch: pytest.MonkeyPatch) -> None:
    """Maps of which one is negative are all drawn again, on no account."""
    forest = ForestCurator.forest

    def again(self: Any, regions: Regions, counts: Any, plan: Any) -> Any:
        made = forest(self, regions, counts, plan)
        if any(each.value[0] < 0 for each in made):
            return [plan(Curator(each, self.units, self._noise)) for each in counts]
        return made

    patch.setattr(ForestCurator, "forest", again)


def the_whole_looked_at(patch: pytest.MonkeyPatch) -> None:
    """The own share follows the true number of records."""
    drawn = Country._drawn

    def adapted(self: Country, curator: Any, counts: AreaCounts) -> Any:
        share = min(0.9, 0.1 + float(counts.by_area.sum()) / 1000)
        other = Country(epsilon=self.epsilon, **{**self.settings(), "own_share": share})
        return drawn(other, curator, counts)

    patch.setattr(Country, "_drawn", adapted)


def true_counts_where_none_is_drawn(patch: pytest.MonkeyPatch) -> None:
    """An area without a draw of its own is divided by its true count."""
    levels = Country._count_levels

    def peeking(self: Country, curator: Any, people: Any, taken: Any) -> Any:
        if self.threshold is None or self.inside == mechanism.NO_MAPS or taken[0] > 0:
            return levels(self, curator, people, taken)
        whole = curator._Curator__counts.by_area.sum()
        if whole < self.threshold:
            return curator.open(), np.zeros(1, dtype=np.int64)
        return levels(self, curator, people, taken)

    patch.setattr(Country, "_count_levels", peeking)


IN_RELEASES: dict[str, Plant] = {
    "the exact total among the facts": _after_release(_with_total),
    "the exact total among the settings": _after_release(_with_setting),
    "counts as an attribute": _after_release(_with_attribute),
    "counts beside the public windows": _after_release(_in_windows),
    "land where records are": _after_release(_land_of_records),
    "empty areas at zero": _after_release(_empty_ones_at_zero),
    "an error that depends on records": _after_release(_fails),
    "empty areas skipped": empty_areas_skipped,
    "one record of a user": one_record_of_a_user,
    "maps of rectangles": maps_of_rectangles,
    "the largest budget of all lanes": _of_all_lanes(
        units=lambda asked: max(int(each.units.max()) for each in asked)
    ),
    "a sensitivity of 1 for all lanes": _of_all_lanes(sensitivity=lambda _: 1),
    "no noise on nothing": no_noise_on_nothing,
    "maps drawn again": maps_drawn_again,
    "the whole looked at": the_whole_looked_at,
    "true counts where none is drawn": true_counts_where_none_is_drawn,
}
"""What replays of a few settings and pairs must find."""


def k_a_part(patch: pytest.MonkeyPatch) -> None:
    """What is kept of a user is bounded file by file."""

    restore = Sum.restore

    def by_part(self: Any, added: Any, counted: Any) -> None:
        other = counted.held.identity + np.array([0, len(self.added)])
        held = dataclasses.replace(counted.held, identity=other)
        restore(self, added, dataclasses.replace(counted, held=held))

    patch.setattr(Sum, "restore", by_part)


def sea_to_the_fullest(patch: pytest.MonkeyPatch) -> None:
    """A place in no area goes to the area of most records."""
    assigned = Areas._assigned

    def drawn_to_records(self: Any, x: Any, y: Any, crs: Any) -> Any:
        found = assigned(self, x, y, crs)
        if (found >= 0).any():
            found[found < 0] = np.bincount(found[found >= 0]).argmax()
        return found

    patch.setattr(Areas, "_assigned", drawn_to_records)


def booked_afterwards(patch: pytest.MonkeyPatch) -> None:
    """A release is drawn, and then booked."""

    def release(self: Country, counts: Any, rng: Any = None, ledger: Any = None) -> Any:
        curator = ForestCurator(counts, round(self.epsilon * 1e12), rng)
        made = self._drawn(curator, counts)
        ledger.book(counts.key, curator.units, self.key, repr(self))
        return made

    patch.setattr(Country, "release", release)


def records_in_the_ledger(patch: pytest.MonkeyPatch) -> None:
    """The ledger's note for people says how many records there are."""
    release = Country.release

    def told(self: Country, counts: Any, rng: Any = None, ledger: Any = None) -> Any:
        book = ledger.book
        total = int(counts.by_area.sum())
        ledger.book = lambda key, units, name, what: book(key, units, name, f"{what} of {total}")
        return release(self, counts, rng, ledger=ledger)

    patch.setattr(Country, "release", told)


def half_is_booked(patch: pytest.MonkeyPatch) -> None:
    """The ledger hears of half of what is spent."""
    release = Country.release

    def thrifty(self: Country, counts: Any, rng: Any = None, ledger: Any = None) -> Any:
        book = ledger.book
        ledger.book = lambda key, units, name, what: book(key, units // 2, name, what)
        return release(self, counts, rng, ledger=ledger)

    patch.setattr(Country, "release", thrifty)


IN_BOOKS: dict[str, Plant] = {
    "booked afterwards": booked_afterwards,
    "records in the ledger": records_in_the_ledger,
    "half is booked": half_is_booked,
}
