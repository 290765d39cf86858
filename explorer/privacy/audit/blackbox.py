"""The second opinion: an audit that looks at releases alone.

A mechanism is run many times on two neighbours. On one half of the runs an event is chosen that
tells them apart; on the other half its probabilities are bounded (Clopper, Pearson 1934), so the
choice costs no confidence. If an event has a probability of at least p on one and at most p' on
the other, epsilon is at least ln(p / p'). This sees what reaches the output with hardly any noise;
finer faults are for `replay`.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.points.matrix import FrequencyMatrix
from explorer.privacy.audit.replay import Publish
from explorer.privacy.noise import Ints, NoiseSource, PreviewNoise
from explorer.releases.units import to_units

Floats = NDArray[np.float64]
_VALUES = 24
"""How many values of a feature are tried as events."""


@dataclass(frozen=True)
class Canary:
    """Two neighbours that a leak would tell apart: `counts`, and one record more in `cell`."""

    counts: Ints
    cell: tuple[int, int]

    @property
    def pair(self) -> tuple[FrequencyMatrix, FrequencyMatrix]:
        """D and D'."""
        more = self.counts.copy()
        more[self.cell] += 1
        return FrequencyMatrix.from_array(self.counts), FrequencyMatrix.from_array(more)


def canaries() -> list[Canary]:
    """An empty map; a total of 19, at which a tree's height turns; a person away from the others.

    The 19 lie in one cell, above the stop counts; the others in a corner of a row.
    """
    empty, town, row = (np.zeros(shape, dtype=np.int64) for shape in ((4, 4), (6, 5), (1, 9)))
    town[2, 3] = 19
    row[0, :3] = 4, 2, 5
    return [Canary(empty, (1, 2)), Canary(town, (2, 3)), Canary(row, (0, 7))]


def features(
    release: Any, cell: tuple[int, int], shape: tuple[int, int] | None = None
) -> tuple[float, ...]:
    """Numbers of a release that may give a record away.

    Leaves, total, count in the record's cell, where the map ends, and a fingerprint of the
    partition (the whole numbers up to 2^48). Of more than two axes the record is in the cell of
    the same row-major number, `shape` being that of the map.
    """
    partition = np.concatenate([release.lower, release.upper]).tobytes()
    fingerprint = hashlib.blake2b(partition, digest_size=6).digest()
    return (
        float(release.n_leaves),
        release.total,
        _count_in(release, cell, shape),
        float(release.upper.max()),
        float(int.from_bytes(fingerprint, "little")),
    )


def _count_in(release: Any, cell: tuple[int, int], shape: tuple[int, int] | None) -> float:
    sides = release.domain.shape
    if shape is None or len(sides) == 2:
        return float(release.density()[cell])
    where = np.array(np.unravel_index(np.ravel_multi_index(cell, shape), sides))
    box = np.stack([where, where + 1])[np.newaxis].astype(np.float64)
    return float(release.answer(release.domain.from_cells(box)).value[0])


def canary_bound(publish: Publish, canary: Canary, runs: int, seed: int, alpha: float) -> float:
    """A lower bound on epsilon from `runs` previews of either neighbour, see `epsilon_bound`."""
    seen = []
    for side, matrix in enumerate(canary.pair):
        seeds = np.random.default_rng([seed, side]).integers(2**62, size=runs).tolist()
        releases = (publish(matrix, PreviewNoise(each)) for each in seeds)
        shape = matrix.shape
        seen.append(np.array([features(release, canary.cell, shape) for release in releases]))
    return epsilon_bound(seen[0], seen[1], alpha)


def primitive_bounds(
    source: NoiseSource, draws: int, choices: int, alpha: float
) -> dict[str, float]:
    """Lower bounds on epsilon from single draws of each kind of noise; in truth it is 1.

    `draws` counts of 0 or 2 with sensitivity 2, as many decisions whether they pass 1, and
    `choices` selections among costs that move by 1.
    """
    keys = np.arange(2 * draws, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    units = np.full(draws, to_units(1))
    offsets = np.arange(choices + 1) * 3
    counts: list[NDArray[Any]] = []
    decisions: list[NDArray[Any]] = []
    chosen: list[NDArray[Any]] = []
    for value, costs, names in ((0, [1, 2, 0], keys[:draws]), (2, [0, 3, 1], keys[draws:])):
        exact = np.full(draws, value)
        counts.append(source.laplace(exact, 2, units, names, "counts"))
        decisions.append(source.above(exact, 1, 2, units, names, "decisions"))
        tiled = np.tile(costs, choices)
        picked = source.lowest(tiled, offsets, 1, units[:choices], names[:choices], "choices")
        chosen.append(picked)
    kinds = {"counts": counts, "decisions": decisions, "choices": chosen}
    return {
        kind: epsilon_bound(one[:, None].astype(float), other[:, None].astype(float), alpha)
        for kind, (one, other) in kinds.items()
    }


def clopper_pearson(hits: int, runs: int, alpha: float) -> tuple[float, float]:
    """Bounds on a probability that hold together but for a chance of alpha.

    >>> [round(bound, 4) for bound in clopper_pearson(0, 100, 0.05)]
    [0.0, 0.0362]
    """
    from scipy.stats import binomtest

    found = binomtest(hits, runs).proportion_ci(1 - alpha, method="exact")
    return float(found.low), float(found.high)


def epsilon_bound(one: Floats, other: Floats, alpha: float) -> float:
    """A lower bound on epsilon from what two neighbours published, too high at most in alpha.

    Parameters
    ----------
    one, other : (runs, features) numbers that runs on D and on D' published
    alpha : how often the bound may be too high

    Returns
    -------
    float
        0 or more.
    """
    half = len(one) // 2
    event = _telling_event(one[:half], other[:half])
    hits, other_hits = event.hits(one[half:]), event.hits(other[half:])
    if event.swapped:
        hits, other_hits = other_hits, hits
    runs = len(one) - half
    low, _ = clopper_pearson(hits, runs, alpha)
    _, high = clopper_pearson(other_hits, runs, alpha)
    return max(0.0, math.log(low / high)) if low > 0 else 0.0


@dataclass(frozen=True)
class _Event:
    """A feature is above, below or equal to a value; `swapped` when D' shows it more often."""

    feature: int
    compare: Callable[..., NDArray[np.bool_]]
    value: float
    swapped: bool

    def hits(self, seen: Floats) -> int:
        return int(np.count_nonzero(self.compare(seen[:, self.feature], self.value)))


def _telling_event(one: Floats, other: Floats) -> _Event:
    """The event with the best ratio, each probability taken one standard deviation for the worse.

    Without that, rare events would win: they promise much and hold little.
    """
    best, chosen = -math.inf, _Event(0, np.greater, 0.0, False)
    for feature in range(one.shape[1]):
        mine, theirs = one[:, feature], other[:, feature]
        together = np.concatenate([mine, theirs])
        values = np.unique(np.quantile(together, np.linspace(0, 1, _VALUES), method="lower"))
        for compare in (np.greater, np.less, np.equal):
            hits = compare(mine[:, None], values).sum(axis=0)
            other_hits = compare(theirs[:, None], values).sum(axis=0)
            for swapped, a, b in ((False, hits, other_hits), (True, other_hits, hits)):
                ratio = (a - np.sqrt(a)) / (b + np.sqrt(b) + 1.0)
                at = int(np.argmax(ratio))
                if ratio[at] > best:
                    best = float(ratio[at])
                    chosen = _Event(feature, compare, float(values[at]), swapped)
    return chosen
