"""Controls of a mechanism, the strip of panels below the maps, and what is simulated for them."""

import re
from types import SimpleNamespace

import numpy as np
import panel as pn
import param
import pytest

import explorer
from explorer import exact
from explorer.app import Explore
from explorer.app.curator.explain import OFF, Explain
from explorer.app.curator.parameters import FIRST, MechanismPanel
from explorer.app.mappage.readout import RUNS, ErrorBars
from explorer.app.state import ExploreState
from explorer.evaluate.repeats import Spread, repeats
from explorer.evaluate.simulation import simulated_sd
from explorer.grid.grid import Grid
from explorer.mechanisms import HTF, all_mechanisms
from explorer.points.matrix import FrequencyMatrix
from tests.app.acts import Browser, drag, words
from tests.app.press import parts, press
from tests.helpers import city

MATRIX = FrequencyMatrix.from_array(
    city(people=60_000).counts, Grid.around(2.35, 48.85, 8000, shape=64)
)

# Controls come from the declarations of the parameters.


class Visit:
    """The controls of a mechanism, with notes of what happened."""

    def __init__(self, **choices) -> None:
        self.state = ExploreState(**choices)
        self.changes = 0
        self.said: list[str] = []
        self.panel = MechanismPanel(self.state, self.count, self.said.append)
        self.panel.section.active = [0]

    def count(self) -> None:
        self.changes += 1

    def widget(self, name):
        return self.panel.controls[name].widget

    def more(self) -> None:
        """Have the controls that most visitors never need, where there are any."""
        if any(getattr(each, "label", None) == "More settings" for each in parts(self.panel)):
            press(self.panel, "More settings")


@pytest.mark.parametrize("key", list(all_mechanisms()))
def test_every_parameter_has_a_labelled_control_within_its_bounds(key) -> None:
    visit = Visit(mechanism=key)
    visit.more()
    assert list(visit.panel.controls) == all_mechanisms()[key].tunables()
    for name, each in visit.panel.controls.items():
        declared = all_mechanisms()[key].param[name]
        assert each.widget.label == declared.label
        assert each.declared.doc
        if name in all_mechanisms()[key].named:
            assert declared.default in each.widget.options.values()
        elif isinstance(declared, param.Number) and not isinstance(declared, param.Boolean):
            low, high = declared.bounds
            assert low <= each.widget.start <= each.widget.value <= each.widget.end <= high


def test_a_control_sets_its_parameter_and_a_value_beyond_the_bounds_is_undone() -> None:
    visit = Visit(mechanism="htf")
    visit.widget("T").value = 5
    assert visit.state.instance().T == 5
    assert visit.changes == 1
    for name, value in (("T", 10**9), ("T", 0), ("stop_count", float("nan")), ("height", 30)):
        before = getattr(visit.state.instance(), name), visit.widget(name).value
        visit.widget(name).value = value
        assert (getattr(visit.state.instance(), name), visit.widget(name).value) == before
        assert len(visit.said) == 1
        visit.said.clear()
    assert visit.panel.controls["height"].switch.value is True


def test_values_with_names_are_a_menu_and_others_stand_in_it() -> None:
    visit = Visit(mechanism="mosaic")
    menu = visit.widget("focus")
    assert list(menu.options.values()) == [0.0, 0.2, 0.5, 1.0]
    assert "made for neighbourhoods" in visit.panel.section.heading
    menu.value = 0.5
    assert visit.state.instance().focus == 0.5
    assert "made for blocks" in visit.panel.section.heading
    other = Visit(mechanism="mosaic", focus=0.35)
    assert other.widget("focus").value == 0.35
    assert list(other.widget("focus").options)[-1] == "0.35"


def test_automatic_goes_off_by_touching_the_slider_and_on_by_its_switch() -> None:
    visit = Visit(mechanism="htf")
    height = visit.panel.controls["height"]
    assert height.switch.value is True
    visit.panel.show_facts({"height": 13})
    assert height.widget.value == 13
    assert visit.changes == 0
    height.widget.value = 9
    assert visit.state.instance().height == 9
    assert height.switch.value is False
    visit.panel.show_facts({"height": 13})
    assert height.widget.value == 9
    height.switch.value = True
    assert visit.state.instance().height is None
    height.switch.value = False
    assert visit.state.instance().height == 9


def test_only_relevant_controls_show_and_the_rest_is_made_when_it_is_asked_for() -> None:
    def shown() -> set[str]:
        return {name for name, each in visit.panel.controls.items() if each.view.visible}

    visit = Visit(mechanism="htf")
    assert len(visit.panel.controls) == FIRST
    assert {"stop_count", "stop_factor"} & shown() == {"stop_count"}
    visit.more()
    assert len(visit.panel.controls) == len(all_mechanisms()["htf"].tunables())
    visit.widget("stop_rule").value = "per epsilon"
    assert {"stop_count", "stop_factor"} & shown() == {"stop_factor"}


@pytest.mark.parametrize(("key", "name"), [("quadtree", "height"), ("hierarchy", "grid_size")])
def test_a_slider_whose_automatic_value_is_not_known_does_not_show_another(key, name) -> None:
    """QuadTree said "Height: 0" over a million leaves."""
    visit = Visit(mechanism=key)
    visit.panel.show_facts({"something else": 3})
    assert not visit.widget(name).visible
    visit.panel.controls[name].switch.value = False
    slider = visit.widget(name)
    assert slider.visible
    assert slider.start < slider.value < slider.end
    assert getattr(visit.state.instance(), name) == slider.value


# The strip of panels.


class Panel:
    """Writes down what is asked of it."""

    def __init__(self) -> None:
        self.view, self.beside = pn.Column(), None
        self.asked: list[object] = []

    def show(self, screen) -> None:
        self.asked.append(screen)

    def selected(self) -> None:
        self.asked.append("selected")

    def hide(self) -> None:
        self.asked.append("hidden")


def test_a_panel_is_made_once_it_is_opened_and_only_the_open_one_is_asked_anything() -> None:
    leaf, made, opened = Panel(), [], []

    def make() -> Panel:
        made.append(Panel())
        return made[-1]

    words = {"Leaf": "About leaves.", "Runs": "About runs."}
    strip = Explain({"Leaf": leaf, "Runs": make}, words, pytest.fail, opened.append)
    strip.show("first")
    strip.selected()
    assert leaf.asked == made == []
    strip.choice.value = "Leaf"
    strip.show("second")
    strip.choice.value = "Runs"
    strip.selected()
    strip.close()
    strip.show("first")
    assert leaf.asked == ["first", "second", "hidden"]
    assert made[0].asked == ["second", "selected", "hidden"]
    assert strip.choice.value == OFF
    strip.choice.value = "Runs"
    assert len(made) == 1
    # The maps make room when one is opened.
    assert opened == [True, False, True]


# Intervals that have no formula.

COUNTS = FrequencyMatrix.from_array(np.arange(256).reshape(16, 16))
BOXES = np.array([[1.0, 1.0, 9.0, 7.5], [0.0, 0.0, 16.0, 16.0]])


def screen(mechanism, boxes=BOXES, seed=1):
    return SimpleNamespace(release=mechanism.release(COUNTS, rng=seed), boxes=boxes)


def test_only_counts_without_exact_intervals_are_simulated_and_once() -> None:
    told: list[int] = []
    bars = ErrorBars(lambda: told.append(1))
    known = screen(explorer.UG(epsilon=1.0))
    bars.want(known)
    assert bars.of(known) is None
    assert not told
    shown = screen(explorer.Mosaic(epsilon=1.0))
    bars.want(shown)
    bars.want(shown)
    assert told == [1]
    asked = simulated_sd(shown.release, BOXES, RUNS)
    np.testing.assert_array_equal(bars.of(shown).error, asked.error)
    # Other boxes, or another release, are another question.
    assert bars.of(SimpleNamespace(release=shown.release, boxes=BOXES[:1])) is None
    assert bars.of(screen(explorer.Mosaic(epsilon=1.0), seed=2)) is None


# Other possible results.


@pytest.fixture
def page() -> Explore:
    page = Explore(MATRIX, mechanism="htf", epsilon=1.0)
    page.explain.choice.value = "Runs"
    page.explain.open.number.value = 20
    return page


def draw(page: Explore) -> None:
    page.explain.open.go.param.trigger("clicks")


def said(page: Explore) -> str:
    return words(page.explain.open.view)


def test_dots_and_table_show_the_answers_of_other_previews(page) -> None:
    draw(page)
    runs, boxes = page.explain.open, page.rectangles.boxes
    expected = np.array(list(repeats(MATRIX, HTF(epsilon=1.0), boxes, 20)))
    for i, figure in enumerate(runs.figures[:2]):
        np.testing.assert_allclose(figure.dots.data["answer"], expected[:, i])
        assert figure.line.data["x"] == [exact(MATRIX, boxes)[i]]
        assert figure.here.data["x"] == [page.screen.answers.private[i]]
    spread = Spread.of(expected, exact(MATRIX, boxes))
    cells = re.findall(r"<td>([^<]*)</td>", said(page))
    assert cells[2] == f"{spread.median[0]:,.0f}"
    assert cells[3] == f"{spread.low[0]:,.0f} to {spread.high[0]:,.0f}"
    assert cells[4] == f"{100 * spread.within_5[0]:.0f} %"
    assert "only because they are previews and not releases" in said(page)
    assert "to release 20 times would cost epsilon 20" in said(page)
    for wrong in (0, 10**9):
        runs.number.value = wrong
        assert "The number of runs goes from 10 to 200." in words(page.message.view)
        assert runs.number.value == 20


def test_runs_of_old_settings_and_boxes_say_so_until_they_are_drawn_again(page) -> None:
    draw(page)
    runs = page.explain.open
    before = list(runs.figures[0].dots.data["answer"])
    page.state.put(epsilon=2.0)
    assert "old settings (HTF with epsilon 1" in said(page)
    assert list(runs.figures[0].dots.data["answer"]) == before
    assert runs.play.disabled
    drag(page.maps.left.figure, (-1000.0, -1000.0, 1000.0, 500.0))
    assert "Not asked in these runs: Q3." in said(page)
    draw(page)
    assert not re.search("old settings|Not asked", said(page))
    Browser(page.table.widget).select([1])
    assert "Only the 1 selected of 3 boxes." in said(page)
    assert re.findall("<h3>(.*?)</h3>", said(page)) == ["Q2"]


def test_runs_are_played_on_the_map_one_by_one_and_the_map_is_given_back(page) -> None:
    def is_own() -> bool:
        return np.shares_memory(page.maps.right.image.data["image"][0], page.screen.right_bytes)

    draw(page)
    runs, seen, cover = page.explain.open, [], page.maps.cover

    def noted(picture, drawn, view, said):
        seen.append((said, picture))
        cover(picture, drawn, view, said)

    page.maps.cover = noted
    runs.play.param.trigger("clicks")
    assert [said for said, _ in seen] == [
        f"Run {i + 1} of 20: a preview with other random noise, not private" for i in range(20)
    ]
    assert not np.array_equal(seen[0][1], seen[1][1])
    assert runs.run.value == 20
    runs.run.value = 0
    assert is_own()
    runs.run.value = 3
    press(page, "Zoom in")
    assert "Run 3 of 20" in page.maps.heads[1].object
    page.explain.choice.value = OFF
    assert is_own()
