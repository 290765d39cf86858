"""What the trips paper's private choice of cuts can see (DAF-Homogeneity, trips-2022, 4.3).

A node is to be cut into m slabs; p public candidate sets of cuts are compared by cost, the sum of
|c - mu| over all cells of their slabs. The paper puts Laplace noise of scale 2 p / epsilon_prt on
every cost (erratum 22) and takes the least; epsilon_prt is the share q of the level's budget.
Noisy-min releases the winner's number alone and needs exponential noise of scale 4 / epsilon_prt.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from explorer.mechanisms.daf import DAFHomogeneity, axes_in_order
from explorer.points.split_costs import LATTICE_BITS, SENSITIVITY
from explorer.privacy.curator import Curator
from explorer.privacy.partitions import Offers
from explorer.privacy.regions import Regions
from explorer.releases.units import UNITS_PER_EPSILON
from explorer.teaching.previews import turn
from explorer.trips.matrix import TripMatrix

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Choices that are played to see who wins how often.
PLAYED = 2000
#: Of a whole level: so many draws of noise at most, together.
_DRAWS = 80_000


@dataclass(frozen=True, eq=False)
class Level:
    """All nodes of one depth that are cut into two slabs or more.

    Attributes
    ----------
    axis : the axis that is cut across
    lower, upper : (n, d) the nodes
    parts : (n,) slabs of each, 2 or more
    costs : (n, p) true costs of the candidates, in trips
    epsilon : budget of each choice
    """

    axis: int
    lower: Ints
    upper: Ints
    parts: Ints
    costs: Floats
    epsilon: float

    def __len__(self) -> int:
        return len(self.parts)

    @property
    def ranges(self) -> Floats:
        """What there is to choose: most expensive less cheapest candidate of each node, (n,)."""
        return self.costs.max(axis=1) - self.costs.min(axis=1)

    @property
    def noise(self) -> float:
        """Scale of the noise on every cost, as the paper needs it: 2 p / epsilon."""
        return 2 * self.costs.shape[1] / self.epsilon

    @property
    def noise_of_least(self) -> float:
        """Scale of the noise of noisy-min: 4 / epsilon."""
        return 4 / self.epsilon

    def in_the_middle(self, number: int) -> int:
        """A node by its range: the median one for 0, others for other numbers."""
        order = np.argsort(self.ranges, kind="stable")
        return int(order[turn(number, len(order))])

    def gained(self, rng: np.random.Generator) -> tuple[float, float]:
        """Part of the possible gain that the paper's choice and noisy-min reach on all nodes.

        The gain of a choice is how far its cost is below the mean of the candidates, which is
        what a lottery gets; the possible gain is that of the cheapest.
        """
        possible = (self.costs.mean(axis=1) - self.costs.min(axis=1)).sum()
        if possible <= 0:
            return 0.0, 0.0
        times = max(1, min(PLAYED, _DRAWS // self.costs.size))
        results = []
        for rule in ("noised costs", "noisy-min"):
            won = self._won(self.costs, rule, times, rng)
            cost = np.take_along_axis(self.costs, won, axis=1).mean(axis=1)
            results.append(float((self.costs.mean(axis=1) - cost).sum() / possible))
        return results[0], results[1]

    def wins(self, node: int, rule: str, rng: np.random.Generator) -> Floats:
        """Share of `PLAYED` choices that each candidate of a node wins, (p,)."""
        won = self._won(self.costs[node : node + 1], rule, PLAYED, rng)
        return np.bincount(won[0], minlength=self.costs.shape[1]) / PLAYED

    def _won(self, costs: Floats, rule: str, times: int, rng: np.random.Generator) -> Ints:
        """Who has the least noisy cost, (n, times), with continuous noise: the lattice is fine."""
        n, p = costs.shape
        result = np.empty((n, times), dtype=np.int64)
        step = max(1, _DRAWS // (p * times))
        for i in range(0, n, step):
            some = costs[i : i + step, np.newaxis, :]
            size = (len(some), times, p)
            if rule == "noised costs":
                # The difference of two exponentials is Laplace noise, in half the time.
                drawn = rng.standard_exponential(size) - rng.standard_exponential(size)
                noisy = some + self.noise * drawn
            else:
                noisy = some - self.noise_of_least * rng.standard_exponential(size)
            result[i : i + step] = noisy.argmin(axis=2)
        return result


@dataclass(frozen=True, eq=False)
class Seen:
    """What the choices of one preview had before them.

    Attributes
    ----------
    levels : (d,) by depth; None where no node is cut
    leaves : of the whole tree
    """

    levels: tuple[Level | None, ...]
    leaves: int


class _Watched(DAFHomogeneity):
    """DAF-Homogeneity that remembers what it had to choose from."""

    key: ClassVar[str] = ""
    looked: list[tuple[int, Regions, Ints, int]]

    def divide(
        self, curator: Curator, nodes: Regions, axis: int, parts: Ints, choice: int
    ) -> Regions:
        """Remember the nodes, then choose."""
        self.looked.append((axis, nodes, parts, choice))
        return super().divide(curator, nodes, axis, parts, choice)


def seen(matrix: TripMatrix, epsilon: float, q: float, p: int, seed: int = 0) -> Seen:
    """Run DAF-Homogeneity as a preview and look at the true costs of all of its candidates.

    Parameters
    ----------
    matrix : of four or six axes
    epsilon : of the whole release
    q : share of each level's budget for its cuts
    p : candidates, 2 or more
    """
    mechanism = _Watched(epsilon=epsilon, q=q, p=p)
    mechanism.looked = []
    release = mechanism.release(matrix, rng=seed)
    levels: dict[int, Level] = {}
    for axis, nodes, parts, choice in mechanism.looked:
        cut = nodes.select(parts > 1)
        if len(cut) == 0:
            continue
        lower, upper, number = cut.lower, cut.upper, parts[parts > 1]
        offers = Offers.of(cut.keys, lower[:, axis], upper[:, axis], number, p)
        costs = offers.costs(matrix, lower, upper, axis) / (1 << LATTICE_BITS)
        limit = SENSITIVITY * matrix.contribution_bound / (1 << LATTICE_BITS)
        assert limit == 2, "the scales above are those of one trip"
        paid = choice // p * p / UNITS_PER_EPSILON
        levels[axis] = Level(axis, lower, upper, number, costs, paid)
    order = axes_in_order(len(matrix.shape), mechanism.order)
    return Seen(tuple(levels.get(axis) for axis in order), len(release.counts))
