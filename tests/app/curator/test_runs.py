"""Runs on the page, without a browser: what is drawn, when it stops, and what it says."""

import asyncio
import re
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

from explorer import exact
from explorer.app import Explore
from explorer.app.curator.explain import OFF
from explorer.app.curator.runs_work import Order, RunsWork
from explorer.errors import InputError
from explorer.evaluate.repeats import Spread, repeats
from explorer.grid.grid import Grid
from explorer.mechanisms import HTF, UG, Identity
from explorer.points.matrix import FrequencyMatrix
from tests.app.acts import Browser, control, drag, words
from tests.helpers import city

MATRIX = FrequencyMatrix.from_array(
    city(people=60_000).counts, Grid.around(2.35, 48.85, 8000, shape=64)
)
#: What the panel says before its numbers: old settings, boxes that are missing.
NOTICE = re.compile("old settings|Not asked|Only the|first 5 of")


@pytest.fixture
def page() -> Explore:
    page = Explore(MATRIX, mechanism="htf", epsilon=1.0)
    page.explain.choice.value = "Runs"
    page.explain.open.number.value = 20
    return page


def draw(page: Explore) -> None:
    page.explain.open.go.param.trigger("clicks")


def said(page: Explore) -> str:
    return words(page.explain.open.view)


def shown_boxes(page: Explore) -> list[str]:
    return re.findall("<h3>(.*?)</h3>", said(page))


def right(page: Explore) -> np.ndarray:
    return page.maps.right.image.data["image"][0]


def test_it_opens_with_nothing_drawn(page) -> None:
    runs = page.explain.open
    assert runs.work.job.phase == "idle"
    assert said(page) == ""
    assert np.shares_memory(right(page), page.screen.right_bytes)


def test_dots_and_table_show_the_answers_of_other_previews(page) -> None:
    draw(page)
    runs, boxes = page.explain.open, page.rectangles.boxes
    expected = np.array(list(repeats(MATRIX, HTF(epsilon=1.0), boxes, 20)))
    for i, figure in enumerate(runs.figures[:2]):
        np.testing.assert_allclose(figure.dots.data["answer"], expected[:, i])
        assert figure.line.data["x"] == [exact(MATRIX, boxes)[i]]
        assert figure.here.data["x"] == [page.screen.answers.private[i]]
    assert shown_boxes(page) == ["Q1", "Q2"]
    spread = Spread.of(expected, exact(MATRIX, boxes))
    cells = re.findall(r"<td>([^<]*)</td>", said(page))
    assert cells[2] == f"{spread.median[0]:,.0f}"
    assert cells[3] == f"{spread.low[0]:,.0f} to {spread.high[0]:,.0f}"
    assert cells[4] == f"{100 * spread.within_5[0]:.0f} %"
    assert (
        f"true {exact(MATRIX, boxes)[1]:,.0f}"
        in (runs.figures[1].figure.html_attributes["aria-label"])
    )


def test_every_time_it_says_that_these_are_previews_and_what_releases_would_cost(page) -> None:
    for _ in range(2):
        draw(page)
        text = said(page)
        assert "20 previews by HTF with epsilon 1, each with other random noise" in text
        assert "only because they are previews and not releases" in text
        assert "to release 20 times would cost epsilon 20" in text
        assert "20 previews, all drawn" in text


def test_a_changed_setting_marks_the_runs_as_old_until_they_are_drawn_again(page) -> None:
    draw(page)
    runs = page.explain.open
    before = list(runs.figures[0].dots.data["answer"])
    page.state.put(epsilon=2.0)
    assert "old settings (HTF with epsilon 1" in said(page)
    assert list(runs.figures[0].dots.data["answer"]) == before
    assert runs.play.disabled
    assert runs.run.disabled
    page.state.put(epsilon=1.0)
    assert not NOTICE.search(said(page))
    page.state.put(epsilon=2.0)
    draw(page)
    assert not NOTICE.search(said(page))
    assert "HTF with epsilon 2" in said(page)


def test_other_noise_on_the_page_move_its_mark_and_no_dot(page) -> None:
    draw(page)
    figure = page.explain.open.figures[0]
    dots, here = list(figure.dots.data["answer"]), figure.here.data["x"]
    page.state.roll()
    assert list(figure.dots.data["answer"]) == dots
    assert figure.here.data["x"] == [page.screen.answers.private[0]] != here
    assert not NOTICE.search(said(page))


def test_boxes_that_were_not_asked_are_named_and_selected_ones_shown_alone(page) -> None:
    draw(page)
    drag(page.maps.left.figure, (-1000.0, -1000.0, 1000.0, 500.0))
    assert "Not asked in these runs: Q3." in said(page)
    Browser(page.table.widget).select([1])
    assert "Only the 1 selected of 3 boxes." in said(page)
    assert shown_boxes(page) == ["Q2"]
    draw(page)
    Browser(page.table.widget).select([])
    assert not NOTICE.search(said(page))
    assert shown_boxes(page) == ["Q1", "Q2", "Q3"]


def test_at_most_a_handful_of_boxes_and_it_says_which(page) -> None:
    for i in range(6):
        drag(page.maps.left.figure, (-1000.0, -1000.0, 1000.0, 500.0 + 100 * i))
    draw(page)
    assert shown_boxes(page) == ["Q1", "Q2", "Q3", "Q4", "Q5"]
    assert "first 5 of 8 boxes" in said(page)
    Browser(page.table.widget).select([7])
    assert shown_boxes(page) == ["Q8"]


def test_runs_are_played_on_the_map_one_by_one_and_the_map_is_given_back(page) -> None:
    draw(page)
    runs = page.explain.open
    seen = []
    cover = page.maps.cover

    def noted(picture, drawn, view, said):
        seen.append((said, picture))
        cover(picture, drawn, view, said)

    page.maps.cover = noted
    runs.play.param.trigger("clicks")
    assert [said for said, _ in seen] == [
        f"Run {i + 1} of 20: a preview with other random noise, not private" for i in range(20)
    ]
    assert not np.array_equal(seen[0][1], seen[1][1])
    assert "Run 20 of 20" in page.maps.heads[1].object
    assert runs.run.value == 20
    assert len(runs.figures[0].shown.data["x"]) == 1
    runs.run.value = 0
    assert np.shares_memory(right(page), page.screen.right_bytes)
    runs.run.value = 3
    control(page.body, "Zoom in").clicks += 1
    assert "Run 3 of 20" in page.maps.heads[1].object
    page.explain.choice.value = OFF
    assert np.shares_memory(right(page), page.screen.right_bytes)
    page.explain.choice.value = "Runs"
    assert "20 previews by HTF" in said(page), "what has been drawn stays"
    assert np.shares_memory(right(page), page.screen.right_bytes)


def test_a_run_that_does_not_exist_and_a_number_out_of_bounds_are_refused(page) -> None:
    runs = page.explain.open
    draw(page)
    runs.run.value = 10**9
    assert "20 runs have been drawn: choose one of them." in words(page.message.view)
    assert runs.run.value == 0
    for wrong in (0, 10**9):
        runs.number.value = wrong
        assert "The number of runs goes from 10 to 200." in words(page.message.view)
        assert runs.number.value == 20


def test_without_boxes_there_is_nothing_to_ask(page) -> None:
    for _ in range(2):
        page.rectangles.remove(0)
    draw(page)
    assert "Draw a box on the map first" in words(page.message.view)
    assert page.explain.open.work.job.phase == "idle"


def test_a_box_without_anyone_has_no_share(page) -> None:
    empty = FrequencyMatrix.from_array(np.zeros((16, 16), int))
    page = Explore(empty, mechanism="ug", epsilon=1.0)
    page.explain.choice.value = "Runs"
    draw(page)
    assert "no box has anyone in it" in said(page)
    assert "<td>–</td>" in said(page)


# The work in the background.


def order(runs: int = 10, made=None, boxes=((0, 0, 2000, 2000),)) -> Order:
    data = SimpleNamespace(matrix=MATRIX, title="a town")
    array = np.array(boxes, dtype=float)
    return Order(data, made or UG(epsilon=1.0), ("key",), array, exact(MATRIX, array), runs)


class Slow(Identity):
    """Takes a while, and notes how many were drawn."""

    drawn = 0

    def release(self, *args, **named):
        type(self).drawn += 1
        time.sleep(0.02)
        return super().release(*args, **named)


def test_it_stops_when_asked_and_keeps_what_is_finished() -> None:
    async def run() -> None:
        work = RunsWork(lambda: None, pytest.fail)
        work.start(order(200, Slow(epsilon=1.0)))
        while work.done < 5:
            await asyncio.sleep(0.01)
        work.stop()
        assert work.job.phase == "cancelled"
        done = work.done
        await work.job.wait()
        assert work.done == done < 200
        assert work.answers().shape == (done, 1)

    asyncio.run(run())


def test_a_new_start_takes_nothing_from_the_one_before() -> None:
    async def run() -> None:
        work = RunsWork(lambda: None, pytest.fail)
        work.start(order(50, Slow(epsilon=1.0)))
        while not work.done:
            await asyncio.sleep(0.01)
        wanted = order(7, UG(epsilon=0.5))
        work.start(wanted)
        await work.job.wait()
        assert (work.job.phase, work.done) == ("finished", 7)
        expected = list(repeats(MATRIX, UG(epsilon=0.5), wanted.boxes, 7))
        np.testing.assert_allclose(work.answers(), expected)

    asyncio.run(run())


def test_what_goes_wrong_is_one_sentence_and_what_is_finished_stays() -> None:
    class Refusing(UG):
        def release(self, *args, **named):
            raise InputError("This matrix is too small for that.")

    said: list[str] = []
    work = RunsWork(lambda: None, said.append)
    work.start(order(5, Refusing()))
    assert (work.job.phase, work.done) == ("failed", 0)
    assert said == ["This matrix is too small for that."]


def test_visitors_take_turns_run_by_run() -> None:
    at_once = []
    inside = threading.Semaphore(1)

    class Alone(UG):
        def release(self, *args, **named):
            at_once.append(inside.acquire(blocking=False))
            time.sleep(0.005)
            found = super().release(*args, **named)
            inside.release()
            return found

    async def run() -> None:
        works = [RunsWork(lambda: None, pytest.fail) for _ in range(3)]
        for work in works:
            work.start(order(6, Alone()))
        for work in works:
            await work.job.wait()
        assert [work.done for work in works] == [6, 6, 6]
        assert at_once == [True] * 18

    asyncio.run(run())
