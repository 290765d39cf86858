"""The drawer: controls follow the state and the state follows them."""

import numpy as np
import panel as pn
import pytest

from explorer.app.explore.drawer import Drawer
from explorer.app.kit.words import words
from explorer.app.state.explore import ExploreState


class Visit:
    """A drawer with notes of what happened."""

    def __init__(self, **choices) -> None:
        self.state = ExploreState(**choices)
        self.said: list[str] = []
        self.drawn = self.changed = 0
        actions = {
            "changed": self.change,
            "draw": self.draw,
            "save": lambda: None,
            "again": lambda: None,
            "refused": self.said.append,
        }
        cities = {"Port Amber": "madeup", "Elsewhere": "elsewhere"}
        self.drawer = Drawer(self.state, actions, cities, pn.Column())

    def change(self) -> None:
        self.changed += 1

    def draw(self) -> None:
        self.drawn += 1

    def find(self, label):
        return self.drawer.view.select(lambda each: getattr(each, "label", None) == label)[0]


@pytest.mark.parametrize(
    ("label", "name", "value"),
    [
        ("City", "city", "elsewhere"),
        ("Grid", "side", 512),
        ("Mechanism", "mechanism", "ug"),
        ("Right map", "right", "difference"),
        ("Colour scale", "scale", "linear"),
        ("Colours", "palette", "magma"),
        ("Show partition", "partition", False),
        ("Partition over", "partition_over", "both"),
        ("Truth shows", "truth", "counts"),
        ("Scale from", "scale_from", "release"),
        ("Freeze the dice", "frozen", False),
        ("Explain the controls", "explain", True),
    ],
)
def test_widget_and_state_say_the_same(label, name, value) -> None:
    visit = Visit()
    visit.find(label).value = value
    assert getattr(visit.state, name) == value
    other = Visit()
    other.state.put(**{name: value})
    assert other.find(label).value == value
    assert not visit.said + other.said


def test_the_epsilon_slider_steps_through_readable_numbers() -> None:
    visit = Visit(epsilon=0.1)
    slider, box = visit.drawer.epsilon.slider, visit.drawer.epsilon.box
    seen = []
    for step in range(1, 5):
        slider.value = -1 + 0.05 * step
        seen.append(visit.state.epsilon)
        assert float(box.value) == visit.state.epsilon
    assert seen == [0.11, 0.13, 0.14, 0.16]


def test_a_typed_epsilon_moves_the_slider_and_is_kept_exactly() -> None:
    visit = Visit(epsilon=0.1)
    visit.drawer.epsilon.box.value = "0.137"
    assert visit.state.epsilon == 0.137
    assert visit.drawer.epsilon.slider.value == pytest.approx(np.log10(0.137))
    visit.drawer.epsilon.box.value = "0,5"
    assert visit.state.epsilon == 0.5


@pytest.mark.parametrize("typed", ["", "much", "0", "-1", "nan", "1e9", "inf"])
def test_a_wrong_epsilon_is_said_and_the_old_one_comes_back(typed) -> None:
    visit = Visit(epsilon=0.2)
    visit.drawer.epsilon.box.value = typed
    assert visit.state.epsilon == 0.2
    assert visit.drawer.epsilon.box.value == "0.2"
    assert len(visit.said) == 1


def test_buttons_throw_dice_and_draw() -> None:
    visit = Visit()
    visit.find("New draw").param.trigger("clicks")
    assert visit.state.seed == 2
    visit.find("Draw a release").param.trigger("clicks")
    assert visit.drawn == 1


def test_words_appear_beside_every_section_and_go_again() -> None:
    visit = Visit()
    without = len(visit.drawer.view.objects)
    visit.state.put(explain=True)
    shown = " ".join(
        pane.object for pane in visit.drawer.view.objects if isinstance(pane, pn.pane.HTML)
    )
    for key in ("Figures", "City", "Epsilon", "Dice", "Draw a release", "Right map"):
        assert words("explore")[key][:40] in shown
    visit.state.put(explain=False)
    assert len(visit.drawer.view.objects) == without


def test_another_mechanism_is_described_and_has_its_controls() -> None:
    visit = Visit()
    visit.state.put(mechanism="quadtree")
    assert "Cormode" in visit.drawer._about.object
    assert "budget" in visit.drawer.parameters.controls
