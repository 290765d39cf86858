"""Choices of Compare are checked on the server, for both mechanisms and the sweep."""

import pytest

from explorer.app.compare.series import series_of
from explorer.app.state.compare import CompareState
from explorer.errors import InputError
from explorer.mechanisms import HTF, Mosaic


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("chosen", "htf"),
        ("chosen", ["oracle"]),
        ("chosen", [["htf"]]),
        ("chosen", None),
        ("metric", "mse"),
        ("metric", 1),
        ("workload", "cells"),
        ("at", 0.2),
        ("at", "0.1"),
        ("at", True),
        ("seeds", 1),
        ("seeds", 10_000),
        ("seeds", 2.5),
        ("epsilon", float("nan")),
    ],
)
def test_a_wrong_choice_is_one_sentence_and_changes_nothing(name, value) -> None:
    state = CompareState()
    before = dict(state.param.values())
    with pytest.raises(InputError) as refused:
        state.put(**{name: value})
    assert "\n" not in str(refused.value)
    assert dict(state.param.values()) == before


def test_epsilon_and_explanations_are_shared() -> None:
    state = CompareState(a=HTF(epsilon=0.3), b=Mosaic(epsilon=9.0))
    assert state.b.instance().epsilon == 0.3
    state.put(epsilon=2.0, explain=True)
    assert state.b.instance().epsilon == 2.0
    assert state.b.explain
    assert CompareState(a=HTF(epsilon=0.3), epsilon=1.0).epsilon == 1.0


def test_a_and_b_are_in_the_sweep_once_unless_they_are_left_out() -> None:
    state = CompareState(chosen=["ug"])
    assert [each.name for each in series_of(state)] == ["UG", "HTF", "Mosaic"]
    state = CompareState(a=HTF(T=5), b=HTF(T=8), chosen=["htf"])
    names = {each.name: each.settings for each in series_of(state)}
    assert names == {"HTF": "", "A: HTF": "T=5", "B: HTF": "T=8"}
    styles = [(each.style.colour, each.style.dash) for each in series_of(state)]
    assert len(set(styles)) == 3
    same = CompareState(a=HTF(T=5), b=HTF(T=5), chosen=[])
    assert [each.name for each in series_of(same)] == ["A: HTF"]
    alone = CompareState(a=HTF(T=5), b="mosaic", chosen=["htf"], with_sides=False)
    assert [each.name for each in series_of(alone)] == ["HTF"]


def test_swapping_exchanges_settings() -> None:
    state = CompareState(a=HTF(T=5), b="ag", epsilon=0.7)
    state.swap()
    assert (state.mechanism, state.b.mechanism, state.b.parameter("T")) == ("ag", "htf", 5)
    assert state.b.instance().epsilon == state.instance().epsilon == 0.7
