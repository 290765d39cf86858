"""The state of a page refuses, in one sentence, whatever is not a choice."""

import math

import pytest

from explorer.app.compare.sweep import series_of
from explorer.app.state import CompareState, ExploreState, epsilon_of
from explorer.errors import InputError
from explorer.mechanisms import HTF, Mosaic

HUGE = 10**5000
WRONG = {
    ExploreState: {
        "epsilon": [0, -5, math.nan, math.inf, 1e9, "1", None, [1], 10**400, HUGE],
        "side": [16384, 1, True, "1024", HUGE],
        "mechanism": ["no such", None, ["htf"]],
        "right": ["<script>"],
        "partition": ["yes", 1],
        "seed": [-1, 1.5, True, 2**40, HUGE, math.nan],
        "city": [5, HUGE],
        "nonsense": [1],
        "name": ["x"],
    },
    CompareState: {
        "chosen": ["htf", ["oracle"], [["htf"]], None],
        "metric": ["mse", 1],
        "workload": ["cells"],
        "at": [0.2, "0.1", True],
        "seeds": [1, 10_000, 2.5],
        "epsilon": [math.nan],
    },
}


@pytest.mark.parametrize(
    ("kind", "name"), [(k, name) for k, names in WRONG.items() for name in names]
)
def test_a_wrong_choice_is_one_sentence_and_changes_nothing(kind, name) -> None:
    state = kind()
    before = dict(state.param.values())
    for value in WRONG[kind][name]:
        with pytest.raises(InputError) as refused:
            state.put(**{"explain": True, name: value})
        assert "\n" not in str(refused.value)
        assert len(str(refused.value)) < 400
        assert dict(state.param.values()) == before, "several choices are all or none"


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("height", [30, -1, 10**400, HUGE, math.inf, [HUGE]]),
        ("T", [0, 1000, math.nan, 10**400]),
        ("stop_rule", ["x", HUGE]),
    ],
)
def test_a_wrong_parameter_is_refused_by_the_mechanism(name, values) -> None:
    state = ExploreState(mechanism="htf", epsilon=0.3)
    before = state.parameter(name)
    for value in values:
        with pytest.raises(InputError) as refused:
            state.set_parameter(name, value)
        assert len(str(refused.value)) < 400
        assert state.parameter(name) == before
    for unknown in ("epsilon", "name", 5, None, ["T"], "T" * 5000, HUGE):
        with pytest.raises(InputError, match="no setting called") as refused:
            state.set_parameter(unknown, 5)
        assert len(str(refused.value)) < 400
    assert state.instance().epsilon == 0.3


def test_parameters_are_kept_per_mechanism_and_what_is_handed_out_is_a_copy() -> None:
    state = ExploreState(mechanism="htf", height=7)
    made = state.instance()
    assert state.instance() is made
    state.put(mechanism="quadtree")
    assert state.parameter("height") is None
    state.set_parameter("height", 3)
    state.put(mechanism="htf", epsilon=2.0)
    made = state.instance()
    assert (made.height, made.epsilon) == (7, 2.0)
    made.T = 2
    assert state.instance().T != 2
    assert ExploreState(mechanism="ug", grid_size=9).instance().grid_size == 9
    with pytest.raises(InputError):
        ExploreState(grid_size=9)


def test_every_place_of_the_epsilon_slider_is_a_valid_epsilon() -> None:
    state = ExploreState()
    for step in range(61):
        state.put(epsilon=epsilon_of(-2 + step * 0.05))
    assert state.epsilon == 10
    for place in (math.nan, math.inf, 1e9):
        with pytest.raises(InputError):
            epsilon_of(place)


def test_both_sides_of_compare_share_epsilon_and_are_in_the_sweep_once() -> None:
    state = CompareState(a=HTF(epsilon=0.3), b=Mosaic(epsilon=9.0))
    assert state.b.instance().epsilon == 0.3
    state.put(epsilon=2.0, explain=True)
    assert state.b.instance().epsilon == 2.0
    assert state.b.explain
    for choices, names in (
        ({"chosen": ["ug"]}, ["UG", "HTF", "Mosaic"]),
        ({"a": HTF(T=5), "b": HTF(T=8), "chosen": ["htf"]}, ["HTF", "A: HTF", "B: HTF"]),
        ({"a": HTF(T=5), "b": HTF(T=5), "chosen": []}, ["A: HTF"]),
        ({"a": HTF(T=5), "b": "mosaic", "chosen": ["htf"], "with_sides": False}, ["HTF"]),
    ):
        series = series_of(CompareState(**choices))
        assert [each.name for each in series] == names
        assert len({(each.style.colour, each.style.dash) for each in series}) == len(names)
