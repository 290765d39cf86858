"""Maps on paper: what is laid out is in both files, and texts stay texts."""

import io
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from explorer.views.palette import PALETTES
from explorer.views.sheet import SIDE, MapPicture, sheet
from explorer.views.viewport import Viewport

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def picture():
    levels = np.zeros((40, 80), np.uint8)
    levels[0] = 255  # the southern edge
    return MapPicture(
        title="Private <map>",
        below="Preview & more",
        levels=levels,
        colours=PALETTES["cividis"],
        view=Viewport(0.0, 0.0, 8000.0, 4000.0, 80, 40),
        leaves=np.array([[0, 0, 4000, 4000], [4000, 0, 8000, 4000]], float),
        boxes=np.array([[1000, 1000, 2000, 2000], [9000, 0, 9500, 500]], float),
        tags=[("Q1  12", "#7c3aed"), ("Q2  0", "#7c3aed")],
        bar=("Points", [(0.0, "0"), (1.0, "100")]),
    )


def test_svg_holds_vectors_and_one_picture_a_map(picture) -> None:
    found = ElementTree.fromstring(sheet([picture, picture], ["A caption", "More"]).svg())
    texts = [each.text for each in found.iter(f"{SVG}text")]
    assert texts.count("Q1 12") == 2
    assert "Q2 0" not in texts, "a box outside the view has no tag"
    assert {"A caption", "More", "2 km", "100"} <= {*texts}
    assert not any("<" in text for text in texts)
    images = [each.get("height") for each in found.iter(f"{SVG}image")]
    assert images.count(f"{SIDE / 2:.1f}") == 2, "the picture keeps the map's proportions"


def test_png_is_north_up_and_has_two_pixels_for_each(picture) -> None:
    laid = sheet([picture], ["A caption"])
    image = Image.open(io.BytesIO(laid.png())).convert("RGB")
    assert image.size == (2 * round(laid.width), 2 * round(laid.height))
    (frame,) = [
        mark for mark in laid.marks if getattr(mark, "levels", np.zeros(0)).shape == (40, 80)
    ]
    x, bottom = 2 * (frame.x + SIDE * 0.7), 2 * (frame.y + frame.height)
    bright = bytes.fromhex(PALETTES["cividis"][255][1:])
    assert image.getpixel((round(x), round(bottom - 6))) == tuple(bright)
    assert image.getpixel((round(x), round(2 * frame.y + 8))) != tuple(bright)
