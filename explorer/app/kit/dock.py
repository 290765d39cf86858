"""Maps and what is read about them: side by side where a window has room, else below each other."""

from __future__ import annotations

from typing import Any

import panel as pn

from explorer.app.kit import ui
from explorer.app.kit.maps import BESIDE, GAP


def holder() -> Any:
    """What the maps of a page are in, see `Maps.stand_in`."""
    return pn.Column(sizing_mode="stretch_width", margin=0)


def docked(maps: Any, *dock: Any) -> Any:
    """Maps with their dock: the strip of panels, the open one, the table of boxes, texts.

    The maps are as wide as their height lets them be; what they leave of a wide window, or next to
    a narrow country, is the dock's.

    Parameters
    ----------
    maps : a `holder`
    *dock : what is in the dock, from top to bottom
    """
    reading = pn.Column(
        *dock,
        sizing_mode="stretch_width",
        margin=0,
        styles={"flex": f"1 1 {BESIDE}px", "min-width": f"min({BESIDE}px, 100%)"},
    )
    view = ui.wrapping(maps, reading, gap=f"4px {GAP}px")
    view.styles = {**view.styles, "align-items": "flex-start"}
    # Maps measure what they leave by the width of this.
    return pn.Column(
        view, sizing_mode="stretch_width", margin=0, styles={"container-type": "inline-size"}
    )
