"""Sums of shares against the law they must have, and draws that a word does not decide."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
from scipy.stats import chi2, nbinom

from explorer.errors import InputError
from explorer.federated.audit import log_probability
from explorer.federated.inverse import Inverse, Share, tables
from explorer.federated.shares import (
    Shares,
    SlowWarning,
    Stream,
    checked,
    expected,
    new_key,
    shares,
)
from explorer.releases.units import to_units


class Given:
    """Words that a test chose, then those of a stream."""

    def __init__(self, words: list[int], seed: int = 0) -> None:
        self.given = np.array(words, dtype=np.uint64)
        self.stream = Stream(new_key(seed))

    def words(self, number: int) -> np.ndarray:
        made = self.stream.words(number)
        taken = min(number, len(self.given))
        made[:taken], self.given = self.given[:taken], self.given[taken:]
        return made


def summed(made: Shares, cells: int) -> np.ndarray:
    return np.bincount(made.cell, weights=made.value, minlength=cells).astype(np.int64)


def p_value(noise: np.ndarray, shape: float, units: int) -> float:
    """Chi-square of noise against NB(shape) - NB(shape), classes of 20 expected or more."""
    z = np.arange(-2000, 2001)
    wanted = len(noise) * np.exp(log_probability(z, shape, units))
    seen = np.bincount(np.clip(noise, -2000, 2000) + 2000, minlength=len(z))
    middle = np.flatnonzero(wanted >= 20)
    low, high = middle[0], middle[-1] + 1
    parts = [
        (np.r_[x[:low].sum(), x[low:high], x[high:].sum()]).astype(float) for x in (wanted, seen)
    ]
    parts[0] *= parts[1].sum() / parts[0].sum()
    statistic = ((parts[1] - parts[0]) ** 2 / parts[0]).sum()
    return float(chi2.sf(statistic, len(parts[0]) - 1))


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("n", "epsilon"), [(2, 1.0), (10, 0.5), (100, 1.0), (1000, 0.2), (1000, 3)]
)
def test_shares_add_up_to_discrete_laplace_noise(n: int, epsilon: float) -> None:
    units, cells = to_units(epsilon), 40_000
    made = shares(Share(units, 1, n), n, cells, Stream(new_key(7), n))
    assert p_value(summed(made, cells), 1.0, units) > 1e-4
    usual = expected(Share(units, 1, n), n, cells)
    assert abs(len(made) - usual) < 5 * math.sqrt(usual)
    assert made.person.min() >= 0
    assert made.person.max() < n


@pytest.mark.statistical
def test_more_survivors_add_more_noise_of_the_same_kind() -> None:
    units, cells = to_units(1.0), 40_000
    made = shares(Share(units, 1, 80), 96, cells, Stream(new_key(3)))
    assert p_value(summed(made, cells), 1.2, units) > 1e-4
    # The test can tell: a twentieth more or less noise is another law.
    assert p_value(summed(made, cells), 1.14, units) < 1e-4


@pytest.mark.statistical
def test_people_and_neighbouring_cells_are_independent() -> None:
    n, cells = 20, 20_000
    made = shares(Share(to_units(1.0), 1, n), n, cells, Stream(new_key(5)))
    noise = summed(made, cells)
    near = np.corrcoef(noise[:-1], noise[1:])[0, 1]
    assert abs(near) < 5 / math.sqrt(cells)
    # Everybody brings as many entries as the others.
    each = np.bincount(made.person, minlength=n)
    usual = len(made) / n
    assert np.abs(each - usual).max() < 5 * math.sqrt(usual)


def test_equal_words_give_equal_shares() -> None:
    share = Share(to_units(1.0), 1, 10)
    one, two, other = (shares(share, 10, 500, Stream(new_key(seed))) for seed in (1, 1, 2))
    assert np.array_equal(one.person, two.person)
    assert np.array_equal(one.value, two.value)
    assert len(one) != len(other) or not np.array_equal(one.cell, other.cell)
    # A release's key comes from the operating system.
    drawn = [shares(share, 10, 500, Stream(new_key())) for _ in range(2)]
    assert not np.array_equal(summed(drawn[0], 500), summed(drawn[1], 500))


def test_a_word_that_is_a_threshold_is_decided_by_the_next() -> None:
    """The branch that chance takes once in 2^64 draws: U begins with F_k's own first word."""
    share = Share(to_units(1.0), 1, 2)
    made = tables(share)
    gaps, _, sizes = made.laws
    k = 4
    top, low = int(sizes.top[k]), int(sizes.low[k])
    first = int(gaps.top[0])  # no gap at all: below the first threshold
    for second, size in [(low - 1, k + 1), (low + 1, k + 2), (0, k + 1), (2**64 - 1, k + 2)]:
        drawn = shares(share, 1, 50, Given([first - 1, top, second]))
        assert (drawn.cell[0], drawn.value[0]) == (0, size)
    # Undecided after two words as well: the bits after them decide.
    for third, size in [(0, k + 1), (2**64 - 1, k + 2)]:
        drawn = shares(share, 1, 50, Given([first - 1, top, low, third]))
        assert (drawn.cell[0], drawn.value[0]) == (0, size)


def test_a_size_beyond_the_table_is_drawn() -> None:
    share = Share(to_units(1.0), 1, 2)
    gaps, _, sizes = tables(share).laws
    drawn = shares(share, 1, 1, Given([int(gaps.top[0]) - 1, 2**64 - 1, 2**64 - 1, 5]))
    assert drawn.value[0] > len(sizes.top)


def test_tables_that_would_explode_are_refused() -> None:
    with pytest.raises(InputError, match=r"every round epsilon 0\.0016 or more"):
        checked(to_units(0.001), 16)
    checked(to_units(0.0016), 16)


def test_tables_that_take_seconds_are_said() -> None:
    with pytest.warns(SlowWarning, match="10,000 places a person takes seconds.*fewer places or"):
        checked(to_units(1.0), 10_000)
    with pytest.warns(SlowWarning, match=r"A round of epsilon 0\.0002 takes seconds"):
        checked(to_units(0.0002), 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        checked(to_units(1.0), 16)
        checked(to_units(0.001), 1)


def test_the_words_are_those_of_the_cipher() -> None:
    # RFC 8439, appendix A.1, test vector 1: key, nonce and counter of zeros.
    first = bytes.fromhex("76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7")
    assert Stream(bytes(32)).words(4).tobytes() == first


def test_a_stream_goes_on_where_it_was() -> None:
    whole = Stream(new_key(1), 5).words(300_000)
    parts = Stream(new_key(1), 5)
    pieces = [parts.words(n) for n in (1, 7, 299_992)]
    assert np.array_equal(whole, np.concatenate(pieces))
    assert not np.array_equal(whole[:4], Stream(new_key(1), 6).words(4))
    assert Stream(new_key(1), 5).bytes(16) == whole[:2].tobytes()


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
