"""What the paper on origin-destination matrices (trips-2022) claims, and its figures in form.

trips-2022 is Shaham, Ghinita and Shahabi, "Differentially-Private Publication of Origin-Destination
Matrices with Intermediate Stops", EDBT 2022. The error is the mean relative error with smoothing 20
over 1,000 boxes of random shape and size unless a claim is about others: Eq. 3 of the paper divides
by zero on empty boxes (erratum 53).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from explorer.evaluate.ranking import standard_error
from explorer.evaluate.results import figure
from explorer.mechanisms import EBP, EUG, MKM, DAFEntropy, DAFHomogeneity, Gravity, Identity
from explorer.mechanisms.base import Mechanism
from explorer.papers.bench import Bench
from explorer.papers.report import Claim, Table, claims_of, with_error
from explorer.papers.trip_bench import present
from explorer.papers.verdicts import (
    Comparison,
    Floats,
    Outcome,
    below,
    below_one,
    between,
    lowest,
    smaller,
)

Kinds = Sequence[type[Mechanism]]

GAUSSIANS = (
    "gauss:2:.05", "gauss:2:.2", "gauss:3:.05", "gauss:3:.2",
    "gauss:4:.05", "gauss:4:.2", "gauss:6:.05", "gauss:6:.2",
)  # fmt: skip
ZIPFS = ("zipf:2:1.5", "zipf:2:2.5", "zipf:4:1.5", "zipf:4:2.5", "zipf:6:1.5", "zipf:6:2.5")
PLACES = ("sf:o:1024", "san:o:1024", "nyc:o:1024")
TRIPS = (
    "sf:o,d:64", "san:o,d:64", "nyc:o,d:64", "sf:o,s2,d:64",
    "sf:o,d:1024", "san:o,d:1024", "sf:o,s1,d:256",
)  # fmt: skip

QUICK = (
    "gauss:2:.2", "gauss:4:.2", "gauss:6:.2", "zipf:4:1.5", "zipf:4:2.5", "sf:o:1024", "sf:o,d:64",
)  # fmt: skip

PROPOSED = (EUG, EBP, DAFEntropy, DAFHomogeneity)
PAPER = (Identity, MKM, *PROPOSED)

FIRST, EPSILONS, QUICK_EPSILONS = 0.1, (0.1, 0.3, 0.5), (0.1, 0.5)
TENTH = 0.1  # "an order of magnitude"
SIMILAR = 2.0  # our reading of "similar"
RECALLED = "MKM's formula is recalled, not confirmed (erratum 26b)."
FINEST = (Identity, MKM)
GRIDS = (EUG, EBP)
NEAR = ("random", "near10", "near25")
SIZES = ("random", "cov1", "cov5", "cov10", "near10")
CLAIMS: list[Claim] = []
_claim = claims_of("trips-2022", CLAIMS)


def epsilons(bench: Bench) -> tuple[float, ...]:
    """The paper's budgets; quick the first and the last."""
    return QUICK_EPSILONS if bench.quick else EPSILONS


def axes_of(key: str) -> int:
    """Number of axes of a set.

    >>> axes_of("gauss:3:.2"), axes_of("sf:o,s2,d:64")
    (3, 6)
    """
    second = key.split(":")[1]
    return int(second) if second.isdigit() else 2 * len(second.split(","))


def some(
    bench: Bench, keys: tuple[str, ...], min_axes: int = 2, max_axes: int = 6
) -> tuple[str, ...]:
    """Those of the sets that are here, have so many axes, and are wanted now."""
    fitting = [key for key in present(keys) if min_axes <= axes_of(key) <= max_axes]
    return tuple(key for key in fitting if not bench.quick or key in QUICK)


def cells(
    bench: Bench, keys: tuple[str, ...], min_axes: int = 2, max_axes: int = 6
) -> Iterator[tuple[str, float, str]]:
    """Set, budget, and both in words."""
    for key in some(bench, keys, min_axes, max_axes):
        for epsilon in epsilons(bench):
            yield key, epsilon, f"{key}, epsilon {epsilon:g}"


def errors(
    bench: Bench,
    key: str,
    kind: type[Mechanism],
    epsilon: float,
    workload: str = "random",
    metric: str = "mre20",
) -> Floats:
    """One error a seed, of a mechanism as it is by itself."""
    return bench.errors(key, kind(epsilon=epsilon), workload, metric)


@_claim("flat-order", "6.2, Fig. 4a-c")
def flat_order(bench: Bench) -> Outcome:
    """In two dimensions EBP and DAF-Entropy are the most accurate, ahead of DAF-Homogeneity and
    EUG.
    """
    results = [
        _pair(bench, f"{what}: {ours.title} against {theirs.title}", key, ours, theirs, epsilon)
        for key, epsilon, what in cells(bench, GAUSSIANS, 2, 2)
        for ours in (EBP, DAFEntropy)
        for theirs in (EUG, DAFHomogeneity)
    ]
    meaning = "error of EBP or DAF-Entropy over that of EUG or DAF-Homogeneity"
    return Outcome(meaning, results)


def _pair(
    bench: Bench,
    what: str,
    key: str,
    ours: type[Mechanism],
    theirs: type[Mechanism],
    epsilon: float,
) -> Comparison:
    """One mechanism against another on random boxes."""
    return smaller(what, *(errors(bench, key, kind, epsilon) for kind in (ours, theirs)))


def _against(
    bench: Bench,
    sets: tuple[str, ...],
    rivals: Kinds,
    workloads: Sequence[str] = ("random",),
    metric: str = "mre20",
    min_axes: int = 3,
    max_axes: int = 6,
) -> tuple[Comparison, ...]:
    """DAF-Entropy against the best of some, on sets of ``min_axes`` to ``max_axes`` axes."""
    return tuple(
        smaller(
            f"{what}, {workload}",
            errors(bench, key, DAFEntropy, epsilon, workload, metric),
            lowest([errors(bench, key, rival, epsilon, workload, metric) for rival in rivals]),
        )
        for key, epsilon, what in cells(bench, sets, min_axes, max_axes)
        for workload in workloads
    )


@_claim("finest-alike", "6.2, Fig. 4a-c")
def finest_alike(bench: Bench) -> Outcome:
    """In two dimensions MKM and Identity are similar."""
    results = [
        between(
            what,
            errors(bench, key, Identity, epsilon),
            errors(bench, key, MKM, epsilon),
            1 / SIMILAR,
            SIMILAR,
        )
        for key, epsilon, what in cells(bench, GAUSSIANS, 2, 2)
    ]
    meaning = "error of Identity over that of MKM, wanted between 0.5 and 2"
    return Outcome(meaning, results, RECALLED, sense=0)


@_claim("daf-clusters", "6.2, Fig. 4")
def daf_on_clusters(bench: Bench) -> Outcome:
    """On Gaussian clusters of more than two axes DAF is more accurate than grids that do not look
    at the data.
    """
    meaning = "error of DAF-Entropy over that of the better of EUG and EBP"
    return Outcome(meaning, _against(bench, GAUSSIANS, GRIDS))


@_claim("finest-clusters", "6.2, Fig. 4")
def finest_on_clusters(bench: Bench) -> Outcome:
    """On Gaussian clusters Identity and MKM are worse by an order of magnitude."""
    return _magnitude(bench, GAUSSIANS, ("random",))


def _magnitude(bench: Bench, sets: tuple[str, ...], workloads: Sequence[str]) -> Outcome:
    results = [
        below(
            f"{what}, {workload}, {kind.title}",
            errors(bench, key, DAFEntropy, epsilon, workload),
            errors(bench, key, kind, epsilon, workload),
            TENTH,
        )
        for key, epsilon, what in cells(bench, sets)
        for workload in workloads
        for kind in FINEST
    ]
    meaning = "error of DAF-Entropy over that of Identity or MKM, wanted 0.1 or less"
    return Outcome(meaning, results, RECALLED, sense=0)


@_claim("finest-zipf", "6.2, Fig. 5")
def finest_on_zipf(bench: Bench) -> Outcome:
    """Where Zipf's law holds the proposed methods are better than Identity and MKM by an order of
    magnitude.
    """
    return _magnitude(bench, ZIPFS, ("random",))


@_claim("skew", "6.2, Fig. 5")
def skew_hurts(bench: Bench) -> Outcome:
    """The error grows with the exponent of Zipf's law."""
    pairs = [
        (less, less.replace("1.5", "2.5"))
        for less in some(bench, ZIPFS)
        if less.endswith(":1.5") and less.replace("1.5", "2.5") in some(bench, ZIPFS)
    ]
    results = [
        smaller(
            f"{less} over {more}, {kind.title}",
            *(errors(bench, key, kind, FIRST) for key in (less, more)),
        )
        for less, more in pairs
        for kind in PROPOSED
    ]
    return Outcome("error with exponent 1.5 over that with 2.5", results)


@_claim("entropy-homogeneity", "6.2, 6.3, Fig. 4, 8")
def entropy_wins(bench: Bench) -> Outcome:
    """DAF-Entropy is more accurate than DAF-Homogeneity."""
    comparisons = _against(bench, (*GAUSSIANS, *ZIPFS, *TRIPS), (DAFHomogeneity,), min_axes=2)
    absolute = _against(bench, TRIPS, (DAFHomogeneity,), NEAR, "mae")
    aside = f"On real trips, by absolute error, it is {_value(absolute)}."
    return Outcome("error of DAF-Entropy over that of DAF-Homogeneity", comparisons, aside)


@_claim("finest-real", "6.3, Fig. 6")
def finest_on_places(bench: Bench) -> Outcome:
    """On real data Identity and MKM are worse by an order of magnitude."""
    return _magnitude(bench, (*PLACES, *TRIPS), ("random", "near10"))


@_claim("larger-boxes", "6.3, Fig. 6")
def larger_boxes_near(bench: Bench) -> Outcome:
    """Errors fall as boxes grow: boxes around trips."""
    return _by_size(bench, "near25", "near10")


@_claim("larger-boxes-anywhere", "6.3, Fig. 6")
def larger_boxes_anywhere(bench: Bench) -> Outcome:
    """Errors fall as boxes grow: boxes anywhere, as the paper has them."""
    return _by_size(bench, "cov10", "cov1")


@_claim("eug-poor", "6.3, Fig. 7")
def eug_is_poor(bench: Bench) -> Outcome:
    """On real places EUG is less accurate than EBP and DAF."""
    results = [
        _pair(bench, f"{what}: {kind.title}", key, kind, EUG, epsilon)
        for key, epsilon, what in cells(bench, PLACES)
        for kind in PROPOSED
        if kind is not EUG
    ]
    return Outcome("error of EBP, DAF-Entropy or DAF-Homogeneity over that of EUG", results)


@_claim("budget", "6.3, Fig. 7")
def budget_helps(bench: Bench) -> Outcome:
    """The errors of all methods fall as the budget grows."""
    results = []
    budgets = list(dict.fromkeys(e for _, e, _ in cells(bench, (*GAUSSIANS, *TRIPS))))
    for key in some(bench, (*GAUSSIANS, *PLACES, *TRIPS)):
        for kind in PROPOSED:
            for small, large in pairwise(budgets):
                what = f"{key}, {kind.title}, epsilon {large:g} over {small:g}"
                pair = [errors(bench, key, kind, epsilon) for epsilon in (large, small)]
                results.append(smaller(what, *pair))
    return Outcome("error with the larger budget over that with the smaller", results)


@_claim("daf-trips", "6.3, Fig. 8")
def daf_on_trips(bench: Bench) -> Outcome:
    """On real trips of four axes and more DAF is more accurate than EUG and EBP."""
    mended = [
        smaller(
            what,
            bench.errors(key, EUG(epsilon=epsilon, border_term="corrected")),
            errors(bench, key, DAFEntropy, epsilon),
        )
        for key, epsilon, what in cells(bench, TRIPS)
    ]
    ours = [
        smaller(
            what,
            errors(bench, key, Gravity, epsilon, workload),
            lowest([errors(bench, key, kind, epsilon, workload) for kind in PAPER]),
        )
        for key, epsilon, what in cells(bench, TRIPS)
        for workload in NEAR
    ]
    aside = (
        f"With the border term of erratum 47, EUG's error is {_value(mended)} of DAF-Entropy's on "
        f"random boxes; Gravity's, which the paper does not have, is {_value(ours)} of that of the "
        "best of the paper's six, chosen with hindsight."
    )
    meaning = "error of DAF-Entropy over that of the better of EUG and EBP"
    return Outcome(meaning, _against(bench, TRIPS, GRIDS, NEAR), aside)


def _by_size(bench: Bench, large: str, small: str) -> Outcome:
    results = []
    for key, epsilon, what in cells(bench, (*PLACES, *TRIPS)):
        for kind in PROPOSED:
            pair = [errors(bench, key, kind, epsilon, workload) for workload in (large, small)]
            results.append(smaller(f"{what}, {kind.title}", *pair))
    return Outcome(f"error on {large} over that on {small}", results)


@_claim("daf-mkm", "6.3, Fig. 6, 8")
def daf_and_mkm(bench: Bench) -> Outcome:
    """On real trips of four axes and more DAF is more accurate than MKM."""
    absolute = _against(bench, TRIPS, (MKM,), NEAR, "mae")
    aside = f"By absolute error the figure is {_value(absolute)}. {RECALLED}"
    return Outcome(
        "error of DAF-Entropy over that of MKM", _against(bench, TRIPS, (MKM,), NEAR), aside
    )


@_claim("gain-axes", "6.3, Fig. 8")
def gain_with_axes(bench: Bench) -> Outcome:
    """The more axes, the more DAF gains over grids."""
    sets = (*GAUSSIANS, *PLACES, *TRIPS)
    of_axes = {
        d: Outcome("", _against(bench, sets, GRIDS, min_axes=d, max_axes=d)) for d in (2, 4, 6)
    }
    steps = []
    for low, high in ((2, 4), (4, 6)):
        fewer, more = of_axes[low], of_axes[high]
        moves = np.mean([c.moves for c in more.cells], axis=0)
        moves = moves - np.mean([c.moves for c in fewer.cells], axis=0)
        what = f"{high} axes ({figure(1 / more.value)}) after {low} ({figure(1 / fewer.value)})"
        steps.append(below_one(what, more.value / fewer.value, moves))
    return Outcome("DAF-Entropy's error over that of grids, more axes over fewer", steps)


@_claim("daf-fast", "6.3, Table 3")
def daf_is_fast(bench: Bench) -> Outcome:
    """DAF takes less time than EUG and EBP."""
    keys = some(bench, (*PLACES, "gauss:2:.05", "gauss:2:.2"))
    results = [
        smaller(f"{key}: {ours.title} against {theirs.title}", *_seconds(bench, key, ours, theirs))
        for key in keys
        for ours in (DAFEntropy, DAFHomogeneity)
        for theirs in GRIDS
    ]
    return Outcome("time of DAF over that of EUG or EBP", results)


def _seconds(bench: Bench, key: str, *kinds: type[Mechanism]) -> list[Floats]:
    return [errors(bench, key, kind, FIRST, metric="seconds") for kind in kinds]


def _value(comparisons: Sequence[Comparison]) -> str:
    return figure(Outcome("", comparisons).value) if comparisons else "unknown"


def tables(bench: Bench) -> list[Table]:
    """Figures 4, 5, 7 and 8 and Table 3 in form; without the sets of a figure it has no rows."""
    first, budgets, random = (FIRST,), epsilons(bench), ("random",)
    return [
        _figure(bench, "4", "Gaussian clusters", GAUSSIANS, budgets, random, PAPER),
        _figure(bench, "5", "Zipf's law", ZIPFS, first, random, PAPER),
        # Without the finest grids.
        _figure(bench, "7", "places of two axes", PLACES, budgets, SIZES, PROPOSED),
        _figure(bench, "8", "trips of four axes and more", TRIPS, budgets, SIZES, PROPOSED),
        _table_3(bench),
    ]


def _figure(
    bench: Bench,
    number: str,
    what: str,
    sets: tuple[str, ...],
    budgets: Sequence[float],
    workloads: Sequence[str],
    kinds: Kinds,
) -> Table:
    columns: Kinds = (*kinds, Gravity)
    rows = [
        (key, f"{epsilon:g}", workload,
         *(_mean(bench, key, kind, epsilon, workload, "mre20") for kind in columns))
        for key in some(bench, sets)
        for epsilon in budgets
        for workload in workloads
    ]  # fmt: skip
    title = f"Figure {number}: mean relative error (smoothing 20), {what}"
    return Table(title, ("set", "epsilon", "boxes", *(kind.title for kind in columns)), rows)


def _table_3(bench: Bench) -> Table:
    kinds: Kinds = (*PAPER, Gravity)
    rows = [
        (key, *(_mean(bench, key, kind, FIRST, "random", "seconds") for kind in kinds))
        for key in some(bench, (*PLACES, "gauss:2:.05", "gauss:2:.2"))
    ]
    title = f"Table 3: seconds of processor time of a preview, two axes, epsilon {FIRST:g}"
    return Table(title, ("set", *(kind.title for kind in kinds)), rows)


def _mean(
    bench: Bench, key: str, kind: type[Mechanism], epsilon: float, workload: str, metric: str
) -> str:
    if axes_of(key) not in kind.dimensions:
        return "-"
    sample = errors(bench, key, kind, epsilon, workload, metric)
    return with_error(float(sample.mean()), standard_error(sample))
