"""Claims of the papers: the rules of verdicts, the maps, the table, and the way to a report."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from explorer import HTF, InputError
from explorer.cli import main
from explorer.evaluate.tasks import Task
from explorer.papers import CLAIMS, Bench, Report, check, claims
from explorer.papers import verdicts as v

# Ten seeds whose errors scatter by 5 %, and the same with noise of their own.
DICE = 1 + 0.05 * np.array([1, -1, 2, -2, 0.5, -0.5, 1.5, -1.5, 0, 0])
OTHER = DICE[::-1]


@pytest.fixture
def no_data(monkeypatch, tmp_path):
    """The catalogue without any real city."""
    monkeypatch.setenv("EXPLORER_DATA", str(tmp_path))


# Verdicts


def test_a_ratio_is_that_of_the_means_with_paired_errors():
    value, moves = v.ratio(2 * DICE, 4 * DICE)
    assert value == pytest.approx(0.5)
    assert moves == pytest.approx(np.zeros(10))
    value, moves = v.ratio(2 * DICE, 4 * OTHER)
    # sd(a) and sd(b) are 0.05 sd of the ten numbers; moves are their difference.
    assert np.std(moves) == pytest.approx(np.std(DICE - OTHER))


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        (v.smaller("", 1.0 * DICE, 1.2 * OTHER), 1),
        (v.smaller("", 1.2 * DICE, 1.0 * OTHER), -1),
        (v.smaller("", 1.0 * DICE, 1.01 * OTHER), 0),
        # With the same noise on both sides a hundredth is enough.
        (v.smaller("", 1.0 * DICE, 1.01 * DICE), 1),
        # Two seeds prove little.
        (v.smaller("", np.array([1.0, 1.1]), np.array([1.5, 1.3])), 0),
        (v.below("", 1.05 * DICE, DICE, 1.1), 1),
        (v.below("", 1.12 * DICE, OTHER, 1.1), 0),
        (v.below("", 1.3 * DICE, OTHER, 1.1), -1),
        (v.between("", 0.8 * DICE, OTHER, 0.75, 1), 1),
        (v.between("", 1.5 * DICE, OTHER, 0.75, 1), -1),
        (v.between("", 1.01 * DICE, OTHER, 0.75, 1), 0),
        (v.alike("", [DICE, 1.3 * DICE, 1.02 * DICE]), -1),
        (v.near_best("", 1.05 * DICE, [DICE, 2 * DICE]), 1),
        (v.near_best("", 1.5 * DICE, [DICE, 2 * DICE]), -1),
        (v.hollow("", (1, 2, 3, 4), [3 * DICE, DICE, 1.1 * DICE, 2 * DICE]), 1),
        (v.hollow("", (1, 2, 3), [3 * DICE, 2 * DICE, DICE]), -1),
        (v.hollow("", (1, 2, 3), [DICE, DICE, DICE]), 0),
    ],
)
def test_cells_speak_only_beyond_chance(cell, says):
    assert cell.says == says


def finding(*says, value=2.0, sense=0):
    return v.Outcome(
        "", tuple(v.Comparison("", value, DICE - 1, each) for each in says), sense=sense
    )


@pytest.mark.parametrize(
    ("says", "verdict"),
    [
        ((1, 1), "holds"),
        ((1, 0), "holds"),
        ((1, 0, 0), "mixed"),
        ((1, 1, 1, -1), "mixed"),
        ((1, -1), "does not hold"),
        ((-1, 0), "does not hold"),
        ((0, 0), "cannot be told"),
        ((), "cannot be told"),
    ],
)
def test_verdicts(says, verdict):
    assert finding(*says).verdict == verdict


def test_all_cells_together_speak_where_each_alone_is_open():
    assert finding(0, 0, value=0.8, sense=-1).verdict == "holds"
    assert finding(0, 0, value=1.2, sense=-1).verdict == "does not hold"
    assert finding(0, 0, value=1.2, sense=1).verdict == "holds"
    assert finding(0, 0, value=1.001, sense=-1).verdict == "cannot be told"
    # They never outvote a cell that speaks.
    assert finding(1, 0, 0, value=1.2, sense=-1).verdict == "mixed"
    assert finding(-1, 0, 0, value=0.8, sense=-1).verdict == "mixed"


# Maps


# The table and the bench


class Invented(Bench):
    """Answers at random and notes what it is asked for."""

    def __init__(self, seed):
        super().__init__(quick=True, seeds=3)
        self.rng = np.random.default_rng(seed)
        self.noted = set()

    def errors(self, data, made, workload="random", metric="mre20"):
        if self._planning:
            return super().errors(data, made, workload, metric)
        self.noted |= {(data, Task.of(made, seed)) for seed in range(self.seeds)}
        return self.rng.uniform(0.1, 2, self.seeds)


@pytest.mark.usefixtures("no_data")
def test_what_a_claim_asks_for_does_not_depend_on_the_answers():
    for seed in (1, 2):
        bench = Invented(seed)
        wanted = bench.plan([claim.judge for claim in CLAIMS])
        for claim in CLAIMS:
            found = claim.judge(bench)
            assert found.cells
            assert found.meaning
            assert np.isfinite(found.value)
        planned = {(data, task) for data, tasks in bench.asked.items() for task in tasks}
        assert bench.noted == planned
        assert len(planned) == wanted


@pytest.mark.usefixtures("no_data")
def test_the_bench_gives_the_figures_of_its_runs():
    bench = Bench(quick=True, seeds=2)
    made = HTF(epsilon=0.1)
    bench.asked = {"madeup": dict.fromkeys(Task.of(made, seed) for seed in range(2))}
    told = []
    bench.run(jobs=1, progress=told.append)
    assert told == [0.5, 1.0]
    sizes = [bench.errors("madeup", made, f"q{i}", "mae") for i in range(1, 7)]
    assert bench.errors("madeup", made, "ag", "mae") == pytest.approx(np.mean(sizes, axis=0))
    assert (bench.errors("madeup", made, metric="seconds") > 0).all()
    with pytest.raises(InputError, match="2 or more"):
        Bench(seeds=1)


@pytest.mark.slow
@pytest.mark.usefixtures("no_data")
def test_from_claims_to_a_report_and_back(tmp_path):
    report = check(
        claims(["alpha-75", "quadtree-height", "height-rule"]), quick=True, seeds=3, jobs=1
    )
    assert list(report.maps) == ["madeup"]
    table = report.table()
    assert list(table.index) == ["alpha-75", "quadtree-height", "height-rule"]
    # Too low and too high quadtrees are far worse: no chance in it.
    row = report.row("quadtree-height")
    assert row.verdict == "holds"
    assert row.value > 1.2
    assert re.fullmatch(r"[\d.]+ ± [\d.]+ \(6 for, 0 against, 0 open\)", row.figure)
    assert "3 claims checked quick, on less data, 3 seeds each" in report.summary()
    report.save(tmp_path / "report.json")
    assert Report.load(tmp_path / "report.json") == report
    with pytest.raises(InputError, match="no claim 'alpha'"):
        report.row("alpha")


# The command


@pytest.mark.usefixtures("no_data")
def test_the_command_checks_one_claim_in_detail(capsys, tmp_path):
    path = tmp_path / "r.json"
    command = ["papers", "--quick", "--claim", "stop-theory", "--seeds", "2", "--jobs", "1"]
    assert main([*command, "--runs", str(tmp_path / "runs"), "-o", str(path)]) == 0
    text = capsys.readouterr().out
    assert text.startswith("stop-theory (htf-2022, 7.7, Fig. 10d): ")
    assert "comparison" in text
    assert "Port Amber: 218,750 records" in text
    assert json.loads(path.read_text())["rows"][0]["key"] == "stop-theory"
    assert len(list((tmp_path / "runs").iterdir())) == 4
