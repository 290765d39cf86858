"""Exact draws by inversion: X = #{k : F_k <= U}, U a uniform number whose bits are drawn lazily.

Thresholds F_k are whole numbers of 2^-128 with nothing lost: they are computed between a lower and
an upper bound (ratios are rational; only q = exp(-epsilon / S) and powers of 1 - q need `decimal`,
whose exp and ln are correctly rounded), to as many bits as make both bounds agree. A draw compares
64 random bits, 64 more where they are the threshold's own, and beyond that recomputes both to
however many bits it takes. So the distribution drawn is the one stated, not an approximation.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from explorer.releases.units import UNITS_PER_EPSILON

Words = NDArray[np.uint64]
Bounds = Iterator[tuple[int, int]]

_WORD = 64
_GUARD = 128
# Longest tables of gaps: a gap that is longer is drawn in several steps.
_LONGEST = 2048
_ONE_STEP = 256


@dataclass(frozen=True)
class Share:
    """The distribution of one person's share of the noise, X - Y with X, Y ~ NB(1 / n_min, q).

    P(X = 0) = (1 - q)^(1/n_min), P(X = k+1) / P(X = k) = q (k + 1/n_min) / (k + 1),
    q = exp(-epsilon / S): n_min of them add up to discrete Laplace noise (erratum 27).
    """

    units: int  # price, in units of 10^-12 epsilon
    sensitivity: int  # S
    honest: int  # n_min

    @property
    def chance(self) -> float:
        """H = P(X > 0), for sizes of tables and buffers alone."""
        decay = self.units / (UNITS_PER_EPSILON * self.sensitivity)
        return -math.expm1(math.log1p(-math.exp(-max(decay, 1e-15))) / self.honest)

    @property
    def guard(self) -> int:
        """Bits beyond those asked for: twice what is lost where q is small, and some."""
        decay = self.units / (UNITS_PER_EPSILON * self.sensitivity)
        return _GUARD + math.ceil(4 * decay)

    def ratio(self, bits: int) -> tuple[int, int]:
        """Bounds of q, as whole numbers of 2^-bits."""
        with decimal.localcontext(_context(bits)) as context:
            return _between(self._q(), bits, context)

    def none(self, cells: int, bits: int) -> tuple[int, int]:
        """Bounds of the probability that so many cells in a row have X = 0: (1-q)^(cells/n_min)."""
        with decimal.localcontext(_context(bits)) as context:
            power = (1 - self._q()).ln() * cells / self.honest
            return _between(power.exp(), bits, context)

    def _q(self) -> decimal.Decimal:
        return (-decimal.Decimal(self.units) / (UNITS_PER_EPSILON * self.sensitivity)).exp()

    def gaps(self, step: int, bits: int) -> Bounds:
        """Bounds of P(gap < j) = 1 - (1-q)^(j step/n_min), j = 1, 2, ..: gaps of whole steps."""
        one = 1 << bits
        low, high = low_1, high_1 = self.none(step, bits)
        while True:
            yield one - high, one - low
            low, high = low * low_1 >> bits, -(-high * high_1 >> bits)

    def inside(self, step: int, bits: int) -> Bounds:
        """Bounds of P(first X > 0 before cell j | one among `step` cells), j = 1 to step - 1."""
        one = 1 << bits
        low_all, high_all = self.none(step, bits)
        for low, high in islice(self.gaps(1, bits), step - 1):
            yield (low << bits) // (one - low_all), -((-high << bits) // (one - high_all))

    def sizes(self, bits: int) -> Bounds:
        """Bounds of P(X <= k | X > 0), k = 1, 2, .."""
        one, n = 1 << bits, self.honest
        low_q, high_q = self.ratio(bits)
        low_0, high_0 = self.none(1, bits)
        low, high = low_0 * low_q // (n << bits), -(-high_0 * high_q // (n << bits))
        low_sum = high_sum = 0
        k = 1
        while True:
            low_sum, high_sum = low_sum + low, high_sum + high
            yield (
                (low_sum << bits) // (one - low_0),
                min(one, -((-high_sum << bits) // (one - high_0))),
            )
            above, below = k * n + 1, (k + 1) * n << bits
            low, high = low * low_q * above // below, -(-high * high_q * above // below)
            k += 1


class Inverse:
    """One distribution as a table.

    Parameters
    ----------
    bounds : from a number of bits to the bounds of F_1, F_2, .. as whole numbers of 2^-bits
    guard : bits to compute with beyond those that are kept
    entries : int, optional
        Thresholds kept; by default all below 1 - 2^-64.

    Attributes
    ----------
    top, low : (k,) uint64, first and second word of each threshold
    guide : (2^(64 - shift),) where to begin to look, by a word's first bits
    """

    def __init__(
        self, bounds: Callable[[int], Bounds], guard: int, entries: int | None = None
    ) -> None:
        self._bounds, self._guard, self._entries = bounds, guard, entries
        floors = self._floors()
        self.top = np.array([floor >> _WORD for floor in floors], dtype=np.uint64)
        self.low = np.array([floor & (2**_WORD - 1) for floor in floors], dtype=np.uint64)
        depth = min(16, max(6, (4 * len(floors)).bit_length()))
        self.shift = _WORD - depth
        firsts = np.arange(2**depth, dtype=np.uint64) << np.uint64(self.shift)
        # Thresholds whose first word is smaller are below every word of this beginning.
        self.guide = np.searchsorted(self.top, firsts, side="left")

    def _floors(self) -> list[int]:
        guard, entries = self._guard, self._entries
        while True:
            bits = 2 * _WORD + guard
            floors, agree = [], True
            for low, high in islice(self._bounds(bits), entries):
                floor = low >> guard
                agree &= floor == high >> guard
                if not agree or (entries is None and floor >> _WORD == 2**_WORD - 1):
                    break
                floors.append(floor)
            if agree:
                return floors
            guard *= 2

    def resolve(self, words: Callable[[], int]) -> int:
        """Draw to the last bit: what the table leaves open.

        Parameters
        ----------
        words : gives the words of U one by one, those that the table has looked at first
        """
        prefix, length = 0, 0
        while True:
            prefix, length = prefix << _WORD | words(), length + _WORD
            result = self._found(prefix, length)
            if result is not None:
                return result

    def _found(self, prefix: int, length: int) -> int | None:
        # U is in [prefix, prefix + 1) 2^-length, and so does nothing that is decided.
        bits = length + self._guard
        below, above = prefix << self._guard, (prefix + 1) << self._guard
        count = 0
        for low, high in islice(self._bounds(bits), self._entries):
            if high <= below:
                count += 1
            elif low >= above:
                return count
            else:
                return None
        return count


@dataclass(frozen=True)
class Tables:
    """What the shares of a round are drawn from.

    A line of cells is walked from one non-zero X to the next: so many empty steps of `step` cells,
    then so many empty cells inside a step that has one, then the size. With `step` 1 the second
    part is left out.
    """

    # distributions of the number of empty steps (as many as entries: at least so many), of cells
    # inside, of sizes
    laws: tuple[Inverse, Inverse, Inverse]
    step: int  # cells of a step
    # top, low, guide: all distributions in one array
    top: Words
    low: Words
    guide: NDArray[np.int64]
    # begin, guides, shift: (3,) and (4,) where each distribution begins
    begin: NDArray[np.int64]
    guides: NDArray[np.int64]
    shift: NDArray[np.uint64]


@lru_cache(maxsize=64)
def tables(share: Share) -> Tables:
    """The tables of a round, made once for every (epsilon, S, n_min): 1 to 50 ms above eps .001."""
    reach = 3.0 / max(share.chance, 1e-18)
    step = 1 if reach <= _ONE_STEP else min(_LONGEST, math.ceil(math.sqrt(reach)))
    limit = min(_LONGEST, max(1, math.ceil(reach / step)))
    laws = (
        Inverse(lambda bits: share.gaps(step, bits), share.guard, limit),
        Inverse(lambda bits: share.inside(step, bits), share.guard, step - 1),
        Inverse(share.sizes, share.guard),
    )
    ends = np.cumsum([0, *(len(law.top) for law in laws)])
    guides = np.cumsum([0, *(len(law.guide) for law in laws)])
    return Tables(
        laws,
        step,
        np.concatenate([law.top for law in laws]),
        np.concatenate([law.low for law in laws]),
        np.concatenate([law.guide for law in laws]),
        ends,
        guides,
        np.array([law.shift for law in laws], dtype=np.uint64),
    )


def _context(bits: int) -> decimal.Context:
    """Digits for so many bits, and 40 more: see `_between`."""
    digits = math.ceil(bits * math.log10(2)) + 40
    return decimal.Context(prec=digits, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX)


def _between(value: decimal.Decimal, bits: int, context: decimal.Context) -> tuple[int, int]:
    """Bounds of a probability of few operations, in whole numbers of 2^-bits.

    Each operation is right to its last digit; 1 - q >= 10^-13 makes a relative error at most 10^13
    times as large, ln and exp pass it on times an exponent below 100. So 25 digits less than those
    computed are certain.
    """
    error = decimal.Decimal(10) ** (25 - context.prec)
    scale = decimal.Decimal(2) ** bits
    low, high = (value - error) * scale, (value + error) * scale
    one = 1 << bits
    return max(0, math.floor(low) - 1), min(one, math.ceil(high) + 1)
