"""Controls come from the declarations of the parameters, and only those that matter show."""

import panel as pn
import param
import pytest

from explorer.app.curator.parameters import FIRST, MechanismPanel, number_slider
from explorer.app.kit import ui
from explorer.app.state.explore import ExploreState
from explorer.mechanisms import all_mechanisms
from tests.app.press import parts, press


class Visit:
    """A panel with notes of what happened."""

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

    def shown(self) -> set[str]:
        return {name for name, each in self.panel.controls.items() if each.view.visible}


@pytest.mark.parametrize("key", list(all_mechanisms()))
def test_every_parameter_has_a_labelled_control_within_its_bounds(key) -> None:
    visit = Visit(mechanism=key)
    visit.more()
    assert list(visit.panel.controls) == all_mechanisms()[key].tunables()
    for name, control in visit.panel.controls.items():
        declared = all_mechanisms()[key].param[name]
        assert control.widget.label == declared.label
        assert control.declared.doc
        if name in all_mechanisms()[key].named:
            assert declared.default in control.widget.options.values()
        elif isinstance(declared, param.Number) and not isinstance(declared, param.Boolean):
            low, high = declared.bounds
            assert low <= control.widget.start <= control.widget.value <= control.widget.end <= high


def test_a_slider_sets_the_parameter_and_asks_for_a_picture() -> None:
    visit = Visit(mechanism="htf")
    visit.widget("T").value = 5
    assert visit.state.instance().T == 5
    assert visit.changes == 1


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
    assert "made for 0.35" in other.panel.section.heading


@pytest.mark.parametrize(("name", "value"), [("T", 10**9), ("T", 0), ("stop_count", float("nan"))])
def test_a_value_beyond_the_bounds_is_said_and_undone(name, value) -> None:
    visit = Visit(mechanism="htf")
    before = visit.widget(name).value
    visit.widget(name).value = value
    assert visit.widget(name).value == before
    assert getattr(visit.state.instance(), name) == before
    assert len(visit.said) == 1


def test_a_refused_value_leaves_automatic_as_it_was() -> None:
    visit = Visit(mechanism="htf")
    visit.widget("height").value = 30
    assert len(visit.said) == 1
    assert visit.state.instance().height is None
    assert visit.panel.controls["height"].switch.value is True


def test_automatic_goes_off_by_touching_the_slider_and_on_by_its_switch() -> None:
    visit = Visit(mechanism="htf")
    control = visit.panel.controls["height"]
    assert control.switch.value is True
    visit.panel.show_facts({"height": 13})
    assert control.widget.value == 13
    assert visit.changes == 0
    control.widget.value = 9
    assert visit.state.instance().height == 9
    assert control.switch.value is False
    assert visit.changes == 1
    visit.panel.show_facts({"height": 13})
    assert control.widget.value == 9
    control.switch.value = True
    assert visit.state.instance().height is None
    control.switch.value = False
    assert visit.state.instance().height == 9


def test_only_relevant_controls_show() -> None:
    visit = Visit(mechanism="htf")
    assert "stop_count" in visit.shown()
    assert "stop_factor" not in visit.shown()
    visit.widget("stop_rule").value = "per epsilon"
    assert "stop_count" not in visit.shown()
    assert "stop_factor" in visit.shown()


def test_the_rest_is_made_when_it_is_asked_for() -> None:
    visit = Visit(mechanism="htf")
    assert len(visit.panel.controls) == FIRST
    visit.more()
    assert len(visit.panel.controls) == len(all_mechanisms()["htf"].tunables())
    last = list(visit.panel.controls.values())[-1].widget
    (around,) = [each for each in visit.panel.view if last in each.select(lambda _each: True)]
    assert around.visible
    press(visit.panel, "Fewer settings")
    assert not around.visible


def test_another_mechanism_brings_its_own_controls() -> None:
    visit = Visit(mechanism="htf")
    visit.state.put(mechanism="ug")
    visit.panel.rebuild()
    assert list(visit.panel.controls)[:2] == ["grid_size", "c"]


def test_help_is_shown_on_demand_and_nothing_is_built_anew() -> None:
    visit = Visit(mechanism="ug")
    view = visit.panel.controls["c"].view
    assert not view.select(pn.pane.HTML), "a browser is sent no help that nobody asked for"
    visit.panel.explain(True)
    shown = [*view.objects]
    help = shown[-1]
    assert "Guideline" in help.object
    visit.panel.explain(False)
    assert not help.visible
    visit.panel.explain(True)
    assert help.visible
    assert view.objects == shown, "a column with other parts draws all of them again"


def test_the_heading_of_the_settings_says_the_first_of_them() -> None:
    visit = Visit(mechanism="htf")
    section = visit.panel.section
    assert section.heading == "Settings of HTF height automatic, T 3, stop count 10"
    visit.panel.show_facts({"height": 13})
    assert section.heading == "Settings of HTF height 13 automatic, T 3, stop count 10"
    visit.panel.controls["T"].widget.value = 5
    assert "T 5" in section.heading
    visit.state.put(mechanism="ug")
    visit.panel.rebuild()
    assert section.heading.startswith("Settings of UG grid size automatic, c 10")


def test_sliders_mark_the_recommended_value() -> None:
    declared = all_mechanisms()["htf"].param["T"]
    slider = number_slider(declared, 4)
    assert isinstance(slider, ui.IntSlider)
    assert slider.marks == [{"value": declared.default}]
    small = number_slider(all_mechanisms()["htf"].param["split_budget"], 1e-3)
    assert small.format.count("0", small.format.index(".")) >= 4


@pytest.mark.parametrize(("key", "name"), [("quadtree", "height"), ("hierarchy", "grid_size")])
def test_a_slider_whose_automatic_value_nobody_knows_does_not_show_another(key, name) -> None:
    """QuadTree said "Height: 0" over a million leaves."""
    visit = Visit(mechanism=key)
    assert getattr(visit.state.instance(), name) is None
    visit.panel.show_facts({"something else": 3})
    assert not visit.widget(name).visible
    visit.panel.controls[name].switch.value = False
    slider = visit.widget(name)
    assert slider.visible
    assert slider.start < slider.value < slider.end
    assert getattr(visit.state.instance(), name) == slider.value
    visit.panel.controls[name].switch.value = True
    visit.panel.show_facts({"something else": 3})
    assert not slider.visible


def test_a_slider_shows_what_was_chosen_and_still_does_after_an_undo() -> None:
    visit = Visit(mechanism="htf")
    visit.panel.show_facts({"height": 13})
    assert (visit.widget("height").visible, visit.widget("height").value) == (True, 13)
    visit.panel.rebuild()
    assert (visit.widget("height").visible, visit.widget("height").value) == (True, 13)
