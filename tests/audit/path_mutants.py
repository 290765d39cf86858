"""Planted bugs on the ways that people's releases take: seven classes, one or more of each.

What is broken is the code that all mechanisms share, so each is switched on in place and found by
the checks of one default run of `dp-explorer audit`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from explorer.mechanisms import AG, HTF, UG, Identity, Mechanism, Mosaic, PrivTree
from explorer.mechanisms import base as mechanisms_base
from explorer.privacy import curator, noise, reports
from explorer.privacy.audit import budgets, proofs, sources
from explorer.privacy.audit.audit import front_door, replay_cases
from explorer.privacy.noise import ReleaseNoise
from explorer.privacy.reports import ReportingNoise
from explorer.releases import units
from explorer.releases.release import Release

Bug = Callable[[], Any]
BROKEN = "the run fails: (Attribute|Type|Name|Import|Key|Index)Error"
"""What is said of a bug that was not planted: it does not fit the code any more."""


@dataclass(frozen=True)
class PathMutant:
    """A bug, its class, how it is switched on, and where in a default run it is looked for."""

    name: str
    kind: str
    around: Bug
    found: Callable[[], str | None]


@cache
def by_case(kind: type[Mechanism], *numbers: int) -> Callable[[], str | None]:
    """Cases of a default run, all of which have numbers below 20, or `audit.LONGEST`."""
    return lambda: replay_cases(kind, numbers, 0, front_door).breach


SAVED, LARGE = 5, (9, 19)
"""Numbers of the case whose files are compared, and of the large ones."""


def by_law() -> str | None:
    # The longest calls are the same code as long ones, and cost as much as all others together.
    found = sources.check_mixed("release", ReleaseNoise(), 20_000)
    return next((f"{each.kind}, p {each.p_value:.1e}" for each in found if each.breach), None)


def by_asking() -> str | None:
    return sources.check_asked().fault


def by_proof() -> str | None:
    return proofs.privtree_paths(PrivTree, front_door).breach


def by_fractions() -> str | None:
    return "; ".join(budgets.check_budgets()) or None


def last_part_exact() -> Any:
    right = ReportingNoise.laplace

    def wrong(self, values, sensitivity, units, keys, stage):
        noisy = right(self, values, sensitivity, units, keys, stage)
        rest = len(values) // reports._DRAWS * reports._DRAWS
        if rest:
            noisy[rest:] = values[rest:]
        return noisy

    return patch.object(ReportingNoise, "laplace", wrong)


def parts_share_noise() -> Any:
    right = ReleaseNoise.laplace

    def wrong(self, values, sensitivity, units, keys, stage):
        noisy = right(self, values, sensitivity, units, keys, stage)
        if len(values) > 1_000:
            noisy[-7:] = values[-7:] + (noisy[:7] - values[:7])
        return noisy

    return patch.object(ReleaseNoise, "laplace", wrong)


def first_budget_for_all() -> Any:
    right = ReleaseNoise.laplace

    def wrong(self, values, sensitivity, units, keys, stage):
        return right(self, values, sensitivity, np.full_like(units, units[:1].sum()), keys, stage)

    return patch.object(ReleaseNoise, "laplace", wrong)


def budgets_backwards() -> Any:
    right = curator.Curator.count

    class Backwards:
        preview = False

        def __init__(self, source):
            self.source = source

        def laplace(self, values, sensitivity, units, keys, stage):
            return self.source.laplace(values, sensitivity, units[::-1].copy(), keys, stage)

    def wrong(self, regions, units, stage):
        own, self._noise = self._noise, Backwards(self._noise)
        try:
            return right(self, regions, units, stage)
        finally:
            self._noise = own

    return patch.object(curator.Curator, "count", wrong)


def steered_in_long_jumps() -> Any:
    """Where several levels were passed over the plan sees exact counts of what is full."""
    right = curator.Curator.count

    def wrong(self, regions, units, stage):
        noisy = right(self, regions, units, stage)
        if stage != "levels" or len(regions.book) < 1_000:
            return noisy
        exact = self._Curator__counts.count(regions.lower, regions.upper)
        return np.where(noisy > 100, np.maximum(exact, 1), noisy)

    return patch.object(curator.Curator, "count", wrong)


@contextmanager
def released_with(leak: Callable[[Release, Any], None]) -> Iterator[None]:
    right = Mechanism.release

    def wrong(self, matrix, rng=None, progress=None, ledger=None):
        release = right(self, matrix, rng, progress, ledger)
        leak(release, mechanisms_base.as_counts(matrix))
        return release

    with patch.object(Mechanism, "release", wrong):
        yield


def sums_on_the_release() -> Any:
    return released_with(lambda release, counts: release.__dict__.update(_sums=counts.sums))


def kept_answers_exact() -> Any:
    """Under the name of something that a release computes and keeps by itself."""

    def leak(release: Release, counts: Any) -> None:
        if not release.preview:
            release.__dict__["counts"] = counts.count(release.lower, release.upper) * 1.0

    return released_with(leak)


def total_in_the_file() -> Any:
    right = Release.in_file
    totals: dict[int, int] = {}

    def wrong(self):
        return right(self) | {"records": totals.get(0, 0)}

    @contextmanager
    def around() -> Iterator[None]:
        with (
            released_with(lambda _release, counts: totals.update({0: int(counts.total)})),
            patch.object(Release, "in_file", wrong),
        ):
            yield

    return around()


def note_beside_the_file() -> Any:
    right = Release.save
    totals: dict[int, int] = {}

    def wrong(self, path):
        right(self, path)
        Path(f"{path}.log").write_text(f"{totals.get(0)} records")

    @contextmanager
    def around() -> Iterator[None]:
        with (
            released_with(lambda _release, counts: totals.update({0: int(counts.total)})),
            patch.object(Release, "save", wrong),
        ):
            yield

    return around()


def delta_of_ln_2() -> Any:
    # The only logarithm that the curator takes is that of PrivTree's number of children.
    class Half:
        def __getattr__(self, name):
            return getattr(curator_math, name)

        @staticmethod
        def log(_b):
            return curator_math.log(2)

    curator_math = curator.math
    return patch.object(curator, "math", Half())


def units_doubled() -> Any:
    right = units.to_units
    return patch.object(mechanisms_base, "to_units", lambda epsilon: 2 * right(epsilon))


def scale_halved() -> Any:
    right = noise._safe_scale
    return patch.object(noise, "_safe_scale", lambda s, u: right(s, u) / 2)


def share_doubled() -> Any:
    right = units.share
    return patch.object(units, "share", lambda whole, part: 2 * right(whole, part))


PATH_MUTANTS = [
    PathMutant("last part of a call exact", "chunks", last_part_exact, by_case(Identity, *LARGE)),
    PathMutant("parts share their noise", "chunks", parts_share_noise, by_asking),
    PathMutant("first budget for a whole call", "mixed", first_budget_for_all, by_law),
    PathMutant("first budget for a call, asked", "mixed", first_budget_for_all, by_asking),
    PathMutant("budgets of a call backwards", "mixed", budgets_backwards, by_case(Mosaic, *LARGE)),
    PathMutant(
        "exact counts in long jumps", "large", steered_in_long_jumps, by_case(Mosaic, *LARGE)
    ),
    PathMutant("exact sums on the release", "attributes", sums_on_the_release, by_case(UG, SAVED)),
    PathMutant("exact counts where kept", "attributes", kept_answers_exact, by_case(HTF, *LARGE)),
    PathMutant("exact total in the file", "files", total_in_the_file, by_case(AG, SAVED)),
    PathMutant("exact total beside the file", "files", note_beside_the_file, by_case(UG, SAVED)),
    PathMutant("PrivTree's delta of ln 2", "constants", delta_of_ln_2, by_proof),
    PathMutant("units doubled", "units", units_doubled, by_case(UG, SAVED)),
    PathMutant("OpenDP's scale halved", "units", scale_halved, by_asking),
    PathMutant("shares doubled", "units", share_doubled, by_fractions),
]
