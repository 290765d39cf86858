"""Random order of people: every order and every sample as likely as any other."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy.stats import chi2

from explorer.federated import order
from explorer.federated.order import sample


@pytest.mark.parametrize(("people", "number"), [(1, 1), (2, 1), (300, 300), (70_000, 50_000)])
def test_everybody_at_most_once(people: int, number: int) -> None:
    chosen = sample(np.random.default_rng(people), people, number)
    assert len(chosen) == len(set(chosen.tolist())) == number
    assert 0 <= chosen.min() <= chosen.max() < people


@pytest.mark.statistical
@pytest.mark.parametrize("number", [4, 2])
@pytest.mark.parametrize("lots", [256, 2])
def test_every_order_is_as_likely(number: int, lots: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """All orders of two or four of four people, where lots are shared and where they are not."""
    words = order._words

    def few(random: np.random.Generator, many: int, kind: type) -> np.ndarray:
        made = words(random, many, kind)
        return made & np.uint8(lots - 1) if kind is np.uint8 else made

    monkeypatch.setattr(order, "_words", few)
    random, runs = np.random.default_rng(number), 6_000
    seen = dict.fromkeys(permutations(range(4), number), 0)
    for _ in range(runs):
        seen[tuple(sample(random, 4, number).tolist())] += 1
    expected = runs / len(seen)
    far = sum((found - expected) ** 2 for found in seen.values()) / expected
    # One time in 10^5 a fair order is further off.
    assert far < chi2.isf(1e-5, len(seen) - 1)


@pytest.mark.statistical
def test_places_in_a_long_order_are_even() -> None:
    """Where two people who stand together come out, of 2,000: independent and even."""
    random, runs, people = np.random.default_rng(5), 4_000, 2_000
    where = np.empty((runs, 2))
    for run in range(runs):
        where[run] = np.argsort(sample(random, people, people))[:2]
    # Means of an even law over 0 to n - 1, and a correlation of -1 / (n - 1), within 4 errors.
    assert np.abs(where.mean(axis=0) - (people - 1) / 2).max() < 4 * people / (12 * runs) ** 0.5
    assert abs(np.corrcoef(where.T)[0, 1]) < 4 / runs**0.5


def test_a_word_that_leaves_a_rest_is_thrown_away() -> None:
    """Of 2^32 words three people take 2^32 // 3 each: the word 0 belongs to none of them."""
    chosen, ends = np.arange(3, dtype=np.int32), np.array([3])
    assert not order._shuffle(chosen, ends, np.zeros(5, dtype=np.uint32))
    # Thrown away, then the first of three, then the second of two.
    words = np.array([0, 1, 2**31], dtype=np.uint32)
    assert order._shuffle(chosen, ends, words)
    assert chosen.tolist() == [2, 1, 0]
