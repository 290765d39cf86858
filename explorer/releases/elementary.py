"""Exponentials and logarithms in plain arithmetic, so that loops over them run several at a time.

A compiler makes one call of the system's library for each number, and a loop with calls in it is
never run four or eight numbers at once. Both are series after a power of two is split off; the bits
of a double hold that power, so they are read and written as a whole number. Against the system's
own: within 2 parts in 10^16 (exponentials) and 5 in 10^16 (logarithms).

Callers compile with ``error_model="numpy"``: a check for divisors of 0 is a branch.
"""

from __future__ import annotations

import math
from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

_TO_WHOLE = 1.5 * 2.0**52
"""Added to a number up to 2^51 it leaves the nearest whole one in the lowest bits."""
_FRACTION_BITS = 52
_BIAS = 1023
_RAISED = 1024
"""Added to exponents, so that none is negative."""
_ROOT_HALF = 0x3FE6A09E667F3BCD
"""The bits of sqrt(1/2): fractions are taken from there to sqrt(2)."""
_LN2 = 6.93147180369123816490e-01
"""The first 32 bits of ln 2, so that whole multiples are exact."""
_LN2_REST = 1.90821492927058770002e-10
_LEAST = -708.0  # below it are numbers of fewer digits
_A2, _A3, _A4, _A5, _A6, _A7, _A8, _A9, _A10, _A11, _A12, _A13 = (
    1.0 / math.factorial(n) for n in range(2, 14)
)
_B3, _B5, _B7, _B9, _B11, _B13, _B15, _B17, _B19, _B21, _B23 = (1.0 / n for n in range(3, 24, 2))


def _to_bits(_typing: Any, _number: Any) -> Any:
    """The 64 bits of a double as a whole number."""

    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.int64(types.float64), build


def _to_double(_typing: Any, _bits: Any) -> Any:
    """The double that has these 64 bits."""

    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), build


# Numba gives the first argument itself, which the types of a decorator do not say.
_bits: Any = intrinsic(_to_bits)
_double: Any = intrinsic(_to_double)


@njit(nogil=True, error_model="numpy", inline="always")
def exp(x):  # type: ignore[no-untyped-def]
    """e^x of x up to 709; 0 below -708, and for what is no number.

    x = k ln 2 + r, |r| <= ln 2 / 2: Taylor's series of e^r to r^13 / 13! (the next is below
    5e-18), times 2^k.
    """
    whole = x * (1.0 / math.log(2.0)) + _TO_WHOLE
    k = whole - _TO_WHOLE
    r = (x - k * _LN2) - k * _LN2_REST
    r2 = r * r
    r4 = r2 * r2
    # In pairs: long chains would wait for each step before.
    low = (_A2 + _A3 * r) + (_A4 + _A5 * r) * r2
    middle = (_A6 + _A7 * r) + (_A8 + _A9 * r) * r2
    high = (_A10 + _A11 * r) + (_A12 + _A13 * r) * r2
    series = 1.0 + (r + r2 * (low + (middle + high * r4) * r4))
    result = series * _double((_bits(whole) + _BIAS) << _FRACTION_BITS)
    return result if x >= _LEAST else 0.0


@njit(nogil=True, error_model="numpy", inline="always")
def log(x):  # type: ignore[no-untyped-def]
    """Natural logarithm of normal numbers above 0.

    x = 2^k m, sqrt(1/2) <= m < sqrt(2), s = (m - 1) / (m + 1):
    ln x = k ln 2 + 2 (s + s^3 / 3 + ... + s^23 / 23), the next of which is below 1e-20.
    """
    bits = _bits(x) - _ROOT_HALF
    raised = ((bits + (_RAISED << _FRACTION_BITS)) >> _FRACTION_BITS) & 0xFFF
    # The bits of 2^52 + k + 1024: processors convert whole numbers one at a time.
    k = _double(raised | 0x4330000000000000) - (2.0**52 + _RAISED)
    m = _double((bits & ((1 << _FRACTION_BITS) - 1)) + _ROOT_HALF)
    s = (m - 1.0) / (m + 1.0)
    q = s * s
    q2 = q * q
    q4 = q2 * q2
    low = (_B3 + _B5 * q) + (_B7 + _B9 * q) * q2
    middle = (_B11 + _B13 * q) + (_B15 + _B17 * q) * q2
    high = (_B19 + _B21 * q) + _B23 * q2
    series = low + (middle + high * q4) * q4
    return k * _LN2 + (2.0 * s + (2.0 * s * q * series + k * _LN2_REST))
