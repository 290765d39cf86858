"""Fieller's intervals against brute force, their coverage, the rule of division."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from explorer.errors import InputError
from explorer.federated.asking import Protocol
from explorer.federated.calibration import epsilon_of
from explorer.federated.mechanism import Federated
from explorer.federated.people import People
from explorer.federated.proportion import fieller, proportion
from explorer.points.matrix import FrequencyMatrix
from explorer.privacy.ledger import Ledger
from explorer.releases.quarters import separate
from tests.federated.town import town

Z = 1.96


def test_intervals_are_those_of_a_search() -> None:
    rng = np.random.default_rng(1)
    yes, no = rng.normal(60, 60, 200), rng.normal(90, 60, 200)
    low, high = fieller(yes, no, 12.0, Z)
    p = np.linspace(0, 1, 20_001)
    for y1, y0, a, b in zip(yes, no, low, high, strict=True):
        n = y1 + y0
        if n <= 0:
            assert (a, b) == (0.0, 1.0)
            continue
        y1, y0 = max(y1, 0.0), max(y0, 0.0)
        n = held = y1 + y0
        inside = (y1 - p * n) ** 2 <= Z**2 * (144.0 * ((1 - p) ** 2 + p**2) + held * p * (1 - p))
        if (a, b) == (0.0, 1.0):
            # Nothing is known: the set is no interval, or reaches both ends.
            continue
        if inside.any():
            assert p[inside][0] == pytest.approx(a, abs=1e-4)
            assert p[inside][-1] == pytest.approx(b, abs=1e-4)
            assert inside.sum() == pytest.approx((b - a) * 20_000, abs=3)


def noise_of(law: str, rng: np.random.Generator, sd: float, size: int) -> np.ndarray:
    """Noise of a sum of many shards, or of one, whose tails are the longest."""
    if law == "normal":
        return rng.normal(0.0, sd, size)
    chance = -math.expm1(-epsilon_of(sd))
    return np.subtract(*rng.negative_binomial(1, chance, (2, size))).astype(np.float64)


@pytest.mark.statistical
@pytest.mark.parametrize(("law", "level"), [("normal", 0.95), ("one shard", 1 - 0.0627)])
@pytest.mark.parametrize("noise", [0.3, 1.4, 14.0, 100.0])
def test_intervals_cover_and_are_no_narrower_than_noise_allows(
    law: str, level: float, noise: float
) -> None:
    # 1.96 standard deviations hold exp(-1.96 sqrt 2) less than all of a Laplace draw.
    rng, runs = np.random.default_rng(7), 20_000
    slack = 4 * math.sqrt(level * (1 - level) / runs)
    for number in (0, 1, 2, 5, 20, 50, 200, 1_000):
        for yes in {0, 1, number // 20, number // 3, number - 1, number} & set(range(number + 1)):
            y1, y0 = (k + noise_of(law, rng, noise, runs) for k in (yes, number - yes))
            low, high = fieller(y1, y0, noise)
            share = yes / number if number else 0.5
            assert np.mean((low <= share) & (share <= high)) > level - slack, (number, yes)
            # The noise of a share of n people is noise / (n sqrt 2) or more, whatever it is.
            most = np.maximum(y1, 0) + np.maximum(y0, 0)
            least = Z * noise / math.sqrt(2) / np.maximum(most, 1e-9)
            assert np.all(high - low >= np.minimum(least, 1) - 1e-12), (number, yes)


@pytest.mark.parametrize("noise", [0.5, 10.0, 100.0])
def test_a_count_below_0_is_no_more_certain_than_0(noise: float) -> None:
    less = -np.linspace(0, 50, 101) * noise
    some = np.full(101, 60.0 * noise)
    mirrored = (1 - end for end in fieller(less, some, noise)[::-1])
    for low, high in (fieller(some, less, noise), mirrored):
        assert np.all(high == 1.0)
        assert np.all(np.diff(low) == 0)
        assert low[0] < 1


@pytest.fixture(scope="module")
def people() -> People:
    counts = town(people=60_000)
    everybody = People.of_matrix(FrequencyMatrix.from_array(counts))
    rng = np.random.default_rng(3)
    return everybody.proportion(rng.random(len(everybody)) < chance(everybody))


def chance(everybody: People) -> np.ndarray:
    """More in one quarter than elsewhere."""
    return np.where(everybody.cells < 4**6 // 4, 0.6, 0.2)


@pytest.mark.statistical
def test_intervals_hold_what_they_should(people: People) -> None:
    # The share that is estimated is that of these people, not the chance that made them.
    held, widths = [], []
    everybody = town(people=60_000)
    rows, cols = separate(people.cells)[::-1]
    assert people.answer is not None
    yes = np.bincount(rows * 64 + cols, people.answer, 64 * 64).reshape(64, 64)
    for seed in range(12):
        found = proportion(people, 1.0, width=0.1, rng=seed, mode="summed",
                           protocol=Protocol(10_000, 0.0, 0.0))  # fmt: skip
        low, high = found.interval
        truth = np.array([
            [count[a[0] : b[0], a[1] : b[1]].sum() for count in (yes, everybody)]
            for a, b in zip(found.lower, found.upper, strict=True)
        ]).T  # fmt: skip
        truth = truth[0] / np.maximum(truth[1], 1)
        counted = found.yes + found.no > 200
        held += ((low <= truth) & (truth <= high))[counted].tolist()
        widths.append(float(np.median((high - low)[counted] / 2)))
    # 95 %, of cells that share a sum of people in part: four standard errors below.
    assert np.mean(held) > 0.95 - 4 * math.sqrt(0.95 * 0.05 / len(held))
    assert max(widths) < 0.2


def test_what_cannot_be_asked_is_refused(people: People) -> None:
    with pytest.raises(InputError, match="answer"):
        proportion(People.of_matrix(FrequencyMatrix.from_array(town())), rng=1)
    for width in (0.0, 1.0, -1.0):
        with pytest.raises(InputError, match="half width"):
            proportion(people, width=width, rng=1)
    with pytest.raises(InputError, match="yes or no"):
        Federated().release(people, rng=1)


@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        ({"depth": -1}, "Depth is -1"),
        ({"depth": 3.5}, "Depth is 3.5"),
        ({"c": 0}, "c is 0"),
        ({"c": float("nan")}, "c is nan"),
        ({"c": -1}, "c is -1"),
        ({"epsilon": 0}, "Epsilon is 0"),
        ({"epsilon": "a"}, "Epsilon is 'a'"),
        ({"epsilon": 100}, "Epsilon is 100"),
        ({"b": 0}, "b is 0"),
        ({"number": 0}, "People is 0"),
        ({"width": "a"}, "half width is 'a'"),
        ({"protocol": Protocol(2, 0.5, 0.3)}, "nobody honest is sure to be left"),
        ({"epsilon": 1e-6, "number": 2}, "nobody honest|give the round a larger epsilon"),
    ],
)
def test_what_is_refused_is_not_booked(
    people: People, tmp_path: Path, how: dict[str, Any], sentence: str
) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite3")
    with pytest.raises(InputError, match=sentence):
        proportion(people, **how, ledger=ledger, people_are_public=True)
    assert ledger.spent(people.key) == 0


def test_the_table_tiles_the_map_and_the_budget_is_spent(people: People) -> None:
    found = proportion(people, 0.5, number=20_000, rng=1, mode="summed")
    frame = found.table()
    area = (frame.row1 - frame.row0) * (frame.column1 - frame.column0)
    assert area.sum() == 64 * 64
    assert found.rounds.epsilon.sum() == pytest.approx(0.5)
    assert np.all((frame.low <= frame.high) & (frame.low >= 0) & (frame.high <= 1))
    assert found.preview
