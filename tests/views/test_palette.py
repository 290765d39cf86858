"""Colours: 256 entries each, one ground, readable without colour vision."""

import itertools

import numpy as np

from explorer.scenario.choices import PALETTES
from explorer.views import palette


def rgb(colour: str) -> np.ndarray:
    return np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)], float)


def luminance(colour: str) -> float:
    part = rgb(colour) / 255
    linear = np.where(part <= 0.03928, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def test_every_palette_has_a_colour_for_each_byte_and_the_same_ground() -> None:
    for name, colours in palette.PALETTES.items():
        assert len(colours) == 256
        assert (colours[0] == palette.GROUND) == (name != "paper")
    assert [*palette.PALETTES] == PALETTES
    assert len(palette.DIFFERENCE) == 256


def test_counts_grow_lighter_so_that_they_can_be_told_without_colour() -> None:
    for name, colours in palette.PALETTES.items():
        light = [luminance(colour) for colour in colours[1:]]
        if name == "paper":
            # On a light ground more is darker.
            light = light[::-1]
        assert all(b >= a - 0.003 for a, b in itertools.pairwise(light))


def test_lines_are_told_from_the_ground_of_every_palette() -> None:
    for colours in palette.PALETTES.values():
        pair = sorted([luminance(palette.line_over(colours)), luminance(colours[0])])
        assert (pair[1] + 0.05) / (pair[0] + 0.05) > 4.5


def test_difference_is_darkest_at_none_and_blue_against_orange_at_the_ends() -> None:
    colours = palette.DIFFERENCE
    assert colours[128] == palette.MIDDLE
    light = np.array([luminance(colour) for colour in colours])
    assert light.argmin() == 128
    assert np.all(np.diff(light[:129]) <= 0)
    assert np.all(np.diff(light[128:]) >= 0)
    few, many = rgb(colours[0]), rgb(colours[-1])
    assert few[2] > few[0]
    assert many[0] > many[2]


def test_ramp_hits_its_stops() -> None:
    colours = palette.ramp(("#000000", "#102030", "#ffffff"), 5)
    assert colours[::2] == ("#000000", "#102030", "#ffffff")


def test_edge_lines_have_no_line_first_and_grow_stronger() -> None:
    alphas = [int(colour[7:], 16) for colour in palette.edge_palette()]
    assert alphas[0] == 0
    assert alphas == sorted(alphas)
    assert len(set(alphas)) == 4
