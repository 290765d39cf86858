"""Sums of shares against the law they must have, and draws that a word does not decide."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from scipy.stats import chi2

from explorer.errors import InputError
from explorer.federated.inverse import Share, tables
from explorer.federated.loss import log_probability
from explorer.federated.shares import Shares, SlowWarning, checked, expected, shares
from explorer.federated.stream import Stream, new_key
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


@pytest.mark.statistical
def test_how_often_the_next_word_decides_follows_the_threshold() -> None:
    share = Share(to_units(1.0), 1, 2)
    gaps, _, sizes = tables(share).laws
    k = 2
    rng = np.random.default_rng(2)
    seconds = rng.integers(0, 2**64, 4000, dtype=np.uint64)
    larger = 0
    for second in seconds.tolist():
        words = [int(gaps.top[0]) - 1, int(sizes.top[k]), second]
        larger += shares(share, 1, 1, Given(words)).value[0] == k + 2
    part = 1 - int(sizes.low[k]) / 2**64
    assert abs(larger - 4000 * part) < 5 * math.sqrt(4000 * part * (1 - part)) + 1e-9


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
