"""The curator: the only holder of exact counts during a release, and the budget's guard.

A mechanism sees this object and never the matrix. Every measurement is charged to the accounts of
the regions it touches before a number is drawn; one that any account cannot pay is refused. So a
mechanism cannot overspend, whatever its plan says.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from explorer.errors import InputError
from explorer.points import split_costs as homogeneity
from explorer.privacy import cuts
from explorer.privacy.counts import Counts, Dense
from explorer.privacy.noise import Keys, NoiseSource
from explorer.privacy.regions import Book, Regions, mix
from explorer.releases import haar
from explorer.releases.nodes import Ints, span
from explorer.releases.transcript import Candidates, LedgerRow, Measurement, Transcript
from explorer.releases.units import UNITS_PER_EPSILON, laplace_variance, to_epsilon

Progress = Callable[[float], None]
_CHUNK = 50_000


class BudgetExceeded(RuntimeError):
    """A measurement would have cost more than is left; nothing was drawn."""


class Curator:
    """Answers budgeted questions about exact counts.

    Parameters
    ----------
    counts : Counts
        The exact counts, such as a `FrequencyMatrix`; kept to itself.
    units : int
        The whole budget, in units of 10^-12 epsilon.
    noise : NoiseSource
        OpenDP for a release, keyed dice for a preview.
    progress : callable, optional
        Told the finished part (0 to 1) of a long measurement.
    """

    def __init__(
        self,
        counts: Counts,
        units: int,
        noise: NoiseSource,
        progress: Progress | None = None,
    ) -> None:
        self.__counts = counts
        self._noise = noise
        self._progress = progress
        self._books: list[Book] = []
        self._charges: list[tuple[Book, str, Ints, Ints]] = []
        self._measured: list[tuple[Book, Measurement]] = []
        self._candidates: list[tuple[Book, Candidates]] = []
        self.units = units
        self.shape = counts.domain.shape
        self.ledger: list[LedgerRow] = []

    def open(self, units: int | None = None) -> Regions:
        """Begin a pass over the whole domain; returns it as one region.

        Passes compose sequentially: each has a limit of its own (by default all that no pass has
        claimed yet), and the limits together stay within the budget.
        """
        unclaimed = self.units - sum(book.limit for book in self._books)
        limit = unclaimed if units is None else units
        if limit < 0 or limit > unclaimed:
            raise BudgetExceeded(f"a pass asks for {limit} units, {unclaimed} are unclaimed")
        self._books.append(Book(self.shape, len(self._books), limit))
        return self._books[-1].root()

    def remaining(self, regions: Regions) -> Ints:
        """What each region's path may still spend, (n,), in units of 10^-12 epsilon."""
        left: Ints = regions.book.limit - regions.book.spent[span(regions.ids)]
        return left

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

        Raises
        ------
        BudgetExceeded
            If any region cannot pay; nothing is drawn then.
        """
        paid = self._charge(regions, units, stage)
        sensitivity = self.__counts.contribution_bound
        exact = self.__counts.count(regions.lower, regions.upper)
        noisy = self._in_chunks(exact, sensitivity, paid, regions.keys, stage)
        variances = laplace_variance(paid, sensitivity)
        self._measured.append((regions.book, Measurement(stage, regions.ids, noisy, variances)))
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
        axis : (n,) 0 cuts rows, 1 columns
        units : budget of each region's choice; a region with one possible cut pays nothing
        rule : "search" (Algorithm 1), "middle half", "middle quarter" (the same, restricted in
            public), "all cuts" (permute-and-flip) or "middle" (no choice, no budget)
        rounds : T of Algorithm 1; each of its 2 T + 1 evaluations gets an equal share

        Returns
        -------
        (n,) first cell of the upper half

        Raises
        ------
        BudgetExceeded
            If any region cannot pay; nothing is drawn then.
        """
        rows = np.arange(len(regions))
        start = regions.lower[rows, axis]
        length = regions.shape[rows, axis]
        if rule == "middle":
            return start + length // 2
        low, high = cuts.window(length, rule)
        position = start + length // 2
        choosing = np.flatnonzero(high - low > 2)
        if len(choosing) == 0:
            return position
        chosen, axes = regions.select(choosing), axis[choosing]
        budget = np.broadcast_to(np.asarray(units, dtype=np.int64), len(regions))[choosing]
        sensitivity = homogeneity.SENSITIVITY * self.__counts.contribution_bound
        if rule == "all cuts":
            paid, draws = self._charge(chosen, budget, stage), 1
            costs, offsets = self.__counts.all_split_costs(chosen.lower, chosen.upper, axes)
            index = self._noise.lowest(costs, offsets, sensitivity, paid, chosen.keys, stage)
            position[choosing] = start[choosing] + index + 1
        else:
            each = budget // (2 * rounds + 1)
            paid, draws = self._charge(chosen, each * (2 * rounds + 1), stage), 2 * rounds + 1

            def evaluate(who: Ints, cut: Ints, draw: int) -> Ints:
                place = cut + start[choosing][who]
                exact = self.__counts.split_costs(
                    chosen.lower[who], chosen.upper[who], axes[who], place
                )
                name = f"{stage} {draw}"
                keys = chosen.keys[who]
                noisy = self._noise.laplace(exact, sensitivity, each[who], keys, name)
                looked_at = Candidates(chosen.ids[who], place, noisy)
                self._candidates.append((chosen.book, looked_at))
                return noisy

            position[choosing] = start[choosing] + cuts.search(
                low[choosing], high[choosing], rounds, evaluate
            )
        self._enter(
            stage, paid, draws * len(choosing), sensitivity / (1 << homogeneity.LATTICE_BITS)
        )
        return position

    def median(self, regions: Regions, axis: Ints, units: ArrayLike, stage: str = "split") -> Ints:
        """Private positions that cut regions into halves of equally many records.

        Permute-and-flip on |below - above| over all cuts of the grid; it dominates the exponential
        mechanism at the same budget (McKenna, Sheldon 2020) and is what OpenDP offers.

        Parameters
        ----------
        regions : n regions, each at least 2 cells long on its axis
        axis : (n,) 0 cuts rows, 1 columns
        units : budget of each choice; a region with one possible cut pays nothing

        Returns
        -------
        (n,) first cell of the upper half

        Raises
        ------
        BudgetExceeded
            If any region cannot pay; nothing is drawn then.
        """
        rows = np.arange(len(regions))
        position = regions.lower[rows, axis] + 1
        choosing = np.flatnonzero(regions.shape[rows, axis] > 2)
        if len(choosing) == 0:
            return position
        chosen = regions.select(choosing)
        budget = np.broadcast_to(np.asarray(units, dtype=np.int64), len(regions))[choosing]
        paid = self._charge(chosen, budget, stage)
        costs, offsets = self.__counts.all_imbalances(chosen.lower, chosen.upper, axis[choosing])
        bound = self.__counts.contribution_bound
        position[choosing] += self._noise.lowest(costs, offsets, bound, paid, chosen.keys, stage)
        self._enter(stage, paid, len(choosing), bound)
        return position

    def privtree(self, root: Regions, units: int, stage: str = "structure") -> Regions:
        """PrivTree's quadtree (Zhang, Xiao, Xie 2016): the structure alone, for one price.

        A node of count c at depth d is quartered if its biased score max(-delta, c - d delta) plus
        Laplace noise of scale lam passes 0, with delta = lam ln 4; single cells are not cut. The
        whole structure, of any depth, is epsilon-private for lam = (7/3) / epsilon: a record moves
        the scores on one path; below the depth where they fall under 0 they are constant, above
        it they grow by delta a level, so the log-ratios of the decisions are at most
        1/lam (1 + 1 + 1/4 + 1/16 + ...) = (1/lam) (2 b - 1)/(b - 1) with b = 4.

        Scores and noise live on a lattice of 2^-10 here. With discrete noise of scale L lattice
        widths the same sum carries a factor a/(1 - a) = e^(1/L), a = 1/(1 + e^(-1/L)) in place of
        1/2; the noise is scaled up by it. A contribution bound k scales everything by k.

        Returns
        -------
        Regions
            The leaves. Their scores are not released: counts need a budget of their own.

        Raises
        ------
        BudgetExceeded
            If any region cannot pay; nothing is drawn then.
        """
        self._charge(root, units, stage)
        one = (1 << homogeneity.LATTICE_BITS) * self.__counts.contribution_bound
        exact_scale = one * 7 / 3 * UNITS_PER_EPSILON / units
        sensitivity = math.ceil(one * 7 / 3 * math.exp(1 / exact_scale))
        delta = math.ceil(sensitivity * UNITS_PER_EPSILON / units * math.log(4))
        nodes, leaves, tests, depth = root, [], 0, 0
        while len(nodes):
            cuttable = nodes.cells > 1
            leaves.append(nodes.select(~cuttable))
            nodes = nodes.select(cuttable)
            count = self.__counts.count(nodes.lower, nodes.upper) << homogeneity.LATTICE_BITS
            score = np.maximum(count - depth * delta, -delta)
            paid = np.full(len(nodes), units)
            goes_on = self._noise.above(score, 0, sensitivity, paid, nodes.keys, stage)
            tests += len(nodes)
            leaves.append(nodes.select(~goes_on))
            nodes = nodes.select(goes_on).grid(np.array([2, 2]))
            depth += 1
        self.ledger.append(LedgerRow(stage, to_epsilon(units), tests, 7 / 3, "PrivTree's proof"))
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
        exact = haar.forward(self.__counts.dense())
        levels = math.prod(1 + int(math.log2(side)) for side in exact.shape)
        each = int(self.remaining(root)[0]) // levels
        self._charge(root, self.remaining(root), stage)
        bound = self.__counts.contribution_bound
        flat = exact.ravel()
        with np.errstate(over="ignore"):
            keys = mix(np.arange(flat.size, dtype=np.uint64) + root.keys[0])
        paid = np.full(flat.size, each)
        noisy = self._in_chunks(flat, bound, paid, keys, stage).reshape(exact.shape)
        self.ledger.append(
            LedgerRow(stage, to_epsilon(each), flat.size, float(bound), f"{levels} levels in turn")
        )
        return noisy, float(laplace_variance(paid[:1], bound)[0])

    def transcript(self, regions: Regions | None = None) -> Transcript:
        """All that was learnt in one pass (the one of `regions`, else the last)."""
        book = regions.book if regions is not None else self._books[-1]
        stages, spent = self._spent_by_stage(book)
        others = [self._spent_by_stage(other) for other in self._books if other is not book]
        return Transcript(
            book.lower,
            book.upper,
            book.parent,
            ~book.is_split,
            stages,
            spent,
            tuple(measured for owner, measured in self._measured if owner is book),
            tuple(
                (stage, to_epsilon(int(paid.max())))
                for names, other in others
                for stage, paid in zip(names, other.T, strict=True)
            ),
            tuple(looked_at for owner, looked_at in self._candidates if owner is book),
        )

    @property
    def spent(self) -> int:
        """The cost of everything so far: the dearest path of every pass, added up."""
        return sum(int(book.spent.max()) for book in self._books)

    def _spent_by_stage(self, book: Book) -> tuple[tuple[str, ...], Ints]:
        """Names of the stages of a pass, and what each node paid itself, (nodes, stages)."""
        charges = [charge for charge in self._charges if charge[0] is book]
        stages = tuple(dict.fromkeys(stage for _, stage, _, _ in charges))
        spent = np.zeros((len(book), len(stages)), dtype=np.int64)
        for _, stage, ids, units in charges:
            # A region pays a stage once a call, so plain adding by position is right.
            spent[span(ids), stages.index(stage)] += units
        return stages, spent

    def _charge(self, regions: Regions, units: ArrayLike, stage: str) -> Ints:
        """Book a share on every region's account, or refuse all of them."""
        paid = np.empty(len(regions), dtype=np.int64)
        paid[:] = units
        book = regions.book
        book.require_whole(regions)
        if not any(book is known for known in self._books):
            raise ValueError("these regions belong to another curator")
        if paid.min(initial=1) <= 0:
            raise BudgetExceeded(f"{stage}: a measurement needs a budget above 0")
        most = book.dearest(regions, paid)
        if most > book.limit:
            would, limit = to_epsilon(most), to_epsilon(book.limit)
            raise BudgetExceeded(f"{stage}: would spend {would} of {limit}; nothing was drawn")
        book.pay(regions, paid)
        self._charges.append((book, stage, regions.ids, paid))
        return paid

    def _enter(self, stage: str, paid: Ints, draws: int, sensitivity: float) -> None:
        if draws:
            epsilon = to_epsilon(int(paid.max()))
            self.ledger.append(LedgerRow(stage, epsilon, draws, float(sensitivity), "parallel"))

    def _in_chunks(self, exact: Ints, sensitivity: int, paid: Ints, keys: Keys, stage: str) -> Ints:
        if self._progress is None or len(exact) <= _CHUNK:
            return self._noise.laplace(exact, sensitivity, paid, keys, stage)
        noisy = np.empty_like(exact)
        for begin in range(0, len(exact), _CHUNK):
            part = slice(begin, begin + _CHUNK)
            noisy[part] = self._noise.laplace(
                exact[part], sensitivity, paid[part], keys[part], stage
            )
            self._progress(min(1.0, (begin + _CHUNK) / len(exact)))
        return noisy
