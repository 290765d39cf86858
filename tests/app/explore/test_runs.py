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
from explorer.app.explore import runs_work as module
from explorer.app.explore.runs_work import Order, RunsWork
from explorer.errors import InputError
from explorer.evaluate.repeats import Spread, repeats
from explorer.grid.grid import Grid
from explorer.mechanisms import HTF, UG, Identity
from explorer.points.matrix import FrequencyMatrix
from tests.helpers import city

MATRIX = FrequencyMatrix.from_array(
    city(people=60_000).counts, Grid.around(2.35, 48.85, 8000, shape=64)
)


@pytest.fixture
def page() -> Explore:
    page = Explore(MATRIX, mechanism="htf", epsilon=1.0)
    page.closer.choice.value = "Runs"
    page.closer.open.panel.number.value = 20
    return page


def draw(page: Explore) -> None:
    page.closer.open.panel.go.param.trigger("clicks")


def right(page: Explore) -> np.ndarray:
    return page.maps.right.image.data["image"][0]


def test_it_opens_with_nothing_drawn(page) -> None:
    runs = page.closer.open.panel
    assert runs.work.phase == "idle"
    assert not runs._results.visible
    assert runs._notices.object == ""
    assert right(page) is page.screen.right_bytes


def test_dots_and_table_show_the_answers_of_other_previews(page) -> None:
    draw(page)
    runs, boxes = page.closer.open.panel, page.rectangles.boxes
    expected = np.array(list(repeats(MATRIX, HTF(epsilon=1.0), boxes, 20)))
    for i, figure in enumerate(runs.figures[:2]):
        np.testing.assert_allclose(figure.dots.data["answer"], expected[:, i])
        assert figure.line.data["x"] == [exact(MATRIX, boxes)[i]]
        assert figure.here.data["x"] == [page.screen.answers.private[i]]
    assert [card.visible for card in runs._cards] == [True, True, False, False, False]
    spread = Spread.of(expected, exact(MATRIX, boxes))
    cells = re.findall(r"<td>([^<]*)</td>", runs._table.object)
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
        runs = page.closer.open.panel
        assert "20 previews by HTF with epsilon 1, each with other dice" in runs._said.object
        assert "only because they are previews and not releases" in runs._price.object
        assert "to release 20 times would cost epsilon 20" in runs._price.object
        assert "20 previews, all drawn" in runs._progress.object


def test_a_changed_setting_marks_the_runs_as_old_until_they_are_drawn_again(page) -> None:
    draw(page)
    runs = page.closer.open.panel
    before = list(runs.figures[0].dots.data["answer"])
    page.state.put(epsilon=2.0)
    assert "old settings (HTF with epsilon 1" in runs._notices.object
    assert list(runs.figures[0].dots.data["answer"]) == before
    assert runs.play.disabled
    assert runs.run.disabled
    page.state.put(epsilon=1.0)
    assert runs._notices.object == ""
    page.state.put(epsilon=2.0)
    draw(page)
    assert runs._notices.object == ""
    assert "HTF with epsilon 2" in runs._said.object


def test_other_dice_on_the_page_move_its_mark_and_no_dot(page) -> None:
    draw(page)
    figure = page.closer.open.panel.figures[0]
    dots, here = list(figure.dots.data["answer"]), figure.here.data["x"]
    page.state.roll()
    assert list(figure.dots.data["answer"]) == dots
    assert figure.here.data["x"] == [page.screen.answers.private[0]] != here
    assert page.closer.open.panel._notices.object == ""


def test_boxes_that_were_not_asked_are_named_and_selected_ones_shown_alone(page) -> None:
    draw(page)
    runs = page.closer.open.panel
    page.drawn((-1000.0, -1000.0, 1000.0, 500.0))
    assert "Not asked in these runs: Q3." in runs._notices.object
    page.rectangles.select([1])
    page.highlight()
    assert "Only the 1 selected of 3 boxes." in runs._notices.object
    assert [card.visible for card in runs._cards] == [True, False, False, False, False]
    assert "Q2" in runs._heads[0].object
    draw(page)
    page.rectangles.select([])
    page.highlight()
    assert runs._notices.object == ""
    assert [card.visible for card in runs._cards] == [True, True, True, False, False]


def test_at_most_a_handful_of_boxes_and_it_says_which(page) -> None:
    for i in range(6):
        page.drawn((-1000.0, -1000.0, 1000.0, 500.0 + 100 * i))
    draw(page)
    runs = page.closer.open.panel
    assert all(card.visible for card in runs._cards)
    assert "first 5 of 8 boxes" in runs._notices.object
    page.rectangles.select([7])
    page.highlight()
    assert "Q8" in runs._heads[0].object


def test_runs_are_played_on_the_map_one_by_one_and_the_map_is_given_back(page) -> None:
    draw(page)
    runs = page.closer.open.panel
    seen = []
    cover = page.maps.cover

    def noted(picture, drawn, view, said):
        seen.append((said, picture))
        cover(picture, drawn, view, said)

    page.maps.cover = noted
    runs.play.param.trigger("clicks")
    assert [said for said, _ in seen] == [
        f"Run {i + 1} of 20: a preview with other dice, not private" for i in range(20)
    ]
    assert not np.array_equal(seen[0][1], seen[1][1])
    assert "Run 20 of 20" in page.maps.heads[1].object
    assert runs.run.value == 20
    assert len(runs.figures[0].shown.data["x"]) == 1
    runs.run.value = 0
    assert right(page) is page.screen.right_bytes
    runs.run.value = 3
    page.zoom(0.5)
    assert "Run 3 of 20" in page.maps.heads[1].object
    page.closer.choice.value = "Nothing"
    assert right(page) is page.screen.right_bytes
    page.closer.choice.value = "Runs"
    assert runs._results.visible, "what has been drawn stays"
    assert right(page) is page.screen.right_bytes


def test_a_run_that_does_not_exist_and_a_number_out_of_bounds_are_refused(page) -> None:
    runs = page.closer.open.panel
    draw(page)
    runs.run.value = 10**9
    assert "20 runs have been drawn: choose one of them." in page.message.sentence
    assert runs.run.value == 0
    for wrong in (0, 10**9):
        runs.number.value = wrong
        assert "The number of runs goes from 10 to 200." in page.message.sentence
        assert runs.number.value == 20


def test_without_boxes_there_is_nothing_to_ask(page) -> None:
    page.rectangles.remove(0)
    page.rectangles.remove(0)
    page.boxes_changed()
    draw(page)
    assert "There is no box to ask about" in page.message.sentence
    assert page.closer.open.panel.work.phase == "idle"


def test_a_box_without_anyone_has_no_share(page) -> None:
    empty = FrequencyMatrix.from_array(np.zeros((16, 16), int))
    page = Explore(empty, mechanism="ug", epsilon=1.0)
    page.closer.choice.value = "Runs"
    draw(page)
    assert "no box has anyone in it" in page.closer.open.panel._said.object
    assert "<td>–</td>" in page.closer.open.panel._table.object


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


def test_it_tells_of_progress_and_stops_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LOOK", 0.03)

    async def run() -> None:
        told = []
        work = RunsWork(lambda: told.append((work.phase, work.done)))
        work.start(order(200, Slow(epsilon=1.0)))
        while work.done < 5:
            await asyncio.sleep(0.01)
        work.stop()
        assert work.phase == "stopped"
        done = work.done
        await asyncio.sleep(0.2)
        assert 5 <= done == work.done <= 20
        assert work.answers().shape == (done, 1)
        assert told[0][0] == "running"
        assert told[-1][0] == "stopped"
        await asyncio.sleep(0.1)
        assert work.done == done

    asyncio.run(run())


def test_a_new_start_takes_nothing_from_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LOOK", 0.02)

    async def run() -> None:
        work = RunsWork(lambda: None)
        work.start(order(50, Slow(epsilon=1.0)))
        await asyncio.sleep(0.05)
        wanted = order(7, UG(epsilon=0.5))
        work.start(wanted)
        while work.running:
            await asyncio.sleep(0.01)
        assert (work.phase, work.done) == ("finished", 7)
        expected = list(repeats(MATRIX, UG(epsilon=0.5), wanted.boxes, 7))
        np.testing.assert_allclose(work.answers(), expected)

    asyncio.run(run())


def test_a_page_that_is_closed_ends_the_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LOOK", 0.02)
    context = SimpleNamespace(destroyed=False)
    doc = SimpleNamespace(session_context=context, add_next_tick_callback=lambda do: do())
    monkeypatch.setattr(module, "pn", SimpleNamespace(state=SimpleNamespace(curdoc=doc)))

    async def run() -> None:
        work = RunsWork(lambda: None)
        work.start(order(200, Slow(epsilon=1.0)))
        await asyncio.sleep(0.05)
        context.destroyed = True
        assert work._task is not None
        await asyncio.wait_for(work._task, 5)
        assert work.done < 50

    asyncio.run(run())


def test_what_goes_wrong_is_one_sentence() -> None:
    class Refusing(UG):
        def release(self, *args, **named):
            raise InputError("This matrix is too small for that.")

    class Broken(UG):
        def release(self, *args, **named):
            raise RuntimeError("a secret")

    work = RunsWork(lambda: None)
    work.start(order(5, Refusing()))
    assert (work.phase, work.sentence) == ("failed", "This matrix is too small for that.")
    work.start(order(5, Broken()))
    assert work.phase == "failed"
    assert "secret" not in work.sentence


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
        works = [RunsWork(lambda: None) for _ in range(3)]
        for work in works:
            work.start(order(6, Alone()))
        while any(work.running for work in works):
            await asyncio.sleep(0.02)
        assert [work.done for work in works] == [6, 6, 6]
        assert at_once == [True] * 18

    asyncio.run(run())
