"""The drawer: controls follow the state and the state follows them."""

import numpy as np
import panel as pn
import pytest

from explorer.app.boxes.rectangles import Rectangles
from explorer.app.curator.data import own_city
from explorer.app.curator.drawing import Drawing
from explorer.app.curator.parts import PageParts
from explorer.app.curator.start import Opening
from explorer.app.explore.drawer import ExploreDrawer
from explorer.app.kit import ui
from explorer.app.kit.message import MessageArea
from explorer.app.kit.words import words
from explorer.app.state.explore import ExploreState
from explorer.grid.grid import Grid
from explorer.points.matrix import FrequencyMatrix
from tests.app import press


class Visit:
    """A drawer with notes of what happened."""

    def __init__(self, **choices) -> None:
        self.state = ExploreState(**choices)
        cities = {"Port Amber": "madeup", "Elsewhere": "elsewhere"}
        self.parts = PageParts(
            self.state, MessageArea(), Opening(), cities, Rectangles(Grid.cells((8, 8)))
        )
        self.changed = self.again = 0
        drawing = Drawing(self.parts, [].append)
        self.drawer = ExploreDrawer(self.parts, drawing, self._change, self._show_again, pn.Column)

    def _change(self) -> None:
        self.changed += 1

    def _show_again(self) -> None:
        self.again += 1

    @property
    def said(self) -> str:
        return self.parts.message.sentence

    def find(self, label):
        return press.find(self.drawer, label)


@pytest.mark.parametrize("label", ["Epsilon", "Exact epsilon"])
def test_a_refused_message_leaves_an_epsilon_that_the_slider_cannot_show(label) -> None:
    """A slider stands at its end, where a smaller epsilon was typed: that is no choice of it."""
    visit = Visit(epsilon=0.00002)
    press.send(visit.find(label), value=[1])
    assert "cannot be" in visit.said
    assert visit.state.epsilon == 0.00002
    assert visit.changed == 0


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
        ("Show areas' outlines on", "partition_over", "both"),
        ("Left map shows", "truth", "counts"),
        ("Colour range taken from", "scale_from", "release"),
        ("Keep the same random noise", "frozen", False),
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
    assert visit.said == other.said == ""


def test_the_epsilon_slider_steps_through_readable_numbers() -> None:
    visit = Visit(epsilon=0.1)
    slider, box = visit.find("Epsilon"), visit.find("Exact epsilon")
    seen = []
    for step in range(1, 5):
        slider.value = -1 + 0.05 * step
        seen.append(visit.state.epsilon)
        assert float(box.value) == visit.state.epsilon
    assert seen == [0.11, 0.13, 0.14, 0.16]


def test_a_typed_epsilon_moves_the_slider_and_is_kept_exactly() -> None:
    visit = Visit(epsilon=0.1)
    visit.find("Exact epsilon").value = "0.137"
    assert visit.state.epsilon == 0.137
    assert visit.find("Epsilon").value == pytest.approx(np.log10(0.137))
    visit.find("Exact epsilon").value = "0,5"
    assert visit.state.epsilon == 0.5


@pytest.mark.parametrize("typed", ["", "much", "0", "-1", "nan", "1e9", "inf"])
def test_a_wrong_epsilon_is_said_and_the_old_one_comes_back(typed) -> None:
    visit = Visit(epsilon=0.2)
    visit.find("Exact epsilon").value = typed
    assert visit.state.epsilon == 0.2
    assert visit.find("Exact epsilon").value == "0.2"
    assert visit.said.startswith("Epsilon")


def test_a_new_draw_takes_another_seed_and_a_release_waits_for_a_city() -> None:
    visit = Visit()
    press.press(visit.drawer, "New draw")
    assert visit.state.seed == 2
    press.press(visit.drawer, "Draw a release")
    assert "still being read" in visit.said


def test_words_appear_beside_every_section_and_go_again() -> None:
    visit = Visit()
    assert 'class="help"' not in press.markup(visit.drawer)
    visit.state.put(explain=True)
    parts = [*press.parts(visit.drawer)]
    shown = press.text(visit.drawer)
    for key in ("Figures", "City", "Epsilon", "Random noise", "Draw a release", "Right map"):
        assert words("explore")[key][:40] in shown
    for key in ("Colours", "Outlines", "Left map", "Colour range"):
        assert words("explore")[key][:40] in shown, "each control that is shown is explained"
    assert words("explore")["What is protected"][:40] not in shown, "and no hidden one is"
    visit.drawer.bound.visible = True
    assert words("explore")["What is protected"][:40] in press.text(visit.drawer)
    visit.drawer.bound.visible = False
    visit.state.put(explain=False)
    assert words("explore")["Epsilon"][:40] not in press.text(visit.drawer)
    visit.state.put(explain=True)
    assert press.parts(visit.drawer) == parts, "a column with other parts draws all of them again"


def test_the_switch_of_the_words_keeps_the_focus() -> None:
    visit = Visit()
    switch = press.find(visit.drawer, "Explain the controls")
    # A browser takes the focus away from all parts of a column that gets another part.
    (around,) = [column for column in visit.drawer.view.select(pn.Column) if switch in column]
    before = list(around)
    visit.state.put(explain=True)
    assert list(around) == before


def test_another_mechanism_is_described_and_has_its_controls() -> None:
    visit = Visit()
    visit.state.put(mechanism="quadtree")
    assert "Cormode" in press.text(visit.drawer)
    visit.find("Budget per level").value = "uniform"
    assert visit.state.parameter("budget") == "uniform"
    assert visit.changed == 1


def test_a_heading_says_the_grid_where_one_can_choose_it() -> None:
    visit = Visit()

    def heading() -> str:
        return next(
            each.heading
            for each in visit.drawer.view.select(ui.Section)
            if each.heading.startswith(visit.drawer.OWN)
        )

    assert heading() == "Grid and own points 1024 × 1024 cells"
    visit.drawer.use(own_city(FrequencyMatrix.from_array(np.ones((8, 8), dtype=int))))
    assert heading() == "Grid and own points", "counts without points keep their cells"
