"""Which sets, budgets and mechanisms the claims and figures are about."""

from __future__ import annotations

from collections.abc import Iterator

from explorer.mechanisms import EBP, EUG, MKM, DAFEntropy, DAFHomogeneity, Identity
from explorer.mechanisms.base import Mechanism
from explorer.papers.bench import Bench
from explorer.papers.trips.data import present
from explorer.papers.verdicts import Floats

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
