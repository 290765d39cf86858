"""HTF's choice of one cut: what every cut would really cost, and what the search saw.

Exact costs need the matrix: they are for the curator's screen. Noisy costs of the cuts that
Algorithm 1 looked at are part of the release (they have been paid for).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.mechanisms import HTF, rebuild
from explorer.mechanisms.figures import Figures, cut_of
from explorer.points import split_costs as homogeneity
from explorer.points.matrix import FrequencyMatrix
from explorer.privacy import cuts
from explorer.releases.release import Release
from explorer.releases.units import laplace_variance

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_ONE = 1 << homogeneity.LATTICE_BITS
#: Cells that may be looked at for one curve where its counts are beyond the tables.
_MOST_SCANNED = 3e8


@dataclass(frozen=True, eq=False)
class CutStudy:
    """All cuts of one node.

    Attributes
    ----------
    axis : 0 if rows are cut, 1 if columns
    positions, costs : (m,) first row or column of the upper half, and its exact cost: the sum over
        the cells of both halves of the distance from their half's mean
    looked_at, noisy : (k,) the same of the cuts that Algorithm 1 evaluated, in its order
    stored : whether the release still holds those
    rule : the mechanism's split rule
    allowed : first and last position among which the rule may choose
    chosen : position of the released cut
    noise_sd : standard deviation of the noise in every noisy cost; NaN where none is added
    """

    axis: int
    positions: Ints
    costs: Floats
    looked_at: Ints
    noisy: Floats
    stored: bool
    rule: str
    allowed: tuple[int, int]
    chosen: int
    noise_sd: float

    @property
    def best(self) -> int:
        """Position of the cut with the lowest exact cost."""
        return int(self.positions[np.argmin(self.costs)])

    def cost(self, position: int) -> float:
        """Exact cost of one of `positions`."""
        return float(self.costs[np.searchsorted(self.positions, position)])


def study_cut(matrix: FrequencyMatrix, release: Release, number: int) -> CutStudy | None:
    """The cuts of an inner node of HTF; None for leaves and other mechanisms.

    Parameters
    ----------
    matrix : FrequencyMatrix
        The one that the release was drawn from.
    release : Release
    number : position in its tree
    """
    it = Figures(release, number)
    if release.mechanism != HTF.key or it.is_leaf:
        return None
    htf: Any = rebuild(release)
    axis, chosen = cut_of(release.tree, number)
    looked_at, noisy = _candidates(release, number)
    lower, upper = release.tree.lower[number], release.tree.upper[number]
    positions = np.arange(lower[axis] + 1, upper[axis])
    mean = int(matrix.count(lower[None], upper[None])[0]) / it.cells
    if mean > matrix.tables.excess.shape[2] / 2:
        # Such boxes are scanned cell by cell: only every n-th cut then, and those that matter.
        step = int(np.ceil(it.cells * len(positions) / _MOST_SCANNED))
        positions = np.unique(np.concatenate([positions[::step], looked_at, [chosen]]))
    low, high = (np.broadcast_to(corner, (len(positions), 2)).copy() for corner in (lower, upper))
    axes = np.full(len(positions), axis)
    costs = matrix.split_costs(low, high, axes, positions)
    first, last = cuts.window(np.array([upper[axis] - lower[axis]]), htf.split_rule)
    return CutStudy(
        axis=axis,
        positions=positions,
        costs=costs / _ONE,
        looked_at=looked_at,
        noisy=noisy,
        stored=bool(release.candidates),
        rule=htf.split_rule,
        allowed=(int(lower[axis] + first[0] + 1), int(lower[axis] + last[0] - 1)),
        chosen=chosen,
        noise_sd=_noise_sd(it, htf),
    )


def _candidates(release: Release, number: int) -> tuple[Ints, Floats]:
    """Positions and noisy costs of the cuts that were evaluated for a node."""
    positions, costs = [], []
    for drawn in release.candidates:
        place = int(np.searchsorted(drawn.ids, number))
        if place < len(drawn.ids) and drawn.ids[place] == number:
            positions.append(drawn.positions[place])
            costs.append(drawn.costs[place] / _ONE)
    return np.array(positions, dtype=np.int64), np.array(costs)


def _noise_sd(it: Figures, htf: Any) -> float:
    paid = it.release.tree.spent[it.number]
    stages = it.release.tree.stages
    units = int(paid[stages.index("split")]) if "split" in stages else 0
    if units == 0 or htf.split_rule not in ("search", "middle half", "middle quarter"):
        return float("nan")
    sensitivity = homogeneity.SENSITIVITY * it.release.contribution_bound
    share = np.array([units // (2 * htf.T + 1)])
    return float(np.sqrt(laplace_variance(share, sensitivity)[0])) / _ONE
