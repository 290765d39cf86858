"""The left drawer of a page with maps: controls, and between them words for newcomers."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import panel as pn
import param

from explorer.app.curator.data import CityData
from explorer.app.curator.epsilon import EpsilonControl
from explorer.app.curator.parameters import MechanismPanel, help_pane
from explorer.app.curator.parts import PageParts
from explorer.app.curator.price import counted_of_all
from explorer.app.kit import ui
from explorer.app.kit.bound import Tied
from explorer.app.kit.html import html_pane, put
from explorer.app.kit.words import words
from explorer.app.state import MechanismState
from explorer.mechanisms import Mechanism


class MechanismControls:
    """Menu, description and settings of one mechanism.

    Parameters
    ----------
    state : MechanismState
        Of this mechanism.
    changed : called after a change of a setting
    refused : shows a sentence
    letter : "A" or "B" where a page has two
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
        self.settings = MechanismPanel(state, changed, refused, of=letter)
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
    for key, option in offered.items():
        groups.setdefault(option.group, {})[option.title] = key
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

    #: What a record is called.
    RECORD: ClassVar[str] = "record"

    def __init__(
        self,
        parts: PageParts,
        page: str,
        changed: Callable[[], None],
        letters: Sequence[str] = ("",),
    ) -> None:
        self._parts, self.state = parts, parts.state
        self.tied = Tied(self.state, parts.refuse)
        self.city = self.tied.choose("city", parts.catalogue)
        self.side = self.tied.choose("side")
        self.bound = self.tied.choose("bound", visible=False)
        #: How many records the bound keeps: exact.
        self.counted = html_pane(margin=(0, 10, 4, 10))
        self.epsilon = EpsilonControl(self.state, parts.refuse)
        self.mechanisms = [
            MechanismControls(side, changed, parts.refuse, letter)
            for letter, side in zip(letters, self.state.sides, strict=True)
        ]
        self._words, self._remembered = words(page), parts.remembered
        # Each help text with what it is about; None where that is the page.
        self._helps: list[tuple[Any, Any]] = []
        # The columns whose help texts have not been made, each with its controls and texts.
        self._bare: list[tuple[Any, Sequence[Any]]] = []
        self._has_base, self._base_switch = False, None
        # What writes the headings of sections.
        self._sayings: list[Callable[[], None]] = []
        self.view = pn.Column(sizing_mode="stretch_width", margin=(2, 6, 4, 6))
        self.state.param.watch(self._explain, "explain")

    def fill(self, before: Sequence[Any], after: Sequence[Any]) -> None:
        """Put controls one below the other; a text among them is a heading of the words.

        The switch of the help texts is between two columns that get them: a column that gets
        another part takes the focus away from all its parts.
        """
        columns = [self._column(controls) for controls in (before, after)]
        self.view.objects = [columns[0], self.tied.switch("explain"), columns[1]]

    def section(self, key: str, title: str, make: Callable[[], Sequence[Any]]) -> ui.Section:
        """Controls behind a heading; the browser remembers by ``key`` whether it was open.

        ``make`` returns them, as for `fill`, when the section is first opened.
        """
        return self.remember(key, ui.Section(title, lambda: [self._column(make())]))

    def remember(self, key: str, section: ui.Section) -> ui.Section:
        """Let a section are as it was left."""
        self._remembered.section(key, section)
        return section

    def say(self, section: ui.Section, title: str, names: Sequence[str]) -> None:
        """Let the heading of a section say some choices, from now on."""

        def said(*_event: Any) -> None:
            # What cannot be chosen is not said: counts without points keep their cells.
            offered = [
                name for name in names if getattr(getattr(self, name, None), "visible", True)
            ]
            results = [said_choice(self.state, name) for name in offered]
            section.say(title, ", ".join(filter(None, results)))

        self.state.param.watch(said, [*names])
        self._sayings.append(said)
        said()

    def _column(self, controls: Sequence[Any]) -> Any:
        """A column of controls; texts among them become paragraphs once the help is on."""
        parts = [part for part in controls if not isinstance(part, str)]
        column = pn.Column(*parts, sizing_mode="stretch_width", margin=0)
        for part in parts:
            part.param.watch(lambda _event: self._show_helps(), "visible")
        self._bare.append((column, controls))
        self._show_helps()
        return column

    def _make_helps(self) -> None:
        bare, self._bare = self._bare, []
        for column, controls in bare:
            arranged, about = list[Any](), None
            for part in controls:
                if isinstance(part, str):
                    self._helps.append((help_pane(self._words[part]), about))
                    part = self._helps[-1][0]
                else:
                    about = part
                arranged.append(part)
            column.objects = arranged

    def use(self, data: CityData) -> None:
        """Offer the choices that a city has."""
        # Counts without points have the cells they have.
        self.side.visible = data.heat is not None
        self.bound.visible = data.has_users
        self.say_counted(data)
        for say in self._sayings:
            say()

    def say_counted(self, data: Any) -> None:
        """Say how many of all records the bound keeps."""
        text = counted_of_all(data.matrix, self.RECORD) if self._parts.truth else ""
        escaped = html.escape(text)
        put(self.counted, f'<p class="quiet">{escaped}</p>' if escaped else "")

    def base_map(self) -> Any:
        """The switch of coast, roads and names; it is there where they are."""
        self._base_switch = self.tied.switch("base_map", visible=self._has_base)
        return self._base_switch

    def offer_base(self, offered: bool) -> None:
        """Let coast, roads and names be switched on, where there are some."""
        self._has_base = offered
        if self._base_switch is not None:
            self._base_switch.visible = offered

    def rebuild(self) -> None:
        """Show mechanisms and settings that were changed from elsewhere."""
        for mechanism in self.mechanisms:
            mechanism.rebuild()

    def new_draw(self) -> Any:
        """The button for other random noise, and next to it whether noise stays as it is."""
        button = wide_button("New draw", self.state.roll, styles={"flex": "0 0 96px"})
        switch = self.tied.switch("frozen", styles={"flex": "1 1 0"}, margin=(0, 4, 0, 0))
        view = pn.Row(button, switch, sizing_mode="stretch_width", margin=0)
        view.styles = {"align-items": "center"}
        return view

    def _explain(self, event: Any) -> None:
        self._show_helps()
        for mechanism in self.mechanisms:
            mechanism.settings.explain(event.new)

    def _show_helps(self) -> None:
        if self.state.explain:
            self._make_helps()
        for text, about in self._helps:
            # Words about a control that is not there would puzzle anyone who looks for it.
            text.visible = self.state.explain and (about is None or about.visible)


def wide_button(label: str, clicked: Callable[[], None], **params: Any) -> Any:
    """A button as wide as the drawer."""
    look = {"variant": "outlined", **ui.WIDE, **params}
    return ui.Button(label=label, on_click=lambda _event: clicked(), **look)


def said_choice(state: Any, name: str) -> str:
    """A choice as its control names it; "" for what is off, and for what is no choice."""
    declared, value = state.param[name], getattr(state, name)
    if isinstance(declared, param.Boolean):
        return str(declared.label).lower() if value else ""
    return next(
        (str(title) for title, option in declared.get_range().items() if option == value), ""
    )
