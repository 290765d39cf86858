"""Where to cut a side into several parts: the candidate sets of DAF-Homogeneity (trips-2022, 4.3).

A region is cut across one axis into m slabs by m - 1 cuts (erratum 25: the text draws m points).
A candidate set has its j-th cut within half a part of where equal parts would have it. Candidates
follow from the region's name and their own number: public, the same on every data set, never from
where records are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.privacy.accounts import Keys, mix
from explorer.privacy.counts import Sliced
from explorer.privacy.noise import NoiseSource
from explorer.releases.nodes import Ints

_CANDIDATE = np.uint64(0xD1342543DE82EF95)
_CUT = np.uint64(0xA24BAED4963EE407)


@dataclass(frozen=True)
class Offers:
    """p candidate sets of cuts for each of n regions: m_i - 1 cuts in region i, t in all."""

    # (p, t) first cell of the upper slab at every cut, region by region, increasing in each
    cuts: Ints
    cut_owner: Ints  # (t,) which region each belongs to
    owner: Ints  # (t + n,) which region each slab belongs to
    # start, stop: (p, t + n) first cell of every slab, and first cell behind it
    start: Ints
    stop: Ints

    @classmethod
    def of(cls, keys: Keys, low: Ints, high: Ints, parts: Ints, number: int) -> Offers:
        """Candidates for sides of cells `low` .. `high` - 1.

        Cut j = 1 .. m - 1 of a side of L cells is at low + (j - 1/2 + U) L / m, U uniform on
        (0, 1), rounded down; then moved as little as leaves a cell for every slab on either side.
        """
        cut_owner, j = _counted_off(parts - 1)
        j += 1
        offset, room = (high - low)[cut_owner], (high - low - parts)[cut_owner]
        drawn = (j - 0.5 + _uniforms(keys[cut_owner], j, number)) * offset / parts[cut_owner]
        # Less the cells that slabs before it need, a cut may be at 0 .. L - m and never go back.
        slack = np.clip(np.floor(drawn).astype(np.int64) - j, 0, room)
        # One running maximum for all regions: each begins above all of those before it.
        above = (np.cumsum(high - low) - (high - low))[cut_owner]
        slack = np.maximum.accumulate(slack + above, axis=1) - above
        cuts = low[cut_owner] + j + slack
        owner, k = _counted_off(parts)
        start, stop = np.empty((2, number, len(owner)), dtype=np.int64)
        first, last = k == 0, k == parts[owner] - 1
        start[:, first], stop[:, last] = low, high
        start[:, ~first] = stop[:, ~last] = cuts
        return cls(cuts, cut_owner, owner, start, stop)

    def chosen(self, index: Ints) -> Ints:
        """The cuts of one candidate set of each region, (t,); `index` (n,)."""
        result: Ints = self.cuts[index[self.cut_owner], np.arange(self.cuts.shape[1])]
        return result

    def costs(self, counts: Sliced, lower: Ints, upper: Ints, axis: int) -> Ints:
        """Homogeneity costs of all candidate sets, (n, p), on the lattice of `split_costs`.

        Erratum 51: over all cells of the slabs, empty ones too. A record is in one slab of each
        set and moves its cost by at most 2, rounded or not.
        """
        slab_costs = counts.slab_costs(lower, upper, axis, self.owner, self.start, self.stop)
        begins = np.flatnonzero(np.diff(self.owner, prepend=-1))
        return np.ascontiguousarray(np.add.reduceat(slab_costs, begins, axis=1).T)


def least(
    noise: NoiseSource,
    rule: str,
    costs: Ints,
    sensitivity: int,
    units: Ints,
    keys: Keys,
    stage: str,
) -> Ints:
    """A set of nearly the least cost for each of n regions, (n,) positions among its candidates.

    Parameters
    ----------
    rule : "noised costs", p releases of figures of the same data: Laplace noise of scale 2 p /
        epsilon on each, the least wins (erratum 22: line 14 prints p^2 times less, a loss of p^2
        times the claim); or "noisy-min", permute-and-flip: the index alone is released
    costs : (n, p)
    sensitivity : how far one unit of privacy moves any cost
    units : (n,) budgets; multiples of p for noised costs
    """
    n, p = costs.shape
    if rule == "noisy-min":
        offsets = np.arange(n + 1) * p
        return noise.lowest(costs.ravel(), offsets, sensitivity, units, keys, stage)
    per_candidate, names = np.repeat(units // p, p), draw_keys(keys, p).ravel()
    noisy = noise.laplace(costs.ravel(), sensitivity, per_candidate, names, stage)
    return noisy.reshape(n, p).argmin(axis=1)


def draw_keys(keys: Keys, number: int) -> Keys:
    """Names of `number` draws of each of n regions, (n, number)."""
    with np.errstate(over="ignore"):
        steps = np.arange(1, number + 1, dtype=np.uint64) * _CANDIDATE
        named: Keys = mix(keys[:, np.newaxis] + steps)
    return named


def _counted_off(number: Ints) -> tuple[Ints, Ints]:
    """Owner and rank, from 0, of `number` (n,) things of each of n owners, in their order."""
    owner = np.repeat(np.arange(len(number)), number)
    return owner, np.arange(len(owner)) - (np.cumsum(number) - number)[owner]


def _uniforms(keys: Keys, j: Ints, number: int) -> NDArray[np.float64]:
    """Public numbers between 0 and 1, (number, len(keys)), from names of regions and cuts."""
    with np.errstate(over="ignore"):
        words = mix(draw_keys(keys, number).T + j.astype(np.uint64) * _CUT)
    return (words >> np.uint64(11)).astype(np.float64) * 2.0**-53
