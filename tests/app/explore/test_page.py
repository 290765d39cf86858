"""The Explore page without a browser: controls, noise, intervals, a notebook, its picture.

.venv/bin/python -m tests.app.explore.test_page        makes the kept picture anew
"""

import io
import re
from base64 import b64decode, b64encode
from pathlib import Path

import numpy as np
import panel as pn
import pytest
from bokeh.document import Document
from PIL import Image
from pyviz_comms import Comm

from explorer import app
from explorer.app import Explore
from explorer.app.boxes.rectangles import Rectangles
from explorer.app.curator.parts import PageParts
from explorer.app.curator.start import Opening
from explorer.app.explore.page import SPEC
from explorer.app.kit.message import MessageArea
from explorer.app.mappage.drawer import DrawnDrawer
from explorer.app.mappage.drawing import Drawing
from explorer.app.mappage.readout import RUNS, ErrorBars
from explorer.app.pages import PAGES
from explorer.app.state import ExploreState
from explorer.evaluate.simulation import simulated_sd
from explorer.grid.grid import Grid
from explorer.mechanisms import all_mechanisms
from explorer.points.matrix import FrequencyMatrix
from explorer.views.packing import pack
from explorer.views.plotting import poster
from tests.app import press
from tests.app.map_pages import MATRIX

#: What stands on the page until it is live.
KEPT = Path(app.__file__).parent / "explore" / "first_screen.html"
PICTURE = re.compile(r"base64,([\w+/=]+)")


def test_frozen_noise_repeats_and_new_draws_differ() -> None:
    page = Explore(MATRIX, mechanism="uniform", epsilon=1.0)
    first = page.screen.release.total
    page.state.put(epsilon=2.0)
    page.state.put(epsilon=1.0)
    assert page.screen.release.total == first
    page.state.put(frozen=False)
    page.state.put(epsilon=1.1)
    assert page.state.seed == 2
    totals = set()
    for _ in range(8):
        page.state.roll()
        totals.add(page.screen.release.total)
    assert len(totals) > 1


def test_clicks_and_boxes_beside_the_map_add_no_row_and_large_counts_are_exact() -> None:
    counts = np.zeros((16, 16), int)
    counts[3, 4] = 10**9
    page = Explore(FrequencyMatrix.from_array(counts), epsilon=1.0)
    page.drawn((4.0, 3.0, 5.0, 4.0))
    assert page.table.widget.value["true"][2] == 10**9
    page.drawn((0.0, 0.0, 0.001, 0.001))
    page.drawn((None, 0.0, 5.0, 5.0))
    page.drawn((1e7, 1e7, 2e7, 2e7))
    assert page.rectangles.names == ["Q1", "Q2", "Q3"]
    assert "outside the map" in page.message.sentence


def test_in_a_notebook_a_change_reaches_the_figures_on_screen() -> None:
    page = Explore(MATRIX)
    doc, comm, sent = Document(), Comm(), []
    comm.send = lambda text="", buffers=(): sent.append((text, sum(map(len, buffers))))
    comm._comm = True
    doc.add_root(page.__panel__().get_root(doc, comm))
    doc.hold()
    page.state.put(epsilon=2.0)
    packed = len(pack(page.screen.right_bytes))
    assert sum(size >= packed for _, size in sent) == 1, "the private picture, and no other"
    sent.clear()
    page.drawn((0.0, 0.0, 1000.0, 1000.0))
    assert any("Q3" in text for text, _ in sent)


def test_intervals_without_a_formula_are_simulated_and_say_so_until_then(monkeypatch) -> None:
    matrix = FrequencyMatrix.from_array(np.arange(256).reshape(16, 16))
    page = Explore(matrix, mechanism="mosaic")
    answers = page.screen.answers
    assert not answers.exact
    asked = simulated_sd(page.screen.release, page.rectangles.boxes, RUNS)
    low, high = asked.interval(answers.private)
    np.testing.assert_allclose(answers.interval, (low, high))
    shown = page.table.widget.value["range of the noise (95 %)"]
    assert shown[0] == f"{low[0]:,.0f} to {high[0]:,.0f}"
    page.state.put(mechanism="ug")
    assert page.screen.answers.exact
    monkeypatch.setattr(ErrorBars, "want", lambda _self, _screen: None)
    page = Explore(matrix, mechanism="mosaic")
    assert page.table.widget.value["range of the noise (95 %)"][0].startswith("≈ ")


def picture() -> bytes:
    """The map with which the page begins."""
    return poster(Explore("madeup").release)


def test_the_kept_picture_and_its_rows_are_what_the_page_begins_with() -> None:
    html = KEPT.read_text("utf8")
    files = (b64decode(PICTURE.search(html)[1]), picture())
    kept, present = (np.asarray(Image.open(io.BytesIO(file)).convert("RGB")) for file in files)
    np.testing.assert_array_equal(kept, present)
    titles, *rows = (re.findall(r"<t[hd]>(.*?)</t[hd]>", row) for row in html.split("<tr>")[1:])
    live = Explore("madeup").table.widget.value
    assert titles[1:] == [title for title in live if title in titles[1:]]
    assert [row[0] for row in rows] == [*live.box]
    for title, *texts in zip(*(titles, *rows), strict=True):
        numbers = [text.replace("−", "-").replace(",", "") for text in texts]
        if title.startswith(("box", "range")):
            assert texts == [*live[title]]
        else:
            assert [float(text) for text in numbers] == [*live[title].round(2)]


def test_a_kept_picture_is_for_the_made_up_city_alone() -> None:
    explore, trips = PAGES[:2]
    assert explore.empty(plain=True).first_screen
    assert not explore.empty().first_screen
    assert not trips.empty(plain=True).first_screen


# The drawer.


class Visit:
    """A drawer, without a city."""

    def __init__(self, **choices) -> None:
        self.state = ExploreState(**choices)
        cities = {"Port Amber": "madeup", "Elsewhere": "elsewhere"}
        self.parts = PageParts(
            self.state, MessageArea(), Opening(), cities, Rectangles(Grid.cells((8, 8)))
        )
        drawing = Drawing(self.parts, [].append)
        self.drawer = DrawnDrawer(
            SPEC.drawer, "explore", self.parts, drawing, bool, bool, pn.Column
        )

    @property
    def sentence(self) -> str:
        return self.parts.message.sentence

    def find(self, label):
        return press.find(self.drawer, label)


def test_controls_and_state_say_the_same() -> None:
    visit, other = Visit(), Visit()
    for label, name, value in (
        ("City", "city", "elsewhere"),
        ("Grid", "side", 512),
        ("Mechanism", "mechanism", "ug"),
        ("Right map", "right", "difference"),
        ("Colour scale", "scale", "linear"),
        ("Colours", "palette", "magma"),
        ("Show partition", "partition", False),
        ("Show areas' outlines on", "partition_over", "both"),
        ("Left map shows", "truth", "counts"),
        ("Colour range taken from", "scale_from", "release"),
        ("Keep the same random noise", "frozen", False),
        ("Explain the controls", "explain", True),
    ):
        visit.find(label).value = value
        assert getattr(visit.state, name) == value
        other.state.put(**{name: value})
        assert other.find(label).value == value
    assert visit.sentence == other.sentence == ""
    press.press(visit.drawer, "New draw")
    assert visit.state.seed == 2
    press.press(visit.drawer, "Draw a release")
    assert "still being read" in visit.sentence


def test_epsilon_is_slid_in_readable_steps_or_typed_exactly() -> None:
    visit = Visit(epsilon=0.1)
    slider, field = visit.find("Epsilon"), visit.find("Exact epsilon")
    for step, epsilon in enumerate((0.11, 0.13, 0.14, 0.16), 1):
        slider.value = -1 + 0.05 * step
        assert visit.state.epsilon == float(field.value) == epsilon
    field.value = "0.137"
    assert visit.state.epsilon == 0.137
    assert slider.value == pytest.approx(np.log10(0.137))
    field.value = "0,5"
    assert visit.state.epsilon == 0.5
    for typed in ("", "much", "0", "-1", "nan", "1e9", "inf"):
        field.value = typed
        assert visit.state.epsilon == 0.5
        assert field.value == "0.5"
        assert visit.sentence.startswith("Epsilon")
    # A slider stands at its end where a smaller epsilon was typed: that is no choice of it.
    field.value = "0.00002"
    press.send(slider, value=[1])
    assert "cannot be" in visit.sentence
    assert visit.state.epsilon == 0.00002


def test_the_menu_of_mechanisms_has_each_once() -> None:
    menu = Visit().find("Mechanism")
    listed = [key for group in menu.groups.values() for key in group.values()]
    assert sorted(listed) == sorted(all_mechanisms())


if __name__ == "__main__":
    text = KEPT.read_text("utf8")
    encoded = b64encode(picture()).decode()
    KEPT.write_text(PICTURE.sub(f"base64,{encoded}", text), "utf8")
