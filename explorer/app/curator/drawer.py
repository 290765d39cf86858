"""The left drawer of a page with maps: controls, and between them words for newcomers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import panel as pn

from explorer.app.curator.data import CityData
from explorer.app.curator.epsilon import EpsilonControl
from explorer.app.curator.parameters import FIRST, MechanismPanel, help_pane
from explorer.app.curator.parts import PageParts
from explorer.app.kit import ui
from explorer.app.kit.bound import Tied
from explorer.app.kit.html import html_pane, put
from explorer.app.kit.words import words
from explorer.app.state.mechanism import MechanismState
from explorer.mechanisms import Mechanism


class MechanismControls:
    """Menu, description and settings of one mechanism.

    Parameters
    ----------
    state : MechanismState
        Of this mechanism.
    changed : called after a change of a setting
    refused : shows a sentence
    letter : "A" or "B" where a page has two; their settings wait behind a button
    """

    def __init__(
        self,
        state: MechanismState,
        changed: Callable[[], None],
        refused: Callable[[str], None],
        letter: str = "",
    ) -> None:
        self._state = state
        menu = ui.Select(
            label=f"Mechanism {letter}".strip(),
            value=state.mechanism,
            **grouped(state.offered()),
            **ui.WIDE,
        )
        self.menu = Tied(state, refused).tie(menu, "mechanism")
        self.about = html_pane(margin=(0, 10, 4, 10))
        self.settings = MechanismPanel(state, changed, refused, 0 if letter else FIRST, letter)
        state.param.watch(lambda *_: self.rebuild(), "mechanism")
        self._describe()

    def rebuild(self) -> None:
        """Show a mechanism and settings that were changed from elsewhere."""
        self.settings.rebuild()
        self._describe()

    def _describe(self) -> None:
        chosen = self._state.kind
        put(self.about, f'<p class="quiet">{chosen.summary} <i>{chosen.paper}.</i></p>')


def grouped(offered: Mapping[str, type[Mechanism]]) -> dict[str, Any]:
    """What a menu of mechanisms is made with: groups of titles, or titles where there is one."""
    groups: dict[str, dict[str, str]] = {}
    for key, each in offered.items():
        groups.setdefault(each.group, {})[each.title] = key
    if len(groups) == 1:
        return {"options": next(iter(groups.values()))}
    return {"groups": groups}


class Drawer:
    """The controls that the drawers of all pages with maps have; a page adds its own.

    Parameters
    ----------
    parts : of the page
    page : the file of words
    changed : called after a change of a mechanism's setting
    letters : names of the mechanisms where there are two
    """

    def __init__(
        self,
        parts: PageParts,
        page: str,
        changed: Callable[[], None],
        letters: Sequence[str] = ("",),
    ) -> None:
        self.state = parts.state
        self.tied = Tied(self.state, parts.refuse)
        self.city = self.tied.choose("city", parts.catalogue)
        self.side = self.tied.choose("side")
        self.bound = self.tied.choose("bound", visible=False)
        self.epsilon = EpsilonControl(self.state, parts.refuse)
        self.mechanisms = [
            MechanismControls(side, changed, parts.refuse, letter)
            for letter, side in zip(letters, self.state.sides, strict=True)
        ]
        self._words, self._helps = words(page), dict[str, Any]()
        self._parts: list[Any] = []
        self.view = pn.Column(sizing_mode="stretch_width", margin=(8, 6, 24, 6))
        self.state.param.watch(self._explain, "explain")

    def fill(self, *controls: Any) -> None:
        """Put controls one below the other; a text among them is a heading of the words."""
        self._parts = [self.tied.switch("explain"), *controls]
        for control, text in pairwise(self._parts):
            if isinstance(text, str) and not isinstance(control, str):
                control.param.watch(lambda _event: self._arrange(), "visible")
        self._arrange()

    def use(self, data: CityData) -> None:
        """Offer the choices that a city has."""
        # Counts without points have the cells they have.
        self.side.visible = data.heat is not None
        self.bound.visible = data.has_users

    def rebuild(self) -> None:
        """Show mechanisms and settings that were changed from elsewhere."""
        for each in self.mechanisms:
            each.rebuild()

    def new_draw(self) -> Any:
        """The button for other random noise."""
        return wide_button("New draw", self.state.roll)

    def _explain(self, event: Any) -> None:
        self._arrange()
        for each in self.mechanisms:
            each.settings.explain(event.new)

    def _arrange(self) -> None:
        on = self.state.explain
        for part in self._parts:
            if isinstance(part, str) and on and part not in self._helps:
                self._helps[part] = help_pane(self._words[part])
        shown, visible = list[Any](), True
        for part in self._parts:
            if not isinstance(part, str):
                shown.append(part)
                visible = part.visible
            elif on and visible:
                # Words about a control that is not there would puzzle whoever looks for it.
                shown.append(self._helps[part])
        self.view.objects = shown


def wide_button(label: str, clicked: Callable[[], None], **params: Any) -> Any:
    """A button as wide as the drawer."""
    look = {"variant": "outlined", **ui.WIDE, **params}
    return ui.Button(label=label, on_click=lambda _event: clicked(), **look)


def heading(text: str) -> Any:
    """The heading of a group of controls."""
    return html_pane(f'<h2 class="section">{text}</h2>', margin=(6, 10, 4, 10))
