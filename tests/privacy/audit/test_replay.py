"""Replays of small mechanisms of which we know what they give away."""

import math
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

import numpy as np
import pytest

from explorer import FrequencyMatrix
from explorer.mechanisms import HTF, QuadTree
from explorer.privacy.audit.loss import Breach, Draw, Loss, Question
from explorer.privacy.audit.replay import Chosen, Recorder, Recording, Replayer
from explorer.privacy.audit.surface import difference
from explorer.privacy.noise import PreviewNoise
from explorer.releases.units import to_units

UNITS = to_units(1)
STYLES = ["still", "up", "down", "wild"]


def matrix(*counts: int) -> FrequencyMatrix:
    return FrequencyMatrix.from_array([counts])


def ask(source, values, stage="count", units=UNITS):
    """Draw noisy counts of some figures, each with the whole budget."""
    keys = np.arange(len(values), dtype=np.uint64)
    return source.laplace(np.asarray(values), 1, np.full(len(values), units), keys, stage)


def cells(data: FrequencyMatrix, source) -> np.ndarray:
    return ask(source, data.counts[0])


def loss_of(publish, data, neighbour, source=None):
    return Recording.of(publish, data, source or PreviewNoise(1)).replay(neighbour)


def test_noisy_cells_cost_epsilon_and_no_more() -> None:
    loss = loss_of(cells, matrix(4, 0, 9), matrix(4, 1, 9))
    assert abs(loss.exact) == UNITS
    assert not loss.exceeds(UNITS)


def test_cells_drawn_twice_cost_twice() -> None:
    def twice(data, source):
        return cells(data, source), ask(source, data.counts[0], "again")

    loss = loss_of(twice, matrix(4, 0), matrix(4, 1), Chosen(0, "still"))
    assert loss.exact == 2 * UNITS


@pytest.mark.parametrize(
    ("publish", "says"),
    [
        (lambda m, s: (cells(m, s), m.total), "the release.1 differs"),
        (lambda m, s: ask(s, m.counts[0][m.counts[0] > 0]), "draw 0, for 'count', is another"),
        (lambda m, s: [ask(s, [1], f"{i}") for i in range(m.total)], "draws once more, for '3'"),
        (lambda m, s: [ask(s, [1], f"{i}") for i in range(9 - m.total)], "leaves out draw 5"),
        (lambda m, s: ask(s, [1], units=UNITS + m.total), "another question"),
        (lambda m, s: ask(s, [2 * m.total]), "moves by 2, more than its sensitivity of 1"),
        (lambda m, s: ask(s, [1 // (4 - m.total)]), "the neighbour fails: ZeroDivisionError"),
        (lambda m, s: ask(s, [1 // (3 - m.total)]), "the run fails: ZeroDivisionError"),
        (lambda m, s: (cells(m, s), cells(m, s)), "two draws for 'count' share their noise"),
    ],
)
def test_every_kind_of_leak_is_named(publish, says: str) -> None:
    with pytest.raises(Breach, match=says):
        loss_of(publish, matrix(3, 0), matrix(3, 1))


def test_working_in_place_on_an_answer_changes_no_record() -> None:
    def rounded(data, source):
        noisy = cells(data, source)
        noisy[noisy < 0] = 0
        return noisy

    recording = Recording.of(rounded, matrix(0, 0, 0, 0), Chosen(1, "down"))
    assert (recording.draws[0].outcome < 0).any()
    assert recording.replay(matrix(0, 1, 0, 0)).epsilon == 1.0
    assert (recording.draws[0].outcome < 0).any()


def test_a_recorder_changes_nothing_and_its_release_is_a_preview() -> None:
    data = matrix(50, 0, 3, 8)
    for kind in (HTF, QuadTree):
        plain = kind(epsilon=1).release(data, rng=5)
        recorder = Recorder(PreviewNoise(5))
        recorded = kind(epsilon=1).release(data, rng=recorder)
        assert difference(plain, recorded) is None
        assert recorded.preview
        again = kind(epsilon=1).release(data, rng=Replayer(recorder.draws))
        assert difference(plain, again) is None


@pytest.mark.parametrize("style", STYLES)
def test_chosen_outcomes_lean_where_they_should(style: str) -> None:
    values = np.arange(2000)
    units, keys = np.full(2000, to_units(0.05)), values.astype(np.uint64)
    noise = Chosen(1, style).laplace(values, 1, units, keys, "test") - values
    signs = {"still": {0}, "up": {0, 1}, "down": {0, -1}, "wild": {-1, 0, 1}}[style]
    assert set(np.sign(noise)) == signs
    offsets = np.arange(0, 2001, 4)
    chosen = Chosen(1, style).lowest(values, offsets, 1, units[:500], keys[:500], "test")
    assert set(chosen) == {0, 1, 2, 3}
    passed = Chosen(1, style).above(values - 10**6, 0, 1, units, keys, "test")
    assert 0 < passed.sum() < 2000


@dataclass(frozen=True, eq=False)
class Thing:
    values: np.ndarray
    facts: MappingProxyType
    name: str = "x"


def thing(**changed) -> Thing:
    parts = {"values": np.array([1.0, np.nan]), "facts": MappingProxyType({"a": (1, float("nan"))})}
    return Thing(**(parts | changed))


def test_things_are_the_same_to_the_last_bit_or_differ_somewhere() -> None:
    assert difference(thing(), thing()) is None
    for changed, where in (
        ({"name": "y"}, ".name"),
        *(
            ({"values": np.array(other)}, ".values")
            for other in ([1.0, 2.0], [1, 2], [[1.0, np.nan]])
        ),
        ({"facts": MappingProxyType({"a": (1, 2.0)})}, ".facts.a.1"),
        ({"facts": MappingProxyType({"b": 1})}, ".facts"),
        ({"facts": MappingProxyType({"a": (1,)})}, ".facts.a"),
    ):
        assert difference(thing(), thing(**changed)) == "the release" + where
    assert difference(np.array([0.0]), np.array([-0.0])) == "the release"
    assert difference((0.0,), (-0.0,)) == "the release.0"
    assert difference(1, 1.0) == "the release"
    assert difference(1, True) == "the release"


def ints(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def counts(values: np.ndarray, outcome: np.ndarray, units: np.ndarray, sensitivity=1) -> Draw:
    keys = np.arange(len(values), dtype=np.uint64)
    return Draw(Question("laplace", "count", keys, values, sensitivity, units), outcome)


def added(*steps: tuple[Draw, np.ndarray]) -> Loss:
    loss = Loss()
    for draw, values in steps:
        loss.add(draw, values)
    return loss


def test_a_count_pays_by_its_distance_from_the_outcome() -> None:
    draw = counts(ints(3, 3, 3), ints(2, 7, 3), ints(500, 30, 4))
    # Each moves from 3 to 4: away from 2, nearer to 7, away from 3.
    assert added((draw, ints(4, 4, 4))).exact == 500 - 30 + 4
    assert added((draw, ints(3, 3, 3))).exact == 0


def test_sensitivity_divides_exactly() -> None:
    draw = counts(ints(0), ints(0), ints(100), sensitivity=7)
    assert added((draw, ints(3))).exact == Fraction(300, 7)


def test_one_unit_too_many_is_seen() -> None:
    budget = to_units("0.3")
    each = [budget // 3, budget // 3, budget - 2 * (budget // 3)]
    right = [(counts(ints(0), ints(0), ints(part)), ints(1)) for part in each]
    assert not added(*right).exceeds(budget)
    assert added(*right).exact == budget
    one_more = (counts(ints(0), ints(0), ints(1)), ints(1))
    assert added(*right, one_more).exceeds(budget)


def test_sums_beyond_64_bits_are_exact() -> None:
    far, much = 10**10, 8 * 10**12
    draw = counts(ints(0), ints(0), ints(much), sensitivity=10**10)
    assert added((draw, ints(far))).exact == Fraction(far * much, 10**10)


def test_losses_on_the_other_side_count_too() -> None:
    loss = added((counts(ints(1), ints(5), ints(10**12)), ints(2)))
    assert loss.exact == -(10**12)
    assert loss.epsilon == 1.0
    assert loss.exceeds(10**12 - 1)
    assert not loss.exceeds(10**12)


def test_a_decision_pays_the_ratio_of_its_probabilities() -> None:
    keys, units, a = np.zeros(1, dtype=np.uint64), ints(to_units(0.8)), 0.4
    question = Question("above", "test", keys, ints(3), 2, units, threshold=5)
    loss = added((Draw(question, np.array([True])), ints(4)))
    # Below the threshold one step is worth a, whatever else.
    assert loss.exact == -units[0] / Fraction(2)
    assert loss.rest == 0
    loss = added((Draw(question, np.array([False])), ints(4)))
    q = math.exp(-a)
    assert loss.rest == pytest.approx(math.log((1 - q**3 / (1 + q)) / (1 - q**2 / (1 + q))))


def test_a_selection_pays_the_ratio_of_its_probabilities() -> None:
    keys, units, a = np.zeros(2, dtype=np.uint64), ints(to_units(1), to_units(0.6)), 0.6
    offsets = ints(0, 3, 5)
    question = Question("lowest", "cut", keys, ints(4, 1, 1, 0, 1), 1, units, offsets)
    draw = Draw(question, ints(2, 1))
    loss = added((draw, ints(4, 1, 1, 1, 1)))
    # Two candidates: the dearer comes through alone when it is first: w / 2; then both are alike.
    before = math.exp(-a / 2) / 2
    assert loss.epsilon == pytest.approx(abs(math.log(before / 0.5)), rel=1e-12)
    # The exact part is the weight's exponent: half a unit of cost.
    assert loss.exact == Fraction(-int(units[1]), 2)


def test_questions_are_alike_but_for_their_exact_figures() -> None:
    keys = np.arange(2, dtype=np.uint64)

    def ask(**changed) -> Question:
        parts = {"kind": "lowest", "stage": "a", "keys": keys, "values": ints(1, 2)}
        parts |= {"sensitivity": 1, "units": ints(5, 5), "offsets": ints(0, 1, 2)}
        return Question(**(parts | changed))

    assert ask().is_like(ask(values=ints(7, 8)))
    others: dict[str, object] = {
        "kind": "laplace", "stage": "b", "keys": keys + np.uint64(1), "values": ints(1, 2, 3),
        "sensitivity": 2, "units": ints(5, 6), "offsets": ints(0, 0, 2), "threshold": 0,
    }  # fmt: skip
    for name, other in others.items():
        changed = {name: other}
        assert not ask().is_like(ask(**changed)), changed
