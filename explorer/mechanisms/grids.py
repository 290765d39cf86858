"""Uniform and adaptive grids (grids-2013: Qardaji, Yang, Li, ICDE 2013)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import param

from explorer.mechanisms.base import Mechanism
from explorer.mechanisms.decisions import CELL, Decision, public, size_of_a_grid
from explorer.mechanisms.figures import Figures, amount
from explorer.mechanisms.options import (
    grid_size_option,
    guideline_option,
    inference_option,
    inside_option,
    total_share_option,
)
from explorer.privacy.curator import Curator
from explorer.releases.inference import Estimate, without_own_pull
from explorer.releases.nodes import Ints
from explorer.releases.transcript import Transcript
from explorer.releases.units import share, to_epsilon


def guideline_1(noisy_total: int, epsilon: float, c: float) -> float:
    """Grid size sqrt(N epsilon / c) of Guideline 1, for a noisy N; 0 for a total below 0."""
    return float(np.sqrt(max(noisy_total, 0) * epsilon / c))


def guideline_2(noisy_counts: Ints, epsilon: float, c2: float) -> Ints:
    """Parts of a side ceil(sqrt(N' epsilon / c2)) of Guideline 2, for noisy N'; 1 for 0 or less."""
    expected = np.maximum(noisy_counts, 0) * epsilon / c2
    parts: Ints = np.maximum(1, np.ceil(np.sqrt(expected))).astype(np.int64)
    return parts


def where_guideline_2_begins(parts: Ints, epsilon: float, c2: float) -> Ints:
    """The least noisy count that is worth so many parts, 2 or more, of a side."""
    least = np.floor((parts - 1) ** 2 * c2 / epsilon).astype(np.int64)
    # Where the quotient is whole its last bit decides, as it does in the guideline itself.
    for _ in range(2):
        least += guideline_2(least, epsilon, c2) < parts
    return least


class UG(Mechanism):
    """Uniform grid: m x m equal cells, m from Guideline 1 of grids-2013.

    m = sqrt(N epsilon / c) balances the noise of many cells against the uneven spread inside few.
    N is a noisy total from a small share of the budget (section IV-A; erratum 20), m its nearest
    whole number, at least 1 and at most the cells of the grid.

    Examples
    --------
    >>> import numpy as np
    >>> from explorer import UG
    >>> town = np.kron([[40, 0], [2, 9]], np.ones((4, 4), dtype=int))
    >>> preview = UG(epsilon=1, grid_size=4).release(town, rng=7)
    >>> preview.n_leaves, preview.preview
    (16, True)
    """

    key: ClassVar[str] = "ug"
    title: ClassVar[str] = "UG"
    summary: ClassVar[str] = "A uniform grid whose cells are as large as the noise asks for."
    paper: ClassVar[str] = "Qardaji, Yang, Li, ICDE 2013"
    group: ClassVar[str] = "Grids"
    colour: ClassVar[str] = "olive"
    marker: ClassVar[str] = "hex"
    compared_first: ClassVar[bool] = True
    lesson_settings: ClassVar[Mapping[str, Any]] = {"grid_size": 32}

    grid_size = grid_size_option(
        "Cells along each side. Automatic: as many as a noisy count is worth (Guideline 1)."
    )
    c = guideline_option(
        "c", 10.0, "Constant of Guideline 1: larger for evenly spread data, giving fewer cells."
    )
    total_share = total_share_option()

    inference = inference_option("leaves")
    inside = inside_option()

    def relevant(self) -> set[str]:
        """A fixed grid size needs no total."""
        return set(self.tunables()) - ({"c", "total_share"} if self.grid_size else set())

    def plan(self, curator: Curator) -> Estimate:
        """Noisy N, grid of Guideline 1, one count a cell with all that is left."""
        domain = curator.open()
        size = self.grid_size
        if size is None:
            paid = share(curator.units, self.total_share)
            total = int(curator.count(domain, paid, "total")[0])
            size = round(guideline_1(total, to_epsilon(curator.units), self.c))
        cells = domain.grid(np.full(2, max(1, size)))
        curator.count(cells, curator.remaining(cells), "cells")
        estimate = self.infer(curator.transcript(), ["cells"], ["cells"])
        estimate.facts["grid size"] = max(1, size)
        return estimate

    @property
    def shape_is_public(self) -> bool:
        """With a fixed grid size."""
        return self.grid_size is not None

    def decision(self, node: Figures) -> Decision:
        """One division, of a size from Guideline 1."""
        size = int(node.release.facts["grid size"])
        why = size_of_a_grid(node, "total", self.c)
        if node.is_leaf:
            return public(f"a cell of the {size} × {size} grid", f"UG divides no further. {why}")
        return public(f"divided into {size} × {size}", why)


class AG(Mechanism):
    """Adaptive grids: a coarse grid whose cells are divided again where they are full.

    First m1 x m1 cells, m1 = max(10, ceil(sqrt(N epsilon / c)) / 4), counted with alpha of the
    budget; then each cell into m2 x m2, m2 = ceil(sqrt(N' (1 - alpha) epsilon / c2)) of its noisy
    count N' (Guideline 2; N' <= 0 gives 1, erratum 20), counted with the rest; then inference over
    the two levels (v' as printed, u' with erratum 19). With m2 = 1 the cell is simply counted
    twice and the two draws averaged by precision. N is noisy, from a small share.

    As printed the map comes out too full: a high N' buys a larger m2 and with it a larger weight.
    Inference therefore moves N' by what that pulls on average (our own, see `without_own_pull`).

    Examples
    --------
    >>> import numpy as np
    >>> from explorer import AG
    >>> town = np.kron([[400, 0], [2, 9]], np.ones((8, 8), dtype=int))
    >>> preview = AG(epsilon=1, first_size=2).release(town, rng=7)
    >>> preview.n_leaves > 4  # the full quarter was divided again
    True
    """

    key: ClassVar[str] = "ag"
    title: ClassVar[str] = "AG"
    summary: ClassVar[str] = "A coarse grid, divided again where a first noisy count is high."
    paper: ClassVar[str] = "Qardaji, Yang, Li, ICDE 2013"
    group: ClassVar[str] = "Grids"
    colour: ClassVar[str] = "sky"
    marker: ClassVar[str] = "diamond"
    compared_first: ClassVar[bool] = True

    first_size = grid_size_option(
        "Cells along each side of the coarse grid (m1). Automatic: from the noisy total.",
        "First grid size",
    )
    alpha = param.Number(
        default=0.5,
        bounds=(0.05, 0.95),
        step=0.05,
        doc="Part of the budget that counts the coarse cells; the paper finds 0.2 to 0.6 alike.",
    )
    c = guideline_option("c", 10.0, "Constant of Guideline 1, for the coarse grid.")
    c2 = guideline_option(
        "c2", 5.0, "Constant of Guideline 2, for the fine cells: larger gives fewer of them."
    )
    total_share = total_share_option()

    inference = inference_option("least squares")
    inside = inside_option()

    def relevant(self) -> set[str]:
        """A fixed first grid needs neither c nor a total."""
        hidden = {"c", "total_share"} if self.first_size else set()
        return set(self.tunables()) - hidden

    def plan(self, curator: Curator) -> Estimate:
        """Noisy N; coarse grid and its counts; fine grids and their counts; inference."""
        domain = curator.open()
        size = self.first_size
        if size is None:
            paid = share(curator.units, self.total_share)
            total = int(curator.count(domain, paid, "total")[0])
            size = max(10, np.ceil(guideline_1(total, to_epsilon(curator.units), self.c)) / 4)
            size = int(np.ceil(size))
        coarse = domain.grid(np.full(2, size))
        left = int(curator.remaining(coarse)[0])
        first = curator.count(coarse, share(left, self.alpha), "first level")
        rest = to_epsilon(int(curator.remaining(coarse)[0]))
        parts = guideline_2(first, rest, self.c2)
        fine = coarse.grid(np.stack([parts, parts], axis=1))
        curator.count(fine, curator.remaining(fine), "second level")
        estimate = self._inferred(curator.transcript(), rest)
        estimate.facts["first grid size"] = size
        return estimate

    def _inferred(self, transcript: Transcript, rest: float) -> Estimate:
        stages = ["first level", "second level"]
        if self.inference == "leaves":
            return self.infer(transcript, stages[1:])
        moved = self._without_own_pull(transcript, rest)
        estimate = self.infer(moved, stages[1:], stages)
        # What is published of a draw is the draw; a moved one is no linear figure of it.
        return replace(estimate, transcript=transcript, linear=False)

    def _without_own_pull(self, transcript: Transcript, rest: float) -> Transcript:
        """First counts as they weigh in without bias, cells of one shape together."""
        first, second = transcript.measurements[-2:]
        sides = transcript.upper[first.ids] - transcript.lower[first.ids]
        values = first.values.astype(np.float64)
        variance, finer = float(first.variances[0]), float(second.variances[0])
        for shape in np.unique(sides, axis=0):
            alike = np.flatnonzero((sides == shape).all(axis=1))
            parts = np.arange(1, shape.max() + 1)
            # The sum of m2 x m2 counts next to one of the first level.
            noise = finer * np.minimum(parts[:, None], shape).prod(axis=1)
            weights = noise / (noise + variance)
            begins = where_guideline_2_begins(parts[1:], rest, self.c2)
            values[alike] = without_own_pull(values[alike], begins, weights, variance)
        *others, _, _ = transcript.measurements
        return replace(transcript, measurements=(*others, replace(first, values=values), second))

    def decision(self, node: Figures) -> Decision:
        """Guideline 1 for the whole map, Guideline 2 below it."""
        size = int(node.release.facts["first grid size"])
        if node.depth == 0:
            return public(f"divided into {size} × {size}", size_of_a_grid(node, "total", self.c))
        first = node if node.depth == 1 else node.above
        counted = first.draw("first level")
        rest = node.release.epsilon - first.path_epsilon
        worth = np.sqrt(max(counted, 0.0) * rest / self.c2)
        parts = max(1, int(np.ceil(worth)))
        why = (
            f"Guideline 2: √({amount(max(counted, 0.0))} × {rest:.3g} / {self.c2:g}) = "
            f"{worth:.2f}, rounded up to {parts}"
        )
        if counted <= 0:
            why = f"The first noisy count is {amount(counted)}; 0 or less gives 1 × 1"
        if not node.is_leaf:
            return Decision("on", f"first count {amount(counted)}: {parts} × {parts}", f"{why}.")
        if first.cells == 1:
            return CELL
        if parts == 1:
            verdict = f"not divided again: first count {amount(counted)}"
            return Decision("stopped", verdict, f"{why}.")
        reason = f"AG always stops after its second level. {why} a side."
        return public("second level reached", reason)
