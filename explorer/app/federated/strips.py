"""Vectors as strips of small cells, with the same numbers as a table."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.views.tables import Cell, details, table

#: Pixels of a cell of a strip, and how many numbers of each are written below it.
_SIDE = 9
_WRITTEN = 7
#: Above and below zero.
_ABOVE, _BELOW = "#3b8fd6", "#e08a2e"


@dataclass(frozen=True, eq=False)
class Strip:
    """One vector.

    Attributes
    ----------
    title, words : of the strip, plain text
    values : (v,) whole numbers
    span : what a full colour represents
    """

    title: str
    words: str
    values: NDArray[np.int64]
    span: float


def strips(vectors: Sequence[Strip], around: int) -> str:
    """The strips one below the other; of each the numbers around one cell are written out.

    Parameters
    ----------
    vectors : of one length
    around : cell in the middle of the numbers that are written out
    """
    v = len(vectors[0].values)
    first = min(max(around - _WRITTEN // 2, 0), max(v - _WRITTEN, 0))
    return "".join(_strip(vector, first) for vector in vectors)


def _strip(strip: Strip, first: int) -> str:
    values = strip.values
    cells = "".join(
        f'<rect x="{i * (_SIDE + 1)}" width="{_SIDE}" height="18" '
        f'fill="{_ABOVE if value >= 0 else _BELOW}" '
        f'fill-opacity="{0.12 + 0.88 * min(abs(value) / strip.span, 1):.2f}"/>'
        if value
        else f'<rect x="{i * (_SIDE + 1)}" width="{_SIDE}" height="18" fill="currentColor" '
        'fill-opacity="0.1"/>'
        for i, value in enumerate(values.tolist())
    )
    width = len(values) * (_SIDE + 1)
    last = min(first + _WRITTEN, len(values))
    written = ", ".join(_signed(value) for value in values[first:last].tolist())
    spoken = html.escape(
        f"{strip.title}: {np.count_nonzero(values)} of {len(values)} numbers are not 0; cells "
        f"{first + 1} to {last}: {written}",
        quote=True,
    )
    return (
        f"<h3>{html.escape(strip.title)}</h3><p>{html.escape(strip.words)}</p>"
        f'<svg role="img" aria-label="{spoken}" viewBox="0 0 {width} 18" '
        f'preserveAspectRatio="none" '
        f'style="display:block;width:100%;max-width:{width}px;height:18px;margin:4px 0 2px">'
        f"{cells}</svg>"
        f'<p class="quiet" style="margin-bottom:8px">Cells {first + 1} to {last}: '
        f"{html.escape(written)}</p>"
    )


def numbers(vectors: Sequence[Strip]) -> str:
    """All numbers as a table behind a line that opens it."""
    columns = [("cell", ""), *((vector.title, vector.words) for vector in vectors)]
    rows = [
        [Cell(str(i + 1)), *(Cell(_signed(int(strip.values[i]))) for strip in vectors)]
        for i in range(len(vectors[0].values))
    ]
    caption = f"All {len(rows)} numbers of each"
    return details(caption, table(caption, columns, rows))


def _signed(value: int) -> str:
    return f"{value:,}".replace("-", "−")
