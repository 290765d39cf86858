"""The Learn page without a browser: lessons, their words and experiments, own counts, refusals."""

import asyncio
import json
import re
import time

import numpy as np
import pytest

from explorer import FrequencyMatrix, Grid, exact
from explorer.app import Learn
from explorer.app.learn.emptiness import big
from explorer.app.learn.experiment import Running
from explorer.app.learn.page import DONE, Progress
from explorer.app.pages import PAGES
from explorer.errors import InputError
from explorer.teaching import lessons
from explorer.teaching.emptiness import Occupancy
from explorer.teaching.journeys import journeys
from explorer.teaching.lottery import seen
from explorer.teaching.places import on_map
from explorer.teaching.previews import Cancelled
from explorer.teaching.refinement import ask, in_sds
from tests.app import press

RNG = np.random.default_rng(9)
MATRIX = FrequencyMatrix.from_array(
    RNG.poisson(RNG.gamma(0.4, 30, (64, 64))), Grid.around(2.35, 48.85, 8000, shape=64)
)
CROWD = FrequencyMatrix.from_array(RNG.poisson(RNG.gamma(0.3, 60, (64, 64))))
ONES = FrequencyMatrix.from_array(np.ones((16, 16), dtype=np.int64))


def opened(experiment: str, matrix: FrequencyMatrix = MATRIX):
    page = Learn(matrix, lesson=experiment)
    return page, page.card.experiment


def words(bench) -> str:
    return bench.said.object


# Lessons and steps.


def test_lessons_open_one_at_a_time_and_mark_their_place() -> None:
    page = Learn(MATRIX)
    assert page.number == 0
    assert press.find(page, "Lesson before").disabled
    press.press(page, "Next lesson")
    assert page.number == 1
    assert [b.variant for b in page.contents.buttons].index("contained") == 1
    page.open(9)
    assert press.find(page, "Next lesson").disabled
    page.open(99)
    assert page.number == 9
    with pytest.raises(InputError, match="There is no lesson"):
        Learn(MATRIX, lesson="nothing")
    with pytest.raises(InputError, match="There is no city"):
        Learn("nowhere")


def now(page) -> str:
    """The step that is on the screen."""
    shown = page.card.guide.view.objects[1].object
    (item,) = re.findall(r'<li value="\d+">(.*?)</li>', shown, re.DOTALL)
    return item


def test_steps_come_one_at_a_time_and_progress_is_kept_and_comes_back() -> None:
    def kept() -> str:
        """What the browser was last told to keep."""
        order = json.loads(page.progress.storage.view.objects[0].value)
        assert (order["act"], order["name"]) == ("keep", "dp-explorer-lessons")
        return order["value"]

    page = Learn(MATRIX, lesson="02_averaging")
    assert "Redraw the map once" in now(page)
    assert press.find(page, "Step back").disabled
    press.press(page, "Next step")
    assert "Redraw 10 times" in now(page)
    assert press.markup(page.card.guide).count("<li") == 5, "all are there for paper"
    assert json.loads(kept()) == {"02_averaging": 1}
    assert page.card.guide.answer.object == "", "not sent before it is asked for"
    press.press(page, "Show the answer")
    assert "drawn <strong>once</strong> and stored" in page.card.guide.answer.object
    assert json.loads(kept()) == {"02_averaging": DONE}
    assert ["✓" in button.label for button in page.contents.buttons[:2]] == [False, True]
    again = Learn(MATRIX, lesson="04_threshold")
    again.progress.storage.take(json.dumps({"number": 1, "value": '{"04_threshold": 2}'}))
    assert "Go to another hidden cell" in now(again)
    again.progress.storage.take(json.dumps({"number": 1, "value": kept()}))
    assert "✓" in again.contents.buttons[1].label


def test_what_no_browser_would_send_is_nothing() -> None:
    told: list[int] = []
    progress = Progress(lessons()[0], lambda: told.append(1))
    for reply in ("", "[", "5", "null", '{"value": 5}', '{"value": "["}', "[" * 9999):
        progress.storage.take(reply)
    assert told == []
    progress.bring('{"x": 1, "02_averaging": true, "04_threshold": 1e9, "01_one_person": 3}')
    assert [progress.step(k) for k in ("x", "02_averaging", "04_threshold")] == [0, 0, 0]
    assert progress.step("01_one_person") == 3


def test_a_teachers_lessons_are_there_bad_ones_are_said_and_nothing_executes(tmp_path) -> None:
    evil = "<img src=x onerror=alert(1)>"
    good = (
        f"---\ntitle: Mine {evil}\ngoal: x {evil}\nminutes: 1\nexperiment: scenario\n"
        f"scenario:\n  city: madeup\n  title: 'A {evil}'\n---\n## Steps\n{evil}\n\n"
        "[a](javascript:alert(1)) ![b](https://example.org/x.png)\n"
        f"## Question\n{evil}\n## Answer\n{evil}\n"
    )
    (tmp_path / "00_mine.md").write_text(good)
    (tmp_path / "99_bad.md").write_text(good.replace("minutes: 1", "minutes: many"))
    page = Learn(MATRIX, folder=str(tmp_path), links=PAGES)
    assert len(page.lessons) == 11
    assert "99_bad.md" in page.notices.object
    page.card.guide.reveal.clicks += 1
    sent = [pane.object for pane in page.card.view.select(lambda m: hasattr(m, "object"))]
    assert sent
    assert not any("<img" in text or 'href="javascript' in text for text in sent)
    link = next(text for text in sent if "./explore?s=" in text)
    assert 'rel="noopener"' in link
    assert "<" not in page.contents.buttons[0].label


# Experiments on maps.


def test_neighbours_exact_curves_histogram_and_odds() -> None:
    page, bench = opened("neighbours")
    assert "log-ratio of the two distributions is 0.5, and epsilon is 0.5" in words(bench)
    assert "1.65" in bench.odds.object
    bench.settings.put(mechanism="quadtree", epsilon=0.6)
    assert "log-ratio of the two distributions is 0.1, and epsilon is 0.6" in words(bench)
    bench.settings.put(mechanism="htf", runs=100)
    assert "its cuts depend on the data" in words(bench)
    assert not press.shows(bench, bench.chart.figures[0])
    bench.start()
    assert "over 100 previews a side" in words(bench)
    assert press.shows(bench, bench.chart.figures[0])
    # A typed place moves the ring, and a bad one is undone.
    east = bench.where.fields["east"]
    east.value = -3.9
    assert bench.settings.place[0] == pytest.approx(0.0125)
    assert bench.where.map.place.data["x"] == [pytest.approx(-3937.5)]
    before, east.value = east.value, 99.0
    assert "outside the map" in page.message.sentence
    assert east.value == before
    bench.where.tapped("x", None)
    bench.where.tapped(float("nan"), 1.0)
    assert bench.settings.place[0] == pytest.approx(0.0125)
    row, col = np.argwhere(MATRIX.counts == 0)[0]
    bench.settings.put(change="remove", place=((col + 0.5) / 64, (row + 0.5) / 64))
    assert "Nobody is in this cell" in page.message.sentence


def test_averaging_adds_up_and_starts_over() -> None:
    _page, bench = opened("averaging")
    for more in (1, 10, 100):
        bench.start(more)
    assert len(bench.found) == 111
    assert bench.found.spent == 55.5
    assert "The redraws spent epsilon 55.5 together" in words(bench)
    assert "one release, asked 111" in bench.ledger.object
    bench.start(5000)
    assert len(bench.found) == 111
    bench.settings.put(epsilon=0.1)
    assert bench.found is None
    bench.where.drawn((-4000, -4000, 0, 0))
    for bad in ((0, 0, 1, 1), (None, 0, 1, 1), ("a", 0, 1, 1), (0, 0, float("inf"), 9e9)):
        bench.where.drawn(bad)
    assert bench.settings.box == (0.0, 0.0, 0.5, 0.5)


def test_tolerance_says_epsilon_with_its_interval_or_why_there_is_none() -> None:
    _page, bench = opened("tolerance")
    bench.settings.put(mechanism="uniform", box=(0.0, 0.0, 1.0, 1.0), percent=0.1)
    bench.start()
    found = re.search(r"from epsilon ([\d.]+) on.* lies in ([\d.]+) to ([\d.]+)", words(bench))
    epsilon, low, high = map(float, found.groups())
    assert low <= epsilon <= high
    # One draw over everybody: within t of N people at 2 q^(t + 1) / (1 + q) <= 0.05.
    assert low <= np.log(40) / (0.001 * MATRIX.total) * 1.3
    bench.settings.put(box=(0.1, 0.1, 0.2, 0.15), percent=1.0)
    bench.start()
    assert "does not answer this box" in words(bench)


def test_threshold_gives_the_true_count_away_in_both_ways() -> None:
    _page, bench = opened("threshold")
    bench.settings.put(cells=32)
    for _ in range(4):
        bench.pick()
        found = bench.found
        assert np.isnan(found.shown[found.cell])
        true = found.counts[found.cell]
        assert f"= {true:,}, exactly the true count of {true:,}" in words(bench)
    bench.settings.put(attack="days")
    bench.pick()
    assert bench.found.counts[bench.found.cell] == 10
    assert "true is 9" in words(bench)


def test_ranking_says_honestly_whether_the_order_turns() -> None:
    _page, bench = opened("ranking")
    bench.settings.put(mechanisms=["identity", "uniform"], questions="sq10", seeds=3, epsilon=10.0)
    bench.start()
    assert "the order of these mechanisms is the same by both metrics" in words(bench)
    bench.settings.put(seeds=4)
    assert not press.shows(bench, bench.chart.figure)


def test_postprocessing_shows_the_bias_of_what_is_switched_on() -> None:
    _page, bench = opened("postprocessing")
    bench.settings.put(runs=50)
    bench.start()
    assert "no bias has been found" in words(bench)
    bench.settings.put(non_negative=True)
    assert "more than chance explains" in words(bench)
    (true,) = exact(MATRIX, [on_map(bench.settings.box, MATRIX.grid)])
    assert bench.found.true == true


# Experiments on federated maps.


def test_a_person_is_masked_and_the_sum_is_seen() -> None:
    page, bench = opened("trust", CROWD)
    bench.settings.put(size=50)
    assert "Her vector has a 1 in one of 64 cells" in words(bench)
    vector, _share, sent, _, _total = (each.source.data["y"] for each in bench.vectors)
    assert sorted(vector)[-2:] == [0, 1]
    assert sent.max() > 10
    assert bench.vectors[4].truth.data["y"].sum() == 50
    assert not len(bench.vectors[0].truth.data["y"])
    press.press(bench, "New noise")
    assert not np.array_equal(bench.vectors[2].source.data["y"], sent)
    assert np.array_equal(bench.vectors[0].source.data["y"], vector)
    assert page.message.sentence == ""


def test_a_refused_shard_shows_no_vectors_and_costs_nothing() -> None:
    _page, bench = opened("trust", CROWD)
    bench.settings.put(dropped=25)
    assert "Only 75 of 100 people sent a vector, fewer than the 77" in words(bench)
    assert "as agreed. It is refused, so it costs nothing" in bench.loss.object
    bench.settings.put(dropped=30)
    assert "would cost 1.03 in place of 1. It is refused, so it costs nothing" in bench.loss.object
    assert not press.shows(bench, bench.vectors[0].figure)
    bench.settings.put(dropped=20)
    assert "costs epsilon 1, as agreed" in bench.loss.object
    assert press.shows(bench, bench.vectors[0].figure)
    bench.settings.put(corrupt=70, epsilon=0.01)
    cost = re.search(
        r"would cost ([\d.]+) in place of 0.01, and at least ([\d.]+)", bench.loss.object
    )
    assert float(cost[1]) >= float(cost[2])
    page, bench = opened("trust", FrequencyMatrix.from_array(np.eye(16, dtype=np.int64)))
    assert "fewer than 100 people" in page.message.sentence


def test_what_is_divided_follows_h_epsilon_people_and_level() -> None:
    _page, bench = opened("refinement", CROWD)
    for settings in ({"level": 4}, {"unevenness": 0.1}, {"people": 10_000}, {"epsilon": 1.0}):
        bench.settings.put(**settings)
        chosen = bench.settings
        level = ask(CROWD, chosen.people, chosen.epsilon).level(chosen.level)
        divided, side = level.by_h(chosen.unevenness), 2**level.number
        assert f"{int(divided.sum()):,} of {side} × {side} cells are divided" in words(bench)
        assert f"{in_sds(chosen.unevenness):.1f} σ" in words(bench)
        assert f"divides {int(level.by_paper().sum()):,}" in bench.measured.object
        assert len(bench.pair.boxes.data["x0"]) == divided.sum()
        label = bench.unevenness.figure.html_attributes["aria-label"]
        assert label.endswith(re.sub("<.*?>", "", words(bench)))
    text = bench.cell.object
    found = re.search(r"err by ([\d.,]+) people together.*own by ([\d.,]+): (.*?)\. With", text)
    whole, divided = (float(found[i].replace(",", "")) for i in (1, 2))
    assert ("helps" in found[3]) == (divided < whole)
    page, bench = opened("refinement", FrequencyMatrix.from_array(np.ones((2, 2), dtype=int)))
    assert "too few cells to divide" in page.message.sentence


# Experiments on trips.


@pytest.fixture(scope="module")
def trips():
    return journeys("madeup")


def test_empty_cells_follow_places_cells_epsilon_and_box(trips) -> None:
    _page, bench = opened("emptiness", ONES)
    # Counts of one's own have no trips.
    assert "Port Amber" in bench.notes.object
    for settings in ({}, {"places": 1}, {"cells": 256, "epsilon": 1.0}, {"places": 3}):
        bench.settings.put(**settings)
        chosen = bench.settings
        found = Occupancy.of(trips.on(chosen.places, chosen.cells))
        highest = found.highest_false(chosen.epsilon)
        above = found.standing_above(highest)
        said = words(bench)
        assert f"{big(found.cells)} cells, and trips lie in {found.occupied:,} of them" in said
        assert f"shows about {highest:,}." in said
        assert f"{f'{above:,}' if above else 'None'} of the cells with trips hold more" in said
        assert f"{found.single:,} hold a single trip" in bench.alone.object
        assert bench.kept.figure.html_attributes["aria-label"] in said


def test_a_box_about_a_trip_is_counted_and_grows(trips) -> None:
    _page, bench = opened("emptiness", ONES)
    held = []
    for wide in (1, 16, 1024):
        bench.settings.put(wide=wide)
        match = re.search(
            r"has ([\d,]+) cells. It holds ([\d,]+) trips.*± ([\d,.]+): (.*)\.<", bench.box.object
        )
        held.append([float(match[i].replace(",", "")) for i in (1, 2, 3)])
        assert ("drowns" in match[4]) == (held[-1][2] > held[-1][1])
    assert [cells for cells, _, _ in held] == [1, 16**4, 64**4]
    assert held[0][1] >= 1
    assert held[2][1] == trips.on(2, 64).total


def test_a_choice_of_cuts_is_played_and_compared(trips) -> None:
    page, bench = opened("lottery", ONES)
    for settings in ({}, {"cut": 2, "epsilon": 2.0}, {"p": 2}, {"q": 0.7}):
        bench.settings.put(**settings)
        chosen = bench.settings
        levels = seen(trips.on(2, 64), chosen.epsilon, chosen.q, chosen.p).levels
        level = levels[chosen.cut - 1]
        assert f"Cut {chosen.cut}, one of {len(level):,} boxes of trips" in words(bench)
        assert f"noise of scale {level.noise:,.0f} is put" in words(bench)
        assert f"a lottery gives it {100 / chosen.p:.0f}." in words(bench)
        wins = bench.wins.source.data
        assert sum(wins["paper"]) == pytest.approx(100)
        assert sum(wins["least"]) == pytest.approx(100)
        true = bench.costs.source.data["true"]
        assert len(true) == chosen.p
        assert (np.diff(true) >= 0).all()
        assert true[-1] - true[0] == level.ranges[level.in_the_middle(0)]
    slider = press.find(page, "Epsilon")
    bench.settings.put(epsilon=0.45)
    assert (bench.settings.epsilon, slider.value) == (0.45, 5), "the nearest place of the slider"
    slider.param.update(end=50, value=40)
    assert "choose a value of the slider" in page.message.sentence
    assert bench.settings.epsilon == 0.45
    bench.settings.put(epsilon=0.001, cut=1)
    assert "no box is cut at this step" in words(bench)
    assert not press.shows(bench, bench.wins.figure)


# Long work of a lesson.


def test_progress_is_shown_cancel_keeps_what_was_there_and_the_newest_wins() -> None:
    results: list[object] = []
    running = Running(results.append, pytest.fail, "Test")

    def until_cancelled(progress, cancel):
        for step in range(1000):
            if cancel.is_set():
                raise Cancelled
            progress(step / 1000)
            time.sleep(0.01)
        return "too late"

    async def until(true) -> None:
        for _ in range(1000):
            if true():
                return
            await asyncio.sleep(0.02)
        pytest.fail("it never happened")

    async def visit() -> None:
        running.start(until_cancelled)
        await until(lambda: "progressbar" in running.status.object and running.job.progress[0] > 0)
        running.cancel()
        assert running.job.phase == "cancelled"
        assert "Cancelled" in running.status.object
        running.start(until_cancelled)
        await until(lambda: running.job.phase == "running")
        running.start(lambda _progress, _cancel: "new")
        await until(lambda: results)
        running.start(until_cancelled)
        running.close()
        await asyncio.sleep(0.1)

    asyncio.run(visit())
    assert results == ["new"]
