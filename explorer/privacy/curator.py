"""The curator: the only holder of exact counts during a release, and the budget's guard.

A mechanism sees this object and never the matrix. Every measurement is charged to the accounts of
the regions it touches before a number is drawn; one that any account cannot pay is refused. So a
mechanism cannot overspend, whatever its plan says.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from explorer import homogeneity
from explorer.matrix import FrequencyMatrix
from explorer.privacy import cuts
from explorer.privacy.noise import NoiseSource
from explorer.privacy.transcript import LedgerRow, Measurement, Transcript
from explorer.privacy.units import laplace_variance, to_epsilon
from explorer.regions import Book, Ints, Regions

Progress = Callable[[float], None]
_CHUNK = 50_000


class BudgetExceeded(RuntimeError):
    """A measurement would have cost more than is left; nothing was drawn."""


class Curator:
    """Answers budgeted questions about a frequency matrix.

    Parameters
    ----------
    matrix : FrequencyMatrix
        The exact counts; kept to itself.
    units : int
        The whole budget, in units of 10^-12 epsilon.
    noise : NoiseSource
        OpenDP for a release, keyed dice for a preview.
    progress : callable, optional
        Told the finished part (0 to 1) of a long measurement.
    """

    def __init__(
        self,
        matrix: FrequencyMatrix,
        units: int,
        noise: NoiseSource,
        progress: Progress | None = None,
    ) -> None:
        self.__matrix = matrix
        self._noise = noise
        self._progress = progress
        self._books: list[Book] = []
        self._charges: list[tuple[Book, str, Ints, Ints]] = []
        self._measured: list[tuple[Book, Measurement]] = []
        self.units = units
        self.shape = matrix.shape
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
        left: Ints = regions.book.limit - regions.spent
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
        sensitivity = self.__matrix.contribution_bound
        exact = self.__matrix.count(regions.lower, regions.upper)
        noisy = self._in_chunks(exact, sensitivity, paid, regions, stage)
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
        sensitivity = homogeneity.SENSITIVITY * self.__matrix.contribution_bound
        if rule == "all cuts":
            paid, draws = self._charge(chosen, budget, stage), 1
            costs, offsets = homogeneity.all_split_costs(
                self.__matrix, chosen.lower, chosen.upper, axes
            )
            index = self._noise.lowest(costs, offsets, sensitivity, paid, chosen.keys, stage)
            position[choosing] = start[choosing] + index + 1
        else:
            each = budget // (2 * rounds + 1)
            paid, draws = self._charge(chosen, each * (2 * rounds + 1), stage), 2 * rounds + 1

            def evaluate(who: Ints, cut: Ints, draw: int) -> Ints:
                place = cut + start[choosing][who]
                exact = homogeneity.split_costs(
                    self.__matrix, chosen.lower[who], chosen.upper[who], axes[who], place
                )
                name = f"{stage} {draw}"
                return self._noise.laplace(exact, sensitivity, each[who], chosen.keys[who], name)

            position[choosing] = start[choosing] + cuts.search(
                low[choosing], high[choosing], rounds, evaluate
            )
        self._enter(
            stage, paid, draws * len(choosing), sensitivity / (1 << homogeneity.LATTICE_BITS)
        )
        return position

    def transcript(self, regions: Regions | None = None) -> Transcript:
        """All that was learnt in one pass (the one of `regions`, else the last)."""
        book = regions.book if regions is not None else self._books[-1]
        charges = [charge for charge in self._charges if charge[0] is book]
        stages = tuple(dict.fromkeys(stage for _, stage, _, _ in charges))
        spent = np.zeros((len(book), len(stages)), dtype=np.int64)
        for _, stage, ids, units in charges:
            spent[ids, stages.index(stage)] += units
        return Transcript(
            book.lower,
            book.upper,
            book.parent,
            book.depth,
            ~book.is_split,
            stages,
            spent,
            tuple(measured for owner, measured in self._measured if owner is book),
        )

    @property
    def spent(self) -> int:
        """The cost of everything so far: the dearest path of every pass, added up."""
        return sum(int(book.spent.max()) for book in self._books)

    def _charge(self, regions: Regions, units: ArrayLike, stage: str) -> Ints:
        """Book a share on every region's account, or refuse all of them."""
        paid = np.broadcast_to(np.asarray(units, dtype=np.int64), len(regions)).copy()
        book = regions.book
        book.require_whole(regions)
        if not any(book is known for known in self._books):
            raise ValueError("these regions belong to another curator")
        if np.any(paid <= 0):
            raise BudgetExceeded(f"{stage}: a measurement needs a budget above 0")
        if np.any(book.spent[regions.ids] + paid > book.limit):
            most = to_epsilon(int((book.spent[regions.ids] + paid).max()))
            limit = to_epsilon(book.limit)
            raise BudgetExceeded(f"{stage}: would spend {most} of {limit}; nothing was drawn")
        book.spent[regions.ids] += paid
        self._charges.append((book, stage, regions.ids, paid))
        return paid

    def _enter(self, stage: str, paid: Ints, draws: int, sensitivity: float) -> None:
        if draws:
            epsilon = to_epsilon(int(paid.max()))
            self.ledger.append(LedgerRow(stage, epsilon, draws, float(sensitivity), "parallel"))

    def _in_chunks(
        self, exact: Ints, sensitivity: int, paid: Ints, regions: Regions, stage: str
    ) -> Ints:
        if self._progress is None or len(exact) <= _CHUNK:
            return self._noise.laplace(exact, sensitivity, paid, regions.keys, stage)
        noisy, keys = np.empty_like(exact), regions.keys
        for begin in range(0, len(exact), _CHUNK):
            part = slice(begin, begin + _CHUNK)
            noisy[part] = self._noise.laplace(
                exact[part], sensitivity, paid[part], keys[part], stage
            )
            self._progress(min(1.0, (begin + _CHUNK) / len(exact)))
        return noisy
