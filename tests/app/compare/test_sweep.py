"""A sweep in the background: progress, cancel, one at a time, results kept."""

import asyncio
import time

import pytest

from explorer.app.compare import sweep as module
from explorer.app.compare.kept import Kept
from explorer.app.compare.sweep import Order, Sweep
from explorer.app.state.measures import asked
from explorer.app.work import job
from explorer.errors import InputError
from explorer.evaluate import evaluate, plan, workload
from tests.helpers import city


@pytest.fixture(scope="module")
def matrix():
    return city((32, 32), 4000)


def order(matrix, mechanisms=("ug", "uniform"), epsilons=(0.1, 1.0), seeds=2) -> Order:
    workloads = asked(matrix.grid, [], ["random", "sq2"])
    return Order(matrix, plan(mechanisms, epsilons, seeds), workloads, workloads)


def test_results_are_those_of_evaluate(matrix) -> None:
    kept = Kept()
    sweep = Sweep(lambda: None, pytest.fail, kept)
    wanted = order(matrix)
    sweep.start(wanted)
    assert (sweep.phase, sweep.done, sweep.asked) == ("finished", 8, 8)
    questions = workload("random", matrix.shape)
    table = evaluate(matrix, ["ug", "uniform"], [0.1, 1.0], [questions], 2, jobs=1)
    expected = table[table.metric == "mae"].set_index(["mechanism", "epsilon", "seed"]).value
    for task in wanted.tasks:
        result = kept.find(matrix, task, questions)
        assert result.figures["mae"] == expected[task.mechanism, task.epsilon, task.seed]


def test_what_is_there_is_not_drawn_again(matrix, monkeypatch) -> None:
    kept = Kept()
    Sweep(lambda: None, pytest.fail, kept).start(order(matrix))
    drawn = []
    real = module.runs

    def counted(matrix, tasks, *rest, **named):
        drawn.append(len(tasks))
        return real(matrix, tasks, *rest, **named)

    monkeypatch.setattr(module, "runs", counted)
    again = Sweep(lambda: None, pytest.fail, kept)
    again.start(order(matrix))
    assert (again.phase, drawn) == ("finished", [])
    again.start(order(matrix, seeds=3))
    assert drawn == [4]


def test_the_oldest_results_go_first(matrix) -> None:
    kept = Kept(most=4)
    wanted = order(matrix)
    Sweep(lambda: None, pytest.fail, kept).start(wanted)
    assert len(kept.missing(matrix, wanted.tasks, wanted.workloads)) == 6


def in_a_loop(doing) -> None:
    asyncio.run(doing())


def test_the_page_is_told_while_it_runs_and_the_loop_stays_free(matrix, monkeypatch) -> None:
    monkeypatch.setattr(job, "LOOK", 0.02)
    seen: list[int] = []
    turns = 0

    async def run() -> None:
        nonlocal turns
        sweep = Sweep(lambda: seen.append(sweep.done), pytest.fail, Kept())
        sweep.start(order(matrix, ("ug", "ag", "htf"), seeds=12))
        assert sweep.job.busy
        with pytest.raises(InputError, match="A sweep is running"):
            sweep.start(order(matrix))
        while sweep.job.busy:
            await asyncio.sleep(0.005)
            turns += 1
        await sweep.job.wait()
        assert sweep.phase == "finished"

    in_a_loop(run)
    assert seen == sorted(seen)
    assert seen[-1] == 72
    assert len(set(seen)) > 3
    assert turns > 10


def test_cancel_keeps_what_is_finished(matrix, monkeypatch) -> None:
    monkeypatch.setattr(job, "LOOK", 0.02)
    kept = Kept()

    async def run() -> None:
        sweep = Sweep(lambda: None, pytest.fail, kept)
        wanted = order(matrix, ("htf", "ag"), seeds=200)
        sweep.start(wanted)
        while sweep.done < 3:
            await asyncio.sleep(0.005)
        started = time.monotonic()
        sweep.cancel()
        assert sweep.phase == "cancelled"
        await sweep.job.wait()
        assert time.monotonic() - started < 5
        left = kept.missing(matrix, wanted.tasks, wanted.workloads)
        assert len(left) == sweep.asked - sweep.done

    in_a_loop(run)


def test_a_second_visitor_waits_and_may_give_up(matrix) -> None:
    async def run() -> None:
        first, waiting = (Sweep(lambda: None, pytest.fail, Kept()) for _ in range(2))
        first.start(order(matrix, ("htf", "ag"), seeds=200))
        while not first.done:
            await asyncio.sleep(0.005)
        waiting.start(order(matrix))
        await asyncio.sleep(0.05)
        assert waiting.phase == "waiting"
        waiting.cancel()
        first.cancel()
        await waiting.job.wait()
        assert (waiting.phase, waiting.done) == ("cancelled", 0)

    in_a_loop(run)


def test_a_failure_is_a_sentence_and_the_next_sweep_begins(matrix, monkeypatch) -> None:
    def broken(*_args, **_named):
        raise InputError("A worker process ended before its time.")
        yield

    said: list[str] = []
    sweep = Sweep(lambda: None, said.append, Kept())
    with monkeypatch.context() as patched:
        patched.setattr(module, "runs", broken)
        sweep.start(order(matrix))
    assert (sweep.phase, said) == ("failed", ["A worker process ended before its time."])
    sweep.start(order(matrix))
    assert (sweep.phase, sweep.done) == ("finished", 8)


def test_without_processes_it_goes_on_in_a_thread(monkeypatch) -> None:
    real = module.runs
    asked_for = []

    def without(matrix, tasks, workloads, *, jobs, cancel):
        asked_for.append(jobs)
        if jobs != 1:
            raise InputError("A worker process ended before its time.")
        yield from real(matrix, tasks, workloads, jobs=jobs, cancel=cancel)

    monkeypatch.setattr(module, "runs", without)
    sweep = Sweep(lambda: None, pytest.fail, Kept())
    sweep.start(order(city((160, 160), 4000)))
    assert (sweep.phase, sweep.done, asked_for) == ("finished", 8, [None, 1])


@pytest.mark.slow
def test_larger_maps_run_in_processes(monkeypatch) -> None:
    matrix = city((160, 160), 4000)
    jobs = []
    real = module.runs

    def noted(*args, **named):
        jobs.append(named["jobs"])
        return real(*args, **named)

    monkeypatch.setattr(module, "runs", noted)
    sweep = Sweep(lambda: None, pytest.fail, Kept())
    sweep.start(order(matrix))
    assert (sweep.phase, sweep.done, jobs) == ("finished", 8, [None])
