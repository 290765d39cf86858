"""The door: accounts, samples, sums, refusals; what a release books."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from explorer.errors import InputError
from explorer.federated import calibration
from explorer.federated.asking import MODES, Asking, Protocol, Question, Sums
from explorer.federated.people import People
from explorer.federated.shards import Shard
from explorer.grid.grid import Grid
from explorer.privacy.exceeded import BudgetExceeded
from explorer.privacy.ledger import Ledger
from explorer.releases.units import to_units
from tests.federated.towns import EXACT, GRID, question_of, some_people, walkers

ONE = to_units(1.0)
QUARTERS = question_of([(16 * i, 1) for i in range(4)])


def crowd(number: int = 20_000, seed: int = 0) -> People:
    return some_people(seed, number)


def true_counts(people: People, question: Question = QUARTERS) -> np.ndarray:
    return np.bincount(question.owner(people.cells), minlength=question.counters)


@pytest.mark.statistical
@pytest.mark.parametrize("mode", MODES)
def test_sums_are_the_counts_with_the_noise_that_they_say(mode: str) -> None:
    people, number = crowd(), 400
    cells = question_of([(i, 3) for i in range(64)])
    off = []
    for seed in range(40 if mode == "masked" else 200):
        asking = Asking(
            people, Protocol(shard=60, dropped=0.0, corrupt=0.1), ONE, seed, mode, number
        )
        if mode == "masked" and seed == 4:
            break
        sums = asking.ask(cells, number, ONE)
        chosen = true_counts(People(people.cells[asking._session], GRID), cells)
        off.append(sums.values - chosen)
        assert sums.answered == number
        assert sums.shards == 7
        assert sums.sd == pytest.approx(calibration.sigma(1.0) * np.sqrt(sums.shape), rel=1e-12)
    noise = np.concatenate(off)
    variance = noise.var()
    # Of n values of kurtosis 3 + e the variance is sure to sqrt((2 + e) / n); e < 3 here.
    assert variance / sums.sd**2 == pytest.approx(1.0, abs=5 * np.sqrt(5 / noise.size))
    assert abs(noise.mean()) < 5 * sums.sd / np.sqrt(noise.size)


def test_masked_is_ideal_bit_for_bit() -> None:
    for people in (crowd(300), walkers(2, 300), crowd(300).proportion(np.arange(300) % 2 == 0)):
        enough = Protocol(shard=60).round(200, ONE, 4 * people.counters, people.places).bits
        for bits in (None, enough - 1):
            protocol = Protocol(shard=60, bits=bits)
            made = []
            for mode in ("ideal", "masked"):
                asking = Asking(people, protocol, ONE, rng=5, mode=mode)
                made.append([asking.ask(QUARTERS, n, ONE) for n in (60, 200)])
            for ideal, masked in zip(*made, strict=True):
                assert repr(ideal) == repr(masked)


def test_what_the_server_saw_of_a_preview_alone() -> None:
    asking = Asking(crowd(300), Protocol(shard=60), ONE, rng=5, mode="masked")
    asking.ask(QUARTERS, 120, ONE)
    assert len(asking.seen) == 2
    assert [seen.vector.sum() for seen in asking.seen] == [1, 1]
    drawn = Asking(crowd(300), Protocol(shard=60), ONE, mode="masked")
    drawn.ask(QUARTERS, 120, ONE)
    assert drawn.seen == ()


def test_each_person_is_asked_once_and_pays_once() -> None:
    seen: list[Shard] = []
    asking = Asking(crowd(100), EXACT, ONE, rng=1, number=50, record=seen.append)
    for number in (20, 30):
        asking.ask(QUARTERS, number, ONE)
    members = np.concatenate([shard.members for shard in seen])
    assert len(np.unique(members)) == 50
    assert asking.left == 0
    assert asking.spent == ONE
    assert [row.epsilon for row in asking.ledger] == [1.0, 1.0]
    with pytest.raises(InputError, match="0 can be"):
        asking.ask(QUARTERS, 1, ONE)


def test_everybody_pays_for_a_new_sample_of_everybody() -> None:
    asking = Asking(crowd(100), EXACT, ONE, rng=1)
    asking.ask(QUARTERS, 50, ONE // 2, fresh=False)
    assert (asking.spent, asking.left) == (ONE // 2, 100)
    asking.ask(QUARTERS, 50, ONE // 4)
    assert asking.spent == ONE // 2 + ONE // 4
    with pytest.raises(BudgetExceeded):
        asking.ask(QUARTERS, 50, ONE // 2, fresh=False)
    # Those who were never asked have paid for the sample of everybody alone.
    asking.ask(QUARTERS, 50, ONE // 2)
    assert asking.spent == ONE
    with pytest.raises(BudgetExceeded):
        asking.ask(QUARTERS, 8, ONE // 1000, fresh=False)


def test_what_is_refused_draws_and_books_nothing() -> None:
    seen: list[Shard] = []
    asking = Asking(crowd(100), EXACT, ONE, rng=1, record=seen.append)
    before = asking._random.bit_generator.state
    with pytest.raises(BudgetExceeded):
        asking.ask(QUARTERS, 50, ONE + 1)
    with pytest.raises(InputError):
        asking.ask(QUARTERS, 101, ONE)
    with pytest.raises(InputError, match="every round epsilon"):
        asking.ask(QUARTERS, 50, 1000)
    for strange in (0, -1, 1.5):
        with pytest.raises(ValueError, match="units"):
            asking.ask(QUARTERS, 50, strange)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="depth"):
        asking.ask(Question(np.array([0]), np.array([0]), 1, 9), 50, ONE)
    assert asking._random.bit_generator.state == before
    assert (asking.spent, asking.ledger, seen) == (0, (), [])


def test_every_shard_refused_is_booked_and_gives_nothing() -> None:
    protocol = Protocol(shard=100, dropped=0.0, corrupt=0.0)
    asking = Asking(crowd(1000), protocol, ONE, rng=1)
    # People who agreed on no dropouts, and drop out.
    object.__setattr__(protocol, "dropped", 0.5)
    plan = dataclasses.replace(protocol, dropped=0.0).round(500, ONE, 4)
    asking.protocol = Protocol(shard=100, dropped=0.5, corrupt=0.0)
    object.__setattr__(asking.protocol, "round", lambda *_: plan)
    sums = asking.ask(QUARTERS, 500, ONE)
    assert (sums.answered, sums.refused, sums.shards) == (0, 5, 5)
    assert sums.values.tolist() == [0] * 4
    assert (sums.shape, sums.sd) == (0.0, 0.0)
    assert (asking.spent, asking.left) == (ONE, 500)


def test_samples_are_the_same_in_every_mode_and_for_every_place() -> None:
    answered = []
    for people in (crowd(3000, 1), crowd(3000, 2)):
        for mode in MODES:
            asking = Asking(people, Protocol(shard=100), ONE, rng=9, mode=mode)
            rounds = [asking.ask(QUARTERS, n, ONE) for n in (100, 150)]
            answered.append([each.answered for each in rounds])
    assert all(each == answered[0] for each in answered)


def test_too_few_bits_wrap_round_and_are_counted() -> None:
    everybody = People(np.zeros(400, dtype=np.int64), GRID)
    enough = Asking(everybody, EXACT_OF_400, ONE, rng=1).ask(QUARTERS, 400, ONE)
    assert enough.overflow == 0
    assert enough.values[0] == pytest.approx(400, abs=12 * enough.sd)
    few = dataclasses.replace(EXACT_OF_400, bits=enough.bits - 1)
    wrapped = Asking(everybody, few, ONE, rng=1).ask(QUARTERS, 400, ONE)
    assert wrapped.overflow == 1
    assert wrapped.values[0] == enough.values[0] - 2**wrapped.bits
    assert np.array_equal(wrapped.values[1:], enough.values[1:])


EXACT_OF_400 = Protocol(shard=400, dropped=0.0, corrupt=0.0)


@pytest.mark.parametrize(
    ("named", "sentence"),
    [
        ({"mode": "naive"}, "There is no mode 'naive'"),
        ({"mode": "summed"}, "give a seed"),
        ({"rng": True}, "rng is True"),
        ({"rng": "dice"}, "rng is 'dice'"),
        ({"number": 0}, "0 people cannot be asked"),
        ({"number": 2.5}, "2.5 people cannot be asked"),
        ({"number": 101}, "101 people are to be asked, 100 can be"),
    ],
)
def test_runs_that_cannot_be_are_refused(named: dict[str, object], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        Asking(crowd(100), EXACT, ONE, **named)  # type: ignore[arg-type]


def test_questions_are_runs_of_the_square() -> None:
    starts, owners = np.array([0, 5, 9]), np.array([1, -1, 0])
    for depth in (2, 12):
        asked = Question(starts, owners, 2, depth)
        cells = np.array([0, 4, 5, 8, 9, 15, -1])
        assert asked.owner(cells).tolist() == [1, 1, -1, -1, 0, 0, -1]
    for bad in [
        (np.array([1]), np.array([0]), 1, 2),
        (np.array([0, 0]), np.array([0, 0]), 1, 2),
        (np.array([0, 16]), np.array([0, 0]), 1, 2),
        (np.array([0]), np.array([1]), 1, 2),
        (np.array([0]), np.array([-2]), 1, 2),
        (np.array([], dtype=int), np.array([], dtype=int), 1, 2),
    ]:
        with pytest.raises(ValueError, match=r"runs|owners"):
            Question(*bad)


def test_a_deep_square_is_looked_up_in_its_runs() -> None:
    # A strip: the square that holds it is deeper than any square of a grid may be.
    people = People(np.arange(0, 4**12, 4**6), Grid.cells((1, 2**12)))
    assert people.depth == 12
    asked = Question(np.arange(4) * 4**11, np.arange(4), 4, 12)
    sums = Asking(people, EXACT_OF_400, to_units(5.0), rng=1).ask(asked, 400, to_units(5.0))
    assert isinstance(sums, Sums)
    assert sums.values.sum() == pytest.approx(400, abs=10)


def test_a_release_is_drawn_anew_and_booked(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "spends.sqlite3", cap=1.5)
    people = crowd(100)
    drawn = []
    for _ in range(2):
        asking = Asking(people, EXACT, ONE, number=64)
        assert not asking.preview
        drawn.append(asking.ask(QUARTERS, 64, ONE).values)
    # Other people, other noise: equal by chance once in thousands of years of trying.
    assert not np.array_equal(*drawn)
    asking = Asking(people, EXACT, ONE, ledger=ledger, mechanism="federated", what="a test")
    assert ledger.spent(people.key) == ONE
    with pytest.raises(InputError, match="cap"):
        Asking(people, EXACT, ONE, ledger=ledger)
    asking.ask(QUARTERS, 50, ONE // 4)
    assert asking.close() == ONE // 4
    assert ledger.spent(people.key) == ONE // 4
    with pytest.raises(BudgetExceeded):
        asking.ask(QUARTERS, 10, 10**9)
    Asking(people, EXACT, ONE, rng=1, ledger=ledger)
    assert ledger.spent(people.key) == ONE // 4


@pytest.mark.parametrize(("number", "shard"), [(9, 5), (97, 49), (97, 48), (7, 2)])
def test_small_shards_of_two_sizes_add_up_behind_masks(number: int, shard: int) -> None:
    """Where everybody is a neighbour: of an odd number in one shard, of an even one in another."""
    made = [
        Asking(crowd(number), Protocol(shard, 0.0, 0.0), ONE, rng=1, mode=mode).ask(
            QUARTERS, number, ONE
        )
        for mode in ("ideal", "masked")
    ]
    assert made[1].answered == number
    assert np.array_equal(made[0].values, made[1].values)


def test_nobody_looks_into_a_release() -> None:
    with pytest.raises(ValueError, match="nobody looks"):
        Asking(crowd(100), EXACT, ONE, record=lambda _: None)
