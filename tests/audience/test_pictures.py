"""Pictures are what the release holds, in released colours, and nothing else is asked for."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from explorer.audience.pictures import LOOKS, PictureRequest, draw_png
from explorer.audience.releases import ServedRelease
from explorer.errors import InputError
from explorer.views.palette import PALETTES
from explorer.views.scale import ColourScale
from tests.publish.folders import drawn, published

AT = "-10000,-10000,10000,10000"
ASKED = {"at": AT, "size": "96,128", "look": "paper", "lines": "0"}


@pytest.fixture(scope="module", params=["htf", "mosaic"])
def one(request) -> ServedRelease:
    return ServedRelease("a" * 10, published(drawn(request.param)), {})


def shown(one: ServedRelease, **asked) -> Image.Image:
    found = draw_png(
        one, PictureRequest.of({**ASKED, **asked}, one), ColourScale("log", one.top, "release")
    )
    return Image.open(io.BytesIO(found))


def rgb(colour: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(colour[1:]))


@pytest.mark.parametrize("look", LOOKS)
def test_a_pixel_has_the_colour_of_its_cell_north_up(one, look) -> None:
    pixels = np.array(shown(one, look=look).convert("RGB"))
    scale = ColourScale("log", one.top, "release")
    density = np.repeat(np.repeat(one.release.density(), 4, axis=0), 4, axis=1)
    # 32 rows of 24 cells on 128 by 96 pixels.
    levels = scale.encode(density.astype(np.float32))[::-1]
    wanted = np.array([rgb(each) for each in PALETTES[look]])[levels]
    assert pixels.shape == (128, 96, 3)
    assert np.abs(pixels.astype(int) - wanted).max() <= 6


def test_lines_stand_where_leaves_meet(one) -> None:
    plain, lined = (np.array(shown(one, lines=each).convert("RGB"), int) for each in "01")
    changed = (np.abs(plain - lined).sum(axis=2) > 24)[::-1]
    edges = np.zeros(changed.shape, bool)
    for (row, column), (top, right) in zip(one.release.lower, one.release.upper, strict=True):
        edges[4 * row, 4 * column : 4 * right] = True
        edges[4 * row : 4 * top, 4 * column] = True
    assert not (changed & ~edges).any()
    assert changed.sum() > 0.5 * edges.sum() * (one.release.n_leaves > 4)


@pytest.mark.parametrize(
    "wrong",
    [
        {"at": ""},
        {"at": "1,2,3"},
        {"at": "1,2,3,nan"},
        {"at": "1,2,3,1e999"},
        {"at": "9" * 5000},
        {"size": "1"},
        {"size": "a,b"},
        {"size": "inf,1"},
        {"look": "../../secret"},
        {"look": ""},
        {"lines": "2"},
        {"lines": ""},
    ],
)
def test_what_no_page_asks_is_a_sentence(one, wrong) -> None:
    with pytest.raises(InputError, match="open the map again"):
        PictureRequest.of({**ASKED, **wrong}, one)
