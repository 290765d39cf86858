"""The words of a lesson: a step at a time, kept by the browser; what the charts and maps show."""

import json
import re

import numpy as np
import pytest

from explorer import FrequencyMatrix, Grid
from explorer.app import Learn
from explorer.app.learn.averaging import ledgers
from explorer.app.learn.progress import DONE, Progress
from explorer.app.learn.threshold import COLOURS, HIDDEN
from explorer.teaching import lessons
from explorer.views.teaching.biases import BiasChart
from explorer.views.teaching.distributions import DistributionsChart
from explorer.views.teaching.prose import steps
from tests.app import press


@pytest.fixture(scope="module")
def matrix():
    grid = Grid.around(2.35, 48.85, 8000, shape=64, name="Town")
    counts = np.random.default_rng(9).poisson(8, (64, 64))
    return FrequencyMatrix.from_array(counts, grid)


def now(page) -> str:
    """The step that is on the screen."""
    shown = page.card.guide.view.objects[1].object
    (item,) = re.findall(r'<li value="\d+">(.*?)</li>', shown, re.DOTALL)
    return item


def test_steps_come_one_at_a_time_and_all_are_there_for_paper(matrix) -> None:
    page = Learn(matrix, lesson="02_averaging")
    assert "Redraw the map once" in now(page)
    assert press.find(page, "Step back").disabled
    press.press(page, "Next step")
    assert "Redraw 10 times" in now(page)
    for _ in range(3):
        press.press(page, "Next step")
    assert "Start over with epsilon 0.05" in now(page)
    assert press.find(page, "Next step").disabled
    assert press.markup(page.card.guide).count("<li") == 5


def test_words_that_are_no_list_are_one_step() -> None:
    assert steps("Just look.", 0) == ("<p>Just look.</p>", 0)
    assert steps("1. a\n   - b\n   - c\n2. d", 1)[1] == 2


def order(page) -> dict:
    """What the browser was last told to keep."""
    hidden = page.progress.storage.view.objects[0]
    return json.loads(hidden.value)


def test_progress_is_kept_and_comes_back(matrix) -> None:
    page = Learn(matrix, lesson="02_averaging")
    press.press(page, "Next step")
    kept = order(page)
    assert (kept["act"], kept["name"]) == ("keep", "dp-explorer-lessons")
    assert json.loads(kept["value"]) == {"02_averaging": 1}
    press.press(page, "Show the answer")
    kept = order(page)["value"]
    assert json.loads(kept) == {"02_averaging": DONE}
    assert "✓" in page.contents.buttons[1].label
    assert "✓" not in page.contents.buttons[0].label
    again = Learn(matrix, lesson="04_threshold")
    page.progress.storage.take(json.dumps({"number": 1, "value": kept}))
    again.progress.storage.take(json.dumps({"number": 1, "value": '{"04_threshold": 2}'}))
    assert "Go to another hidden cell" in now(again)
    again.progress.storage.take(json.dumps({"number": 1, "value": kept}))
    assert "✓" in again.contents.buttons[1].label


@pytest.mark.parametrize(
    "reply",
    ["", "[", "5", "null", '{"value": 5}', '{"value": "["}', '{"value": "[1]"}', "[" * 9999],
)
def test_what_no_browser_would_send_is_nothing(reply) -> None:
    told = []
    progress = Progress(lessons()[0], lambda: told.append(1))
    progress.storage.take(reply)
    assert told == []


def test_only_steps_of_known_lessons_are_taken() -> None:
    progress = Progress(lessons()[0], lambda: None)
    progress.bring('{"x": 1, "02_averaging": true, "04_threshold": 1e9, "01_one_person": 3}')
    assert [progress.step(k) for k in ("x", "02_averaging", "04_threshold")] == [0, 0, 0]
    assert progress.step("01_one_person") == 3


def test_hidden_cells_are_striped_in_colours_of_their_own(matrix) -> None:
    page = Learn(matrix, lesson="threshold")
    bench = page.card.experiment
    bench.settings.put(cells=16, k=128)
    hidden = np.isnan(bench.found.shown)
    picture = bench.where.map.small.image.data["image"][0]
    assert hidden.any()
    assert not hidden.all()
    pixels = len(picture) / 16
    for (row, col), gone in np.ndenumerate(hidden):
        y, x = round((row + 0.5) * pixels), round((col + 0.5) * pixels)
        cell = picture[y - 6 : y + 6, x - 6 : x + 6]
        assert (set(np.unique(cell)) == {0, 1}) if gone else (cell >= 2).all()
    assert not set(HIDDEN) & set(COLOURS[2:])
    assert "10 at first" in page.lessons[3].steps


def test_no_ring_is_cut_at_the_edge_of_the_map(matrix) -> None:
    shown = Learn(matrix, lesson="threshold").card.experiment.where.map.figure
    west, south, east, north = matrix.grid.bounds
    # A ring of 24 pixels about a cell at the edge of a map 300 pixels wide.
    room = 12 / 300 * (east - west)
    assert shown.x_range.start <= west - room
    assert shown.x_range.end >= east + room
    assert shown.y_range.start <= south - room
    assert shown.y_range.end >= north + room


@pytest.mark.parametrize("n", [1, 60, 61, 1101, 5000])
def test_bars_of_epsilon_are_in_proportion(n) -> None:
    drawn = ledgers(n, 0.5, 0.5 * n)
    (share,) = re.findall(r"width:([\d.]+)%", drawn)
    assert float(share) == pytest.approx(100 / n, rel=1e-3)
    assert ("1 redraw:" in drawn) is (n == 1)


def test_the_axes_of_both_charts_are_one_below_the_other() -> None:
    upper, lower = DistributionsChart().figures
    assert upper.min_border_left == lower.min_border_left >= 70
    assert upper.min_border_right == lower.min_border_right


def test_long_names_beside_a_chart_take_several_lines() -> None:
    chart = BiasChart()
    zero = np.zeros(2)
    long = "consistency + no negative counts + whole numbers"
    chart.show(["nothing", long], zero, zero, 0, "said")
    assert max(len(line) for name in chart.source.data["name"] for line in name.split("\n")) <= 26
    assert set(chart.figure.y_range.factors) == set(chart.source.data["name"])
