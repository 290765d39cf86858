"""A sweep in the background, and its curves, candlesticks, ranking and findings."""

import asyncio
import re

import numpy as np
import pytest

from explorer.app.compare import findings
from explorer.app.compare import sweep as module
from explorer.app.compare.findings import Question, find
from explorer.app.compare.sweep import Kept, Order, Sweep, asked, series_of
from explorer.app.state import CompareState
from explorer.app.work import job
from explorer.errors import InputError
from explorer.evaluate import Run, evaluate, plan, workload
from explorer.evaluate.metrics import names
from explorer.points.matrix import FrequencyMatrix
from tests.helpers import city

TOWN = city((32, 32), 4000)


def order(matrix=TOWN, mechanisms=("ug", "uniform"), epsilons=(0.1, 1.0), seeds=2) -> Order:
    workloads = asked(matrix.grid, [], ["random", "sq2"])
    return Order(matrix, plan(mechanisms, epsilons, seeds), workloads, workloads)


@pytest.fixture
def runs(monkeypatch) -> list[dict]:
    """What was asked for whenever runs were drawn."""
    calls, real = [], module.runs

    def noted(matrix, tasks, workloads, **more):
        calls.append({"tasks": len(tasks), **more})
        return real(matrix, tasks, workloads, **more)

    monkeypatch.setattr(module, "runs", noted)
    return calls


def test_results_are_those_of_evaluate_and_kept(runs) -> None:
    kept, wanted = Kept(), order()
    sweep = Sweep(lambda: None, pytest.fail, kept)
    sweep.start(wanted)
    assert (sweep.phase, sweep.done, sweep.asked) == ("finished", 8, 8)
    questions = workload("random", TOWN.shape)
    table = evaluate(TOWN, ["ug", "uniform"], [0.1, 1.0], [questions], 2, jobs=1)
    expected = table[table.metric == "mae"].set_index(["mechanism", "epsilon", "seed"]).value
    for task in wanted.tasks:
        result = kept.find(TOWN, task, questions)
        assert result.figures["mae"] == expected[task.mechanism, task.epsilon, task.seed]
    again = Sweep(lambda: None, pytest.fail, kept)
    again.start(order())
    again.start(order(seeds=3))
    assert [call["tasks"] for call in runs] == [8, 4], "what is there is not drawn again"
    few = Kept(most=4)
    Sweep(lambda: None, pytest.fail, few).start(wanted)
    assert len(few.missing(TOWN, wanted.tasks, wanted.workloads)) == 6


def test_it_tells_the_page_while_it_runs_and_cancelled_keeps_what_is_finished(monkeypatch) -> None:
    monkeypatch.setattr(job, "LOOK", 0.02)
    seen: list[int] = []
    kept, wanted = Kept(), order(mechanisms=("htf", "ag"), seeds=200)

    async def run() -> None:
        sweep = Sweep(lambda: seen.append(sweep.done), pytest.fail, kept)
        waiting = Sweep(lambda: None, pytest.fail, Kept())
        sweep.start(wanted)
        with pytest.raises(InputError, match="A sweep is running"):
            sweep.start(order())
        while len(set(seen)) < 4:
            await asyncio.sleep(0.005)
        # A second visitor waits and may give up.
        waiting.start(order())
        await asyncio.sleep(0.05)
        assert waiting.phase == "waiting"
        waiting.cancel()
        sweep.cancel()
        assert sweep.phase == "cancelled"
        await sweep.job.wait()
        await waiting.job.wait()
        assert (waiting.phase, waiting.done) == ("cancelled", 0)
        left = kept.missing(TOWN, wanted.tasks, wanted.workloads)
        assert len(left) == sweep.asked - sweep.done > 0

    asyncio.run(run())
    assert seen == sorted(seen)


def test_a_failure_is_a_sentence_and_the_next_sweep_begins(monkeypatch) -> None:
    def broken(*_args, **_named):
        raise InputError("A worker process ended before its time.")
        yield

    said: list[str] = []
    sweep = Sweep(lambda: None, said.append, Kept())
    with monkeypatch.context() as patched:
        patched.setattr(module, "runs", broken)
        sweep.start(order())
    assert (sweep.phase, said) == ("failed", ["A worker process ended before its time."])
    sweep.start(order())
    assert (sweep.phase, sweep.done) == ("finished", 8)


def test_without_processes_it_goes_on_in_a_thread(monkeypatch) -> None:
    real, jobs_of = module.runs, []

    def without(matrix, tasks, workloads, *, jobs, cancel):
        jobs_of.append(jobs)
        if jobs != 1:
            raise InputError("A worker process ended before its time.")
        yield from real(matrix, tasks, workloads, jobs=jobs, cancel=cancel)

    monkeypatch.setattr(module, "runs", without)
    sweep = Sweep(lambda: None, pytest.fail, Kept())
    sweep.start(order(city((160, 160), 4000)))
    assert (sweep.phase, sweep.done, jobs_of) == ("finished", 8, [None, 1])


@pytest.mark.slow
def test_larger_maps_run_in_processes(runs) -> None:
    sweep = Sweep(lambda: None, pytest.fail, Kept())
    sweep.start(order(city((160, 160), 4000)))
    assert (sweep.phase, sweep.done) == ("finished", 8)
    assert [call["jobs"] for call in runs] == [None]


# From runs to what is said of them, on figures made by hand.

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


def kept(asked: Question, leave_out=lambda _task: False, is_exact=lambda _task: False) -> Kept:
    store = Kept()
    for task in plan([each.mechanism for each in asked.series], EPSILONS, asked.seeds):
        if not leave_out(task):
            values = {
                name: figures(task.mechanism, task.epsilon, task.seed, name) for name in names()
            }
            values = dict.fromkeys(values, 0.0) if is_exact(task) else values
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
    said = findings.about_ranking(found)
    assert re.search(r"<li>.*UG is ahead of AG by mre20, mreRho and median.* but AG", said)
    assert "Over epsilon 0.1 to 10" in said
    assert found.ranks[0].scores["mae"].error > 0


def test_a_sweep_that_is_half_done_ranks_on_the_seeds_that_all_have() -> None:
    asked = question()
    half = kept(asked, lambda task: task.mechanism == "ag" and task.seed > 1)
    found = find(asked, half)
    assert len(found.curves) == 2
    assert found.seeds == 2
    # Seeds 0 and 1 alone: UG's other two would raise the mean.
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


def test_the_bias_is_the_mean_over_the_seeds_with_its_error() -> None:
    asked = question()
    found = find(asked, kept(asked))
    # UG's are 10, 10.1, 10.2 and 10.3: see `figures`.
    np.testing.assert_allclose(found.ranks[0].biases, [10, 10.1, 10.2, 10.3])
    said = findings.bias_table(found)
    assert "+10.2 <small>±0.065</small>" in said
    assert f"{10.15 / np.std([0, 0.1, 0.2, 0.3], ddof=1):+.2f}" in said


def test_an_exact_answer_does_not_win_the_geometric_mean() -> None:
    asked = question()
    store = kept(asked, is_exact=lambda task: task.mechanism == "ag" and task.epsilon == 10)
    found = find(asked, store)
    assert re.match("Over epsilon 0.1 to 1, by mre20.* UG comes first", found.overall)
