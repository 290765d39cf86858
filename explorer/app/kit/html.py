"""Small panes that every page has: text that is replaced in place, and headings of sections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import panel as pn

from explorer.app.kit.theme import CSS


def html_pane(text: str = "", margin: Any = 0, css: Sequence[str] = (), **params: Any) -> Any:
    """A pane for our own HTML, in the styles of the theme and in those of ``css``."""
    params = {"sizing_mode": "stretch_width", "stylesheets": [CSS, *css], **params}
    return pn.pane.HTML(text, margin=margin, **params)


def put(pane: Any, text: str) -> None:
    """Show ``text`` in ``pane``; the same text is not sent again."""
    if pane.object != text:
        pane.object = text


def section(title: str, text: str) -> Any:
    """A heading with a line of words below it."""
    return html_pane(f"<h2>{title}</h2><p>{text}</p>", margin=(14, 0, 4, 0))
