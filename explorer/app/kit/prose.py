"""Styles and panes of the lessons, besides those of the theme."""

from __future__ import annotations

import html
from typing import Any

import panel as pn

from explorer.app.kit.html import html_pane
from explorer.app.kit.paper import CHART_CSS

LEARN_CSS = """
.prose { font-size: 14.5px; line-height: 21px; max-width: 76ch; overflow-wrap: anywhere; }
.prose p { font-size: inherit; line-height: inherit; margin: 0 0 8px; }
.prose ol, .prose ul { margin: 0 0 8px; padding-left: 22px; }
.prose li { margin: 0 0 6px; }
.prose li p { margin: 0; }
.prose code { font-size: 13px; padding: 1px 4px; border-radius: 3px;
  background: rgba(128, 140, 152, .2); }
.prose pre { overflow-x: auto; }
.prose a, .finding a { color: inherit; text-decoration: underline; }
.prose table { border-collapse: collapse; margin: 0 0 8px; }
.prose th, .prose td { padding: 3px 12px 3px 0; text-align: left;
  border-bottom: 1px solid rgba(128, 140, 152, .35); }
.kicker { font-size: 13px; line-height: 18px; opacity: .78; margin: 0; }
.about { font-size: 13px; line-height: 18px; opacity: .82; margin: 0 0 14px; max-width: 110ch; }
h3 { margin: 0 0 3px; }
h2.lesson { font-size: 22px; line-height: 28px; }
.goal { font-size: 15px; line-height: 22px; max-width: 90ch; }
.finding { font-size: 15px; line-height: 22px; max-width: 100ch; }
.finding b { font-variant-numeric: tabular-nums; }
.numbers thead th, .numbers th:first-child { white-space: normal; vertical-align: bottom; }
.legend { display: flex; flex-wrap: wrap; gap: 2px 18px; list-style: none; padding: 0;
  margin: 4px 0; font-size: 13px; line-height: 20px; }
.legend svg { vertical-align: -1px; margin-right: 6px; }
.answer { border-left: 4px solid #3aa58a; background: rgba(58, 165, 138, .12);
  padding: 10px 14px; border-radius: 3px; }
.spent { margin: 2px 0 6px; }
.spent .row { display: grid; grid-template-columns: minmax(120px, 190px) 1fr; gap: 4px 12px;
  align-items: center; font-size: 13px; line-height: 20px; margin: 2px 0; }
.spent .rail { display: flex; gap: 1px; height: 12px; }
.spent .rail i { display: block; height: 100%; min-width: 1px; background: #3b8fd6; }
.spent .row.kept .rail i { background: #e08a2e; }
"""


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
