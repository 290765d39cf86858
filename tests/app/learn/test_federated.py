"""The two lessons on federated maps without a browser: sentences, figures and charts agree."""

from __future__ import annotations

import re

import numpy as np
import pytest

from explorer import FrequencyMatrix
from explorer.app import Learn
from explorer.app.learn.refinement import by_people
from explorer.teaching.refinement import ask, in_sds
from tests.app import press


@pytest.fixture(scope="module")
def matrix():
    counts = np.random.default_rng(6).poisson(np.random.default_rng(7).gamma(0.3, 60, (64, 64)))
    return FrequencyMatrix.from_array(counts)


def opened(matrix, experiment: str):
    page = Learn(matrix, lesson=experiment)
    return page, page.card.experiment


def test_a_person_is_masked_and_the_sum_is_seen(matrix) -> None:
    page, bench = opened(matrix, "trust")
    bench.settings.put(size=50)
    assert "Her vector has a 1 in one of 64 cells" in bench.said.object
    vector, share, sent, _, total = (each.source.data["y"] for each in bench.vectors)
    assert sorted(vector)[-2:] == [0, 1]
    assert sent.max() > 10
    assert bench.vectors[4].truth.data["y"].sum() == 50
    assert not len(bench.vectors[0].truth.data["y"])
    assert "how many are in each cell" in bench.said.object
    assert press.shows(bench, bench.vectors[0].figure)
    assert "Who sees what" in bench.who.object
    press.press(bench, "New noise")
    assert not np.array_equal(bench.vectors[2].source.data["y"], sent)
    assert np.array_equal(bench.vectors[0].source.data["y"], vector)
    seen = set()
    for _ in range(3):
        press.press(bench, "Another person")
        seen.add(int(bench.vectors[0].source.data["y"].argmax()))
    assert len(seen) > 1
    assert len(total) == len(share) == 64
    assert page.message.sentence == ""


def test_a_refused_shard_shows_no_vectors_and_costs_nothing(matrix) -> None:
    _page, bench = opened(matrix, "trust")
    bench.settings.put(dropped=25)
    assert "Only 75 of 100 people sent a vector, fewer than the 77" in bench.said.object
    assert "as agreed. It is refused, so it costs nothing" in bench.loss.object
    bench.settings.put(dropped=30)
    assert "would cost 1.03 in place of 1. It is refused, so it costs nothing" in bench.loss.object
    assert not press.shows(bench, bench.vectors[0].figure)
    assert bench.twin.object == ""
    bench.settings.put(dropped=20)
    assert "costs epsilon 1, as agreed" in bench.loss.object
    assert press.shows(bench, bench.vectors[0].figure)


def test_corrupt_people_raise_the_loss_to_its_floor(matrix) -> None:
    _page, bench = opened(matrix, "trust")
    bench.settings.put(corrupt=50)
    assert "would cost 1.35 in place of 1." in bench.loss.object
    assert "the chance that so many of hers are corrupt is 92 in 100" in bench.unmasked.object
    assert bench.losses.refused.right == 27
    bench.settings.put(corrupt=70, epsilon=0.01)
    cost = re.search(
        r"would cost ([\d.]+) in place of 0.01, and at least ([\d.]+)", bench.loss.object
    )
    assert cost is not None
    assert float(cost[1]) >= float(cost[2]) == pytest.approx(np.log(42 / 30), abs=0.001)


def test_too_few_people_are_said() -> None:
    page, bench = opened(FrequencyMatrix.from_array(np.eye(16, dtype=np.int64)), "trust")
    assert "fewer than 100 people" in page.message.sentence
    assert not press.shows(bench, bench.vectors[0].figure)


def test_what_is_divided_follows_h_epsilon_people_and_level(matrix) -> None:
    _page, bench = opened(matrix, "refinement")
    for settings in ({"level": 4}, {"unevenness": 0.1}, {"people": 10_000}, {"epsilon": 1.0}):
        bench.settings.put(**settings)
        now = bench.settings
        level = ask(matrix, now.people, now.epsilon).level(now.level)
        divided = level.by_h(now.unevenness)
        words = bench.said.object
        side = 2**level.number
        assert f"{int(divided.sum()):,} of {side} × {side} cells are divided" in words
        assert f"{in_sds(now.unevenness):.1f} σ" in words
        assert f"divides {int(level.by_paper().sum()):,}" in bench.measured.object
        assert len(bench.pair.divided.data["x0"]) == divided.sum()
        assert bench.unevenness.figure.html_attributes["aria-label"].endswith(
            re.sub("<.*?>", "", words)
        )
    made = bench.pair.made.image.data["image"][0]
    assert made.shape == (32, 32)
    assert bench.rules.object.count("<tr>") == 7


def test_one_cell_is_explained_and_another_follows(matrix) -> None:
    _page, bench = opened(matrix, "refinement")
    seen = set()
    for _ in range(4):
        text = bench.cell.object
        found = re.search(r"err by ([\d.,]+) people together.*own by ([\d.,]+): (.*?)\. With", text)
        assert found is not None
        whole, divided = (float(found[i].replace(",", "")) for i in (1, 2))
        assert ("helps" in found[3]) == (divided < whole)
        seen.add(text)
        press.press(bench, "Another cell")
    assert len(seen) > 2
    before = bench.said.object
    press.press(bench, "New noise")
    assert bench.said.object != before


def test_a_map_of_few_cells_is_refused_in_a_sentence() -> None:
    page, bench = opened(FrequencyMatrix.from_array(np.ones((2, 2), dtype=np.int64)), "refinement")
    assert "too few cells to divide" in page.message.sentence
    assert not press.shows(bench, bench.levels.figure)


def test_quantiles_are_by_people() -> None:
    assert by_people(np.array([1.0, 1.0, 8.0]), (0.1, 0.5)).tolist() == [1.0, 8.0]
