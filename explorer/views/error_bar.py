"""The causes of one answer's error as a small bar, with the numbers next to it."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence

#: 3 to 1 or better on the pages' grounds, light and dark.
NOISE, UNIFORMITY, CLIPPING = "#3586cb", "#c66d1b", "#ab63d3"
#: Each cause with its name and its fill, which distinguishes it without its colour as well: solid,
#: striped, hollow.
_CAUSES = {
    "noise": (NOISE, f"background:{NOISE}"),
    "uneven areas": (
        UNIFORMITY,
        f"background:repeating-linear-gradient({UNIFORMITY} 0 2px,transparent 2px 3.4px)",
    ),
    "not counted": (CLIPPING, f"border:2px solid {CLIPPING};box-sizing:border-box"),
}


def error_bar(
    noise: float, uniformity: float, clipping: float | None = None, *, decimals: int = 0
) -> str:
    """The parts as signed numbers, and below them a bar with zero in the middle.

    Too many is to the right, too few to the left. Parts of one sign are stacked, parts of
    opposite signs are on either side of zero; the tick is their sum, the difference. The bar is as
    wide as the larger side asks for, so lengths compare within one bar and not between bars. Not a
    number gives "…". ``clipping`` is None where no contribution bound is in force.
    """
    parts = [part for part in (noise, uniformity, clipping) if part is not None]
    if not all(map(math.isfinite, parts)):
        return '<div class="causes">…</div>'
    texts = "".join(
        f'<span title="{name}"><i style="{fill}"></i>{_signed(part, decimals)}</span>'
        for (name, (_, fill)), part in zip(_CAUSES.items(), parts, strict=False)
    )
    return f'<div class="causes">{texts}</div>{_bar(parts)}'


def error_key(*, clipping: bool) -> str:
    """What the parts of `error_bar` mean; ``clipping`` where a contribution bound is in force.

    >>> error_key(clipping=False).count("<i"), error_key(clipping=True).count("<i")
    (2, 3)
    """
    causes = list(_CAUSES.items())[: 3 if clipping else 2]
    texts = "".join(f'<span><i style="{fill}"></i>{name}</span>' for name, (_, fill) in causes)
    return f'<div class="causes key">Causes of the error: {texts}</div>'


def _bar(parts: Sequence[float]) -> str:
    right = sum(part for part in parts if part > 0)
    left = -sum(part for part in parts if part < 0)
    scale = 48 / max(right, left) if max(right, left) > 0 else 0.0
    ends = {1: 0.0, -1: 0.0}
    rows = []
    for number, (part, (colour, _)) in enumerate(zip(parts, _CAUSES.values(), strict=False)):
        side = 1 if part > 0 else -1
        width = abs(part) * scale
        start = ends[side]
        ends[side] += width
        rows.append(_part(number, 50 + start if side > 0 else 50 - start - width, width, colour))
    net = 50 + sum(parts) * scale
    return (
        '<svg class="causes" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
        f'{"".join(rows)}<path d="M50 0V8" stroke="currentColor" stroke-opacity=".5" '
        'stroke-width=".8"/>'
        f'<path d="M{net:.1f} 0V8" stroke="currentColor" stroke-width="1.6"/></svg>'
    )


def _part(number: int, x: float, width: float, colour: str) -> str:
    """One part: solid, striped or hollow, whatever the bar is stretched to."""
    if number == 2:
        return (
            f'<rect x="{x:.1f}" y="1.6" width="{width:.1f}" height="4.8" fill="none" '
            f'stroke="{colour}" stroke-width="1.4" vector-effect="non-scaling-stroke"/>'
        )
    rows = [(1, 6)] if number == 0 else [(1, 2), (5, 2)]
    return "".join(
        f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{height}" fill="{colour}"/>'
        for y, height in rows
    )


def _signed(value: float, decimals: int) -> str:
    text = f"{value:+,.{decimals}f}"
    return html.escape(text.replace("-", "−") if text.strip("+-0.") else text[1:])
