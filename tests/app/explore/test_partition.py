"""The partition inspector without a browser: filters, brushes, pages, files, going to a leaf."""

import json

import numpy as np
import pytest

from explorer.app import Explore
from explorer.app.curator.explain import OFF
from explorer.grid.grid import Grid
from explorer.points.matrix import FrequencyMatrix
from explorer.views.histogram import Bins, place, value
from tests.app import press
from tests.app.acts import Browser, drag


@pytest.fixture
def page():
    grid = Grid.around(2.35, 48.85, 8000, shape=64, name="Test town")
    matrix = FrequencyMatrix.from_array(np.random.default_rng(9).poisson(9, (64, 64)), grid)
    page = Explore(matrix, epsilon=2.0)
    page.explain.choice.value = "Leaves"
    return page


def outlined(page) -> int:
    return len(page.maps.marks[0].chosen.data["x0"])


def test_the_table_holds_one_page_of_all_leaves(page) -> None:
    panel = page.explain.open
    release, frame = page.screen.release, panel.table.value
    assert release.n_leaves > 100
    assert len(frame) == 50
    assert f"All {release.n_leaves:,} leaves: 100.0% of the map" in press.text(panel)
    assert frame["private"].tolist() == release.counts[:50].round(1).tolist()
    assert all(frame["why it ended"])
    press.press(panel, "Next 50")
    assert panel.table.value["leaf"].tolist()[0] == 51
    assert outlined(page) == 0, "all leaves are on the map anyway"


def test_a_filter_by_level_filters_table_map_and_file(page) -> None:
    panel, release = page.explain.open, page.screen.release
    depth = release.tree.depth[release.tree.leaves]
    deep = int(depth.max())
    press.put(panel, "Depth range", f"{deep} to {deep}")
    chosen = np.flatnonzero(depth == deep)
    assert set(panel.table.value["depth"]) == {deep}
    assert outlined(page) == len(chosen)
    found = json.loads(press.download(panel, "Save leaves"))
    assert [each["properties"]["leaf"] for each in found["features"]] == (chosen + 1).tolist()
    assert "EXACT" not in press.download(panel, "Save leaves").decode()
    assert "EXACT" in press.download(panel, "Save leaves with truth").decode()
    assert "exact" in press.find(panel, "Save leaves with truth").filename
    press.press(panel, "All leaves")
    assert outlined(page) == 0
    assert panel.filters["depth"].value == ""


def test_a_range_dragged_in_a_histogram_becomes_a_filter(page) -> None:
    panel, release = page.explain.open, page.screen.release
    cells = np.prod(release.upper - release.lower, axis=1)
    low, high = float(place(np.array(1.5))), float(place(np.array(8.2)))
    drag(panel.histograms["cells"].figure, (low, 0, high, 1))
    assert panel.filters["cells"].value == "2 to 8"
    assert len(panel.found.rows) == ((cells >= 2) & (cells <= 8)).sum() == outlined(page)


def test_bad_ranges_are_refused_beside_the_fields(page) -> None:
    panel = page.explain.open
    press.put(panel, "Depth range", "deep")
    assert "Write a filter as 3 to 7" in press.text(panel)
    assert panel.filters["depth"].value == ""
    press.put(panel, "Go to leaf number", "0")
    assert "Give a leaf number from 1 to" in press.text(panel)


def test_sorting_is_of_all_leaves_and_a_row_goes_to_its_leaf(page) -> None:
    panel, release = page.explain.open, page.screen.release
    press.put(panel, "Sort by", "private")
    press.put(panel, "Largest first", True)
    order = np.argsort(-release.counts, kind="stable")
    assert panel.table.value["leaf"].tolist() == (order[:50] + 1).tolist()
    Browser(panel.table).click(2)
    x0, y0, x1, y1 = release.boxes()[order[2]]
    left, bottom, right, top = page.maps.ranges.bounds
    assert left < x0 < x1 < right
    assert bottom < y0 < y1 < top
    assert right - left < 8000
    assert page.maps.marks[0].node.data["x0"].tolist() == pytest.approx([x0])


def test_shut_it_leaves_nothing_on_the_maps_and_another_release_is_looked_at_anew(page) -> None:
    panel = page.explain.open
    press.put(panel, "Private range", "to 5")
    before = panel.found
    page.state.put(epsilon=0.7)
    assert panel.found.known.table.release is page.screen.release is not before.screen.release
    assert panel.filters["private"].value == "to 5"
    page.explain.choice.value = OFF
    assert outlined(page) == 0


def test_bins_hold_every_value_and_their_scale_goes_both_ways() -> None:
    values = np.array([-12.5, -1, 0, 0.2, 1, 30, 4000])
    bins = Bins.of(values)
    assert bins.all.sum() == bins.count(values).sum() == len(values)
    assert [value(float(place(np.array(each)))) for each in values] == pytest.approx(values)
