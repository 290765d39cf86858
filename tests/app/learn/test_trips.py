"""The two lessons on trips without a browser: sentences, figures and charts say the same."""

from __future__ import annotations

import re

import numpy as np
import pytest

from explorer import FrequencyMatrix
from explorer.app import Learn
from explorer.app.learn.emptiness_sentences import big
from explorer.app.learn.lottery_sentences import hundredth, times
from explorer.teaching.emptiness import Occupancy
from explorer.teaching.journeys import journeys
from explorer.teaching.lottery import seen
from tests.app import press


def opened(experiment: str):
    page = Learn(FrequencyMatrix.from_array(np.ones((16, 16), dtype=np.int64)), lesson=experiment)
    return page, page.card.experiment


def number(text: str) -> float:
    return float(text.replace(",", ""))


@pytest.fixture(scope="module")
def trips():
    return journeys("madeup")


def test_empty_cells_follow_places_cells_epsilon_and_box(trips) -> None:
    _page, bench = opened("emptiness")
    # Counts of one's own have no trips.
    assert "Port Amber" in bench.notes.object
    for settings in ({}, {"places": 1}, {"cells": 256, "epsilon": 1.0}, {"places": 3}):
        bench.settings.put(**settings)
        now = bench.settings
        found = Occupancy.of(trips.on(now.places, now.cells))
        highest = found.highest_false(now.epsilon)
        above = found.standing_above(highest)
        words = bench.said.object
        assert f"{big(found.cells)} cells, and trips lie in {found.occupied:,} of them" in words
        assert f"shows about {highest:,}." in words
        assert f"{f'{above:,}' if above else 'None'} of the cells with trips hold more" in words
        assert f"{found.single:,} hold a single trip" in bench.alone.object
        assert bench.kept.figure.html_attributes["aria-label"] in words
    assert press.shows(bench, bench.kept.figure)


def test_a_box_about_a_trip_is_counted_and_grows() -> None:
    _page, bench = opened("emptiness")
    held = []
    for wide in (1, 16, 1024):
        bench.settings.put(wide=wide)
        match = re.search(
            r"has ([\d,]+) cells. It holds ([\d,]+) trips.*± ([\d,.]+): (.*)\.<", bench.box.object
        )
        assert match is not None
        held.append((number(match[1]), number(match[2]), number(match[3])))
        assert ("drowns" in match[4]) == (held[-1][2] > held[-1][1])
    assert [cells for cells, _, _ in held] == [1, 16**4, 64**4]
    assert held[0][1] >= 1
    assert held[2][1] == journeys("madeup").on(2, 64).total
    before = bench.box.object
    press.press(bench, "Another trip")
    bench.settings.put(wide=4)
    assert bench.box.object != before
    ring = bench.pair.place.data
    assert 0 < ring["x"][0] < 1
    picture = bench.pair.noisy.image.data["image"][0]
    press.press(bench, "New noise")
    assert not np.array_equal(picture, bench.pair.noisy.image.data["image"][0])


def test_a_choice_of_cuts_is_played_and_compared(trips) -> None:
    _page, bench = opened("lottery")
    assert press.shows(bench, bench.wins.figure)
    for settings in ({}, {"cut": 2, "epsilon": 2.0}, {"p": 2}, {"q": 0.7}):
        bench.settings.put(**settings)
        now = bench.settings
        level = seen(trips.on(2, 64), now.epsilon, now.q, now.p).levels[now.cut - 1]
        words = bench.said.object
        assert f"Cut {now.cut}, one of {len(level):,} boxes of trips" in words
        assert f"noise of scale {level.noise:,.0f} is put" in words
        assert f"a lottery gives it {100 / now.p:.0f}." in words
        wins = bench.wins.source.data
        assert sum(wins["paper"]) == pytest.approx(100)
        assert sum(wins["least"]) == pytest.approx(100)
        true = bench.costs.source.data["true"]
        assert (np.diff(true) >= 0).all()
        assert true[-1] - true[0] == level.ranges[level.in_the_middle(0)]
        assert len(true) == now.p
    won = bench.costs.winner.data["x"]
    seen_once = {tuple(won)}
    for _ in range(12):
        press.press(bench, "New noise")
        seen_once.add(tuple(bench.costs.winner.data["x"]))
    assert len(seen_once) > 1


def test_a_tiny_epsilon_leaves_nothing_to_choose() -> None:
    page, bench = opened("lottery")
    bench.settings.put(epsilon=0.001, cut=1)
    assert "no box is cut at this step" in bench.said.object
    assert not press.shows(bench, bench.wins.figure)
    assert page.message.sentence == ""


def test_a_slider_stands_at_the_nearest_value_and_takes_only_its_own() -> None:
    page, bench = opened("lottery")
    slider = press.find(page, "Epsilon")
    bench.settings.put(epsilon=0.45)
    assert bench.settings.epsilon == 0.45
    assert slider.value == 5
    slider.value = 6
    assert bench.settings.epsilon == 1.0
    bench.settings.put(epsilon=0.1)
    assert slider.value == 3
    slider.param.update(end=50, value=40)
    assert "choose a value of the slider" in page.message.sentence
    assert bench.settings.epsilon == 0.1


def test_numbers_are_written_as_people_do() -> None:
    assert [big(343), big(16_777_216), big(1024**6)] == ["343", "16,777,216", "1.2 × 10¹⁸"]
    assert [times(4000, 10), times(30, 20), times(1, 0)] == ["400", "1.5", "∞"]
    assert [hundredth(0.254), hundredth(-0.01)] == ["25", "0"]
