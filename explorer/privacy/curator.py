"""The curator: the only holder of exact counts during a release, and the budget's guard.

A mechanism sees this object and never the matrix. Every measurement is charged to the accounts of
the regions it touches before a number is drawn; one that any account cannot pay is refused. So a
mechanism cannot overspend, whatever its plan says.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from explorer.errors import InputError
from explorer.points import split_costs as homogeneity
from explorer.points.weights import lattice_of
from explorer.privacy import cuts, keyed, partitions
from explorer.privacy.accounts import numbered, shown
from explorer.privacy.counts import Counts, Dense, Tabled, sliced
from explorer.privacy.exceeded import BudgetExceeded
from explorer.privacy.noise import NoiseSource, is_plain_preview, is_release_grade
from explorer.privacy.passes import Passes
from explorer.privacy.regions import Regions, each_of, one_axis, sides
from explorer.privacy.reports import ReportingNoise
from explorer.releases import haar
from explorer.releases.nodes import Ints
from explorer.releases.transcript import Candidates, LedgerRow, Measurement
from explorer.releases.units import UNITS_PER_EPSILON, laplace_variance, to_epsilon

__all__ = ["BudgetExceeded", "Curator"]

Progress = Callable[[float], None]


class Curator(Passes):
    """Answers budgeted questions about exact counts.

    Every measurement raises `BudgetExceeded` if any region cannot pay; nothing is drawn then.

    Parameters
    ----------
    counts : Counts
        The exact counts, such as a `FrequencyMatrix`; kept to itself.
    units : int
        The whole budget, in units of 10^-12 epsilon.
    noise : NoiseSource
        OpenDP for a release, seeded noise for a preview.
    progress : callable, optional
        Told the finished part (0 to 1) of the release, see `ReportingNoise`; of a preview after
        each measurement is paid.
    """

    def __init__(
        self,
        counts: Counts,
        units: int,
        noise: NoiseSource,
        progress: Progress | None = None,
    ) -> None:
        super().__init__(counts.domain.shape, units)
        self.__counts = counts
        self._noise = noise
        if progress is not None:
            self._mean_spent = 0.0
            if is_plain_preview(noise):
                # Its draws are so quick that whole measurements are told; wrapped it would not be
                # known as one that a kernel can draw itself.
                self._tell = progress
            else:
                self._noise = ReportingNoise(noise, progress, self._share_spent)
        self._preview = not is_release_grade(noise)

    @property
    def preview(self) -> bool:
        """Whether what is drawn is no release."""
        return self._preview

    @property
    def contribution_bound(self) -> int:
        """The most that one unit of privacy moves any count, in the unit of counts: public.

        What a count is worth to a plan is count x budget / bound, the budget being measured in
        noise of scale bound / epsilon.
        """
        return self.__counts.contribution_bound

    @property
    def lattice(self) -> int:
        """How many units of a count make one record: public, 1 but for weighted records."""
        return lattice_of(self.__counts)

    @cached_property
    def __tabled(self) -> Tabled | None:
        """The counts, if they have tables: to look takes as long as many a search."""
        return self.__counts if isinstance(self.__counts, Tabled) else None

    def within(self, region: Regions, counts: Counts) -> Curator:
        """A curator of one region's own finer data, limited by what its path has left.

        The region is closed, as if split. What the inner passes cost together is charged to its
        account before anything is drawn, so `spent` is right at every moment and depth.

        Proof. Add one record, in region j of a pass. Draws elsewhere do not see it. Every draw is
        scaled by the contribution bound k, so those on j's path change the log-probability of the
        output by at most 1/k of their cost: the outer ones by their sum, the inner ones of a pass
        by its most expensive path (by induction), inner passes by the sum of those; all is on j's
        account. A user is at most k records, added one by one, in whichever regions: k times 1/k of
        the largest account. An inner bound k' < k would make that k/k': there is one bound for all.

        Parameters
        ----------
        region : one region
        counts : the records of this region, and no others, over a domain of their own

        Raises
        ------
        InputError
            If the unit of privacy or the contribution bound are not the outer ones.
        ValueError
            For several regions, or one that is closed.
        """
        region = self._own(region)
        if len(region) != 1:
            raise ValueError("an inner curator works inside one region")
        outer = self.__counts
        if (counts.unit, counts.contribution_bound) != (outer.unit, outer.contribution_bound):
            raise InputError(
                f"The finer counts protect a {counts.unit} of {counts.contribution_bound} records, "
                f"those around them a {outer.unit} of {outer.contribution_bound}: count both with "
                "one unit of privacy and one bound."
            )
        inner = Curator(counts, int(self.remaining(region)[0]), self._noise)
        inner._settle_in(self, region)
        inner._preview = self._preview
        return inner

    def count(self, regions: Regions, units: ArrayLike, stage: str) -> Ints:
        """Noisy counts of disjoint regions: discrete Laplace of scale sensitivity / epsilon.

        The vector of counts of disjoint regions moves by at most the contribution bound (L1) when
        one unit of privacy comes or goes, so each region pays its own share and no more.

        Parameters
        ----------
        regions : n regions of one book
        units : budget of each, (n,) or one number, above 0, in units of 10^-12 epsilon
        stage : what it is for

        Returns
        -------
        (n,) int64; may be negative
        """
        regions = self._own(regions)
        paid = self._charge(regions, units, stage)
        sensitivity = self.__counts.contribution_bound
        exact = self.__counts.count(regions.lower, regions.upper)
        # Read-only: what a plan writes into its copy must not become what was drawn.
        noisy = shown(self._noise.laplace(exact, sensitivity, paid, regions.keys, stage))
        variances = laplace_variance(paid, sensitivity)
        self._notes.measured.append(
            (regions.book, Measurement(stage, regions.ids, noisy, variances))
        )
        self._enter(stage, paid, len(regions), sensitivity)
        return noisy

    def cut(
        self,
        regions: Regions,
        axis: Ints,
        units: ArrayLike,
        rule: str = "search",
        rounds: int = 3,
        stage: str = "split",
    ) -> Ints:
        """Private positions to cut regions at, chosen for homogeneous halves (Eq. 5 of htf-2022).

        Parameters
        ----------
        regions : n regions, each at least 2 cells long on its axis
        axis : (n,) the axis that is cut (a grid: 0 cuts rows, 1 columns)
        units : budget of each region's choice; a region with one possible cut pays nothing
        rule : "search" (Algorithm 1), "middle half", "middle quarter" (the same, restricted in
            public), "all cuts" (permute-and-flip) or "middle" (no choice, no budget)
        rounds : T of Algorithm 1, 0 or more; each of its 2 T + 1 evaluations gets an equal share

        Returns
        -------
        (n,) first cell of the upper half
        """
        regions = self._own(regions)
        if rounds != int(rounds) or rounds < 0:
            raise ValueError("a search takes a whole number of rounds, 0 or more")
        rounds = int(rounds)
        axis, start, length = sides(regions, axis)
        position = start + (length >> 1)
        if rule == "middle":
            return position
        low, high = cuts.window(length, rule)
        choosing = np.flatnonzero((high - low > 2) & (length > 2))
        if len(choosing) == 0:
            return position
        chosen, axes, budget = _those(choosing, regions, axis, units)
        sensitivity = homogeneity.SENSITIVITY * self.__counts.contribution_bound
        if rule == "all cuts":
            paid, draws = self._charge(chosen, budget, stage), 1
            costs, offsets = self.__counts.all_split_costs(chosen.lower, chosen.upper, axes)
            index = self._noise.lowest(costs, offsets, sensitivity, paid, chosen.keys, stage)
            position[choosing] = start[choosing] + index + 1
        else:
            draws = 2 * rounds + 1
            per_draw = budget // draws
            paid = self._charge(chosen, per_draw * draws, stage)
            names = [f"{stage} {draw}" for draw in range(draws)]
            counts, limits = self.__counts, (low[choosing], high[choosing])

            def evaluate(who: Ints, cut: Ints, draw: int) -> Ints:
                place = cut + start[choosing][who]
                exact = counts.split_costs(chosen.lower[who], chosen.upper[who], axes[who], place)
                keys, noise = chosen.keys[who], self._noise
                noisy = noise.laplace(exact, sensitivity, per_draw[who], keys, names[draw])
                looked_at = Candidates(chosen.ids[who], place, noisy)
                self._notes.candidates.append((chosen.book, looked_at))
                return noisy

            tabled = self.__tabled
            fits = tabled is not None and not tabled.tables.is_wide
            if tabled is not None and fits and is_plain_preview(self._noise):
                noise = self._noise.scale(sensitivity), self._noise.salts(names)
                offset, drawn = keyed.search(tabled.tables, chosen, axes, limits, per_draw, *noise)
                self._notes.candidates += [(chosen.book, looked_at) for looked_at in drawn]
            else:
                offset = cuts.search(*limits, rounds, evaluate)
            position[choosing] = start[choosing] + offset
        self._enter(
            stage, paid, draws * len(choosing), sensitivity / (1 << homogeneity.LATTICE_BITS)
        )
        return position

    def partition(
        self,
        regions: Regions,
        axis: int,
        parts: Ints,
        units: ArrayLike,
        candidates: int = 10,
        rule: str = "noised costs",
        stage: str = "cuts",
    ) -> Ints:
        """Private positions that cut regions into several slabs each, for homogeneous slabs.

        Parameters
        ----------
        axis : the axis that all n regions are cut across
        parts : (n,) slabs of each, 1 to the cells of its side
        units : budget of each choice; a region of one slab pays nothing
        candidates, rule : sets of cuts to choose from, public (`partitions.Offers`), where one
            costs nothing; "noised costs" or "noisy-min", see `partitions.least`

        Returns
        -------
        (sum of parts - 1,) first cells of all slabs but the first, region by region
        """
        regions = self._own(regions)
        axis, parts = (
            one_axis(axis, len(self.shape)),
            each_of(parts, len(regions), "number of parts"),
        )
        # Slabs beyond a region would be measured, too.
        if np.any(parts < 1) or np.any(parts > regions.shape[:, axis]):
            raise ValueError("a region has 1 slab to as many as its side has cells")
        if candidates != int(candidates) or candidates < 1:
            raise ValueError("there is a whole number of candidates, 1 or more")
        candidates = int(candidates)
        chosen, number, budget = _those(np.flatnonzero(parts > 1), regions, parts, units)
        low, high = chosen.lower[:, axis], chosen.upper[:, axis]
        offers = partitions.Offers.of(chosen.keys, low, high, number, candidates)
        if candidates == 1 or len(chosen) == 0:
            return offers.cuts[0]
        draws = candidates if rule == "noised costs" else 1
        paid = self._charge(chosen, budget // draws * draws, stage)
        costs = offers.costs(sliced(self.__counts), chosen.lower, chosen.upper, axis)
        limit = homogeneity.SENSITIVITY * self.__counts.contribution_bound
        index = partitions.least(self._noise, rule, costs, limit, paid, chosen.keys, stage)
        self._enter(stage, paid, draws * len(chosen), limit / (1 << homogeneity.LATTICE_BITS))
        return offers.chosen(index)

    def median(self, regions: Regions, axis: Ints, units: ArrayLike, stage: str = "split") -> Ints:
        """Private positions that cut regions into halves of equally many records.

        Permute-and-flip on |below - above| over all cuts of the grid; it dominates the exponential
        mechanism at the same budget (McKenna, Sheldon 2020) and is what OpenDP offers.

        Parameters
        ----------
        regions : n regions, each at least 2 cells long on its axis
        axis : (n,) the axis that is cut (a grid: 0 cuts rows, 1 columns)
        units : budget of each choice; a region with one possible cut pays nothing

        Returns
        -------
        (n,) first cell of the upper half
        """
        regions = self._own(regions)
        axis, start, length = sides(regions, axis)
        position, choosing = start + 1, np.flatnonzero(length > 2)
        if len(choosing) == 0:
            return position
        chosen, axes, budget = _those(choosing, regions, axis, units)
        paid = self._charge(chosen, budget, stage)
        costs, offsets = self.__counts.all_imbalances(chosen.lower, chosen.upper, axes)
        bound = self.__counts.contribution_bound
        position[choosing] += self._noise.lowest(costs, offsets, bound, paid, chosen.keys, stage)
        self._enter(stage, paid, len(choosing), bound)
        return position

    def privtree(self, root: Regions, units: int, stage: str = "structure") -> Regions:
        """PrivTree's tree (Zhang, Xiao, Xie 2016): the structure alone, for one price.

        Nodes are halved along every axis: b = 2^d children (a quadtree where d = 2). A node of
        count c at depth k is cut if its biased score max(-delta, c - k delta) plus Laplace noise of
        scale lam passes 0, with delta = lam ln b; single cells are not cut. The whole structure, of
        any depth, is epsilon-private for lam = (2 b - 1)/(b - 1) / epsilon: a record moves the
        scores on one path; below the depth where they fall under 0 they are constant, above it
        they grow by delta a level, so the log-ratios of the decisions are at most
        1/lam (1 + 1 + 1/b + 1/b^2 + ...) = (1/lam) (2 b - 1)/(b - 1). That rests on delta alone: an
        axis of one cell, which gives fewer children, changes nothing.

        Scores and noise live on a lattice of 2^-10 here. With discrete noise of scale L lattice
        widths the same sum carries a factor a/(1 - a) = e^(1/L), a = 1/(1 + e^(-1/L)) in place of
        1/2; the noise is scaled up by it. A contribution bound k scales everything by k.

        Returns
        -------
        Regions
            The leaves. Their scores are not released: counts need a budget of their own.
        """
        root, units = self._own(root), int(units)
        self._charge(root, units, stage)
        b = 2 ** len(self.shape)
        one = (1 << homogeneity.LATTICE_BITS) * self.__counts.contribution_bound
        exact_scale = one * (2 * b - 1) / (b - 1) * UNITS_PER_EPSILON / units
        sensitivity = math.ceil(one * (2 * b - 1) / (b - 1) * math.exp(1 / exact_scale))
        delta = math.ceil(sensitivity * UNITS_PER_EPSILON / units * math.log(b))
        nodes, leaves, tests, depth = root, [], 0, 0
        while len(nodes):
            nodes, single = nodes.separate(nodes.cells > 1)
            leaves.append(single)
            count = self.__counts.count(nodes.lower, nodes.upper) << homogeneity.LATTICE_BITS
            score = np.maximum(count - depth * delta, -delta)
            paid = np.full(len(nodes), units)
            goes_on = self._noise.above(score, 0, sensitivity, paid, nodes.keys, stage)
            tests += len(nodes)
            nodes, ended = nodes.separate(goes_on)
            leaves.append(ended)
            nodes = nodes.halves()
            depth += 1
        factor = (2 * b - 1) / (b - 1) * self.__counts.contribution_bound
        self._notes.enter(LedgerRow(stage, to_epsilon(units), tests, factor, "PrivTree's proof"))
        return Regions.join(leaves)

    def coefficients(self, root: Regions, stage: str = "coefficients") -> tuple[Ints, float]:
        """Noisy Haar coefficients of the whole domain, for all that is left of its budget.

        A record moves one coefficient of each of (1 + log2 rows)(1 + log2 columns) levels by 1
        (see `haar`); each level gets an equal share.

        Returns
        -------
        (rows, cols) int64 coefficients of the padded matrix, and the noise variance of each

        Raises
        ------
        BudgetExceeded
            If nothing is left; nothing is drawn then.
        InputError
            For counts that are no map, or too many cells to be said one by one.
        """
        if not (isinstance(self.__counts, Dense) and len(self.shape) == 2):
            raise InputError(
                "Coefficients need the count of every cell of a map of rows and columns, which "
                f"these counts of {len(self.shape)} axes cannot give: choose a mechanism that "
                "counts boxes."
            )
        root = self._own(root)
        if len(root) != 1 or root.ids[0] != 0:
            raise ValueError("coefficients are of the whole domain: ask before it is split")
        exact = haar.forward(self.__counts.dense())
        levels = math.prod(1 + int(math.log2(side)) for side in exact.shape)
        per_level = int(self.remaining(root)[0]) // levels
        self._charge(root, self.remaining(root), stage)
        bound = self.__counts.contribution_bound
        flat = exact.ravel()
        keys = np.empty(flat.size, np.uint64)
        numbered(root.keys[0], keys)
        paid = np.broadcast_to(np.int64(per_level), flat.size)
        noisy = self._noise.laplace(flat, bound, paid, keys, stage).reshape(exact.shape)
        self._notes.enter(
            LedgerRow(
                stage, to_epsilon(per_level), flat.size, float(bound), f"{levels} levels in turn"
            )
        )
        return noisy, float(laplace_variance(paid[:1], bound)[0])


def _those(
    choosing: Ints, regions: Regions, axis: Ints, units: ArrayLike
) -> tuple[Regions, Ints, Ints]:
    """Regions at some positions, with their axes and their budgets."""
    budget = np.empty(len(regions), dtype=np.int64)
    budget[:] = units
    if len(choosing) == len(regions):
        return regions, axis, budget
    return regions.select(choosing), axis[choosing], budget[choosing]
