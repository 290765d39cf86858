"""Styles and panes of the lessons, besides those of the theme."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import panel as pn

from explorer.app.kit import static
from explorer.app.kit.html import html_pane
from explorer.app.kit.theme import CHART_CSS
from explorer.views.tables import Cell, table

LEARN_CSS = static.read("lessons.css")


def pane(text: str = "", margin: Any = 0, **params: Any) -> Any:
    """A pane for our own HTML, in the styles of the theme and of the lessons."""
    return html_pane(text, margin, **{"css": [LEARN_CSS], **params})


def finding(sentence: str) -> str:
    """The main sentence under an experiment; read out when it changes."""
    return f'<p class="finding" role="status">{html.escape(sentence)}</p>'


def column(*objects: Any, margin: Any = 0, flex: str = "", **params: Any) -> Any:
    """Objects one below the other, as wide as there is space or as ``flex`` says."""
    if flex:
        params["styles"] = {"flex": flex, "min-width": "0"}
    return pn.Column(*objects, sizing_mode="stretch_width", margin=margin, **params)


def side_by_side(*objects: Any, gap: str, **params: Any) -> Any:
    """Objects that begin at the same height, below each other where there is no space."""
    styles = {"flex-wrap": "wrap", "gap": gap, "align-items": "flex-start"}
    return pn.Row(
        *objects, sizing_mode="stretch_width", **{"styles": styles, "margin": 0, **params}
    )


def quiet(text: str) -> str:
    """A line in small quiet type, as HTML."""
    return f'<p class="quiet">{text}</p>'


def text_table(
    caption: str, columns: Mapping[str, str], rows: Iterable[Sequence[str | Cell]]
) -> str:
    """A table whose columns are titles with what they say; cells may be plain texts."""
    cells = [[Cell(cell) if isinstance(cell, str) else cell for cell in row] for row in rows]
    return table(caption, [*columns.items()], cells)


def chart_pane(figure: Any) -> Any:
    """A chart that is as wide as its place.

    In a column of its own, which can be shown and hidden: a Bokeh pane takes `visible` back from
    its figure.
    """
    drawn = pn.pane.Bokeh(figure, sizing_mode="stretch_width", margin=0)
    return column(drawn, stylesheets=[CHART_CSS])
