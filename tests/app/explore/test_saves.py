"""Files of the screen: with the truth they say so, and without it nothing exact is in them."""

import io
import re
import zipfile

import numpy as np
import pytest
from PIL import Image

from explorer.app import Explore
from explorer.grid.grid import Grid
from explorer.points.matrix import FrequencyMatrix
from tests.app import press

#: A count that no noise brings forth by chance in a text.
MANY = 7_654_321


@pytest.fixture
def page():
    grid = Grid.around(2.35, 48.85, 8000, shape=32, name="Test <town>")
    counts = np.random.default_rng(9).poisson(9, (32, 32))
    counts[10, 10] = MANY
    page = Explore(FrequencyMatrix.from_array(counts, grid), epsilon=0.5)
    page.rectangles.put(np.array([[-4000.0, -4000.0, 4000.0, 4000.0]]), ["=cmd()"])
    page.boxes_changed()
    return page


def texts(book: bytes) -> str:
    with zipfile.ZipFile(io.BytesIO(book)) as file:
        return "".join(file.read(name).decode() for name in file.namelist() if "xml" in name)


def test_workbooks_hold_numbers_and_no_formula(page) -> None:
    exact = press.download(page, "Answers as Excel")
    plain = press.download(page, "Answers as Excel, no truth")
    private = page.answers["private"].iloc[0]
    for book in (exact, plain):
        assert "<f>" not in texts(book)
        assert "cmd()" in texts(book)
        assert f"<v>{private:.16G}"[:12] in texts(book)
        assert "must not be published" in texts(book)
    true = f"<v>{page.answers['true'].iloc[0]:.0f}</v>"
    assert true in texts(exact)
    assert true not in texts(plain)
    assert "EXACT" in texts(exact)
    assert "EXACT" not in texts(plain)
    assert press.find(page, "Answers as Excel").filename == "answers.exact.xlsx"


def test_reports_are_whole_pages_and_say_what_is_exact(page) -> None:
    exact = press.download(page, "Report").decode()
    plain = press.download(page, "Report, no truth").decode()
    true = f"{page.answers['true'].iloc[0]:,.0f}"
    assert true in exact
    assert exact.count("<image") == 4, "two maps and two bars"
    assert true not in plain
    assert "EXACT" not in plain
    for each in (exact, plain):
        assert "<script" not in each
        assert "<town>" not in each
        assert not re.search(r'(src|href)="(?!data:)', each), "nothing is fetched"
        assert "Preview: repeatable noise, must not be published" in each
        assert f"{page.answers['low'].iloc[0]:,.0f} to" in each


def test_maps_without_truth_have_released_colours_and_tags(page) -> None:
    plain = press.download(page, "Maps as SVG, no truth").decode()
    exact = press.download(page, "Maps as SVG").decode()
    assert exact.count("<image") == 4
    assert plain.count("<image") == 2
    assert "%" not in re.sub(r'="[^"]*"', "", plain), "an error is exact"
    # Neither the scale from the data nor the error map may colour it.
    page.state.put(scale_from="release", colour="error")
    assert press.download(page, "Maps as SVG, no truth").decode() == plain
    page.state.put(right="difference")
    assert press.download(page, "Maps as SVG, no truth").decode() == plain
    assert "too few" in press.download(page, "Maps as SVG").decode()
    wide, narrow = (
        Image.open(io.BytesIO(press.download(page, name))).width
        for name in ("Maps as PNG", "Maps as PNG, no truth")
    )
    assert wide > 1.8 * narrow
