"""Controls of a mechanism, made from the declarations of its parameters."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import panel as pn
import param

from explorer.app.kit import ui
from explorer.app.kit.html import html_pane
from explorer.app.state import MechanismState
from explorer.errors import InputError
from explorer.views.markup import safe_text

#: So many parameters are in the open; the rest waits behind "More settings".
FIRST = 5
#: So many of them are said in the heading of a section that is closed.
SAID = 3


def number_slider(declared: param.Number, value: Any, label: str = "") -> Any:
    """A slider over the soft bounds of a number, with a mark at its recommended value."""
    low, high = declared.get_soft_bounds()
    whole = isinstance(declared, param.Integer)
    step = declared.step or (1 if whole else _nice_step((high - low) / 100))
    start = declared.default if value is None else value
    common = {
        "label": label or declared.label,
        "start": low,
        "end": high,
        "step": step,
        "value": low if start is None else min(max(start, low), high),
        "format": _number_format(step),
        "size": "small",
        "sizing_mode": "stretch_width",
        "margin": ui.MARGIN,
        "marks": [] if declared.default is None else [{"value": declared.default}],
    }
    return ui.IntSlider(**common) if whole else ui.FloatSlider(**common)


def _nice_step(step: float) -> float:
    unit = 10.0 ** math.floor(math.log10(step))
    return unit * min((1, 2, 5, 10), key=lambda m: abs(m * unit - step))


def _number_format(step: float) -> str:
    decimals = max(0, math.ceil(-math.log10(step) - 1e-9))
    return f"0,0[.]{'0' * decimals}" if decimals else "0,0"


class ParameterControl:
    """One parameter: its widget, a switch "automatic" where None is a choice, its help."""

    def __init__(self, panel: MechanismPanel, declared: param.Parameter) -> None:
        self.name, self.declared = declared.name, declared
        self._panel = panel
        self._quiet = self._hides = False
        value = panel.state.parameter(self.name)
        label = f"{panel.of}: {declared.label}" if panel.of else declared.label
        self.switch: Any = None
        self._names = type(panel.state.instance()).named.get(self.name, {})
        if self._names:
            self.widget = ui.choice(label, self._menu(value), value)
        elif isinstance(declared, param.Selector):
            self.widget = ui.choice(label, list(declared.objects), value)
        elif isinstance(declared, param.Boolean):
            self.widget = ui.Switch(label=label, value=value, size="small", margin=(2, 10))
        else:
            self.widget = number_slider(declared, value, label)
            if declared.allow_None:
                automatic = f"Automatic {_lower(declared.label)}"
                automatic = type(panel.state.instance()).none_is.get(self.name, automatic)
                self.switch = ui.Switch(
                    label=f"{panel.of}: {_lower(automatic)}" if panel.of else automatic,
                    value=value is None,
                    size="small",
                    margin=(0, 10, 4, 10),
                )
                ui.bind(self.switch, self._automatic, panel.refused)
                # A slider without a value of its own would be at one that is not used.
                self._hides = self.name in type(panel.state.instance()).none_is
                # One that the mechanism chooses is shown once its choice is known.
                self.widget.visible = value is not None
        ui.bind(self.widget, self._chosen, panel.refused)
        switch = [] if self.switch is None else [self.switch]
        self._help: Any = None
        self.view = pn.Column(self.widget, *switch, sizing_mode="stretch_width", margin=0)
        self.explain(panel.state.explain)

    def explain(self, on: bool) -> None:
        if self._help is not None:
            self._help.visible = on
        elif on:
            self._help = help_pane(self.declared.doc or "")
            self.view.append(self._help)

    def _menu(self, value: Any) -> dict[str, Any]:
        """The values that have names, and the present one, which a scenario may have chosen."""
        menu = {f"{name} ({number:g})": number for name, number in self._names.items()}
        return menu if value in menu.values() else menu | {f"{value:g}": value}

    def show_automatic(self, facts: Mapping[str, float]) -> None:
        """Let the slider are where the mechanism's own choice was."""
        if self.switch is None or not self.switch.value:
            return
        automatic = facts.get(_lower(self.declared.label))
        self.widget.visible = automatic is not None and not self._hides
        if automatic is None:
            return
        self._quiet = True
        value = min(max(automatic, self.widget.start), self.widget.end)
        self.widget.value = int(value) if isinstance(self.declared, param.Integer) else value
        self._quiet = False

    def _automatic(self, on: bool) -> None:
        if self._quiet:
            return
        if not on and not self.widget.visible and not self._hides:
            # No one knows what was used: begin in the middle, and not at an end.
            self._quiet = True
            self.widget.value = _middle(self.widget)
            self._quiet = False
        self._set(None if on else self.widget.value)
        if not on or self._hides:
            self.widget.visible = not on

    def _chosen(self, value: Any) -> None:
        if self._quiet:
            return
        self._set(value)
        if self.switch is not None and self.switch.value:
            # Touching the slider is choosing: the switch follows without being asked again.
            self._quiet = True
            self.switch.value = False
            self._quiet = False

    def _set(self, value: Any) -> None:
        if isinstance(self.declared, param.Integer) and isinstance(value, float):
            if not value.is_integer():
                raise InputError(f"{self.declared.label} is {value:g}: give a whole number.")
            value = int(value)
        self._panel.state.set_parameter(self.name, value)
        self._panel.chosen()


class MechanismPanel:
    """The controls of the present mechanism; only those that matter now are shown.

    Parameters
    ----------
    state : MechanismState
    changed : called after each accepted change
    refused : shows a sentence when a value is refused
    first : how many parameters are in the open
    of : whose they are, such as "A", where a page has several panels; part of every name
    """

    def __init__(
        self,
        state: MechanismState,
        changed: Callable[[], None],
        refused: Callable[[str], None],
        first: int = FIRST,
        of: str = "",
    ) -> None:
        self.state, self.refused, self._changed = state, refused, changed
        self._first, self.of = first, of
        #: Made when the section is first opened.
        self.controls: dict[str, ParameterControl] = {}
        self._opened = False
        self._shown: list[param.Parameter] = []
        self._rest: list[param.Parameter] = []
        # What the mechanism of that key chose last.
        self._facts: Mapping[str, float] = {}
        self._facts_of = ""
        self.view = pn.Column(sizing_mode="stretch_width", margin=0)
        #: All of it, below a heading that says the first values.
        self.section = ui.Section("Settings", self._parts)
        self.rebuild()

    def _parts(self) -> list[Any]:
        self._opened = True
        self._more = pn.Column(sizing_mode="stretch_width", margin=0, visible=False)
        self._button = ui.Button(
            label=self._label(),
            variant="text",
            size="small",
            margin=(0, 5),
            on_click=self._toggle,
        )
        self.rebuild()
        return [self.view]

    def rebuild(self) -> None:
        instance = self.state.instance()
        declared = [instance.param[name] for name in instance.tunables()]
        # What no control can hold is declared with a precedence below 0, as Param has it.
        declared = [parameter for parameter in declared if (parameter.precedence or 0) >= 0]
        self._shown, self._rest = declared[: self._first], declared[self._first :]
        if self._opened:
            self._make_controls()
        self._say()

    def _make_controls(self) -> None:
        self.controls = {
            declared.name: ParameterControl(self, declared) for declared in self._shown
        }
        self._more.objects = []
        views = [control.view for control in self.controls.values()]
        self.view.objects = [*views, self._button, self._more] if self._rest else views
        if self._more.visible:
            self._open()
        if self._facts_of == self.state.mechanism:
            self.show_facts(self._facts)
        self._show_relevant()

    def chosen(self) -> None:
        self._show_relevant()
        self._say()
        self._changed()

    def explain(self, on: bool) -> None:
        for control in self.controls.values():
            control.explain(on)

    def show_facts(self, facts: Mapping[str, float]) -> None:
        """Tell automatic controls what the mechanism chose."""
        self._facts, self._facts_of = facts, self.state.mechanism
        for control in self.controls.values():
            control.show_automatic(facts)
        self._say()

    def _say(self) -> None:
        """Name the mechanism and its first settings in the heading of the section."""
        instance = self.state.instance()
        matters = instance.relevant()
        facts = self._facts if self._facts_of == self.state.mechanism else {}
        relevant = [declared for declared in self._shown if declared.name in matters]
        # Numbers first: they are what a person moves.
        relevant.sort(key=lambda declared: not isinstance(declared, param.Number))
        descriptions = [described(declared, self.state, facts) for declared in relevant]
        of = f"{self.of}, {instance.title}" if self.of else instance.title
        self.section.say(f"Settings of {of}", ", ".join([*filter(None, descriptions)][:SAID]))
        self.section.visible = bool(self._shown)

    def _show_relevant(self) -> None:
        matters = self.state.instance().relevant()
        for name, control in self.controls.items():
            if control.view.visible != (name in matters):
                control.view.visible = name in matters

    def _open(self) -> None:
        """Make the controls behind "More settings"; most visitors never need them."""
        controls = {declared.name: ParameterControl(self, declared) for declared in self._rest}
        self.controls |= controls
        self._more.objects = [control.view for control in controls.values()]
        for control in controls.values():
            control.show_automatic(self._facts)
        self._show_relevant()

    def _toggle(self, _event: Any) -> None:
        if not self._more.objects:
            self._open()
        self._more.visible = not self._more.visible
        self._button.label = self._label()

    def _label(self) -> str:
        more = "Fewer settings" if self._more.visible else "More settings"
        return f"{more} of {self.of}" if self.of else more


def described(declared: param.Parameter, state: MechanismState, facts: Mapping[str, float]) -> str:
    """A parameter and its value, such as "height 13 automatic"; "" for one that is off.

    Parameters
    ----------
    declared : of the mechanism that the state names
    state : MechanismState
    facts : what the mechanism chose itself, by labels
    """
    value, label = state.parameter(declared.name), _lower(declared.label)
    if isinstance(declared, param.Boolean):
        return label if value else ""
    names = type(state.instance()).named.get(declared.name, {})
    if value in names.values():
        return f"{label} {next(name for name, number in names.items() if number == value)}"
    if value is not None:
        return f"{label} {_short(value) if isinstance(value, float | int) else value}"
    chosen = facts.get(label)
    return f"{label} automatic" if chosen is None else f"{label} {_short(chosen)} automatic"


def _middle(slider: Any) -> Any:
    """A value halfway between the ends of a slider, on one of its steps."""
    steps = round((slider.end - slider.start) / slider.step / 2)
    return slider.start + steps * slider.step


def help_pane(text: str, **params: Any) -> Any:
    """A short paragraph next to a control."""
    return html_pane(f'<p class="help">{safe_text(text, 600)}</p>', (0, 10, 4, 10), **params)


def _lower(label: str) -> str:
    return label[:1].lower() + label[1:] if len(label) > 1 else label


def _short(number: float) -> str:
    return f"{number:,.0f}" if float(number).is_integer() else f"{number:g}"
