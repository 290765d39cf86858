"""More planted bugs of the seven classes, in other rooms and rarer, as another author plants them.

Each is switched on in place and looked for by a part of what one default run of
`dp-explorer audit` does, named by the mechanism and the kind of case.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow.parquet

from explorer.country import audit as country
from explorer.country import mechanism as country_mechanism
from explorer.federated import audit as federated
from explorer.federated import mechanism as federated_mechanism
from explorer.federated.session import Session
from explorer.mechanisms import HTF, UG, Identity, KDStandard, Mosaic, Privlet, QuadTree
from explorer.mechanisms.base import Mechanism
from explorer.points import split_costs
from explorer.privacy import accounts, curator, noise, pool, reports
from explorer.privacy.audit import audit
from explorer.privacy.noise import ReleaseNoise
from explorer.privacy.reports import ReportingNoise
from explorer.releases.release import Release
from tests.audit.path_mutants import (
    LARGE,
    SAVED,
    PathMutant,
    by_asking,
    by_case,
    by_law,
    released_with,
)

LATEST: dict[str, int] = {}


def by_longest(kind: type[Mechanism]) -> Callable[[], str | None]:
    return by_case(kind, audit.LONGEST)


@cache
def by_countries(*numbers: int) -> Callable[[], str | None]:
    return lambda: country.replay_cases(numbers).breach


@cache
def by_people(*numbers: int) -> Callable[[], str | None]:
    return lambda: federated.replay_cases(numbers).breach


def exact_of(self: Any, regions: Any) -> Any:
    return self._Curator__counts.count(regions.lower, regions.upper)


def counted_otherwise(change: Callable[..., Any]) -> Any:
    """`Curator.count` with figures that are changed behind the books."""
    right = curator.Curator.count

    def wrong(self, regions, units, stage):
        noisy = right(self, regions, units, stage).copy()
        change(self, regions, noisy, stage)
        measured = self._notes.measured
        book, last = measured[-1]
        measured[-1] = book, replace(last, values=noisy)
        return noisy

    return patch.object(curator.Curator, "count", wrong)


def part_repeats_the_part_before() -> Any:
    right = ReportingNoise.laplace

    def wrong(self, values, sensitivity, units, keys, stage):
        noisy = right(self, values, sensitivity, units, keys, stage)
        size = reports._DRAWS
        if len(values) > 21 * size:
            one, other = slice(19 * size, 20 * size), slice(20 * size, 21 * size)
            noisy[other] = values[other] + noisy[one] - values[one]
        return noisy

    return patch.object(ReportingNoise, "laplace", wrong)


def forty_of_a_hundred_thousand() -> Any:
    right = ReleaseNoise.laplace

    def wrong(self, values, sensitivity, units, keys, stage):
        noisy = right(self, values, sensitivity, units, keys, stage)
        noisy[100_000:100_040] = values[100_000:100_040]
        return noisy

    return patch.object(ReleaseNoise, "laplace", wrong)


def last_region_gets_more() -> Any:
    right = curator.Curator._charge

    def wrong(self, regions, units, stage):
        paid = right(self, regions, units, stage)
        if len(paid) > 2 and paid[0] != paid[-1]:
            paid = paid.copy()
            paid[-1] += paid[-1] // 100
        return paid

    return patch.object(curator.Curator, "_charge", wrong)


def small_groups_take_the_dearest() -> Any:
    right = ReleaseNoise.laplace

    def wrong(self, values, sensitivity, units, keys, stage):
        price, index, number = np.unique(units, return_inverse=True, return_counts=True)
        few = number[index] < 3
        units = np.where(few, price.max(initial=0), units)
        return right(self, values, sensitivity, units, keys, stage)

    return patch.object(ReleaseNoise, "laplace", wrong)


def full_nodes_never_stop() -> Any:
    right = curator.Curator.count

    def wrong(self, regions, units, stage):
        noisy = right(self, regions, units, stage)
        full = (exact_of(self, regions) > 4096) & (regions.cells >= 16)
        return np.where(full, 10**9, noisy) if stage == "stop test" else noisy

    return patch.object(curator.Curator, "count", wrong)


def digits_in_facts() -> Any:
    return released_with(
        lambda release, counts: (
            release.facts.update(size=len(str(int(counts.total))))
            if isinstance(release.facts, dict)
            else object.__setattr__(release, "facts", {"size": len(str(int(counts.total)))})
        )
    )


@contextmanager
def kept_beside() -> Iterator[WeakKeyDictionary[Any, int]]:
    """Totals by release, on no attribute of it."""
    totals: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
    with released_with(lambda release, counts: totals.update({release: int(counts.total)})):
        yield totals


@contextmanager
def total_when_pickled() -> Iterator[None]:
    with kept_beside() as totals:

        def state(self):
            return vars(self) | {"_n": totals.get(self, 0)}

        with patch.object(Release, "__getstate__", state):
            yield


@contextmanager
def total_when_asked_for_a_copy() -> Iterator[None]:
    """In what a public method returns."""
    with kept_beside() as totals:
        right = Release.to_geodataframe

        def wrong(self, *asked, **named):
            return right(self, *asked, **named).assign(n=totals.get(self, 0))

        with patch.object(Release, "to_geodataframe", wrong):
            yield


@contextmanager
def size_of_one_kind_of_file() -> Iterator[None]:
    with kept_beside() as totals:
        right = Release.save

        def wrong(self, path):
            right(self, path)
            if str(path).endswith(".geojson"):
                with Path(path).open("a") as file:
                    file.write("\n" * (totals.get(self, 0) % 7))

        with patch.object(Release, "save", wrong):
            yield


@contextmanager
def total_in_a_warning() -> Iterator[None]:
    with kept_beside() as totals:
        right = Release.save

        def wrong(self, path):
            warnings.warn(f"{totals.get(self, 0)} records", stacklevel=2)
            right(self, path)

        with patch.object(Release, "save", wrong):
            yield


@contextmanager
def row_groups_by_total() -> Iterator[None]:
    right = pyarrow.parquet.write_table

    def wrong(table, where, **named):
        return right(table, where, **(named | {"row_group_size": 1 + LATEST.get("total", 0) % 50}))

    with (
        released_with(lambda _, counts: LATEST.update(total=int(counts.total))),
        patch.object(pyarrow.parquet, "write_table", wrong),
    ):
        yield


def choices_at_half_their_scale() -> Any:
    right = noise._safe_scale

    def wrong(sensitivity, units):
        even = sensitivity % 2 == 0
        return right(sensitivity // 2 if even else sensitivity, units)

    return patch.object(noise, "_safe_scale", wrong)


def split_cost_moves_by_1() -> Any:
    return patch.object(split_costs, "SENSITIVITY", split_costs.SENSITIVITY // 2)


def bound_forgotten_above_4() -> Any:
    right = ReportingNoise.laplace

    def wrong(self, values, sensitivity, units, keys, stage):
        sensitivity = 1 if sensitivity in (5, 6, 7, 8) else sensitivity
        return right(self, values, sensitivity, units, keys, stage)

    return patch.object(ReportingNoise, "laplace", wrong)


def booked_at_half_its_price() -> Any:
    """All that books goes through the same method of whoever keeps the ledger."""
    right = Mechanism.release

    class Half:
        def __init__(self, ledger: Any) -> None:
            self._ledger = ledger

        def book(self, key, units, *words):
            return self._ledger.book(key, units // 2, *words)

    def wrong(self, matrix, rng=None, progress=None, ledger=None):
        return right(self, matrix, rng, progress, ledger and Half(ledger))

    return patch.object(Mechanism, "release", wrong)


def names_collide_in_the_depth() -> Any:
    """Nodes below level 16 have names of 20 bits, so that some share their noise."""
    right = accounts.Accounts._enter

    def wrong(self, parents, fan_out):
        begin = len(self)
        right(self, parents, fan_out)
        if len(self) > 2**17:
            self._keys[begin : len(self)] &= np.uint64(2**20 - 1)

    return patch.object(accounts.Accounts, "_enter", wrong)


def total_said_by_the_ledger() -> Any:
    right = Mechanism.release

    class Telling:
        def __init__(self, ledger: Any, total: int) -> None:
            self._ledger, self._total = ledger, total

        def book(self, key, units, name, what=""):
            return self._ledger.book(key, units, name, f"{what} of {self._total} records")

    def wrong(self, matrix, rng=None, progress=None, ledger=None):
        telling = ledger and Telling(ledger, int(matrix.total))
        return right(self, matrix, rng, progress, telling)

    return patch.object(Mechanism, "release", wrong)


def doubled(module: Any) -> Callable[[], Any]:
    right = module.to_units
    return lambda: patch.object(module, "to_units", lambda epsilon: 2 * right(epsilon))


def noise_of_the_call_before() -> Any:
    """In release style alone: the noise of two stages of one length is the same."""
    right = ReleaseNoise.laplace

    def wrong(self, values, sensitivity, units, keys, stage):
        noisy = right(self, values, sensitivity, units, keys, stage)
        before, of = LATEST.get("stage"), LATEST.get("noise")
        if before not in (None, stage) and of is not None and len(of) == len(values):
            noisy = values + of
        LATEST.update(stage=stage, noise=noisy - values)
        return noisy

    return patch.object(ReleaseNoise, "laplace", wrong)


def never_below_an_exact_0() -> Any:
    def change(self, regions, noisy, _stage):
        noisy[(exact_of(self, regions) == 0) & (noisy < 0)] = 0

    return counted_otherwise(change)


def empty_cells_exact_in_release_grade() -> Any:
    def change(self, regions, noisy, _stage):
        if not self._noise.preview:
            noisy[exact_of(self, regions) == 0] = 0

    return counted_otherwise(change)


def progress_tells_parity() -> Any:
    right = ReportingNoise.laplace

    def wrong(self, values, sensitivity, units, keys, stage):
        noisy = right(self, values, sensitivity, units, keys, stage)
        self._tell(self._done - 1e-12 * int(values.sum() % 2))
        return noisy

    return patch.object(ReportingNoise, "laplace", wrong)


def noise_kept_for_the_same_data() -> Any:
    """A second release of the same data gets the noise of the first, for nothing."""
    right, kept = Mechanism.release, {}

    def wrong(self, matrix, rng=None, progress=None, ledger=None):
        key = getattr(matrix, "key", None), repr(self), isinstance(rng, int)
        if key[0] is None or key not in kept:
            kept[key] = right(self, matrix, rng, progress, ledger)
        return kept[key]

    return patch.object(Mechanism, "release", wrong)


def lanes_change_places() -> Any:
    """Areas that draw together in a release get each other's figures."""
    right = pool._draw

    def wrong(source, asked):
        found = right(source, asked)
        same = [i for i, each in enumerate(asked) if each.method == "laplace"]
        if not source.preview and len(same) > 1 and len(found[same[0]]) == len(found[same[1]]):
            one, other = same[:2]
            found[one] = found[one] + (asked[other].values - asked[one].values)
        return found

    return patch.object(pool, "_draw", wrong)


def empty_areas_without_noise() -> Any:
    right = pool._Lane.laplace

    def wrong(self, values, sensitivity, units, keys, stage):
        noisy = right(self, values, sensitivity, units, keys, stage)
        return noisy if values.any() else values.copy()

    return patch.object(pool._Lane, "laplace", wrong)


def rounds_tell_who_has_a_place() -> Any:
    right = Session.__init__

    def wrong(self, asking, number, depth, shape, progress=None, sample=None):
        def tell(part):
            progress(part - 1e-9 * int(np.count_nonzero(asking._Asking__people.cells >= 0) % 97))

        right(self, asking, number, depth, shape, progress and tell, sample)

    return patch.object(Session, "__init__", wrong)


OTHER_MUTANTS = [
    PathMutant("a part repeats the one before", "chunks", part_repeats_the_part_before,
               by_longest(Identity)),
    PathMutant("forty of a hundred thousand", "chunks", forty_of_a_hundred_thousand, by_asking),
    PathMutant("lanes change places", "chunks", lanes_change_places, by_countries(*range(8))),
    PathMutant("more for the last region", "mixed", last_region_gets_more, by_case(Mosaic, *LARGE)),
    PathMutant("small groups take the dearest", "mixed", small_groups_take_the_dearest, by_asking),
    PathMutant("full nodes never stop", "large", full_nodes_never_stop, by_case(HTF, *LARGE)),
    PathMutant("empty areas without noise", "large", empty_areas_without_noise,
               by_countries(*range(8))),
    PathMutant("digits of the total in facts", "attributes", digits_in_facts, by_case(UG, SAVED)),
    PathMutant("total when pickled", "attributes", total_when_pickled, by_case(UG, SAVED)),
    PathMutant("total in a frame", "attributes", total_when_asked_for_a_copy, by_case(UG, SAVED)),
    PathMutant("progress tells parity", "attributes", progress_tells_parity, by_case(UG, *LARGE)),
    PathMutant("rounds tell who has a place", "attributes", rounds_tell_who_has_a_place,
               by_people(2)),
    PathMutant("noise kept for the same data", "attributes", noise_kept_for_the_same_data,
               by_case(UG, SAVED)),
    PathMutant("size of one kind of file", "files", size_of_one_kind_of_file, by_case(UG, SAVED)),
    PathMutant("total in a warning", "files", total_in_a_warning, by_case(UG, SAVED)),
    PathMutant("row groups by the total", "files", row_groups_by_total, by_case(QuadTree, SAVED)),
    PathMutant("choices at half their scale", "constants", choices_at_half_their_scale, by_asking),
    PathMutant("a split cost moves by 1", "constants", split_cost_moves_by_1,
               by_case(HTF, *range(4))),
    PathMutant("never below an exact 0", "constants", never_below_an_exact_0,
               by_case(QuadTree, *range(4))),
    PathMutant("empty cells exact in a release", "large", empty_cells_exact_in_release_grade,
               by_case(KDStandard, *LARGE)),
    PathMutant("the bound is forgotten above 4", "units", bound_forgotten_above_4,
               by_longest(Privlet)),
    PathMutant("booked at half its price", "units", booked_at_half_its_price, by_case(UG, *LARGE)),
    PathMutant("names collide in the depth", "large", names_collide_in_the_depth,
               by_longest(QuadTree)),
    PathMutant("total said by the ledger", "files", total_said_by_the_ledger, by_case(UG, *LARGE)),
    PathMutant("units of a country doubled", "units", doubled(country_mechanism), by_countries(0)),
    PathMutant("units of people doubled", "units", doubled(federated_mechanism), by_people(0, 1)),
    PathMutant("noise of the call before", "chunks", noise_of_the_call_before, by_law),
]  # fmt: skip
