"""How a page is in a notebook's cell: drawer next to or below it, as high as was asked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import panel as pn

from explorer.app.kit import ui
from explorer.errors import InputError

#: Below it not even a map is in a cell.
_LEAST, _MOST = 300, 10_000
_PIXELS = re.compile(r"\s*([0-9]{1,5})\s*px\s*")
_DRAWER, _PAGE = 300, 560
#: The height of what a page is in: the window, or the cell that says otherwise.
WINDOW = "var(--explorer-window, 100vh)"


def pixels(height: Any) -> int:
    """A height such as "700px" in pixels.

    Raises
    ------
    InputError
        For anything else, and for heights in which no map fits.

    Examples
    --------
    >>> pixels("700px")
    700
    """
    match = _PIXELS.fullmatch(height) if isinstance(height, str) else None
    if match is None or not _LEAST <= int(match[1]) <= _MOST:
        raise InputError(
            f"The height of a page is {str(height)[:40]!r}: give pixels from {_LEAST} to {_MOST:,} "
            'such as "700px".'
        )
    return int(match[1])


def laid_out(drawer: Sequence[Any], page: Any, height: int | None = None) -> Any:
    """The page with its drawer: next to it where the cell is wide enough, else below it."""
    whole = page
    if drawer:
        side = pn.Column(*drawer, margin=0, styles={"flex": f"0 0 {_DRAWER}px"})
        main = pn.Column(
            page, margin=0, styles={"flex": f"1 1 {_PAGE}px", "min-width": f"min({_PAGE}px, 100%)"}
        )
        whole = ui.wrapping(side, main, gap="0 8px")
        # The last line comes first: maps before controls, wherever both do not fit in one line.
        turned = {"flex-wrap": "wrap-reverse", "align-items": "flex-end"}
        whole.styles = {**whole.styles, **turned}
    if height is None:
        return whole
    return pn.Column(
        whole,
        sizing_mode="stretch_width",
        margin=0,
        styles={"height": f"{height}px", "overflow-y": "auto"},
        stylesheets=[f":host {{ --explorer-window: {height}px; }}"],
    )
