"""The Explore page without a browser: controls, noise, intervals, a notebook, its picture.

.venv/bin/python -m tests.app.explore.test_page        makes the kept picture anew
"""

import io

import numpy as np
import panel as pn
import pytest
from bokeh.document import Document
from PIL import Image
from pyviz_comms import Comm

from explorer.app import Explore
from explorer.app.boxes.rectangles import Rectangles
from explorer.app.curator.parts import PageParts
from explorer.app.curator.start import Opening
from explorer.app.explore.page import KEPT_PICTURE, SPEC
from explorer.app.kit.message import MessageArea
from explorer.app.mappage.drawer import DrawnDrawer
from explorer.app.mappage.drawing import Drawing
from explorer.app.mappage.readout import RUNS, ErrorBars
from explorer.app.state import ExploreState
from explorer.evaluate.simulation import simulated_sd
from explorer.grid.grid import Grid
from explorer.mechanisms import all_mechanisms
from explorer.points.matrix import FrequencyMatrix
from explorer.views.packing import pack
from explorer.views.plotting import poster
from tests.app import press
from tests.app.map_pages import MATRIX


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


def test_the_kept_picture_is_the_map_with_which_the_page_begins() -> None:
    kept, present = (
        np.asarray(Image.open(file).convert("RGB"))
        for file in (KEPT_PICTURE, io.BytesIO(picture()))
    )
    np.testing.assert_array_equal(kept, present)


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
    KEPT_PICTURE.write_bytes(picture())
