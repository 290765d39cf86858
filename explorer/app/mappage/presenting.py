"""Presenting: large type, a light palette, no drawer, and exact counts sent only when asked for."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import panel as pn
from bokeh.models import CustomJS, TextInput

from explorer.app.curator.parts import PageParts
from explorer.app.kit import ui
from explorer.app.kit.map_tools import MapTools

#: The palette of each theme, by whether it is dark.
FITTING = {True: "cividis", False: "paper"}


class ThemedPalette:
    """Lets the palette of a page follow its theme.

    One that a person, a link or a call chose stays as it is, whatever the theme is.

    Parameters
    ----------
    state : the choices, with a ``palette``
    dark : whether the page begins in the dark theme
    chosen : whether its palette was chosen already
    """

    def __init__(self, state: Any, dark: bool, chosen: bool) -> None:
        self._state, self._chosen, self._following = state, chosen, False
        self._dark = dark
        #: The palette before the page was presented, while it is.
        self._before: str | None = None
        state.param.watch(self._changed, "palette")
        self.follow(dark)

    def follow(self, dark: bool) -> None:
        self._dark = dark
        if not self._chosen and self._before is None:
            self._put(FITTING[dark])

    def project(self, on: bool) -> None:
        """Present the page on a light map; or end that, with the palette of before.

        Anyone who chooses another one meanwhile keeps that.
        """
        if on:
            self._before = self._state.palette
            self._put(FITTING[False])
            return
        before, self._before = self._before, None
        if before is not None and self._state.palette == FITTING[False]:
            self._put(before)
        # The theme may be another one by now.
        self.follow(self._dark)

    def _put(self, palette: str) -> None:
        """Take a palette that no one chose."""
        self._following = True
        self._state.put(palette=palette)
        self._following = False

    def _changed(self, _event: Any) -> None:
        self._chosen = self._chosen or not self._following


#: Choices that paint exact counts, and what takes their place while those are hidden.
_EXACT = {
    "right": ({"difference"}, "private"),
    "shows": ({"true", "difference"}, "private"),
    "colour": ({"error"}, "density"),
}
#: The keys, see `Keys`.
PRESENT, REVEAL = "p", "t"
_SHOW = """
const {on, truth} = JSON.parse(said.value)
const style = document.documentElement.style
style.setProperty("--type", on ? "1.35" : "1")
document.explorer_hides = !truth
if (!truth) document.dispatchEvent(new Event("explorer-hides"))
for (const each of Bokeh.documents.flatMap(page => page.roots()))
  if (each.data?.sidebar_open !== undefined) {
    if (on && document.explorer_drawer === undefined)
      document.explorer_drawer = each.data.sidebar_open
    each.data.sidebar_open = on ? false : document.explorer_drawer ?? each.data.sidebar_open
    if (!on) document.explorer_drawer = undefined
  }
"""


class Presenting:
    """One key makes the page readable from the back row of a classroom, another shows the truth.

    Presenting begins with the exact counts hidden: ``parts.truth`` is False, no part of the page
    sends any of them, and what was sent before is replaced in the browser. Files with exact counts
    can still be saved, by a press of their buttons.

    Parameters
    ----------
    parts : of the page
    tools : whose choice of maps it changes
    palette : of the page, light for a projector
    on_change : called after a change: tags and maps say less, or more
    """

    def __init__(
        self,
        parts: PageParts,
        tools: MapTools,
        palette: ThemedPalette,
        on_change: Callable[[], None],
    ) -> None:
        self._parts, self._tools, self._shown = parts, tools, on_change
        self._palette = palette
        self.on = False
        #: The maps that were shown before.
        self._before = ""
        #: Choices that were taken away with the truth.
        self._hidden: dict[str, Any] = {}
        look: dict[str, Any] = {"variant": "text", "size": "small", "margin": (0, 0, 0, 4)}
        self.button = ui.Button(label="Present", on_click=lambda _event: self.toggle(), **look)
        self.reveal = ui.Button(
            label="Show the truth", visible=False, on_click=lambda _event: self.turn(), **look
        )
        self._said = TextInput(value="", visible=False)
        self._said.js_on_change("value", CustomJS(args={"said": self._said}, code=_SHOW))
        self.view = pn.pane.Bokeh(self._said, visible=False, margin=0)

    def pressed(self, key: str) -> bool:
        if key == PRESENT:
            self.toggle()
        elif key == REVEAL:
            self.turn()
        return key in (PRESENT, REVEAL)

    def toggle(self) -> None:
        """Begin to present, without the truth; or end, and show everything as it was."""
        self.on = not self.on
        if self.on:
            self._before = self._tools.shows.value
        self._palette.project(self.on)
        self._show(truth=not self.on)

    def _choose(self, truth: bool) -> None:
        """Paint nothing exact while exact counts are hidden; what was painted comes back later."""
        state = self._parts.state
        if truth:
            # Anyone who chose otherwise meanwhile keeps that.
            restored = {name: to for name, to in self._hidden.items() if _private(state, name)}
            self._hidden = {}
            state.put(**restored)
        else:
            exact = [name for name in _EXACT if name in state.param and not _private(state, name)]
            self._hidden.update({name: getattr(state, name) for name in exact})
            state.put(**{name: _EXACT[name][1] for name in exact})

    def turn(self) -> None:
        """Show the truth, or hide it again; only while presenting."""
        if self.on:
            self._show(truth=not self._parts.truth)

    def _show(self, truth: bool) -> None:
        self._parts.truth = truth
        self._said.value = json.dumps({"on": self.on, "truth": truth})
        self._choose(truth)
        if self._tools.shows.visible and self._tools.alone is not None:
            hidden = self._tools.alone
            self._tools.shows.value = self._before if truth else hidden
        self.button.label = "End the presentation" if self.on else "Present"
        self.reveal.label = "Hide the truth" if truth else "Show the truth"
        self.reveal.visible = self.on
        if self._parts.maps is not None:
            self._parts.maps.widen(self.on)
        self._shown()


def _private(state: Any, choice: str) -> bool:
    return getattr(state, choice) not in _EXACT[choice][0]
