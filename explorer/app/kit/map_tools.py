"""Buttons above the maps: which of them, what a drag does, how far one looks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol

import panel as pn

from explorer.app.kit import ui
from explorer.app.kit.map_parts import nothing
from explorer.app.kit.theme import SPOKEN_LABEL

#: By the keys: inwards, outwards, the whole map.
ZOOMS = {"+": 0.5, "-": 2.0, "0": 0.0}


class DragState(Protocol):
    """What `MapTools` sets: the meaning of a drag."""

    drag: str

    def put(self, *, drag: str) -> Any:
        """Take a value; raises `InputError` for one that cannot be."""


class MapTools:
    """Buttons above the maps: what a drag does, zoom in, zoom out, the whole map.

    Parameters
    ----------
    state : DragState
    zoom : called with a factor: below 1 inwards, above 1 outwards, 0 for the whole map
    refused : shows a sentence
    phone : whether the page is on a phone, where one of several maps is shown at a time
    names : of two maps of one place, which can be shown one by one, or one over the other
    arrange : called with "all", "swipe", "0" or "1"
    alone : the one that holds nothing exact, if the other does
    """

    def __init__(
        self,
        state: DragState,
        zoom: Callable[[float], None],
        refused: Callable[[str], None],
        *,
        phone: bool,
        names: Sequence[str] = (),
        arrange: Callable[[str], None] = nothing,
        alone: int | None = None,
        polygons: bool = True,
    ) -> None:
        self.alone = None if alone is None else str(alone)
        shows = {name: str(number) for number, name in enumerate(names)} | {"Swipe": "swipe"}
        if not phone:
            shows = {"Both": "all", **shows}
        first = "1" if phone and names else next(iter(shows.values()))
        self.shows = _group("Maps shown", shows, first, (0, 12, 0, 0), visible=bool(names))
        ui.bind(self.shows, arrange, refused)
        modes = {"Draw": "draw", "Polygon": "polygon", "Move": "move", "Scroll": "scroll"}
        if not polygons:
            del modes["Polygon"]
        # One finger scrolls the page until a person asks to draw.
        if not phone:
            del modes["Scroll"]
        self.mode = _group("A drag on a map", modes, state.drag)
        ui.bind(self.mode, lambda value: state.put(drag=value), refused)
        zooms = {"Zoom in": "+", "Zoom out": "-", "Whole map": "0"}
        look = {"variant": "text", "size": "small", "margin": (0, 0, 0, 4)}
        buttons = [
            ui.Button(label=text, on_click=lambda _event, key=key: zoom(ZOOMS[key]), **look)
            for text, key in zooms.items()
        ]
        # A phone and a narrow cell have no space for all of them in one line.
        narrow = {"flex-wrap": "wrap", "max-width": "100%"}
        row = ui.wrapping if phone else partial(pn.Row, styles=narrow)
        self.view = row(self.shows, self.mode, *buttons, margin=0)
        self.view.styles = {**self.view.styles, "flex": "0 1 auto", "max-width": "100%"}


def _group(label: str, options: dict[str, str], value: str, margin: Any = 0, **params: Any) -> Any:
    params |= {"label": label, "options": options, "value": value, "margin": margin}
    return ui.RadioButtonGroup(size="small", stylesheets=[SPOKEN_LABEL], **params)
