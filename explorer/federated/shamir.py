"""Shamir's secret sharing over a prime field: any t shares give the secret, fewer say nothing.

The secret is the value at 0 of a random polynomial of degree t - 1 over the integers modulo
2^128 + 51, the smallest prime above all secrets of 16 bytes; share x is its value at x.
(Shamir, How to share a secret, 1979.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import accumulate
from math import prod
from operator import mul

PRIME = 2**128 + 51
SECRET_BYTES, SHARE_BYTES = 16, 17

Bytes = Callable[[int], bytes]
"""Gives so many random bytes."""


def split(secret: bytes, points: Sequence[int], threshold: int, random: Bytes) -> list[bytes]:
    """Shares of a secret of 16 bytes, 17 bytes each.

    Parameters
    ----------
    points : where shares are taken, different whole numbers from 1 to 2^128
    threshold : t, 1 to the number of points
    random : for the coefficients; 32 bytes each, so that they are even to 2^-127

    >>> import os
    >>> made = split(b"sixteen  letters", [1, 2, 5], 2, os.urandom)
    >>> combine([5, 1], [made[2], made[0]])
    b'sixteen  letters'
    """
    if len(secret) != SECRET_BYTES:
        raise ValueError(f"a secret has {SECRET_BYTES} bytes")
    if not 1 <= threshold <= len(points) or len(set(points)) < len(points) or min(points) < 1:
        raise ValueError("shares need different points from 1 on, at least as many as rebuild it")
    drawn = random(32 * (threshold - 1))
    coefficients = [int.from_bytes(secret, "big")] + [
        int.from_bytes(drawn[32 * i : 32 * i + 32], "big") % PRIME for i in range(threshold - 1)
    ]
    values = (sum(map(mul, coefficients, _powers(point, threshold))) % PRIME for point in points)
    return [value.to_bytes(SHARE_BYTES, "big") for value in values]


def combine(points: Sequence[int], shares: Sequence[bytes]) -> bytes:
    """The secret behind t shares (Lagrange's interpolation at 0).

    Raises
    ------
    ValueError
        If the value is no secret: shares of several secrets, or fewer than rebuild it (which is
        nearly always noticed by anyone who uses what comes out, and not here).
    """
    values = (int.from_bytes(share, "big") for share in shares)
    total = sum(w * v for w, v in zip(_weights(tuple(points)), values, strict=True)) % PRIME
    if total >= 2**128:
        raise ValueError("these shares are of no secret of 16 bytes")
    return total.to_bytes(SECRET_BYTES, "big")


@lru_cache(maxsize=1 << 16)
def _powers(point: int, number: int) -> tuple[int, ...]:
    powers = [1]
    for _ in range(number - 1):
        powers.append(powers[-1] * point % PRIME)
    return tuple(powers)


def _weights(points: tuple[int, ...]) -> list[int]:
    """Weights of Lagrange's interpolation at 0: product of x_j / (x_j - x_i) over the others."""
    whole = prod(points)
    below = [point * prod(x - point for x in points if x != point) % PRIME for point in points]
    # One inverse for all: of the product, then walked back.
    before = list(accumulate(below, lambda a, b: a * b % PRIME, initial=1))
    inverse = pow(before.pop(), -1, PRIME)
    weights = []
    for value, product in zip(reversed(below), reversed(before), strict=True):
        weights.append(whole * inverse * product % PRIME)
        inverse = inverse * value % PRIME
    return weights[::-1]
