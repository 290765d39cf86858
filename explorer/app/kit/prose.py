"""Styles and panes of the lessons, besides those of the theme."""

from __future__ import annotations

import html
from typing import Any

import panel as pn

from explorer.app.kit import static
from explorer.app.kit.html import html_pane
from explorer.app.kit.theme import CHART_CSS

LEARN_CSS = static.read("lessons.css")


def pane(text: str = "", margin: Any = 0, **params: Any) -> Any:
    """A pane for our own HTML, in the styles of the theme and of the lessons."""
    return html_pane(text, margin, **{"css": [LEARN_CSS], **params})


def finding(sentence: str) -> str:
    """The main sentence under an experiment; read out when it changes."""
    return f'<p class="finding" role="status">{html.escape(sentence)}</p>'


def signed(value: float, digits: int = 0) -> str:
    """A number with its sign, thousands with commas.

    >>> signed(-1234.5), signed(0.04, 1), signed(12)
    ('−1,234', '0.0', '+12')
    """
    text = f"{value:+,.{digits}f}"
    return text[1:] if float(f"{value:.{digits}f}") == 0 else text.replace("-", "−")


def column(*objects: Any, margin: Any = 0, **params: Any) -> Any:
    """Objects one below the other, as wide as there is space."""
    return pn.Column(*objects, sizing_mode="stretch_width", margin=margin, **params)


def chart_pane(figure: Any) -> Any:
    """A chart that is as wide as its place.

    In a column of its own, which can be shown and hidden: a Bokeh pane takes `visible` back from
    its figure.
    """
    drawn = pn.pane.Bokeh(figure, sizing_mode="stretch_width", margin=0)
    return column(drawn, stylesheets=[CHART_CSS])
