"""Planted bugs in the code that all mechanisms share: seven classes, several of each.

Each is switched on in place and found by a part of what one default run of `dp-explorer audit`
does. Two authors planted them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow.parquet

from explorer.country import audit as country
from explorer.country import mechanism as country_mechanism
from explorer.federated import audit as federated
from explorer.federated import mechanism as federated_mechanism
from explorer.federated.session import Session
from explorer.mechanisms import (
    AG,
    HTF,
    UG,
    Identity,
    KDStandard,
    Mechanism,
    Mosaic,
    Privlet,
    PrivTree,
    QuadTree,
)
from explorer.mechanisms import base as mechanisms_base
from explorer.points import split_costs
from explorer.privacy import curator, forest, noise, reports
from explorer.privacy.accounts import Accounts
from explorer.privacy.audit import audit, budgets, proofs, sources
from explorer.privacy.audit.audit import front_door, replay_cases
from explorer.privacy.curator import Curator
from explorer.privacy.noise import ReleaseNoise
from explorer.privacy.reports import ReportingNoise
from explorer.releases import units
from explorer.releases.release import Release
from tests.audit.mutants import Noise
from tests.audit.planting import Plant

Found = Callable[[], str | None]


@cache
def by_case(kind: type[Mechanism], *numbers: int) -> Found:
    """Cases of a default run, all of which have numbers below 20, or `audit.LONGEST`."""
    return lambda: replay_cases(kind, numbers, 0, front_door).breach


#: Numbers of the case whose files are compared, and of the large ones.
SAVED, LARGE = 5, (9, 19)


@cache
def by_countries(*numbers: int) -> Found:
    return lambda: country.replay_cases(numbers).breach


@cache
def by_people(*numbers: int) -> Found:
    return lambda: federated.replay_cases(numbers).breach


def by_law() -> str | None:
    # The longest calls are the same code as long ones, and cost as much as all others together.
    laws = sources.check_mixed("release", ReleaseNoise(), 20_000)
    return next((f"{law.kind}, p {law.p_value:.1e}" for law in laws if law.breach), None)


def by_asking() -> str | None:
    return sources.check_asked().fault


def by_proof() -> str | None:
    return proofs.privtree_paths(PrivTree, front_door).breach


def by_fractions() -> str | None:
    return "; ".join(budgets.check_budgets()) or None


LATEST: dict[str, Any] = {}
TOTALS: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
"""Totals by release, on no attribute of it; that of the last release is in `LATEST`."""


def exact_of(self: Any, regions: Any) -> Any:
    return self._Curator__counts.count(regions.lower, regions.upper)


def noisy_then(owner: Any, change: Callable[..., Any]) -> Plant:
    """A source's counts after `change(noisy, values, units, stage)`, which may return others."""

    def wrong(right, self, values, sensitivity, units, keys, stage):
        noisy = right(self, values, sensitivity, units, keys, stage)
        changed = change(noisy, values, units, stage)
        return noisy if changed is None else changed

    return owner, "laplace", wrong


def counted_otherwise(change: Callable[..., Any]) -> Plant:
    """`Curator.count` with figures that are changed behind the books."""

    def wrong(right, self, regions, units, stage):
        noisy = right(self, regions, units, stage).copy()
        change(self, regions, noisy)
        measured = self._notes.measured
        book, last = measured[-1]
        measured[-1] = book, replace(last, values=noisy)
        return noisy

    return Curator, "count", wrong


def released_with(leak: Callable[[Release, Any], None]) -> Plant:
    def wrong(right, self, matrix, rng=None, progress=None, ledger=None):
        release = right(self, matrix, rng, progress, ledger)
        leak(release, mechanisms_base.as_counts(matrix))
        return release

    return Mechanism, "release", wrong


def _keep_total(release: Release, counts: Any) -> None:
    TOTALS[release] = LATEST["total"] = int(counts.total)


def with_total(owner: Any, name: str, wrong: Callable[..., Any]) -> list[Plant]:
    """A leak of the total, which is known beside the release."""
    return [released_with(_keep_total), (owner, name, wrong)]


def booked_otherwise(change: Callable[..., Any]) -> Plant:
    """The ledger is told `change(total, units, words)` in place of units and words."""

    class Telling:
        def __init__(self, ledger: Any, total: int) -> None:
            self._ledger, self._total = ledger, total

        def book(self, key, units, name, what=""):
            units, what = change(self._total, units, what)
            return self._ledger.book(key, units, name, what)

    def wrong(right, self, matrix, rng=None, progress=None, ledger=None):
        telling = ledger and Telling(ledger, int(matrix.total))
        return right(self, matrix, rng, progress, telling)

    return Mechanism, "release", wrong


def last_part_exact(noisy, values, *_):
    rest = len(values) // reports._DRAWS * reports._DRAWS
    if rest:
        noisy[rest:] = values[rest:]


def part_repeats_the_part_before(noisy, values, *_):
    size = reports._DRAWS
    if len(values) > 21 * size:
        one, other = slice(19 * size, 20 * size), slice(20 * size, 21 * size)
        noisy[other] = values[other] + noisy[one] - values[one]


def parts_share_noise(noisy, values, *_):
    if len(values) > 1_000:
        noisy[-7:] = values[-7:] + (noisy[:7] - values[:7])


def forty_of_a_hundred_thousand(noisy, values, *_):
    noisy[100_000:100_040] = values[100_000:100_040]


def noise_of_the_call_before(noisy, values, _units, stage):
    """The noise of two stages of one length is the same."""
    before, kept = LATEST.get("stage"), LATEST.get("noise")
    if before not in (None, stage) and kept is not None and len(kept) == len(values):
        noisy = values + kept
    LATEST.update(stage=stage, noise=noisy - values)
    return noisy


def first_budget_for_all(right, self, values, sensitivity, units, keys, stage):
    return right(self, values, sensitivity, np.full_like(units, units[:1].sum()), keys, stage)


def small_groups_take_the_dearest(right, self, values, sensitivity, units, keys, stage):
    price, index, number = np.unique(units, return_inverse=True, return_counts=True)
    units = np.where(number[index] < 3, price.max(initial=0), units)
    return right(self, values, sensitivity, units, keys, stage)


def bound_forgotten_above_4(right, self, values, sensitivity, units, keys, stage):
    sensitivity = 1 if sensitivity in (5, 6, 7, 8) else sensitivity
    return right(self, values, sensitivity, units, keys, stage)


def budgets_backwards(right, self, regions, units, stage):
    own = self._noise
    self._noise = Noise(
        own, False, laplace=lambda values, sensitivity, units, keys, stage: own.laplace(
            values, sensitivity, units[::-1].copy(), keys, stage)
    )  # fmt: skip
    try:
        return right(self, regions, units, stage)
    finally:
        self._noise = own


def last_region_gets_more(right, self, regions, units, stage):
    paid = right(self, regions, units, stage)
    if len(paid) > 2 and paid[0] != paid[-1]:
        paid = paid.copy()
        paid[-1] += paid[-1] // 100
    return paid


def steered_in_long_jumps(right, self, regions, units, stage):
    """Where several levels were passed over the plan sees exact counts of what is full."""
    noisy = right(self, regions, units, stage)
    if stage != "levels" or len(regions.book) < 1_000:
        return noisy
    return np.where(noisy > 100, np.maximum(exact_of(self, regions), 1), noisy)


def full_nodes_never_stop(right, self, regions, units, stage):
    noisy = right(self, regions, units, stage)
    full = (exact_of(self, regions) > 4096) & (regions.cells >= 16)
    return np.where(full, 10**9, noisy) if stage == "stop test" else noisy


def never_below_an_exact_0(self, regions, noisy):
    noisy[(exact_of(self, regions) == 0) & (noisy < 0)] = 0


def empty_cells_exact_in_release_grade(self, regions, noisy):
    if not self._noise.preview:
        noisy[exact_of(self, regions) == 0] = 0


def names_collide_in_the_depth(right, self, parents, fan_out):
    """Nodes below level 16 have names of 20 bits, so that some share their noise."""
    begin = len(self)
    right(self, parents, fan_out)
    if len(self) > 2**17:
        self._keys[begin : len(self)] &= np.uint64(2**20 - 1)


def lanes_change_places(right, source, asked):
    """Areas that draw together in a release get each other's figures."""
    drawn = right(source, asked)
    same = [i for i, lane in enumerate(asked) if lane.method == "laplace"]
    if not source.preview and len(same) > 1 and len(drawn[same[0]]) == len(drawn[same[1]]):
        one, other = same[:2]
        drawn[one] = drawn[one] + (asked[other].values - asked[one].values)
    return drawn


def kept_answers_exact(release: Release, counts: Any) -> None:
    """Under the name of something that a release computes and keeps by itself."""
    if not release.preview:
        release.__dict__["counts"] = counts.count(release.lower, release.upper) * 1.0


def noise_kept_for_the_same_data(right, self, matrix, rng=None, progress=None, ledger=None):
    """A second release of the same data gets the noise of the first, for nothing."""
    kept = LATEST.setdefault("kept", {})
    key = getattr(matrix, "key", None), repr(self), isinstance(rng, int)
    if key[0] is None or key not in kept:
        kept[key] = right(self, matrix, rng, progress, ledger)
    return kept[key]


def progress_tells_parity(right, self, values, *asked):
    noisy = right(self, values, *asked)
    self._tell(self._done - 1e-12 * int(values.sum() % 2))
    return noisy


def rounds_tell_who_has_a_place(
    right, self, asking, number, depth, shape, progress=None, sample=None
):
    def tell(part):
        progress(part - 1e-9 * int(np.count_nonzero(asking._Asking__people.cells >= 0) % 97))

    right(self, asking, number, depth, shape, progress and tell, sample)


def note_beside_the_file(right, self, path):
    right(self, path)
    Path(f"{path}.log").write_text(f"{TOTALS.get(self)} records")


def size_of_one_kind_of_file(right, self, path):
    right(self, path)
    if str(path).endswith(".geojson"):
        with Path(path).open("a") as file:
            file.write("\n" * (TOTALS.get(self, 0) % 7))


def total_in_a_warning(right, self, path):
    warnings.warn(f"{TOTALS.get(self, 0)} records", stacklevel=2)
    right(self, path)


def row_groups_by_total(right, table, where, **named):
    return right(table, where, **(named | {"row_group_size": 1 + LATEST.get("total", 0) % 50}))


class DeltaOfLn2:
    """The only logarithm that the curator takes is that of PrivTree's number of children."""

    _math = curator.math

    def __getattr__(self, name):
        return getattr(self._math, name)

    def log(self, _b):
        return self._math.log(2)


def choices_at_half_their_scale(right, sensitivity, units):
    return right(sensitivity // 2 if sensitivity % 2 == 0 else sensitivity, units)


def twice(right, *asked):
    return 2 * right(*asked)


def digits_of_total(release, counts):
    facts = {**release.facts, "size": len(str(int(counts.total)))}
    object.__setattr__(release, "facts", facts)


RELEASE, REPORTING = (ReleaseNoise, "laplace"), (ReportingNoise, "laplace")
SAVED_UG, LARGE_UG, LARGE_MOSAIC = by_case(UG, SAVED), by_case(UG, *LARGE), by_case(Mosaic, *LARGE)
#: Class of a bug, its name, what finds it in a default run, and how it is planted.
PATH_MUTANTS: list[tuple[str, str, Found, list[Plant]]] = [
    ("chunks", "last part of a call exact", by_case(Identity, *LARGE),
     [noisy_then(ReportingNoise, last_part_exact)]),
    ("chunks", "a part repeats the one before", by_case(Identity, audit.LONGEST),
     [noisy_then(ReportingNoise, part_repeats_the_part_before)]),
    ("chunks", "parts share their noise", by_asking,
     [noisy_then(ReleaseNoise, parts_share_noise)]),
    ("chunks", "forty of a hundred thousand", by_asking,
     [noisy_then(ReleaseNoise, forty_of_a_hundred_thousand)]),
    ("chunks", "noise of the call before", by_law,
     [noisy_then(ReleaseNoise, noise_of_the_call_before)]),
    ("chunks", "lanes change places", by_countries(*range(8)),
     [(forest, "_draw", lanes_change_places)]),
    ("mixed", "first budget for a whole call", by_law, [(*RELEASE, first_budget_for_all)]),
    ("mixed", "first budget for a call, asked", by_asking, [(*RELEASE, first_budget_for_all)]),
    ("mixed", "small groups take the dearest", by_asking,
     [(*RELEASE, small_groups_take_the_dearest)]),
    ("mixed", "budgets of a call backwards", LARGE_MOSAIC, [(Curator, "count", budgets_backwards)]),
    ("mixed", "more for the last region", LARGE_MOSAIC,
     [(Curator, "_charge", last_region_gets_more)]),
    ("large", "exact counts in long jumps", LARGE_MOSAIC,
     [(Curator, "count", steered_in_long_jumps)]),
    ("large", "full nodes never stop", by_case(HTF, *LARGE),
     [(Curator, "count", full_nodes_never_stop)]),
    ("large", "empty areas without noise", by_countries(*range(8)),
     [noisy_then(forest._Lane,
                 lambda noisy, values, *_: noisy if values.any() else values.copy())]),
    ("large", "empty cells exact in a release", by_case(KDStandard, *LARGE),
     [counted_otherwise(empty_cells_exact_in_release_grade)]),
    ("large", "names collide in the depth", by_case(QuadTree, audit.LONGEST),
     [(Accounts, "_enter", names_collide_in_the_depth)]),
    ("attributes", "exact sums on the release", SAVED_UG,
     [released_with(lambda release, counts: release.__dict__.update(_sums=counts.sums))]),
    ("attributes", "exact counts where kept", by_case(HTF, *LARGE),
     [released_with(kept_answers_exact)]),
    ("attributes", "digits of the total in facts", SAVED_UG, [released_with(digits_of_total)]),
    ("attributes", "total when pickled", SAVED_UG, with_total(
        Release, "__getstate__", lambda _, self: vars(self) | {"_n": TOTALS.get(self, 0)})),
    ("attributes", "total in a frame", SAVED_UG, with_total(
        Release, "to_geodataframe",
        lambda right, self, *asked, **named: right(self, *asked, **named).assign(
            n=TOTALS.get(self, 0)))),
    ("attributes", "progress tells parity", LARGE_UG, [(*REPORTING, progress_tells_parity)]),
    ("attributes", "rounds tell who has a place", by_people(2),
     [(Session, "__init__", rounds_tell_who_has_a_place)]),
    ("attributes", "noise kept for the same data", SAVED_UG,
     [(Mechanism, "release", noise_kept_for_the_same_data)]),
    ("files", "exact total in the file", by_case(AG, SAVED), with_total(
        Release, "in_file", lambda right, self: right(self) | {"records": LATEST.get("total", 0)})),
    ("files", "exact total beside the file", SAVED_UG,
     with_total(Release, "save", note_beside_the_file)),
    ("files", "size of one kind of file", SAVED_UG,
     with_total(Release, "save", size_of_one_kind_of_file)),
    ("files", "total in a warning", SAVED_UG, with_total(Release, "save", total_in_a_warning)),
    ("files", "row groups by the total", by_case(QuadTree, SAVED),
     with_total(pyarrow.parquet, "write_table", row_groups_by_total)),
    ("files", "total said by the ledger", LARGE_UG,
     [booked_otherwise(lambda total, units, what: (units, f"{what} of {total} records"))]),
    ("constants", "PrivTree's delta of ln 2", by_proof, [(curator, "math", DeltaOfLn2())]),
    ("constants", "choices at half their scale", by_asking,
     [(noise, "_safe_scale", choices_at_half_their_scale)]),
    ("constants", "a split cost moves by 1", by_case(HTF, *range(4)),
     [(split_costs, "SENSITIVITY", split_costs.SENSITIVITY // 2)]),
    ("constants", "never below an exact 0", by_case(QuadTree, *range(4)),
     [counted_otherwise(never_below_an_exact_0)]),
    ("units", "units doubled", SAVED_UG, [(mechanisms_base, "to_units", twice)]),
    ("units", "OpenDP's scale halved", by_asking,
     [(noise, "_safe_scale", lambda right, *asked: right(*asked) / 2)]),
    ("units", "shares doubled", by_fractions, [(units, "share", twice)]),
    ("units", "the bound is forgotten above 4", by_case(Privlet, audit.LONGEST),
     [(*REPORTING, bound_forgotten_above_4)]),
    ("units", "booked at half its price", LARGE_UG,
     [booked_otherwise(lambda _, units, what: (units // 2, what))]),
    ("units", "units of a country doubled", by_countries(0),
     [(country_mechanism, "to_units", twice)]),
    ("units", "units of people doubled", by_people(0, 1),
     [(federated_mechanism, "to_units", twice)]),
]  # fmt: skip
