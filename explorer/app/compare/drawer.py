"""The left drawer of Compare: city, two mechanisms with their settings, epsilon, dice, view."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import panel as pn

from explorer.app.curator.epsilon import RECORDS, EpsilonControl
from explorer.app.curator.parameters import MechanismPanel, help_pane
from explorer.app.kit import ui
from explorer.app.kit.bound import Tied
from explorer.app.kit.html import html_pane
from explorer.app.kit.words import words
from explorer.app.state.compare import CompareState
from explorer.app.state.explore import ExploreState
from explorer.mechanisms import all_mechanisms, mechanism
from explorer.scenario import GRID_SIDES

_WIDE: dict[str, Any] = {"sizing_mode": "stretch_width", "size": "small", "margin": ui.MARGIN}


class SideControls:
    """Menu, description and settings of one mechanism; all settings wait behind a button.

    Parameters
    ----------
    letter : "A" or "B"
    state : ExploreState
        Of this side.
    changed : called after a change of a setting
    refused : shows a sentence
    """

    def __init__(
        self,
        letter: str,
        state: ExploreState,
        changed: Callable[[], None],
        refused: Callable[[str], None],
    ) -> None:
        self._state = state
        titles = {each.title: key for key, each in all_mechanisms().items()}
        self.menu = ui.Select(
            label=f"Mechanism {letter}", options=titles, value=state.mechanism, **_WIDE
        )
        Tied(state, refused).tie(self.menu, "mechanism")
        self._about = html_pane(margin=(0, 10, 2, 10))
        self.settings = MechanismPanel(state, changed, refused, first=0, of=letter)
        state.param.watch(self._another, "mechanism")
        self._describe()
        self.view = pn.Column(
            self.menu, self._about, self.settings.view, sizing_mode="stretch_width", margin=0
        )

    def _another(self, _event: Any) -> None:
        self.settings.rebuild()
        self._describe()

    def rebuild(self) -> None:
        """Show settings that were changed from elsewhere."""
        self._another(None)

    def _describe(self) -> None:
        chosen = mechanism(self._state.mechanism)
        self._about.object = f'<p class="quiet">{chosen.summary} <i>{chosen.paper}.</i></p>'


class CompareDrawer:
    """All controls of the drawer.

    Parameters
    ----------
    state : CompareState
    changed : called after a change of a mechanism's setting
    refused : shows a sentence
    cities : title of each city to its key
    """

    def __init__(
        self,
        state: CompareState,
        changed: Callable[[], None],
        refused: Callable[[str], None],
        cities: dict[str, str],
    ) -> None:
        self._state, self._changed = state, changed
        tied = Tied(state, refused)
        self._helps: dict[str, Any] = {}
        self.city = tied.choose("city", "City", cities)
        self.side = tied.choose("side", "Grid", {f"{n} × {n} cells": n for n in GRID_SIDES})
        self.bound = tied.choose("bound", "A record is", RECORDS, visible=False)
        self.sides = [
            SideControls(letter, each, changed, refused)
            for letter, each in (("A", state), ("B", state.b))
        ]
        self.epsilon = EpsilonControl(state, refused)
        swap = ui.Button(
            label="Swap A and B", variant="outlined", on_click=lambda _e: self._swap(), **_WIDE
        )
        new = ui.Button(
            label="New draw", variant="outlined", on_click=lambda _e: state.roll(), **_WIDE
        )
        # A text in this list is a heading of words/compare.md; the rest are controls.
        self._parts: list[Any] = [
            tied.switch("explain", "Explain the controls"),
            "About",
            self.city,
            "City",
            self.side,
            self.bound,
            _heading("Mechanisms"),
            "Mechanisms",
            *(each.view for each in self.sides),
            swap,
            _heading("Privacy and dice"),
            self.epsilon.view,
            "Epsilon",
            tied.switch("frozen", "Freeze the dice"),
            new,
            "Dice",
            _heading("View"),
            tied.choose("right", "Maps show", ["private", "difference"]),
            "Maps show",
            tied.choose("scale", "Colour scale", ["log", "linear"]),
            tied.choose("palette", "Colours", ["cividis", "magma"]),
            tied.switch("partition", "Show partition"),
        ]
        self.view = pn.Column(sizing_mode="stretch_width", margin=(8, 6, 24, 6))
        state.param.watch(self._explain, "explain")
        self._arrange()

    def _swap(self) -> None:
        self._state.swap()
        for each in self.sides:
            each.rebuild()
        self._changed()

    def _explain(self, event: Any) -> None:
        self._arrange()
        for each in self.sides:
            each.settings.explain(event.new)

    def _arrange(self) -> None:
        """Put the controls one below the other, with or without the words for newcomers."""
        on = self._state.explain
        for part in self._parts:
            if isinstance(part, str) and on and part not in self._helps:
                self._helps[part] = help_pane(words("compare")[part])
        shown = [part for part in self._parts if not isinstance(part, str) or on]
        self.view.objects = [self._helps[p] if isinstance(p, str) else p for p in shown]


def _heading(text: str) -> Any:
    return html_pane(f'<h2 class="section">{text}</h2>', margin=(6, 10, 4, 10))
