"""The two causes of one answer's error as a small bar, with the numbers beside it."""

from __future__ import annotations

import html
import math

NOISE, UNIFORMITY = "#3b8fd6", "#e08a2e"


def error_bar(noise: float, uniformity: float) -> str:
    """Both parts as signed numbers, and below them a bar with zero in the middle.

    Too many lies to the right, too few to the left. Parts of one sign are stacked, parts of
    opposite signs lie on either side of zero; the tick is their sum, the difference. The bar is as
    wide as the larger side asks for, so lengths compare within one bar and not between bars. Not a
    number gives "…".
    """
    if not (math.isfinite(noise) and math.isfinite(uniformity)):
        return '<div class="causes">…</div>'
    texts = "".join(
        f'<span><i style="background:{colour}"></i>{_signed(part)}</span>'
        for colour, part in ((NOISE, noise), (UNIFORMITY, uniformity))
    )
    return f'<div class="causes">{texts}</div>{_bar(noise, uniformity)}'


def _bar(noise: float, uniformity: float) -> str:
    right = sum(part for part in (noise, uniformity) if part > 0)
    left = -sum(part for part in (noise, uniformity) if part < 0)
    scale = 48 / max(right, left) if max(right, left) > 0 else 0.0
    ends = {1: 0.0, -1: 0.0}
    rows = []
    for colour, part in ((NOISE, noise), (UNIFORMITY, uniformity)):
        side = 1 if part > 0 else -1
        width = abs(part) * scale
        start = ends[side]
        ends[side] += width
        x = 50 + start if side > 0 else 50 - start - width
        rows.append(f'<rect x="{x:.1f}" y="1" width="{width:.1f}" height="6" fill="{colour}"/>')
    net = 50 + (noise + uniformity) * scale
    return (
        '<svg class="causes" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
        f'{"".join(rows)}<path d="M50 0V8" stroke="currentColor" stroke-opacity=".5" '
        'stroke-width=".8"/>'
        f'<path d="M{net:.1f} 0V8" stroke="currentColor" stroke-width="1.6"/></svg>'
    )


def _signed(value: float) -> str:
    text = f"{value:+,.0f}"
    return html.escape("0" if text in ("+0", "-0") else text.replace("-", "−"))
