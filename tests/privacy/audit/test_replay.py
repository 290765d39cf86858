"""Replays of small mechanisms of which we know what they give away."""

from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import pytest

from explorer import FrequencyMatrix
from explorer.mechanisms import HTF, QuadTree
from explorer.privacy.audit.loss import Breach
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
        ({"values": np.array([1.0, 2.0])}, ".values"),
        ({"values": np.array([1, 2])}, ".values"),
        ({"values": np.array([[1.0, np.nan]])}, ".values"),
        ({"facts": MappingProxyType({"a": (1, 2.0)})}, ".facts.a.1"),
        ({"facts": MappingProxyType({"b": 1})}, ".facts"),
        ({"facts": MappingProxyType({"a": (1,)})}, ".facts.a"),
    ):
        assert difference(thing(), thing(**changed)) == "the release" + where
    assert difference(np.array([0.0]), np.array([-0.0])) == "the release"
    assert difference((0.0,), (-0.0,)) == "the release.0"
    assert difference(1, 1.0) == "the release"
    assert difference(1, True) == "the release"
