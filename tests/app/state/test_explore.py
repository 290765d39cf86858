"""The state refuses, in one sentence, whatever is not a choice."""

import math

import pytest

from explorer.app.state.explore import ExploreState
from explorer.app.state.mechanism import epsilon_of
from explorer.errors import InputError


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("epsilon", 0),
        ("epsilon", -5),
        ("epsilon", math.nan),
        ("epsilon", math.inf),
        ("epsilon", 1e9),
        ("epsilon", "1"),
        ("epsilon", None),
        ("epsilon", [1]),
        ("side", 16384),
        ("side", 1),
        ("side", True),
        ("side", "1024"),
        ("mechanism", "no such"),
        ("mechanism", None),
        ("mechanism", ["htf"]),
        ("right", "<script>"),
        ("partition", "yes"),
        ("partition", 1),
        ("seed", -1),
        ("seed", 1.5),
        ("seed", True),
        ("seed", 2**40),
        ("city", 5),
        ("nonsense", 1),
        ("name", "x"),
    ],
)
def test_a_wrong_choice_is_one_sentence_and_changes_nothing(name, value) -> None:
    state = ExploreState()
    before = dict(state.param.values())
    with pytest.raises(InputError) as refused:
        state.put(**{name: value})
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 300
    assert dict(state.param.values()) == before


def test_several_choices_are_all_or_none() -> None:
    state = ExploreState()
    with pytest.raises(InputError):
        state.put(palette="magma", epsilon=-1)
    assert state.palette == "cividis"


@pytest.mark.parametrize(
    ("name", "value"),
    [("height", 30), ("height", -1), ("T", 0), ("T", 1000), ("stop_rule", "x"), ("nope", 1)],
)
def test_a_wrong_parameter_is_refused_by_the_mechanism(name, value) -> None:
    state = ExploreState(mechanism="htf")
    with pytest.raises(InputError):
        state.set_parameter(name, value)
    assert state.instance().height is None


def test_parameters_are_kept_per_mechanism() -> None:
    state = ExploreState(mechanism="htf", height=7)
    state.put(mechanism="quadtree")
    assert state.parameter("height") is None
    state.set_parameter("height", 3)
    state.put(mechanism="htf", epsilon=2.0)
    assert state.instance().height == 7
    assert state.instance().epsilon == 2.0


def test_first_choices_may_name_parameters_and_are_checked() -> None:
    assert ExploreState(mechanism="ug", grid_size=9).instance().grid_size == 9
    with pytest.raises(InputError):
        ExploreState(grid_size=9)


def test_rolling_takes_other_dice() -> None:
    state = ExploreState()
    seen = set()
    for _ in range(5):
        seen.add(state.seed)
        state.roll()
    assert len(seen) == 5


def test_every_place_of_the_epsilon_slider_is_a_valid_epsilon() -> None:
    state = ExploreState()
    for step in range(61):
        state.put(epsilon=epsilon_of(-2 + step * 0.05))
    assert state.epsilon == 10
    for place in (math.nan, math.inf, 1e9):
        with pytest.raises(InputError):
            epsilon_of(place)


@pytest.mark.parametrize(
    "name", ["epsilon", "name", 5, None, ["T"], "T" * 5000, pytest.param(10**5000, id="huge")]
)
def test_only_settings_of_the_mechanism_can_be_set_by_name(name) -> None:
    state = ExploreState(mechanism="htf", epsilon=0.3)
    with pytest.raises(InputError, match="no setting called") as refused:
        state.set_parameter(name, 5)
    assert len(str(refused.value)) < 400
    assert state.instance().epsilon == 0.3


@pytest.mark.parametrize(
    "value",
    [
        10**400,
        -(10**400),
        pytest.param(10**5000, id="huge"),
        pytest.param([10**5000], id="list"),
        math.inf,
        math.nan,
    ],
)
@pytest.mark.parametrize("name", ["epsilon", "side", "seed", "height", "T", "stop_rule", "city"])
def test_numbers_that_no_float_holds_are_one_sentence(name, value) -> None:
    state = ExploreState(mechanism="htf")
    set_it = state.put if name in state.param else lambda **new: state.set_parameter(*new.popitem())
    before = dict(state.param.values()), repr(state.instance())
    with pytest.raises(InputError) as refused:
        set_it(**{name: value})
    assert len(str(refused.value)) < 300
    assert (dict(state.param.values()), repr(state.instance())) == before


@pytest.mark.parametrize("place", [10**400, None, "x", math.nan, -301])
def test_a_place_of_the_slider_that_is_no_number_is_one_sentence(place) -> None:
    with pytest.raises(InputError):
        epsilon_of(place)


def test_a_mechanism_is_taken_over_with_all_its_settings() -> None:
    drawn = ExploreState(mechanism="ug", grid_size=9, epsilon=0.7).instance()
    state = ExploreState(mechanism="ug", grid_size=4)
    state.put(mechanism="htf")
    state.take(drawn)
    assert repr(state.instance()) == repr(drawn)


def test_the_chosen_mechanism_is_made_once_and_again_when_something_changes_it() -> None:
    state = ExploreState(mechanism="htf", epsilon=0.5)
    made = state.instance()
    assert state.instance() is made
    state.put(epsilon=0.7)
    assert state.instance() is not made
    state.set_parameter("T", 5)
    made = state.instance()
    assert (made.epsilon, made.T) == (0.7, 5)
    # Whoever was handed it may do with it what they like.
    made.T = 2
    assert state.instance().T == 5
    state.put(mechanism="identity")
    assert state.instance().key == "identity"
