"""Controls that follow a state and are checked by it."""

from explorer.app.kit.bound import Tied
from explorer.app.state.explore import ExploreState


def test_widget_and_state_follow_each_other_and_the_state_refuses() -> None:
    state, said = ExploreState(), []
    tied = Tied(state, said.append)
    scale = tied.choose("scale", "Colour scale", ["log", "linear"])
    scale.value = "linear"
    assert state.scale == "linear"
    state.put(scale="log")
    assert scale.value == "log"
    switch = tied.switch("partition", "Show partition")
    switch.value = False
    assert state.partition is False
    scale.options = ["log", "linear", "square"]
    scale.value = "square"
    assert len(said) == 1
    assert "Colour scale" in said[0]
    assert (state.scale, scale.value) == ("log", "log")
