"""How each mechanism is drawn in every chart: colour, dash and marker, never colour alone.

The seven colours were searched for: at least 2.9 : 1 against both themes' paper, and at least 20
apart (CIE 1976) for readers without red or green cones (Machado et al. 2009), which a test holds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

ORANGE, SKY, BLUE, VIOLET = "#e0760b", "#3fa0d1", "#4378e0", "#6448f0"
RED, PLUM, OLIVE = "#d10a2c", "#945189", "#7b8571"

COLOURS = (ORANGE, SKY, BLUE, VIOLET, RED, PLUM, OLIVE)
SOLID: tuple[int, ...] = ()
DASHED = (7, 4)
DOTTED = (2, 3)
DASH_DOT = (9, 3, 2, 3)


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


def _open(colour: str, marker: str) -> SeriesStyle:
    return SeriesStyle(colour, marker, DASHED, filled=False)


_STYLES = {
    "mosaic": SeriesStyle(RED, "circle"),
    "htf": SeriesStyle(BLUE, "square"),
    "privtree": SeriesStyle(ORANGE, "triangle"),
    "ag": SeriesStyle(SKY, "diamond"),
    "quadtree": SeriesStyle(PLUM, "inverted_triangle"),
    "ug": SeriesStyle(OLIVE, "hex"),
    "kd-standard": SeriesStyle(VIOLET, "star"),
    "privlet": _open(RED, "circle"),
    "kd-cell": _open(BLUE, "square"),
    "hb": _open(ORANGE, "triangle"),
    "hierarchy": _open(SKY, "diamond"),
    "uniform": _open(PLUM, "inverted_triangle"),
    "identity": _open(OLIVE, "hex"),
    "kd-hybrid": _open(VIOLET, "star"),
}


def style_of(key: str, variant: int = 0) -> SeriesStyle:
    """The style of a mechanism; ``variant`` 1 or 2 is that mechanism with settings of its own.

    A mechanism without a style here gets one of the seven by its name.
    """
    plain = _STYLES.get(key) or SeriesStyle(COLOURS[sum(map(ord, key)) % len(COLOURS)], "circle")
    if variant == 0:
        return plain
    if variant == 1:
        return replace(plain, dash=DOTTED, marker="plus", filled=False)
    return replace(plain, dash=DASH_DOT, marker="x", filled=False)


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
