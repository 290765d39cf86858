"""What the charts of the lessons share: an empty figure, its spoken name, colours, a legend."""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import Any, Literal

from bokeh.models import CustomJSTickFormatter, Span
from bokeh.plotting import figure

from explorer.views.series import BLUE, ORANGE, PLUM

#: The data as they are, the same with one person changed, and the truth.
FIRST, SECOND, TRUTH = BLUE, ORANGE, PLUM

_SHORT_NUMBERS = """
const size = Math.abs(tick), sign = tick < 0 ? "−" : ""
if (size >= 1e6) return sign + String(Number((size / 1e6).toPrecision(4))) + "M"
// One kind for a whole axis: its largest tick says which.
const most = Math.max(...ticks.map(Math.abs))
if (most >= 1e5 && size >= 1e3) return sign + String(Number((size / 1e3).toPrecision(4))) + "k"
return sign + Number(size.toPrecision(7)).toLocaleString("en-US", {maximumFractionDigits: 6})
"""

_POWERS = """
const power = Math.log10(Math.abs(tick))
if (Math.abs(power - Math.round(power)) > 1e-9 || Math.abs(power) < 5) {
  return Number(tick.toPrecision(7)).toLocaleString("en-US", {maximumFractionDigits: 6})
}
return "10" + String(Math.round(power)).replace(/./g, c => "⁰¹²³⁴⁵⁶⁷⁸⁹"[c] ?? "⁻")
"""


def chart(height: int, *, log: Literal["", "x", "y", "xy"] = "", **about: Any) -> figure:
    """A figure without tools or data, as wide as its place and ``height`` pixels high.

    ``log`` names the logarithmic axes, whose ticks are written as `powers_of_ten`; ``about`` goes
    to Bokeh's figure.
    """
    for axis in log:
        about[f"{axis}_axis_type"] = "log"
    fig = figure(
        tools="",
        toolbar_location=None,
        sizing_mode="stretch_width",
        height=height,
        min_border=4,
        outline_line_color=None,
        output_backend="canvas",
        html_attributes={"role": "img", "aria-label": "Chart without data"},
        **about,
    )
    fig.grid.grid_line_alpha = 0.4
    for axis in log:
        getattr(fig, f"{axis}axis").formatter = powers_of_ten()
    return fig


def describe(fig: figure, spoken: str) -> None:
    """Say in words what a figure shows."""
    attributes = {"role": "img", "aria-label": spoken}
    if fig.html_attributes != attributes:
        fig.html_attributes = attributes


def limit(
    fig: figure,
    dimension: Literal["width", "height"],
    colour: str = TRUTH,
    location: float | None = None,
) -> Span:
    """A dashed line across a figure, along its width or its height, that a sum is held against."""
    line = Span(
        dimension=dimension,
        location=location,
        line_color=colour,
        line_width=2,
        line_dash="dashed",
    )
    fig.add_layout(line)
    return line


def short_numbers() -> CustomJSTickFormatter:
    """Ticks as people write them: 12,345, 1.2M."""
    return CustomJSTickFormatter(code=_SHORT_NUMBERS)


def powers_of_ten() -> CustomJSTickFormatter:
    """Ticks of an axis over many decades: 10,000, then 10⁵."""
    return CustomJSTickFormatter(code=_POWERS)


def legend(entries: Iterable[tuple[str, str, str]]) -> str:
    """What the colours of a chart represent, as HTML next to it.

    ``entries`` are (colour, "line", "dash", "dot", "diamond", "area" or "stripes", text).
    """
    shapes = {
        "line": '<line x1="1" y1="6" x2="27" y2="6" stroke="{c}" stroke-width="3"/>',
        "dash": '<line x1="1" y1="6" x2="27" y2="6" stroke="{c}" stroke-width="2.5" '
        'stroke-dasharray="6,4"/>',
        "dot": '<circle cx="14" cy="6" r="4" fill="{c}"/>',
        "diamond": '<path d="M14 0L19 6L14 12L9 6Z" fill="{c}"/>',
        "area": '<rect x="2" y="1" width="24" height="10" fill="{c}" fill-opacity="0.35"/>',
        "stripes": '<path d="M2 11L12 1M8 11L18 1M14 11L24 1M20 11L26 5M2 5L6 1" stroke="{c}" '
        'stroke-width="2"/>',
    }
    items = "".join(
        f'<li><svg width="28" height="12" viewBox="0 0 28 12" aria-hidden="true">'
        f"{shapes[kind].replace('{c}', colour)}</svg>{html.escape(text)}</li>"
        for colour, kind, text in entries
    )
    return f'<ul class="legend">{items}</ul>'
