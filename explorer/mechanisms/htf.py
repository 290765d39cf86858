"""HTF, the homogeneous tree (htf-2022: Shaham et al., ACM TSAS 2022; Algorithms 1 to 4)."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
import param

from explorer.mechanisms.base import Mechanism
from explorer.mechanisms.decisions import CELL, Decision, reached
from explorer.mechanisms.figures import Figures, amount
from explorer.mechanisms.options import inference_option, inside_option
from explorer.privacy import allocation
from explorer.privacy.curator import Curator
from explorer.privacy.regions import Regions
from explorer.releases import inference
from explorer.releases.inference import Estimate
from explorer.releases.nodes import Ints
from explorer.releases.transcript import Transcript
from explorer.releases.units import UNITS_PER_EPSILON, to_units

RULES = {
    "search": "Algorithm 1 searched for even halves",
    "middle half": "Algorithm 1 searched the middle half",
    "middle quarter": "Algorithm 1 searched the middle quarter",
    "all cuts": "all cuts were compared at once, and only the winner is released",
    "middle": "the middle, which costs nothing",
}


class HTF(Mechanism):
    """Homogeneous tree: cut where both halves become even, stop where little is left.

    Height from a noisy total (Eq. 15, erratum 6), cuts by Algorithm 1 (errata 1-4), counts and
    private stopping by Algorithm 3 (errata 7, 8) with the geometric shares of Eq. 22, thresholds
    fixed or by Algorithm 4 (errata 11, 13). Defaults are those of section 7.7.

    Departures. Algorithms 2 and 3 run in one pass from the root: a node that stops is never cut,
    which has the same distribution, and what its cuts would have cost goes to its count. The cuts
    of all levels together get at most half of epsilon, and the total at most a tenth, so that
    every epsilon has a tree. Noise is discrete.

    Examples
    --------
    A release is drawn once, from counts that stay with the curator:

    >>> import numpy as np
    >>> from explorer import HTF
    >>> town = np.kron([[40, 0], [2, 9]], np.ones((4, 4), dtype=int))
    >>> release = HTF(epsilon=0.5).release(town)
    >>> release.preview, release.epsilon
    (False, 0.5)

    With a seed it is a preview, reproducible and not private:

    >>> tried = HTF(epsilon=0.5, height=4, stop_count=20).release(town, rng=7)
    >>> tried.preview, 1 <= tried.n_leaves <= 16  # four cuts make 16 leaves, stops make them fewer
    (True, True)
    """

    key: ClassVar[str] = "htf"
    title: ClassVar[str] = "HTF"
    summary: ClassVar[str] = "A binary tree that cuts where both halves become even."
    paper: ClassVar[str] = "Shaham et al., ACM TSAS 2022"
    group: ClassVar[str] = "Trees"
    colour: ClassVar[str] = "blue"
    marker: ClassVar[str] = "square"
    compared_first: ClassVar[bool] = True

    height = param.Integer(
        default=None,
        bounds=(0, 22),
        softbounds=(0, 20),
        allow_None=True,
        doc="Most cuts between the whole map and a leaf. Automatic: as many as a noisy count of "
        "all points is worth (Eq. 15).",
    )
    T = param.Integer(
        default=3,
        bounds=(1, 20),
        softbounds=(1, 10),
        doc="Rounds of the search for a cut; each looks at two more cuts and thins the budget.",
    )
    stop_rule = param.Selector(
        default="count",
        objects=["count", "optimal", "per epsilon"],
        doc="When a piece is not cut any more: below a fixed count, below the best count for its "
        "size (Algorithm 4), or below a count that grows as epsilon shrinks.",
    )
    stop_count = param.Number(
        default=10,
        bounds=(0, 1e9),
        softbounds=(0, 500),
        step=1,
        doc="A node whose noisy count is this or less is not cut any more.",
    )
    stop_factor = param.Number(
        default=20,
        bounds=(0, 1e6),
        softbounds=(0, 100),
        step=1,
        doc="A node with a noisy count of this over epsilon or less is not cut any more.",
    )
    stop_extent = param.Integer(
        default=1,
        bounds=(1, 2**22),
        softbounds=(1, 256),
        doc="A node of this many cells or fewer is not cut any more.",
    )
    split_rule = param.Selector(
        default="search",
        objects=list(RULES),
        doc="How a cut is chosen: by the paper's search, by the same kept to the middle half or "
        "quarter, among all cuts at once, or always in the middle, which costs nothing.",
    )
    split_budget = param.Number(
        default=1e-3,
        bounds=(1e-6, 5),
        softbounds=(1e-4, 1e-2),
        step=1e-4,
        doc="Epsilon for choosing cuts.",
    )
    split_budget_per = param.Selector(
        default="level",
        objects=["level", "total"],
        doc="Whether the split budget is meant for each level or for all of them together.",
    )
    height_budget = param.Number(
        default=1e-3,
        bounds=(1e-6, 1),
        softbounds=(1e-4, 1e-2),
        step=1e-4,
        doc="Epsilon for the noisy total behind an automatic height and optimal thresholds.",
    )
    first_axis = param.Selector(
        default="paper",
        objects=["paper", "rows", "columns", "longer"],
        doc="What the first cut divides: by the height's parity as printed, rows, columns, or "
        "always the longer side.",
    )
    inference = inference_option("leaves")
    inside = inside_option()

    def relevant(self) -> set[str]:
        """Hide what the stop rule and the split rule make idle."""
        idle = {"stop_count", "stop_factor"}
        idle.discard({"count": "stop_count", "per epsilon": "stop_factor"}.get(self.stop_rule, ""))
        if self.split_rule == "middle":
            idle |= {"T", "split_budget", "split_budget_per"}
        if self.split_rule == "all cuts":
            idle |= {"T"}
        if self.height is not None and self.stop_rule != "optimal":
            idle |= {"height_budget"}
        return set(self.tunables()) - idle

    def plan(self, curator: Curator) -> Estimate:
        """Height (Eq. 15); then, height by height, count, stop or cut (Algorithms 3, 1, 2)."""
        nodes = curator.open()
        total = self._noisy_total(curator, nodes)
        height = paper_height(total, self.epsilon, nodes) if self.height is None else self.height
        left = int(curator.remaining(nodes)[0])
        cut_share, shares, thresholds = self.schedule(curator.units, left, height, total)
        extent, rule, rounds = self.stop_extent, self.split_rule, self.T
        leaves = []
        for h in range(height, -1, -1):
            # Ends for a reason that is public: one draw with everything unspent (erratum 7).
            ends = (nodes.cells <= extent) | (h == 0)
            ended, nodes = nodes.separate(ends)
            leaves.append(ended)
            if len(nodes) == 0:
                break
            # A test draw decides; a leaf then gets a draw of its own (erratum 8).
            stops = curator.count(nodes, shares[h], "stop test") <= thresholds[h]
            stopped, nodes = nodes.separate(stops)
            leaves.append(stopped)
            if len(nodes) == 0:
                break
            axis = self._axis(nodes, h, height)
            cut = curator.cut(nodes, axis, cut_share, rule, rounds)
            nodes = nodes.split(axis, cut)
        # All at once: what each has left stays as it is until then.
        ended = Regions.join(leaves)
        curator.count(ended, curator.remaining(ended), "leaf counts")
        estimate = self._infer(curator.transcript(), curator.units, thresholds[::-1])
        estimate.facts["height"] = height
        return estimate

    def decision(self, node: Figures) -> Decision:
        """Height, cell, stop extent, or the stop test with its figures."""
        release, height = node.release, int(node.release.facts["height"])
        if not node.drawn("stop test"):
            if node.depth == height:
                return reached(node.depth, height, "cuts")
            if node.cells == 1:
                return CELL
            verdict = f"stop extent reached: {node.cells:,} ≤ {self.stop_extent:,}"
            reason = f"Nodes of {self.stop_extent:,} cells or fewer are not cut."
            return Decision("extent", verdict, reason)
        total = node.root_draw("height") if "height" in node.tree.stages else 0
        left = release.units - node.root_paid("height")
        thresholds = self.schedule(release.units, left, height, int(total))[2]
        counted, limit = node.draw("stop test"), float(thresholds[height - node.depth])
        rule = {
            "count": "the stop count",
            "optimal": "the best threshold at this height (Algorithm 4)",
            "per epsilon": f"{self.stop_factor:g} / epsilon",
        }[self.stop_rule]
        if node.is_leaf:
            reason = (
                f"Its noisy count was not above {rule}; a fresh draw then counted it as a leaf."
            )
            return Decision("stopped", f"stopped: {amount(counted)} ≤ {amount(limit)}", reason)
        how = f"It was cut at {node.cut()}: {RULES[self.split_rule]}."
        return Decision("on", f"went on: {amount(counted)} > {amount(limit)}", how)

    def schedule(
        self, units: int, left: int, height: int, total: int
    ) -> tuple[int, Ints, np.ndarray]:
        """What a node pays for its cut; what it pays for its test, and its threshold, by height.

        All of it follows from the parameters and from released figures.

        Parameters
        ----------
        units : the whole budget, in units of 10^-12 epsilon
        left : what the noisy total has left of it
        height : of the tree
        total : the noisy total, 0 where none was drawn

        Returns
        -------
        units of one cut, (height + 1,) units of a test, (height + 1,) thresholds
        """
        cut_share = self._cut_share(units, height)
        shares = allocation.geometric(left - height * cut_share, height)
        return cut_share, shares, self._thresholds(shares, total)

    def _infer(self, transcript: Transcript, units: int, stop_at: np.ndarray) -> Estimate:
        if self.inference == "leaves":
            return self.infer(transcript, ["leaf counts"])
        # Erratum 8 forbids averaging both draws at the leaf alone; over the whole tree, with
        # shares that do not depend on the decision, the test draws help without bias.
        near = inference.in_doubt(transcript, "stop test", stop_at[transcript.depth])
        shares = inference.balanced_shares(transcript, units, "stop test", "split", near)
        return self.infer(transcript, ["leaf counts"], None, shares)

    def _noisy_total(self, curator: Curator, domain: Regions) -> int:
        if self.height is not None and self.stop_rule != "optimal":
            return 0
        paid = min(to_units(self.height_budget), curator.units // 10)
        return int(curator.count(domain, paid, "height")[0])

    def _cut_share(self, units: int, height: int) -> int:
        """eps'_prt, the budget of one level's cuts."""
        if self.split_rule == "middle" or height == 0:
            return 0
        requested = to_units(self.split_budget)
        if self.split_budget_per == "total":
            requested //= height
        return min(requested, units // (2 * height))

    def _thresholds(self, shares: Ints, total: int) -> np.ndarray:
        if self.stop_rule == "optimal":
            return allocation.stop_thresholds(shares / UNITS_PER_EPSILON, total)
        fixed = self.stop_count if self.stop_rule == "count" else self.stop_factor / self.epsilon
        return np.full(len(shares), float(fixed))

    def _axis(self, nodes: Regions, h: int, height: int) -> Ints:
        """0 cuts rows, 1 columns; a side of one cell gives way to the other (erratum 5)."""
        sides = nodes.shape
        if self.first_axis == "longer":
            return (sides[:, 1] > sides[:, 0]).astype(np.int64)
        first = {"paper": height % 2, "rows": 0, "columns": 1}[self.first_axis]
        axis = (first + height - h) % 2
        return np.where(sides[:, axis] == 1, 1 - axis, axis)


def paper_height(noisy_total: int, epsilon: float, domain: Regions) -> int:
    """Eq. 15 with erratum 6: floor(log2(N epsilon / 10)), between 0 and log2 of the cells.

    3.5 million records give 15, 16 and 17 at epsilon .1, .3 and .5 (section 7.4).
    """
    limit = math.floor(math.log2(int(domain.cells[0])))
    n_leaves = noisy_total * epsilon / 10
    return min(max(math.floor(math.log2(n_leaves)), 0), limit) if n_leaves >= 1 else 0
