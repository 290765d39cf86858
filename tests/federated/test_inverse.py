"""Thresholds against other arithmetic, and draws that 64 bits do not decide."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
from scipy.stats import nbinom

from explorer.federated.inverse import Inverse, Share, tables
from explorer.releases.units import to_units


def as_float(law: Inverse) -> np.ndarray:
    return law.top / 2.0**64 + law.low / 2.0**128


@pytest.mark.parametrize(("n", "epsilon"), [(1, 1.0), (7, 0.5), (1000, 0.1), (8380, 1.0)])
def test_tables_are_the_negative_binomial(n: int, epsilon: float) -> None:
    made = tables(Share(to_units(epsilon), 1, n))
    gaps, inside, sizes = made.laws
    p = -np.expm1(-epsilon)
    none = nbinom.pmf(0, 1 / n, p)
    k = np.arange(1, len(sizes.top) + 1)
    wanted = (nbinom.cdf(k, 1 / n, p) - none) / (1 - none)
    assert as_float(sizes) == pytest.approx(wanted, rel=1e-9)
    j = np.arange(1, len(gaps.top) + 1)
    assert as_float(gaps) == pytest.approx(-np.expm1(np.log(p) * made.step * j / n), rel=1e-12)
    j = np.arange(1, made.step)
    whole = np.expm1(np.log(p) * made.step / n)
    assert as_float(inside) == pytest.approx(np.expm1(np.log(p) * j / n) / whole, rel=1e-12)
    # What lies beyond the table of sizes has less than 2^-63 of the probability.
    assert as_float(sizes)[-1] > 1 - 1e-6
    assert len(sizes.top) <= 48 / epsilon + 4


def test_thresholds_lie_between_rational_bounds() -> None:
    """Twice as many bits give thresholds whose first 128 bits are those of the table."""
    share = Share(to_units(0.3), 4, 100)
    for law, bounds in zip(
        tables(share).laws,
        (
            lambda bits: share.gaps(tables(share).step, bits),
            lambda bits: share.inside(tables(share).step, bits),
            share.sizes,
        ),
        strict=True,
    ):
        for top, low, (below, above) in zip(law.top, law.low, bounds(700), strict=False):
            kept = int(top) << 64 | int(low)
            assert Fraction(kept, 2**128) <= Fraction(below, 2**700)
            assert Fraction(above, 2**700) <= Fraction(kept + 1, 2**128)


def test_what_the_words_leave_open_is_found_to_the_last_bit() -> None:
    share = Share(to_units(1.0), 1, 10)
    law = tables(share).laws[2]
    bits = 64 * 5
    below, above = next(islice(share.sizes(bits + 128), 3, None))
    exact = below >> 128
    assert exact == above >> 128

    def drawn(u: int) -> int:
        words = iter((u >> 64 * i) & (2**64 - 1) for i in reversed(range(5)))
        return law.resolve(lambda: next(words))

    # U agrees with F_4 in four words: its fifth decides whether F_4 <= U.
    assert drawn(exact + 1) == 4
    assert drawn(exact - 1) == 3
    assert drawn(0) == 0


def test_sizes_beyond_the_table_are_drawn() -> None:
    share = Share(to_units(2.0), 1, 50)
    law = tables(share).laws[2]
    words = iter([2**64 - 1, 2**64 - 1, 2**63, 0])
    found = law.resolve(lambda: next(words))
    # P(X > k | X > 0) = 2^-128 or so.
    p = -np.expm1(-2.0)
    tail = nbinom.sf([found - 1, found + 1], 1 / 50, p) / nbinom.sf(0, 1 / 50, p)
    assert tail[0] > 2.0**-129 > tail[1]
    assert found > len(law.top)
