"""What a protocol may be, and the figures of its rounds."""

from __future__ import annotations

import numpy as np
import pytest

from explorer.errors import InputError
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
