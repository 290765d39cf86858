"""The looks of series: told apart by colour-blind readers, legible on both themes."""

import itertools

import numpy as np
import pytest

from explorer.app.kit.theme import THEME
from explorer.mechanisms import HTF, Mechanism, all_mechanisms
from explorer.views.series import COLOURS, style_of, swatch

# Machado, Oliveira, Fernandes 2009, severity 1, on linear RGB.
BLIND = {
    "nothing": np.eye(3),
    "green": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "red": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
}


def linear(colour: str) -> np.ndarray:
    parts = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def luminance(colour: str) -> float:
    return float(linear(colour) @ [0.2126, 0.7152, 0.0722])


def lab(rgb: np.ndarray) -> np.ndarray:
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    xyz = np.array(to_xyz) @ np.clip(rgb, 0, 1) / [0.9505, 1.0, 1.089]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("kind", BLIND)
def test_every_two_colours_are_apart_for_every_reader(kind) -> None:
    seen = {colour: lab(BLIND[kind] @ linear(colour)) for colour in COLOURS}
    nearest = min(np.linalg.norm(seen[a] - seen[b]) for a, b in itertools.combinations(COLOURS, 2))
    assert nearest > 20


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_every_colour_stands_out_from_the_paper(mode) -> None:
    paper = luminance(THEME[mode]["palette"]["background"]["paper"])
    for colour in COLOURS:
        low, high = sorted((luminance(colour), paper))
        assert (high + 0.05) / (low + 0.05) > 2.9


def test_no_two_mechanisms_look_alike_even_without_colour_and_dash() -> None:
    styles = [style_of(kind) for kind in all_mechanisms().values()]
    assert len({(each.marker, each.filled) for each in styles}) == len(styles)
    assert len({(each.colour, each.dash) for each in styles}) == len(styles)


def test_settings_of_ones_own_look_different_and_unknown_names_have_a_look() -> None:
    looks = {style_of(HTF, variant) for variant in (0, 1, 2)}
    assert len(looks) == 3
    assert len({look.colour for look in looks}) == 1
    assert style_of(Mechanism).colour in COLOURS


def test_a_swatch_shows_line_and_marker() -> None:
    for kind in all_mechanisms().values():
        for variant in (0, 1, 2):
            drawn = swatch(style_of(kind, variant))
            assert style_of(kind, variant).colour in drawn
            assert 'aria-hidden="true"' in drawn
