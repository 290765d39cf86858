"""What a protocol may be, and the figures of its rounds."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy.stats import chi2

from explorer.errors import InputError
from explorer.federated import asking
from explorer.federated.asking import sample
from explorer.federated.protocol import Protocol
from explorer.releases.units import to_units


def test_the_rounds_of_the_page() -> None:
    # 1,000 people in one shard, then 481,950 in 49.
    first = Protocol().round(1000, to_units(1.0), 64)
    assert (first.shards, first.fewest, first.honest, first.bits) == (1, 862, 812, 11)
    assert (first.degree, first.threshold) == (40, 19)
    assert round(first.bytes_up, -2) == 2800
    later = Protocol(shard=10_000).round(490_000, to_units(1.0), 27_454)
    assert (later.shards, later.fewest, later.honest, later.bits) == (49, 8880, 8380, 14)
    assert (later.degree, later.threshold) == (46, 22)
    assert later.bytes_up == 64 + 67 * 46 + (27_454 * 14 + 7) // 8


def test_several_places_need_more_bits() -> None:
    one = Protocol(shard=1000).round(1000, to_units(1.0), 100)
    many = Protocol(shard=1000).round(1000, to_units(1.0), 100, sensitivity=16)
    assert many.bits in (one.bits + 4, one.bits + 5)
    assert many.sigma == pytest.approx(16 * one.sigma, rel=0.05)
    assert many.sd(4.0) == 2 * many.sigma


def test_corrupt_people_never_reach_the_threshold_of_a_round() -> None:
    """All of a small shard are neighbours: as many shares as there are corrupt ones are known."""
    made, refused = 0, 0
    for size in (*range(2, 60), 100):
        for dropped in (0.0, 0.1, 0.3):
            for corrupt in (0.0, 0.05, 0.2, 0.4):
                try:
                    plan = Protocol(size, dropped, corrupt).round(size, to_units(1.0), 4)
                except InputError as error:
                    refused += "could rebuild" in str(error)
                    continue
                made += 1
                if plan.degree == size - 1:
                    assert plan.threshold > np.ceil(corrupt * size - 1e-9)
                    # Enough are left to answer: neighbours of one who is still there herself.
                    assert plan.threshold <= max(plan.fewest - 1, 1)
    assert made > 300
    assert refused > 0


def test_bits_that_are_required() -> None:
    one = to_units(1.0)
    enough = Protocol(shard=1000).round(1000, one, 64).bits
    Protocol(shard=1000).require_bits(1000, one, 64)
    Protocol(shard=1000, bits=enough).require_bits(1000, one, 64)
    with pytest.raises(InputError, match=f"{enough - 1} bits .* give {enough} or more"):
        Protocol(shard=1000, bits=enough - 1).require_bits(1000, one, 64)


@pytest.mark.parametrize(
    ("named", "sentence"),
    [
        ({"shard": 1}, "A shard of 1 people"),
        ({"shard": 2.5}, "whole number"),
        ({"shard": True}, "whole number"),
        ({"dropped": 1.0}, "drop out"),
        ({"dropped": float("nan")}, "drop out"),
        ({"dropped": "0.1"}, "drop out"),
        ({"corrupt": -0.1}, "are corrupt"),
        ({"dropped": 0.5, "corrupt": 0.5}, "nobody honest"),
        ({"bits": 0}, "Bits of a counter"),
        ({"bits": 63}, "Bits of a counter"),
    ],
)
def test_protocols_that_cannot_be(named: dict[str, object], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        Protocol(**named)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("protocol", "asked", "epsilon", "sensitivity", "sentence"),
    [
        (Protocol(shard=4), 4, 1.0, 1, "nobody honest is sure to be left"),
        (Protocol(shard=2, dropped=0.0, corrupt=0.0), 1, 1.0, 1, "One person alone is no sum"),
        (
            Protocol(10, dropped=0.1, corrupt=0.3),
            10,
            1.0,
            1,
            "shard of 10 people, of whom 3 may be corrupt, these could rebuild",
        ),
        (Protocol(bits=4), 1000, 1.0, 1, "4 bits a counter hold not even the noise"),
        (Protocol(), 1000, 1e-12, 10**6, "give the round a larger epsilon"),
    ],
)
def test_rounds_that_cannot_be(
    protocol: Protocol, asked: int, epsilon: float, sensitivity: int, sentence: str
) -> None:
    with pytest.raises(InputError, match=sentence):
        protocol.round(asked, to_units(f"{epsilon:.12f}"), 64, sensitivity)


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
    words = asking._words

    def few(random: np.random.Generator, many: int, kind: type) -> np.ndarray:
        made = words(random, many, kind)
        return made & np.uint8(lots - 1) if kind is np.uint8 else made

    monkeypatch.setattr(asking, "_words", few)
    random, runs = np.random.default_rng(number), 6_000
    seen = dict.fromkeys(permutations(range(4), number), 0)
    for _ in range(runs):
        seen[tuple(sample(random, 4, number).tolist())] += 1
    expected = runs / len(seen)
    far = sum((found - expected) ** 2 for found in seen.values()) / expected
    # One time in 10^5 a fair order is further off.
    assert far < chi2.isf(1e-5, len(seen) - 1)


def test_a_word_that_leaves_a_rest_is_thrown_away() -> None:
    """Of 2^32 words three people take 2^32 // 3 each: the word 0 belongs to none of them."""
    chosen, ends = np.arange(3, dtype=np.int32), np.array([3])
    assert not asking._shuffle(chosen, ends, np.zeros(5, dtype=np.uint32))
    # Thrown away, then the first of three, then the second of two.
    words = np.array([0, 1, 2**31], dtype=np.uint32)
    assert asking._shuffle(chosen, ends, words)
    assert chosen.tolist() == [2, 1, 0]
