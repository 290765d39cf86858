"""From runs to curves, candlesticks, ranking and sentences, on figures made by hand."""

import re

import numpy as np
import pytest

from explorer.app.compare import findings, sentences
from explorer.app.compare.findings import Question, find
from explorer.app.compare.kept import Kept
from explorer.app.compare.series import series_of
from explorer.app.state.compare import CompareState
from explorer.evaluate import Run, plan, workload
from explorer.evaluate.metrics import names
from explorer.points.matrix import FrequencyMatrix

MATRIX = FrequencyMatrix.from_array(np.full((8, 8), 10))
EPSILONS = (0.1, 1.0, 10.0)
QUESTIONS = workload("random", MATRIX.shape, 10)


def question(seeds: int = 4, **choices) -> Question:
    state = CompareState(a="ug", b="ag", chosen=[], **choices)
    return Question(
        MATRIX, series_of(state), EPSILONS, seeds, QUESTIONS, state.metric, choices.get("at", 0.1)
    )


def figures(mechanism: str, epsilon: float, seed: int, metric: str) -> float:
    """UG is best by relative metrics, AG by absolute ones, by half; noise moves a percent."""
    base, _, part = metric.partition(" ")
    best = "ag" if base in ("mae", "rmse") else "ug"
    size = {"p25": 0.25, "median": 0.5, "p75": 2.0, "p95": 4.0}.get(part, 1.0)
    return size * (1.0 if mechanism == best else 2.0) / epsilon * (1 + 0.01 * seed)


def kept(asked: Question, leave_out=lambda _task: False) -> Kept:
    store = Kept()
    for task in plan([each.mechanism for each in asked.series], EPSILONS, asked.seeds):
        if not leave_out(task):
            values = {
                name: figures(task.mechanism, task.epsilon, task.seed, name) for name in names()
            }
            run = Run(task, "", {"random": values}, 7, 0.5, "", "", "")
            store.add(MATRIX, run, [QUESTIONS])
    return store


def test_a_curve_is_the_median_over_the_seeds_with_its_quartiles() -> None:
    asked = question()
    found = find(asked, kept(asked))
    ug = next(curve for curve in found.curves if curve.name == "UG")
    np.testing.assert_array_equal(ug.x, EPSILONS)
    np.testing.assert_allclose(ug.middle, 1.015 / np.array(EPSILONS))
    np.testing.assert_allclose(ug.low, 1.0075 / np.array(EPSILONS))
    np.testing.assert_allclose(ug.high, 1.0225 / np.array(EPSILONS))
    assert found.seeds == 4


def test_sticks_are_means_over_the_seeds_best_first() -> None:
    asked = question()
    sticks = find(asked, kept(asked)).sticks
    assert [stick.name for stick in sticks] == ["UG", "AG"]
    parts = [sticks[0].p25, sticks[0].median, sticks[0].p75, sticks[0].p95, sticks[0].mean]
    np.testing.assert_allclose(parts, np.array([0.25, 0.5, 2, 4, 1]) * 10.15)


def test_the_ranking_turns_round_with_the_metric_and_says_so() -> None:
    asked = question()
    found = find(asked, kept(asked))
    assert [row.series.name for row in found.ranks] == ["UG", "AG"]
    assert found.ranks[0].places["mae"] == 2
    assert found.ranks[0].places["mreRho median"] == 1
    assert re.match("At epsilon 0.1, by mre20.* UG comes first; by mae AG comes first", found.here)
    assert "The ranking turns round with the metric" in found.here
    said = sentences.about_ranking(found)
    assert re.search(r"<li>.*UG is ahead of AG by mre20, mreRho and median.* but AG", said)
    assert "Over epsilon 0.1 to 10" in said
    assert found.ranks[0].scores["mae"].error > 0


def test_by_another_metric_another_one_stands_on_top() -> None:
    asked = question(metric="mae")
    found = find(asked, kept(asked))
    assert [row.series.name for row in found.ranks] == ["AG", "UG"]
    assert [stick.name for stick in found.sticks] == ["AG", "UG"]


def test_a_sweep_that_is_half_done_ranks_on_the_dice_that_all_have() -> None:
    asked = question()
    half = kept(asked, lambda task: task.mechanism == "ag" and task.seed > 1)
    found = find(asked, half)
    assert len(found.curves) == 2
    assert found.seeds == 2
    # Dice 0 and 1 alone: UG's other two would raise the mean.
    assert found.ranks[0].scores["mreRho"].value == pytest.approx(10 * 1.005)


def test_another_metric_and_another_release_take_the_ranking_over(monkeypatch) -> None:
    asked = question()
    half = kept(asked, lambda task: task.seed == 3)
    first = find(asked, half)
    ranked = []
    real = findings.scores
    monkeypatch.setattr(findings, "scores", lambda *args: ranked.append(args) or real(*args))
    again = find(question(metric="mae"), half, first)
    assert not ranked
    assert [row.series.name for row in again.ranks] == ["AG", "UG"]
    assert (again.here, again.overall) == (first.here, first.overall)
    # One repetition more at another epsilon leaves the ranking at this one as it is.
    more = kept(asked, lambda task: task.seed == 3 and (task.epsilon, task.mechanism) != (1, "ug"))
    assert find(asked, more, first).ranks == first.ranks
    assert not ranked
    assert find(asked, kept(asked), first).here != first.here
    assert ranked


def test_epsilons_that_are_missing_are_left_out_of_a_curve() -> None:
    asked = question()
    found = find(asked, kept(asked, lambda task: task.epsilon == 1.0))
    assert [list(curve.x) for curve in found.curves] == [[0.1, 10.0]] * 2
    assert (found.seeds, found.overall) == (0, "")
    assert "–" in sentences.curve_table(found)


def test_one_seed_cannot_tell_chance_from_merit() -> None:
    asked = question()
    found = find(asked, kept(asked, lambda task: task.seed > 0))
    assert "no telling chance from merit" in found.here


def test_nothing_yet_is_said_in_words() -> None:
    found = find(question(), Kept())
    assert not found.curves
    assert sentences.about_curves(found) == sentences.NOTHING
    assert "epsilon 0.1" in sentences.about_sticks(found)
    assert sentences.NOTHING in sentences.about_ranking(found)
    assert find(Question(MATRIX, [], EPSILONS, 2, None, "mae", 0.1), Kept()).ranks == []


def test_sentences_and_tables_state_the_figures() -> None:
    asked = question()
    found = find(asked, kept(asked))
    said = sentences.about_curves(found)
    assert "2,000 random rectangles" in said
    assert "at epsilon 0.1 UG is lowest with 10.1" in said
    assert "AG highest with 20.3" in said
    assert "half of the answers by UG are within 5.08" in sentences.about_sticks(found)
    for table in (
        sentences.curve_table(found),
        sentences.stick_table(found),
        sentences.ranking_table(found),
        sentences.bias_table(found),
    ):
        assert table.count("<tr>") == 3
        assert '<th scope="row">' in table


def test_the_bias_is_the_mean_over_the_dice_with_its_error() -> None:
    asked = question()
    found = find(asked, kept(asked))
    # UG's are 10, 10.1, 10.2 and 10.3: see `figures`.
    np.testing.assert_allclose(found.ranks[0].biases, [10, 10.1, 10.2, 10.3])
    said = sentences.bias_table(found)
    assert "+10.2 <small>±0.065</small>" in said
    assert f"{10.15 / np.std([0, 0.1, 0.2, 0.3], ddof=1):+.2f}" in said


def test_an_exact_answer_does_not_win_the_geometric_mean() -> None:
    asked = question()
    store = Kept()
    for task in plan([each.mechanism for each in asked.series], EPSILONS, asked.seeds):
        values = {name: figures(task.mechanism, task.epsilon, task.seed, name) for name in names()}
        if task.mechanism == "ag" and task.epsilon == 10:
            values = dict.fromkeys(names(), 0.0)
        store.add(MATRIX, Run(task, "", {"random": values}, 7, 0.5, "", "", ""), [QUESTIONS])
    found = find(asked, store)
    assert re.match("Over epsilon 0.1 to 1, by mre20.* UG comes first", found.overall)
