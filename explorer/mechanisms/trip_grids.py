"""Uniform grids of any number of dimensions: EUG, EBP and MKM (trips-2022, sections 3 and 5)."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import ClassVar

import numpy as np
import param

from explorer.mechanisms.base import Mechanism
from explorer.mechanisms.decisions import Decision, public
from explorer.mechanisms.figures import Figures, amount
from explorer.mechanisms.limits import require_parts
from explorer.mechanisms.options import TRIPS, total_share_option
from explorer.privacy.curator import Curator
from explorer.releases import inference
from explorer.releases.inference import Estimate
from explorer.releases.units import share, to_epsilon

C0 = 10 / math.sqrt(2)
"""c_0 of Eq. 6: the error inside cut cells that makes d = 2 the grid of grids-2013, c = 10."""


def eug_parts(total: float, epsilon: float, d: int, query_share: float | None = None) -> float:
    """Parts a side of EUG with the border term as printed (Eq. 6).

    a = (2 (d - 1)/d N epsilon / (sqrt 2 c_0))^(2 / (3 d - 2)). For questions that cover the share
    r of the domain m = a r^((2 - d) / (d (3 d - 2))) (Eq. 8, the minimiser of Eq. 6; Eq. 7 is not
    its derivative, erratum 46). Without a known r Eq. 13 averages that over r from 0 to 1
    (erratum 26): m = a d (3 d - 2) / (3 d^2 - 3 d + 2). For d = 2 both are sqrt(N epsilon / 10).

    Parameters
    ----------
    total : N, 0 or more
    epsilon : budget of every part
    d : dimensions, 2 or more
    query_share : r, above 0 and at most 1
    """
    a = (2 * (d - 1) / d * total * epsilon / (math.sqrt(2) * C0)) ** (2 / (3 * d - 2))
    if query_share is None:
        return a * d * (3 * d - 2) / (3 * d * d - 3 * d + 2)
    return float(a * query_share ** ((2 - d) / (d * (3 * d - 2))))


def eug_parts_corrected(
    total: float, epsilon: float, d: int, query_share: float | None = None
) -> float:
    """Parts a side of EUG with the border term of erratum 47, parameters as of `eug_parts`.

    A box has a border of d - 1 dimensions, so that r^((d-1)/d) N / (c_0 m) records are in the cells
    that it cuts, not r^(1/d) N / (c_0 m^(d-1)). With that and the noise sqrt(2 r m^d) / epsilon the
    mean error is least where m^((d+2)/2) = 2/d E2/E1 N epsilon / (sqrt 2 c_0), E1 the mean of
    r^(1/2) and E2 that of r^((d-1)/d): 2/3 and d / (2 d - 1) for r from 0 to 1.
    """
    border, noise = d / (2 * d - 1), 2 / 3
    if query_share is not None:
        border, noise = query_share ** ((d - 1) / d), query_share**0.5
    worth = 2 / d * border / noise * total * epsilon / (math.sqrt(2) * C0)
    return float(worth ** (2 / (d + 2)))


def ebp_parts(total: float, epsilon: float, d: int) -> float:
    """Parts a side of EBP: (N epsilon / sqrt 2)^(2 / (3 d)) (Eq. 19)."""
    return float((total * epsilon / math.sqrt(2)) ** (2 / (3 * d)))


def mkm_parts(total: float, d: int) -> float:
    """Parts a side of MKM: (N / sqrt(ln N))^(2 / (d + 2)), N 3 or more; recalled, see `MKM`."""
    n = max(total, 3.0)
    return float((n / math.sqrt(math.log(n))) ** (2 / (d + 2)))


class TripGrid(Mechanism):
    """A grid of equal parts, as many along every axis, counted with all but a noisy total."""

    dimensions: ClassVar[Collection[int]] = TRIPS
    for_maps: ClassVar[bool] = False
    paper: ClassVar[str] = "Shaham, Ghinita, Shahabi, 2022"
    group: ClassVar[str] = "Grids"

    total_share = total_share_option()

    @abstractmethod
    def parts(self, total: float, epsilon: float, d: int) -> float:
        """Parts a side for a noisy total over the bound, 0 or more, and the budget of a part."""

    def sides(
        self, total: float, epsilon: float, shape: Sequence[int]
    ) -> tuple[float, tuple[int, ...]]:
        """`parts`, and that many along every axis in whole numbers, none finer than its cells."""
        size = self.parts(total, epsilon, len(shape))
        return size, tuple(min(max(int(np.rint(size)), 1), side) for side in shape)

    def plan(self, curator: Curator) -> Estimate:
        """Noisy N, parts a side, one count a part with all that is left.

        Algorithm 1. Axes are divided one after the other, which changes no part: a question then
        walks past the slabs that it does not touch.
        """
        nodes = curator.open()
        total = int(curator.count(nodes, share(curator.units, self.total_share), "total")[0])
        rest = to_epsilon(int(curator.remaining(nodes)[0]))
        # Counts in units of the bound: noise is of that size, too.
        worth = max(total, 0) / curator.contribution_bound
        size, parts_by_axis = self.sides(worth, rest, curator.shape)
        # In Python's whole numbers: the product of six sides passes 64 bits.
        parts = math.prod(parts_by_axis)
        require_parts(self.title, parts, len(parts_by_axis), curator.preview, curator.spent)
        for axis, number in enumerate(parts_by_axis):
            if number > 1:
                nodes = nodes.across(axis, number)
        curator.count(nodes, curator.remaining(nodes), "parts")
        estimate = inference.leaves(curator.transcript(), ["parts"])
        estimate.facts["parts a side"] = size
        return estimate

    def decision(self, node: Figures) -> Decision:
        """The noisy total alone decides, for all parts alike."""
        size = float(node.release.facts["parts a side"])
        total = amount(node.root_draw("total"))
        why = f"A noisy total of {total} asks for {amount(size)} parts along every axis."
        if node.is_leaf:
            return public("a part of the grid", f"{self.title} divides no further. {why}")
        return public(f"divided into {node.fan_out:,} along one axis", why)


class EUG(TripGrid):
    """Extended uniform grid: parts as large as noise and cut borders together ask for.

    trips-2022, section 3.1, Algorithm 1, with errata 26 (Eq. 13 for an unknown share of the domain
    that questions cover, Eq. 8 for a known one), 46 (Eq. 8 and not Eq. 7) and, where it is
    chosen, 47 (the border term, which is wrong above two dimensions; the corrected grid is called
    EUG* in tables). N is noisy, from a small share of the budget.

    Examples
    --------
    Twelve trips from one cell to another, on two places of 4 x 4 cells:

    >>> from explorer import EUG, TripMatrix
    >>> trips = TripMatrix.from_coordinates(12 * [[0, 1, 3, 2]], [4, 4])
    >>> preview = EUG(epsilon=1).release(trips, rng=7)
    >>> preview.kind, preview.domain.shape, preview.preview
    ('trips', (4, 4, 4, 4), True)
    """

    key: ClassVar[str] = "eug"
    title: ClassVar[str] = "EUG"
    summary: ClassVar[str] = "An even grid of any dimensions, its parts as large as noise asks."
    colour: ClassVar[str] = "sky"
    marker: ClassVar[str] = "diamond"

    border_term = param.Selector(
        default="printed",
        objects=["printed", "corrected"],
        doc="How the error at the border of a question grows: as the paper prints it, right in two "
        "dimensions only, or corrected, which cuts finer.",
    )
    none_is: ClassVar[Mapping[str, str]] = {"asked_share": "Any share"}
    asked_share = param.Number(
        default=None,
        bounds=(1e-9, 1),
        softbounds=(1e-4, 1),
        allow_None=True,
        label="Share asked for",
        doc="Part of the whole domain that a question covers. Automatic: any part, as likely as "
        "any other.",
    )

    def parts(self, total: float, epsilon: float, d: int) -> float:
        """Eq. 13 or 8, with the chosen border term."""
        rules: dict[str, Callable[..., float]] = {
            "printed": eug_parts,
            "corrected": eug_parts_corrected,
        }
        return rules[self.border_term](total, epsilon, d, self.asked_share)


class EBP(TripGrid):
    """Entropy-based partitioning: a grid whose counts tell as much as its noise takes away.

    trips-2022, section 3.2, Eq. 19. The paper minimises Eq. 16, which has no minimum; Eq. 18 and 19
    balance its two terms (erratum 48).

    Examples
    --------
    >>> from explorer import EBP, TripMatrix
    >>> trips = TripMatrix.from_coordinates(12 * [[0, 1, 3, 2]], [4, 4])
    >>> preview = EBP(epsilon=1).release(trips, rng=7)
    >>> preview.kind, preview.n_leaves <= 4**4
    ('trips', True)
    """

    key: ClassVar[str] = "ebp"
    title: ClassVar[str] = "EBP"
    summary: ClassVar[str] = "An even grid whose parts balance noise against lost detail."
    colour: ClassVar[str] = "sky"
    marker: ClassVar[str] = "circle"
    dash: ClassVar[str] = "dashed"

    def parts(self, total: float, epsilon: float, d: int) -> float:
        """Eq. 19."""
        return ebp_parts(total, epsilon, d)


class MKM(TripGrid):
    """A grid whose parts depend on the number of records alone, whatever the budget.

    The formula is *recalled, not confirmed* (erratum 26b): Lei, Differentially private
    M-estimators, 2011, takes cells of width (sqrt(ln n) / n)^(2 / (d + 2)), but its text was not at
    hand. The noisy total counts as 3 at least. It ignores epsilon, so it cuts far too fine where
    the budget is small; the finest grid of trips-2022.

    Examples
    --------
    >>> from explorer import MKM, TripMatrix
    >>> trips = TripMatrix.from_coordinates(12 * [[0, 1, 3, 2]], [4, 4])
    >>> preview = MKM(epsilon=1).release(trips, rng=7)
    >>> preview.kind, preview.n_leaves <= 4**4
    ('trips', True)
    """

    key: ClassVar[str] = "mkm"
    title: ClassVar[str] = "MKM"
    summary: ClassVar[str] = "A very fine even grid, whatever the budget (formula recalled)."
    paper: ClassVar[str] = "Lei 2011, recalled; compared in Shaham, Ghinita, Shahabi, 2022"
    group: ClassVar[str] = "Grids"
    colour: ClassVar[str] = "blue"
    marker: ClassVar[str] = "square"
    dash: ClassVar[str] = "dashed"

    def parts(self, total: float, epsilon: float, d: int) -> float:
        """From N alone."""
        return mkm_parts(total, d)
