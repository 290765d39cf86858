"""Colours: told apart without colour vision, on light and on dark ground and on every palette."""

import itertools

import numpy as np
import pytest
import shapely
from bokeh.plotting import figure

from explorer.app.kit.theme import THEME
from explorer.grid.base_map import BaseMap
from explorer.mechanisms import HTF, Mechanism, all_mechanisms
from explorer.scenario.choices import PALETTES
from explorer.views import palette
from explorer.views.base_map import BaseLayer
from explorer.views.markup import CLIPPING, NOISE, UNIFORMITY
from explorer.views.scale import ColourScale
from explorer.views.series import COLOURS, style_of, swatch
from explorer.views.truth import SPARSE, legible

# Machado, Oliveira, Fernandes 2009, severity 1, on linear RGB.
VISION = {
    "all colours": np.eye(3),
    "no green": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "no red": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
}


def rgb(colour: str) -> np.ndarray:
    return np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255


def linear(colour: str) -> np.ndarray:
    part = rgb(colour)
    return np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)


def luminance(colour: str) -> float:
    return float(linear(colour) @ [0.2126, 0.7152, 0.0722])


def contrast(one: str, other: str) -> float:
    """Contrast ratio of WCAG 2.2."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def lab(rgb: np.ndarray) -> np.ndarray:
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    xyz = np.array(to_xyz) @ np.clip(rgb, 0, 1) / [0.9505, 1.0, 1.089]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("vision", VISION)
def test_every_two_colours_of_series_are_apart_for_every_reader(vision) -> None:
    seen = [lab(np.array(VISION[vision]) @ linear(colour)) for colour in COLOURS]
    assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2)) > 20


def test_what_is_drawn_stands_out_from_its_ground() -> None:
    papers = [THEME[mode]["palette"]["background"]["paper"] for mode in ("light", "dark")]
    for paper, colour in itertools.product(papers, COLOURS):
        assert contrast(colour, paper) > 2.9
    grounds = ("#ffffff", "#f1f3f5", "#121212", "#1c2127")
    for ground, colour in itertools.product(grounds, (NOISE, UNIFORMITY, CLIPPING)):
        assert contrast(colour, ground) >= 3
    for colour in (palette.TRUTH, palette.PRIVATE, palette.WORST):
        assert contrast(colour, "#ffffff") >= 4.5, "tags are written in it"
    for colours in palette.PALETTES.values():
        assert contrast(palette.line_over(colours), colours[0]) > 4.5
    for colour in itertools.chain(palette.DIFFERENCE, *palette.PALETTES.values()):
        # A box has a line and a rim: where the one is not seen the other is.
        assert max(contrast(palette.BOX, colour), contrast(palette.RIM, colour)) >= 3


@pytest.mark.parametrize(("light", "ground"), [(True, "#f7f9fb"), (False, "#0c1117")])
def test_base_maps_are_told_apart_from_the_ground(light, ground) -> None:
    layer = BaseLayer()
    line = shapely.LineString([(0, 0), (10, 10)])
    layer.show(BaseMap([line], ["water"], ["A"], np.array([(5.0, 5.0)]), ["place"]), [figure()])
    layer.drawn[0].recolour(light)
    for ink in layer.drawn[0].inks.palette:
        assert contrast(ink[:7], ground) >= 4.5


def test_no_two_mechanisms_look_alike_even_without_colour_and_dash() -> None:
    styles = [style_of(kind) for kind in all_mechanisms().values()]
    assert len({(style.marker, style.filled) for style in styles}) == len(styles)
    assert len({(style.colour, style.dash) for style in styles}) == len(styles)
    variants = [style_of(HTF, variant) for variant in (0, 1, 2)]
    assert len(set(variants)) == 3
    assert len({style.colour for style in variants}) == 1
    assert style_of(Mechanism).colour in COLOURS
    for style in (*styles, *variants):
        assert style.colour in swatch(style)
        assert 'aria-hidden="true"' in swatch(style)


def test_palettes_have_a_colour_for_each_byte_and_grow_lighter() -> None:
    assert [*palette.PALETTES] == PALETTES
    for name, colours in palette.PALETTES.items():
        assert len(colours) == 256
        assert (colours[0] == palette.GROUND) == (name != "paper")
        # On a light ground more is darker.
        light = [luminance(colour) for colour in colours[1:]][:: -1 if name == "paper" else 1]
        assert all(b >= a - 0.003 for a, b in itertools.pairwise(light))
    ramp = palette.ramp(("#000000", "#102030", "#ffffff"), 5)
    assert ramp[::2] == ("#000000", "#102030", "#ffffff")
    alphas = [int(colour[7:], 16) for colour in palette.edge_palette()]
    assert alphas[0] == 0
    assert alphas == sorted(set(alphas))


def test_points_far_apart_are_dots_as_light_as_a_cell_that_holds_them() -> None:
    points = np.zeros((200, 200), np.float32)
    points[50, 60] = 0.17  # one point in a pixel that covers six cells
    points[120, 30] = 4
    dots = legible(points)
    assert (dots[49:52, 59:62] == 1).all()
    assert (dots[119:122, 29:32] == 4).all()
    assert (dots > 0).sum() == 18
    # Before, the browser painted the point as good as black.
    colours = palette.PALETTES["cividis"]
    before, after = (ColourScale("log", 50.0).encode(each)[50, 60] for each in (points, dots))
    assert luminance(colours[after]) > 1.5 * luminance(colours[before])
    many = (np.random.default_rng(1).random((50, 50)) < 2 * SPARSE).astype(np.float32)
    for unchanged in (many, np.zeros((5, 5), np.float32)):
        assert legible(unchanged) is unchanged
