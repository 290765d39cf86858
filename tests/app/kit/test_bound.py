"""Controls that follow a state, are checked by it, and take label and options from it."""

import pytest

from explorer.app.kit.bound import Tied
from explorer.app.state import CompareState, ExploreState


def test_widget_and_state_follow_each_other_and_the_state_refuses() -> None:
    state, said = ExploreState(), []
    tied = Tied(state, said.append)
    scale = tied.choose("scale")
    scale.value = "linear"
    assert state.scale == "linear"
    state.put(scale="log")
    assert scale.value == "log"
    switch = tied.switch("partition")
    switch.value = False
    assert state.partition is False
    scale.options = {"log": "log", "linear": "linear", "square": "square"}
    scale.value = "square"
    assert len(said) == 1
    assert "Colour scale" in said[0]
    assert (state.scale, scale.value) == ("log", "log")


@pytest.mark.parametrize("name", ["side", "bound", "right", "scale_from", "truth", "at", "metric"])
def test_a_choice_is_declared_once(name) -> None:
    state = CompareState()
    widget = Tied(state, [].append).choose(name)
    assert widget.label == state.param[name].label
    assert list(widget.options.values()) == list(state.param[name].objects)
    assert widget.value == getattr(state, name)


def test_a_whole_number_slides_between_its_bounds() -> None:
    state = CompareState()
    seeds = Tied(state, [].append).slide("seeds")
    assert (seeds.start, seeds.end) == state.param.seeds.bounds
    seeds.value = 7
    assert state.seeds == 7
