"""Evaluation: plans, runs in this process and in others, paired noise, cancel, resume, tables."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from explorer import FrequencyMatrix, InputError, QuadTree, Uniform, exact
from explorer.cli import main
from explorer.evaluate import (
    Store,
    biases,
    evaluate,
    metrics,
    plan,
    ranking,
    results,
    runs,
    tidy,
    verdict,
    workload,
    workloads,
)
from tests.helpers import city

MATRIX = city((32, 32), 4000)
ASKED = workloads(["random", "q4"], MATRIX.shape, n=50)


def without_time(table):
    order = ["task", "workload", "metric"]
    return table.drop(columns="seconds").sort_values(order).reset_index(drop=True)


# Plans


def test_a_plan_is_every_combination_seed_by_seed():
    tasks = plan(["uniform", "htf"], [0.1, 1], 3, sweep=("stop_count", [10, 50]))
    assert len(tasks) == 3 * 2 * (1 + 2)
    assert [task.seed for task in tasks] == [0] * 6 + [1] * 6 + [2] * 6
    first = [
        (t.mechanism, json.loads(t.parameters).get("stop_count"), t.epsilon) for t in tasks[:6]
    ]
    assert first == [
        ("uniform", None, 0.1),
        ("uniform", None, 1.0),
        ("htf", 10, 0.1),
        ("htf", 10, 1.0),
        ("htf", 50, 0.1),
        ("htf", 50, 1.0),
    ]


@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        ({"mechanisms": ["htm"]}, "no mechanism 'htm'"),
        ({"mechanisms": ["uniform"], "sweep": ("T", [1])}, "None of the mechanisms"),
        ({"mechanisms": ["htf"], "sweep": ("T", [])}, "no values"),
        ({"mechanisms": ["htf"], "sweep": ("T", [0])}, "T is 0"),
        ({"mechanisms": ["htf"], "sweep": ("epsilon", [1])}, "give its values as epsilons"),
        ({"mechanisms": ["htf"], "epsilons": [0]}, "Epsilon is 0"),
        ({"mechanisms": ["htf"], "seeds": 0}, "nothing to evaluate"),
        ({"mechanisms": []}, "nothing to evaluate"),
    ],
)
def test_what_cannot_be_planned_is_refused(how, sentence):
    with pytest.raises(InputError, match=sentence):
        plan(**how)


# Runs


def test_figures_are_those_of_the_release_itself():
    table = evaluate(MATRIX, ["quadtree"], [0.5], ASKED, [4], jobs=1)
    release = QuadTree(epsilon=0.5).release(MATRIX, rng=4)
    for each in ASKED:
        asked = MATRIX.grid.from_cells(each.boxes)
        private = release.answer(asked).value
        wanted = metrics.measure(exact(MATRIX, asked), private, MATRIX.total)
        rows = table[table.workload == each.name]
        found = dict(zip(rows.metric, rows.value, strict=True))
        assert found == pytest.approx(wanted, rel=1e-9, abs=1e-7)
    assert set(table.leaves) == {release.n_leaves}


def test_processes_and_this_process_give_the_same_figures(tmp_path):
    how = (["htf", "ag", "mosaic"], [0.1, 1], ASKED, 2)
    here = evaluate(MATRIX, *how, jobs=1)
    there = evaluate(MATRIX, *how, jobs=2, folder=tmp_path / "runs")
    pd.testing.assert_frame_equal(without_time(here), without_time(there))
    assert len(list((tmp_path / "runs").iterdir())) == 12


def test_the_same_seed_throws_the_same_dice_at_every_epsilon():
    # Uniform's one draw at epsilon 0.5 has half the scale of that at 0.25, up to whole numbers.
    asked = [workload("total", MATRIX.shape)]
    table = evaluate(MATRIX, [Uniform()], [0.25, 0.5], asked, 40, jobs=1)
    error = table[table.metric == "bias"].pivot(index="seed", columns="epsilon", values="value")
    # floor(log u / log q) scales with 1 / epsilon; each rounding moves it by less than one.
    assert (error[0.25] - 2 * error[0.5]).abs().max() <= 3
    assert error[0.5].std() > 1


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_cancel_keeps_what_is_finished_and_stops(tmp_path, jobs):
    stop = threading.Event()
    tasks = plan(["htf"], [0.1], 60)
    store = Store(tmp_path)
    done = []
    for run in runs(MATRIX, tasks, ASKED, jobs=jobs, store=store, cancel=stop):
        done.append(run)
        if len(done) == 3:
            stop.set()
    # Those that were ready together with the third may still come, on a busy machine many.
    assert 3 <= len(done) < len(tasks) - 10
    assert len(list(tmp_path.iterdir())) == len(done)
    rest = list(runs(MATRIX, tasks, ASKED, jobs=1, store=store))
    assert {run.task for run in rest} == set(tasks)
    # What was finished is read and not done again: its time is the one that was measured then.
    seconds = {run.task: run.seconds for run in rest}
    assert all(seconds[run.task] == run.seconds for run in done)


PARENT = """
import multiprocessing, time
from explorer.evaluate import plan, runs, workloads
from tests.helpers import city

if __name__ == "__main__":
    asked = workloads(["random"], (32, 32), n=50)
    flow = runs(city((32, 32), 4000), plan(["uniform"], [0.1], 10**6), asked, jobs=2)
    next(flow)
    print(*(child.pid for child in multiprocessing.active_children()), flush=True)
    time.sleep(600)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="processes in /proc")
def test_workers_end_with_the_process_that_began_them(tmp_path):
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    parent = subprocess.Popen(
        [sys.executable, str(script)],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])},
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    try:
        assert parent.stdout is not None
        workers = [int(pid) for pid in parent.stdout.readline().split()]
        assert len(workers) == 2
        parent.kill()
        parent.wait(60)
        patience = time.monotonic() + 60
        while any(_runs(pid) for pid in workers) and time.monotonic() < patience:
            time.sleep(0.05)
        assert not any(_runs(pid) for pid in workers)
    finally:
        parent.kill()
        parent.wait()


def _runs(pid):
    """Whether a process has not ended; one that no process waits for stays in the table."""
    status = Path(f"/proc/{pid}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z"


def test_a_worker_that_is_killed_is_one_sentence_and_what_is_finished_stays(tmp_path):
    import multiprocessing

    before = set(multiprocessing.active_children())
    tasks, store, done = plan(["uniform"], [0.1], 400), Store(tmp_path), []
    flow = runs(MATRIX, tasks, ASKED, jobs=2, store=store)
    done += [next(flow), next(flow), next(flow)]
    (set(multiprocessing.active_children()) - before).pop().kill()
    with pytest.raises(InputError, match="A worker process was stopped") as said:
        done.extend(flow)
    assert "\n" not in str(said.value)
    assert set(multiprocessing.active_children()) <= before
    assert 3 <= len(done) < len(tasks)
    again = runs(MATRIX, [run.task for run in done], ASKED, jobs=1, store=store)
    assert [run.seconds for run in again] == [run.seconds for run in done]
    assert not list(tmp_path.glob(".part.*"))


# Tables


@pytest.mark.parametrize("ending", [".parquet", ".csv"])
def test_a_table_comes_back_from_its_file(tmp_path, ending):
    # No query of this workload holds a record of an empty map, so one metric is NaN.
    empty = FrequencyMatrix.from_array(np.zeros((8, 8), dtype=int))
    table = evaluate(empty, ["uniform"], [0.3], [workload("total", empty.shape)], 1, jobs=1)
    assert table[table.metric == "mape"].value.isna().all()
    path = tmp_path / f"table{ending}"
    results.write(table, path)
    pd.testing.assert_frame_equal(results.read(path), table)
    back = tidy(results.runs_of(table))
    pd.testing.assert_frame_equal(back, table)


def test_files_that_are_no_tables_are_refused(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    (tmp_path / "b.parquet").write_bytes(b"no")
    for name in ("a.csv", "b.parquet", "c.parquet"):
        with pytest.raises(InputError, match="could not be read as a table of results"):
            results.read(tmp_path / name)
    with pytest.raises(InputError, match=r"\.parquet or \.csv"):
        results.write(tidy([]), tmp_path / "d.xlsx")
    with pytest.raises(InputError, match="cannot be made"):
        Store(tmp_path / "a.csv")


# Rankings: tables written by hand


def by_hand(figures, metric="mae", workload_name="w"):
    """Rows from {(mechanism, epsilon): values by seed}."""
    rows = [
        ("c", name, "{}", epsilon, seed, workload_name, metric, value, 1, 0.0, "v", "d", "t")
        for (name, epsilon), values in figures.items()
        for seed, value in enumerate(values)
    ]
    return pd.DataFrame(rows, columns=list(results.COLUMNS)).astype(results.COLUMNS)


def test_a_score_is_the_geometric_mean_over_cells():
    table = by_hand(
        {("a", 0.1): [3, 5], ("a", 1.0): [9, 9], ("b", 0.1): [1, 1], ("b", 1.0): [1, 1]}
    )
    found = ranking(table, "mae")
    assert list(found.index) == ["b", "a"]
    assert found.loc["a", 0.1] == pytest.approx(4)
    assert found.loc["a", 1.0] == pytest.approx(9)
    assert found.loc["a", "score"] == pytest.approx(6)
    assert found.loc["a", "times_best"] == pytest.approx(6)
    # u = (3/4 + 1)/2 and (5/4 + 1)/2: sd 0.25 / sqrt 2, error of the log 0.125.
    assert found.loc["a", "error"] == pytest.approx(6 * 0.125)
    assert found.loc["b", "error"] == 0


def test_unfinished_evaluations_are_not_ranked():
    table = by_hand({("a", 0.1): [1, 2], ("b", 0.1): [1]})
    with pytest.raises(InputError, match="finish the evaluation"):
        ranking(table, "mae")
    with pytest.raises(InputError, match="cannot be ranked"):
        ranking(table, "bias")
    with pytest.raises(InputError, match="no finished runs"):
        ranking(tidy([]), "mae")
    for asked in ([], [ASKED[0], ASKED[0]]):
        with pytest.raises(InputError, match="no name twice"):
            evaluate(MATRIX, ["uniform"], [1], asked, 1, jobs=1)


def both(first, second):
    return pd.concat([by_hand(first, "mre20"), by_hand(second, "mae")], ignore_index=True)


def test_the_verdict_says_when_the_ranking_turns_round():
    a, b = [1.0, 1.01, 0.99, 1.0], [2.0, 2.02, 1.98, 2.0]
    turned = both({("a", 1): a, ("b", 1): b}, {("a", 1): b, ("b", 1): a})
    said = verdict(turned, ("mre20", "mae"))
    assert said.startswith("By mre20 a comes first; by mae b comes first.")
    assert "turns round with the metric: a is ahead of b by mre20 (1.00 against 2.00)" in said
    noisy = both(
        {("a", 1): [1, 3, 2, 2.0], ("b", 1): [3, 1, 2, 2.2]},
        {("a", 1): [3, 1, 2, 2.2], ("b", 1): [1, 3, 2, 2.0]},
    )
    assert "No two change places" in verdict(noisy, ("mre20", "mae")), "within chance"
    one = both({("a", 1): [1, 2]}, {("a", 1): [1, 2]})
    assert verdict(one, ("mre20", "mae")) == "One mechanism alone cannot be ranked."
    single = both({("a", 1): [1], ("b", 1): [2]}, {("a", 1): [2], ("b", 1): [1]})
    assert "two or more" in verdict(single, ("mre20", "mae"))
    alike = both({("a", 1): a, ("b", 1): b}, {("a", 1): a, ("b", 1): b})
    assert verdict(alike, ("mre20", "mae")) == (
        "By mre20 and mae a comes first. No two change places with the metric by more than chance."
    )


def test_paired_dice_show_a_difference_that_separate_ones_would_hide():
    # Both swing by a factor of nine, together; one is always 20 % above the other.
    swing = np.array([1, 9, 3, 5.0])
    table = both({("a", 1): swing, ("b", 1): 1.2 * swing}, {("a", 1): 1.2 * swing, ("b", 1): swing})
    assert "turns round" in verdict(table, ("mre20", "mae"))


# Bias


def test_biases_by_hand():
    found = biases(by_hand({("a", 1): [4.0, 6.0, 8.0]}, "bias", "total")).iloc[0]
    assert (found.bias, found.sd, found.seeds) == (6.0, 2.0, 3)
    assert found.error == pytest.approx(2 / np.sqrt(3))
    assert found.bias_in_sd == 3.0


@pytest.mark.statistical
def test_an_unbiased_total_has_the_spread_of_its_one_draw():
    asked = [workload(name, MATRIX.shape) for name in ("total", "sq10")]
    found = biases(evaluate(MATRIX, [Uniform()], [0.5], asked, 200, jobs=1))
    total = found.set_index("workload").loc["total"]
    # Discrete Laplace of epsilon 0.5 has variance 1 / (2 sinh(1/4)^2); the mean of 200 lies within
    # four standard errors, and so does the standard deviation (relative error sqrt(5 / 800), since
    # a Laplace law's kurtosis is 6).
    sd = np.sqrt(0.5) / np.sinh(0.25)
    assert abs(total.bias) < 4 * sd / np.sqrt(200)
    assert total.sd == pytest.approx(sd, rel=4 * np.sqrt(5 / 800))
    # A map without form is wrong about squares by far more than its noise.
    assert abs(found.set_index("workload").loc["sq10"].bias_in_sd) > 10


# The command


@pytest.fixture
def matrix_file(tmp_path):
    path = tmp_path / "towns.npy"
    np.save(path, MATRIX.counts)
    return path


def command(path, *more):
    names = ["--mechanisms", "uniform,quadtree", "--epsilon", "0.5", "1", "--jobs", "1"]
    return main(["evaluate", str(path), *names, *more])


def test_the_command_ranks_and_writes(matrix_file, tmp_path, capsys):
    out = tmp_path / "table.csv"
    assert command(matrix_file, "--seeds", "2", "--workload", "htf", "-o", str(out)) == 0
    text = capsys.readouterr().out
    lines = text.splitlines()
    assert lines[0].split() == [
        "mre20",
        "epsilon",
        "0.5",
        "epsilon",
        "1",
        "all",
        "+-",
        "times",
        "best",
    ]
    # A map without form is worse than a tree by any of the three.
    assert [line.split()[0] for line in lines[1:3]] == ["quadtree", "uniform"]
    assert "By mre20, mreRho and mae quadtree comes first" in text
    table = results.read(out)
    assert table.task.nunique() == 8
    assert set(table.workload) == {"random", "sq2", "sq6", "sq10"}
    assert set(table.city) == {"towns"}
    assert not (tmp_path / "table.runs").exists()


def test_an_interrupted_evaluation_goes_on(matrix_file, tmp_path, capsys, monkeypatch):
    out = tmp_path / "table.parquet"
    plan_of = QuadTree.plan

    def interrupt(self, curator):
        if self.epsilon == 1:
            raise KeyboardInterrupt
        return plan_of(self, curator)

    with monkeypatch.context() as patch:
        patch.setattr(QuadTree, "plan", interrupt)
        assert command(matrix_file, "--seeds", "2", "-o", str(out)) == 130
    assert "of 8 runs are kept; go on with --resume" in capsys.readouterr().err
    assert not out.exists()
    assert command(matrix_file, "--seeds", "2", "-o", str(out)) == 2
    assert "interrupted evaluation" in capsys.readouterr().err
    assert command(matrix_file, "--seeds", "2", "-o", str(out), "--resume") == 0
    assert results.read(out).task.nunique() == 8
    assert sorted(each.name for each in tmp_path.iterdir()) == ["table.parquet", "towns.npy"]
