"""How each mechanism is drawn in every chart: colour, dash and marker, never colour alone.

The seven colours were searched for: at least 2.9 : 1 against both themes' paper, and at least 20
apart (CIE 1976) for readers without red or green cones (Machado et al. 2009), which a test holds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

ORANGE, SKY, BLUE, VIOLET = "#e0760b", "#3fa0d1", "#4378e0", "#6448f0"
RED, PLUM, OLIVE = "#d10a2c", "#945189", "#7b8571"

PALETTE = {
    "orange": ORANGE,
    "sky": SKY,
    "blue": BLUE,
    "violet": VIOLET,
    "red": RED,
    "plum": PLUM,
    "olive": OLIVE,
}
COLOURS = tuple(PALETTE.values())
SOLID: tuple[int, ...] = ()
DASHED = (7, 4)
DOTTED = (2, 3)
DASH_DOT = (9, 3, 2, 3)
_VARIANTS = (
    (DOTTED, "plus"),
    (DASH_DOT, "x"),
    (DASHED, "triangle"),
    (DOTTED, "square"),
    (DASH_DOT, "star"),
)


@dataclass(frozen=True)
class SeriesStyle:
    """Look of one series.

    Attributes
    ----------
    colour : hex
    marker : a Bokeh marker
    dash : lengths of ink and gap in pixels; empty is a solid line
    filled : whether the marker is filled
    """

    colour: str
    marker: str
    dash: tuple[int, ...] = SOLID
    filled: bool = True


class Drawn(Protocol):
    """What can be drawn as a series: a class of mechanisms says all of this of itself.

    ``colour`` is a name of `PALETTE`, a hex colour, or empty: one of the seven by the key then.
    ``dash`` is "solid" (the marker filled) or "dashed" (the marker open).
    """

    key: str
    colour: str
    marker: str
    dash: str


def style_of(kind: Drawn, variant: int = 0) -> SeriesStyle:
    """The style of a mechanism; ``variant`` 1 to 5 is that mechanism with settings of its own."""
    by_key = COLOURS[sum(map(ord, kind.key)) % len(COLOURS)]
    colour = PALETTE.get(kind.colour, kind.colour) or by_key
    solid = kind.dash == "solid"
    plain = SeriesStyle(colour, kind.marker, SOLID if solid else DASHED, filled=solid)
    if variant == 0:
        return plain
    dash, marker = _VARIANTS[variant - 1]
    return replace(plain, dash=dash, marker=marker, filled=False)


def swatch(style: SeriesStyle) -> str:
    """A short piece of the line with its marker as inline SVG, for tables."""
    fill = style.colour if style.filled else "none"
    dash = ",".join(map(str, style.dash))
    return (
        f'<svg class="swatch" width="34" height="12" viewBox="0 0 34 12" aria-hidden="true">'
        f'<line x1="1" y1="6" x2="33" y2="6" stroke="{style.colour}" stroke-width="2" '
        f'stroke-dasharray="{dash}"/>'
        f'<g fill="{fill}" stroke="{style.colour}" stroke-width="1.5">{_SHAPES[style.marker]}</g>'
        f"</svg>"
    )


_SHAPES = {
    "circle": '<circle cx="17" cy="6" r="4"/>',
    "square": '<rect x="13" y="2" width="8" height="8"/>',
    "triangle": '<path d="M17 1 L22 10 L12 10 Z"/>',
    "inverted_triangle": '<path d="M17 11 L22 2 L12 2 Z"/>',
    "diamond": '<path d="M17 1 L21 6 L17 11 L13 6 Z"/>',
    "hex": '<path d="M12 6 L14.5 2 L19.5 2 L22 6 L19.5 10 L14.5 10 Z"/>',
    "star": '<path d="M17 0 L18.6 4 L23 4.3 L19.6 7 L20.8 11.3 L17 8.9 L13.2 11.3 L14.4 7 L11 4.3 '
    'L15.4 4 Z"/>',
    "plus": '<path d="M17 1 V11 M12 6 H22"/>',
    "x": '<path d="M13 2 L21 10 M13 10 L21 2"/>',
}
