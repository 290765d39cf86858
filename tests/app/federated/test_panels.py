"""Thresholds, dropouts and bytes, and the comparison of all algorithms."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from explorer.app.federated import comparison
from explorer.app.federated.failing import about_shards
from explorer.app.federated.failing_figures import find_figures
from explorer.app.federated.levels import LevelsJob, judge
from explorer.errors import InputError
from explorer.federated import calibration
from explorer.federated.mechanism import ALGORITHMS
from explorer.releases.quarters import level_of
from tests.app import press
from tests.app.federated import people


@pytest.fixture
def page():
    return people.new_page()


@pytest.mark.parametrize("algorithm", ["people", "mended", "paper"])
def test_what_was_divided_lies_above_its_threshold(algorithm) -> None:
    screen = people.new_page(algorithm=algorithm).screen
    rounds = screen.release.heard
    for number in range(1, len(rounds)):
        heard = rounds[number - 1]
        found = judge(LevelsJob(screen, number))
        sums = dict(zip(heard.tree.keys[heard.tree.open].tolist(), heard.sums, strict=True))
        limits = {each.number: each.threshold for each in found.levels}
        split = set(heard.split.tolist())
        for key, total in sums.items():
            level = int(level_of(np.array([key]))[0])
            above = total > limits[level] and level < heard.tree.depth
            assert above == (key in split), (algorithm, number, level, total, limits[level])
        assert sum(each.divided for each in found.levels) == len(split)


@pytest.mark.parametrize(
    "options", [{"sigma": "both rounds"}, {"sigma": "one shard", "k": 3.0}, {"threshold": 50.0}]
)
def test_the_threshold_is_that_of_the_options(options) -> None:
    page = people.new_page(algorithm="paper", **options)
    screen = page.screen
    for number in range(1, len(screen.release.heard)):
        heard = screen.release.heard[number - 1]
        found = judge(LevelsJob(screen, number))
        level = heard.tree.level[heard.tree.open]
        above = heard.sums > found.levels[0].threshold
        assert found.fixed == ("threshold" in options)
        divided = heard.tree.keys[heard.tree.open][above & (level < heard.tree.depth)]
        assert divided.tolist() == heard.split.tolist()
        assert len({each.threshold for each in found.levels}) == 1
    page.explain.choice.value = "Thresholds"
    wanted = "however large the noise is" if "threshold" in options else "times the noise"
    if options.get("sigma") == "both rounds":
        wanted = "twice the noise"
    assert wanted in press.text(page.explain.open)


def test_streets_are_divided_and_parks_are_not(page) -> None:
    page.explain.choice.value = "Thresholds"
    panel = page.explain.open
    assert "as in parks" in press.text(panel)
    assert panel.found.number == panel.found.last - 1
    panel.round.value = 1
    assert panel.found.number == 1
    even = min(panel.found.levels, key=lambda each: each.unevenness)
    assert even.factor >= math.sqrt(15 / (4 * 0.75))
    label = panel.chart.figure.html_attributes["aria-label"]
    assert label in press.text(panel), "the chart and the sentence say the same"
    panel.round.value = 77
    assert "After round: choose from" in press.text(page)


def test_algorithms_without_thresholds_say_so() -> None:
    page = people.new_page(algorithm="flat")
    page.explain.choice.value = "Thresholds"
    assert "divides nothing by a threshold" in press.text(page.explain.open)
    assert not press.shows(page.explain.open, page.explain.open.chart.figure)
    page.state.set_parameter("algorithm", "people")
    page.settings_changed()
    assert press.shows(page.explain.open, page.explain.open.chart.figure)
    alone = people.new_page(people=1_200)
    with pytest.raises(InputError, match="one round only"):
        judge(LevelsJob(alone.screen, 0))


def test_dropouts_cost_what_the_formula_says_and_are_refused_in_time(page) -> None:
    lost = find_figures(page.screen).dropouts
    assert (lost.size, lost.fewest, lost.honest) == (1_000, 862, 812)
    assert lost.refused == pytest.approx(13.8)
    at = np.argmin(np.abs(lost.part - 0.3))
    assert lost.cost[at] == calibration.epsilon_of_fewer(1.0, float(lost.part[at]))
    assert lost.floor[at] == pytest.approx(math.log((1 - lost.part[at]) / lost.part[at]))
    # Up to the line the chosen epsilon holds.
    assert np.all(lost.cost[lost.dropped <= lost.refused] == 1.0)
    page.explain.choice.value = "Failing"
    text = press.text(page.explain.open)
    assert "no sum if more than 13.8 % drop out" in text
    assert "refused" in text


def test_bytes_are_those_of_the_rounds_and_large_shards_have_less_noise(page) -> None:
    found = find_figures(page.screen)
    cells, sent = found.rounds
    assert sent.tolist() == [row.bytes_up for row in page.screen.release.heard]
    assert found.sent[0] < found.sent[-1]
    vector = calibration.bytes_up(found.even, found.bits, 0) - 64
    assert vector == pytest.approx(found.protocol, abs=2)
    noise = [each.noise for each in found.sizes]
    assert noise == sorted(noise, reverse=True)
    # 400 shards of 100 against one of all: their number is under a root.
    assert noise[0] / noise[-1] == pytest.approx(20, rel=0.15)
    times = re.search(
        r"In 400 shards of 100 .* in 1 shard of 40,000 .*: ([\d.]+) times less", about_shards(found)
    )
    assert float(times[1]) == pytest.approx(noise[0] / noise[-1], rel=0.05)
    assert len(cells) == len(page.screen.release.heard)


def test_all_algorithms_are_compared_when_asked(page, monkeypatch) -> None:
    monkeypatch.setattr(comparison, "RUNS", 1)
    page.explain.choice.value = "Algorithms"
    panel = page.explain.open
    assert panel.found is None
    press.press(panel, "Compare algorithms")
    rows = panel.found.rows
    assert {row.key for row in rows} == set(ALGORITHMS) == set(comparison.TITLES)
    assert [row.mse for row in rows] == sorted(row.mse for row in rows)
    by_key = {row.key: row for row in rows}
    assert by_key["people"].mse < by_key["paper"].mse
    assert "not private" in press.text(panel)
    page.state.put(epsilon=0.5)
    assert "The settings have changed since" in press.text(panel)
