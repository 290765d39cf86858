"""Plain HTML tables next to charts: the same numbers, for eyes, copying and screen readers."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Cell:
    """A cell: text, a quieter text after it, markup of ours before it, whether it is emphasised.

    ``before`` is not escaped: it takes swatches, never a string from a file.
    """

    text: str
    quiet: str = ""
    before: str = ""
    best: bool = False

    def markup(self, tag: str = "td") -> str:
        """The cell as HTML."""
        quiet = f" <small>{html.escape(self.quiet)}</small>" if self.quiet else ""
        scope = ' scope="row"' if tag == "th" else ""
        look = ' class="best"' if self.best else ""
        return f"<{tag}{scope}{look}>{self.before}{html.escape(self.text)}{quiet}</{tag}>"


def table(caption: str, columns: Sequence[tuple[str, str]], rows: Iterable[Sequence[Cell]]) -> str:
    """A table whose first column heads its rows; it scrolls sideways where there is no space.

    ``columns`` are (title, explanation); the explanation is read out and shown on hover.
    """
    heads = "".join(
        f'<th scope="col"{_title(about)}>{html.escape(name)}</th>' for name, about in columns
    )
    body = "".join(
        f"<tr>{row[0].markup('th')}{''.join(cell.markup() for cell in row[1:])}</tr>"
        for row in rows
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{html.escape(caption)}">'
        f'<table class="numbers"><caption>{html.escape(caption)}</caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def details(summary: str, body: str) -> str:
    """``body`` (our own HTML) behind a line that opens it, by mouse or keyboard."""
    return f"<details><summary>{html.escape(summary)}</summary>{body}</details>"


def progress(label: str, done: int, total: int, text: str) -> str:
    """A progress bar with the same said in words next to it."""
    spoken = html.escape(text)
    return (
        f'<div class="progress"><div class="rail" role="progressbar" aria-valuemin="0" '
        f'aria-label="{html.escape(label)}" aria-valuemax="{max(total, 1)}" aria-valuenow="{done}" '
        f'aria-valuetext="{spoken}"><i style="width:{100 * done / max(total, 1):.1f}%"></i></div>'
        f"<span>{spoken}</span></div>"
    )


def number(value: float, digits: int = 3) -> str:
    """So many significant digits, thousands with commas.

    >>> [number(v) for v in (0.0000123456, 1.5, 98.76, 12345.6, 0.0, float("nan"))]
    ['0.0000123', '1.50', '98.8', '12,346', '0', '–']
    """
    if math.isnan(value):
        return "–"
    if abs(value) >= 100 or value == 0:
        return f"{value:,.0f}"
    return np.format_float_positional(
        value, precision=digits, unique=False, fractional=False, trim="k"
    ).rstrip(".")


def _title(about: str) -> str:
    return f' title="{html.escape(about)}"' if about else ""
