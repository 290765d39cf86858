"""Colours of the maps: palettes, the dark map ground, the two-sided ramp of the difference view.

Every map image holds bytes 0..255 and every palette has 256 entries, so switching colours
changes a palette in the browser and never a picture.
"""

from __future__ import annotations

from collections.abc import Sequence

from bokeh.palettes import Cividis256, Magma256

#: The map's ground in the light and in the dark theme, so colours read the same on a projector.
GROUND = "#0c1117"
#: Under light colours, a grey that is none of them: the sea around a country.
LIGHT_GROUND = "#aeb4ba"
#: The middle of the difference ramp: a little lighter than the ground, "no difference".
MIDDLE = "#12171e"
LINE = "#e8eef5"
HOVER = "#ffd166"
BOX = "#ff95b5"
#: One's own mark among those of others, in charts.
TAG = "#d81b60"
#: What is exact and what is private have one colour each: white text is read on both.
TRUTH, PRIVATE = "#0f766e", "#7c3aed"
#: The box whose answer is furthest off.
WORST = "#b45309"
#: Leaves that a selected box cuts through: a green that no palette of the maps has.
CUT = "#4df0a0"
#: The node that is looked at: white inside a dark rim, readable on every colour.
NODE, RIM = "#ffffff", "#0c1117"
#: Parts that successive cuts of a branch made, in turn: distinguished on every ground.
CUTS = ("#4df0a0", "#ff9d5c")
#: Of charts on paper, light or dark: what a run said, and what is true.
RUN = "#4378e0"
TRUE = "#e0760b"
#: Line opacities of the boundary image, weakest first; byte 0 is "no line".
EDGE_ALPHAS = (0.0, 0.08, 0.22, 0.45)


_TOO_FEW = (MIDDLE, "#2178be", "#96d7ff")
_TOO_MANY = (MIDDLE, "#c85519", "#ffc88c")


def rgb(colour: str) -> tuple[int, int, int]:
    """Red, green and blue, 0 to 255, of a hex colour."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def ramp(stops: tuple[str, ...], n: int) -> tuple[str, ...]:
    """Mix ``n`` colours evenly along ``stops`` (hex), first and last stop included.

    >>> ramp(("#000000", "#ffffff"), 3)
    ('#000000', '#808080', '#ffffff')
    """
    colours = []
    for i in range(n):
        place = i * (len(stops) - 1) / (n - 1)
        left = min(int(place), len(stops) - 2)
        share = place - left
        mixed = (
            round(a + (b - a) * share)
            for a, b in zip(rgb(stops[left]), rgb(stops[left + 1]), strict=True)
        )
        colours.append("#" + "".join(f"{part:02x}" for part in mixed))
    return tuple(colours)


#: "paper" is for projectors, light themes and print: nothing is light, many is dark.
PALETTES: dict[str, tuple[str, ...]] = {
    "cividis": (GROUND, *Cividis256[1:]),
    "magma": (GROUND, *Magma256[1:]),
    "paper": ramp(("#f7f9fb", "#c9dcec", "#7fb0d6", "#3a78b5", "#14407c", "#081d45"), 256),
}
#: Lines of the partition, over each palette: those of the dark ones would not be seen on paper.
LINES = {"paper": "#44556a"}

#: Byte 128 is no difference, below it private < true (blue), above it private > true (orange).
DIFFERENCE: tuple[str, ...] = (*ramp(_TOO_FEW, 129)[::-1][:-1], *ramp(_TOO_MANY, 128))


def edge_palette(line: str = LINE) -> tuple[str, ...]:
    """Colours of the boundary image: the line colour at four opacities (hex with alpha)."""
    return tuple(f"{line}{round(alpha * 255):02x}" for alpha in EDGE_ALPHAS)


def line_over(colours: Sequence[str]) -> str:
    """The colour of lines over a map in 256 ``colours``: distinguished from that of nothing."""
    return LINES["paper"] if is_light(colours) else LINE


def ground_under(colours: Sequence[str]) -> str:
    """The colour of a map's ground where nothing is painted in 256 ``colours``."""
    return LIGHT_GROUND if is_light(colours) else GROUND


def is_light(colours: Sequence[str]) -> bool:
    """Whether the colour of nothing is a light one, of 256 ``colours``."""
    # A difference of nothing is in the middle.
    red, green, blue = rgb(colours[128 if tuple(colours) == DIFFERENCE else 0])
    return red + green + blue > 3 * 128
