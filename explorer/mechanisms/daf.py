"""The density-aware framework: one axis a level, fan-outs from noisy counts (trips-2022, 4)."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import ClassVar

import numpy as np
import param

from explorer.mechanisms.base import Mechanism
from explorer.mechanisms.decisions import Decision, reached
from explorer.mechanisms.figures import Figures, amount
from explorer.mechanisms.limits import require_parts
from explorer.mechanisms.options import TRIPS, inference_option
from explorer.privacy.curator import Curator
from explorer.privacy.regions import Regions
from explorer.releases import inference
from explorer.releases.inference import Estimate
from explorer.releases.nodes import Ints
from explorer.releases.transcript import Floats
from explorer.releases.units import UNITS_PER_EPSILON, share

FIRST_SHARE = 0.01
"""Of the budget, for the root's draw: eps_0 of Eq. 33."""


def fan_out(noisy: Floats | Ints, epsilon: Floats, left: int) -> Floats:
    """Parts that a noisy count is worth, a real number: (y epsilon / sqrt 2)^(2 / (3 left)).

    Eq. 19 for the `left` axes that are not cut yet; y below 0 counts as 0. It cuts the last axes
    finest and is not consistent with itself (erratum 49); the consistent form is worse, by a
    quarter to a third, so this one is kept as printed.
    """
    worth: Floats = np.maximum(noisy, 0) * epsilon / math.sqrt(2)
    return worth ** (2 / (3 * left))


def level_budgets(units: int, m0: float, d: int) -> list[int]:
    """Budgets of depths 1 to d, units m0^(i/3) / sum of m0^(j/3) each, rounded down.

    Eq. 32 with erratum 24: `units` are what the root has left, and m0 = 1, where the closed form is
    0/0, gives equal parts.
    """
    weights = [m0 ** (i / 3) for i in range(1, d + 1)]
    return [int(units * (weight / sum(weights))) for weight in weights]


class DAF(Mechanism):
    """What both kinds share: a node at depth i is cut across axis i + 1, into as many parts as
    its noisy count is worth; the last draw of a path takes all that is left of its budget.
    """

    dimensions: ClassVar[Collection[int]] = TRIPS
    for_maps: ClassVar[bool] = False
    paper: ClassVar[str] = "Shaham, Ghinita, Shahabi, 2022"
    group: ClassVar[str] = "Trees"

    none_is: ClassVar[Mapping[str, str]] = {"stop_count": "No stop count"}
    stop_count = param.Number(
        default=None,
        bounds=(0, 1e6),
        softbounds=(0, 500),
        step=10,
        allow_None=True,
        doc="A node with a noisy count of this or less is not cut any more. Automatic: none, every "
        "axis is cut.",
    )
    order = param.Selector(
        default="origin first",
        objects=["origin first", "destination first"],
        label="Order of axes",
        doc="Which place is divided first, as printed or the other way round: the first gets the "
        "coarsest parts.",
    )

    inference = inference_option("leaves")

    @property
    def cut_share(self) -> float:
        """Part of a level's budget that chooses where to cut (q)."""
        return 0.0

    def plan(self, curator: Curator) -> Estimate:
        """Count, stop or cut across the next axis; the last counts take what is left."""
        nodes, d = curator.open(), len(curator.shape)
        budget, budgets, first_parts = share(curator.units, FIRST_SHARE), [0] * d, 1.0
        for depth, axis in enumerate(axes_in_order(d, self.order)):
            # Erratum 23: the root's draw, too, leaves a part of its budget for its cuts.
            choice = share(budget, self.cut_share)
            noisy = curator.count(nodes, budget - choice, "levels")
            if depth > 0 and self.stop_count is not None:
                leaves = nodes.select(noisy <= self.stop_count * curator.lattice)
                if len(leaves):
                    curator.count(leaves, curator.remaining(leaves), "leaves")
                going = noisy > self.stop_count * curator.lattice
                nodes, noisy = nodes.select(going), noisy[going]
                if len(nodes) == 0:
                    break
            rest = (curator.remaining(nodes) - choice) / UNITS_PER_EPSILON
            ideal_parts = fan_out(noisy / curator.contribution_bound, rest, d - depth)
            if depth == 0:
                first_parts = max(1.0, float(ideal_parts[0]))
                budgets = level_budgets(curator.units - budget, first_parts, d)
            parts = np.clip(np.rint(ideal_parts), 1, nodes.shape[:, axis]).astype(np.int64)
            number = sum(parts.tolist())
            require_parts(self.title, number, d, curator.preview, curator.spent)
            nodes = self.divide(curator, nodes, axis, parts, choice)
            budget = budgets[depth]
        else:
            curator.count(nodes, curator.remaining(nodes), "leaves")
        estimate = self._infer(curator)
        estimate.facts["parts at the root"] = first_parts
        return estimate

    def divide(
        self, curator: Curator, nodes: Regions, axis: int, parts: Ints, choice: int
    ) -> Regions:
        """Equal intervals: `parts` (n,) of each node across an axis, for nothing."""
        return nodes.across(axis, parts)

    def decision(self, node: Figures) -> Decision:
        """A noisy count and the budget that is left say into how many parts."""
        d = node.tree.lower.shape[1]
        if node.depth == d:
            return reached(d, d, "axes")
        counted = node.draw("levels")
        if node.is_leaf:
            verdict = f"stopped: {amount(counted)} ≤ {amount(float(self.stop_count))}"
            reason = "Its noisy count was not above the stop count; a fresh draw then counted it."
            return Decision("stopped", verdict, reason)
        before = node.above.path_epsilon if node.depth else 0.0
        level_epsilon = node.own_epsilon("levels") / (1 - self.cut_share)
        rest = node.release.epsilon - before - level_epsilon
        left = d - node.depth
        scaled = counted / node.release.contribution_bound
        worth = float(fan_out(np.array([scaled]), np.array([rest]), left)[0])
        reason = (
            f"({amount(max(scaled, 0.0))} × {rest:.3g} / √2)^(2/{3 * left}) = {worth:.2f}, to the "
            "nearest whole number, at least 1 and at most the cells of the side."
        )
        what = "1 part" if node.fan_out == 1 else f"{node.fan_out} parts"
        return Decision("on", f"noisy count {amount(counted)}: {what}", reason)

    def _infer(self, curator: Curator) -> Estimate:
        record = curator.transcript()
        if self.stop_count is None:
            return self.infer(record, ["leaves"])
        stop = float(self.stop_count * curator.lattice)
        # As HTF: a draw that decided about a leaf must weigh the same whichever way it fell.
        near = inference.in_doubt(record, "levels", np.full(len(record), stop))
        shares = inference.balanced_shares(record, curator.units, "levels", "cuts", near)
        return self.infer(record, ["leaves"], None, shares)


class DAFEntropy(DAF):
    """DAF with equal intervals.

    trips-2022, sections 4.2 and 4.4, Algorithm 2, with errata 24 (budgets of the levels), 48 and 49
    (its fan-outs, kept as printed), 50 (a path costs epsilon because its last draw takes epsilon
    less all before) and 52 (Table 2 says that this one has a budget for partitions: the other has).
    The order of axes decides much: the first is cut coarsest.

    Examples
    --------
    >>> from explorer import DAFEntropy, TripMatrix
    >>> trips = TripMatrix.from_coordinates(12 * [[0, 1, 3, 2]], [4, 4])
    >>> preview = DAFEntropy(epsilon=1).release(trips, rng=7)
    >>> preview.kind, round(sum(part for stage, part in preview.stages()), 6)
    ('trips', 1.0)
    """

    key: ClassVar[str] = "daf-entropy"
    title: ClassVar[str] = "DAF-Entropy"
    summary: ClassVar[str] = "One axis after the other, cut as finely as each noisy count is worth."
    colour: ClassVar[str] = "violet"
    marker: ClassVar[str] = "star"


class DAFHomogeneity(DAF):
    """DAF whose cuts are the best of some candidates, privately.

    trips-2022, sections 4.3 and 4.4, Algorithm 3, with errata 22 (noise of the costs), 23 (the
    root's budget is divided, too), 24, 25 (m parts need m - 1 cuts), 49, 50 and 51 (Lemma 4.1
    holds for costs over all cells, empty ones too). A node of one part, or a leaf, keeps what its
    choice would have cost for the last draw. One candidate is no choice and costs nothing.

    Examples
    --------
    >>> from explorer import DAFHomogeneity, TripMatrix
    >>> trips = TripMatrix.from_coordinates(12 * [[0, 1, 3, 2]], [4, 4])
    >>> preview = DAFHomogeneity(epsilon=1, p=5).release(trips, rng=7)
    >>> preview.kind, round(sum(part for stage, part in preview.stages()), 6)
    ('trips', 1.0)
    """

    key: ClassVar[str] = "daf-homogeneity"
    title: ClassVar[str] = "DAF-Homogeneity"
    summary: ClassVar[str] = "DAF whose cuts are chosen for parts that are even inside."
    colour: ClassVar[str] = "violet"
    marker: ClassVar[str] = "star"
    dash: ClassVar[str] = "dashed"

    q = param.Number(
        default=0.3,
        bounds=(0.05, 0.95),
        step=0.05,
        label="Share for cuts",
        doc="Part of every level's budget that chooses where to cut (q).",
    )
    p = param.Integer(
        default=10,
        bounds=(1, 100),
        softbounds=(1, 30),
        label="Candidates",
        doc="Sets of cuts to choose from (p): public, drawn around equal parts.",
    )
    rule = param.Selector(
        default="noised costs",
        objects=["noised costs", "noisy-min"],
        label="Choice of cuts",
        doc="Noise on the cost of every candidate, as the paper has it, or noisy-min, which "
        "releases the best one's number alone and needs less noise.",
    )

    @property
    def cut_share(self) -> float:
        """Part of a level's budget that chooses where to cut (q)."""
        return float(self.q)

    def divide(
        self, curator: Curator, nodes: Regions, axis: int, parts: Ints, choice: int
    ) -> Regions:
        """The best of p public candidates, see `Curator.partition`."""
        cuts = curator.partition(nodes, axis, parts, choice, self.p, self.rule)
        return nodes.slice(axis, parts, cuts)


def axes_in_order(d: int, order: str) -> list[int]:
    """Axes place by place, two each (of an odd number the last place has one); or places backwards.

    >>> axes_in_order(4, "destination first"), axes_in_order(3, "destination first")
    ([2, 3, 0, 1], [2, 0, 1])
    """
    places = [list(range(first, min(first + 2, d))) for first in range(0, d, 2)]
    if order == "destination first":
        places.reverse()
    return [axis for place in places for axis in place]
