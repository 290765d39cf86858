"""Claims of the trips paper: the law of one box, what is asked, reports, and the reference."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from explorer.cli import main
from explorer.errors import InputError
from explorer.evaluate.large_grids import grid_answers, parts_of
from explorer.evaluate.tasks import Task
from explorer.evaluate.workloads import TRIP_NAMES, trip_workload
from explorer.mechanisms import EUG, MKM, DAFEntropy, Identity
from explorer.papers import Report, reference
from explorer.papers.trip_bench import AskedTrips, TripBench, runs_on
from explorer.papers.trips import CLAIMS, tables
from explorer.trips.matrix import TripMatrix
from tests.commands.refusals import refusal


@pytest.fixture
def no_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EXPLORER_DATA", str(tmp_path))


def boxes_in(shape: tuple[int, ...], n: int) -> np.ndarray:
    rng = np.random.default_rng(4)
    ends = np.sort(rng.integers(0, np.array(shape) + 1, (2, n, len(shape))), axis=0)
    return ends.transpose(1, 0, 2)


def test_with_hardly_any_noise_the_law_gives_even_parts() -> None:
    shape, parts = (5, 4, 7), (2, 4, 3)
    counts = np.random.default_rng(1).integers(0, 9, shape)
    edges = [np.arange(m + 1) * side // m for side, m in zip(shape, parts, strict=True)]
    even = np.zeros(shape)
    for at in itertools.product(*(range(m) for m in parts)):
        part = tuple(slice(e[i], e[i + 1]) for e, i in zip(edges, at, strict=True))
        even[part] = counts[part].mean()
    boxes = boxes_in(shape, 200)
    wanted = [even[tuple(map(slice, *box))].sum() for box in boxes]
    cells, number = np.argwhere(counts), counts[counts > 0]
    found = grid_answers(cells, number, shape, parts, 60.0, boxes, np.random.default_rng(0))
    assert np.allclose(found, wanted)


def test_the_noise_of_a_cut_box_has_the_variance_of_its_parts() -> None:
    # Along both axes half of the first part, two whole ones, a third of the last.
    shape, parts, n, epsilon = (12, 12), (4, 4), 40_000, 0.5
    weights = np.array([1 / 3, 1.0, 1.0, 2 / 3])
    boxes = np.repeat(np.array([[[2, 2], [11, 11]]]), n, axis=0)
    cells, number = np.array([[11, 11]]), np.array([5])
    found = grid_answers(cells, number, shape, parts, epsilon, boxes, np.random.default_rng(0))
    q = np.exp(-epsilon)
    variance = 2 * q / (1 - q) ** 2 * np.sum(weights**2) ** 2
    truth = 5 * weights[3] ** 2
    assert abs(found.mean() - truth) < 5 * np.sqrt(variance / n)
    # A discrete Laplace number has an excess of kurtosis below 6.
    assert abs(found.var() / variance - 1) < 5 * np.sqrt(8 / n)


def tiny() -> AskedTrips:
    cells = np.random.default_rng(2).integers(0, 6, (3000, 4))
    matrix = TripMatrix.from_coordinates(cells, [6, 6])
    asked = tuple(
        trip_workload(name, matrix.shape, matrix.cells, matrix.multiplicities, 50)
        for name in TRIP_NAMES
    )
    truths = {each.name: matrix.count(each.boxes[:, 0], each.boxes[:, 1]) for each in asked}
    return AskedTrips("tiny", "tiny", matrix, asked, truths)


def test_the_law_stands_in_for_the_grid_that_would_be_drawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trips = tiny()
    for made in (EUG(epsilon=0.7), MKM(epsilon=0.7), Identity(epsilon=0.7)):
        parts, _ = parts_of(made, trips.matrix, 3)
        drawn = made.release(trips.matrix, rng=3)
        assert drawn.n_leaves == np.prod(parts)
        assert drawn.n_leaves == next(runs_on(trips, [Task.of(made, 3)])).leaves
    assert parts_of(DAFEntropy(), trips.matrix, 3) is None
    # With large budgets both answer what even parts hold.
    task = Task.of(MKM(epsilon=10), 1)
    drawn = next(runs_on(trips, [task])).figures
    monkeypatch.setattr("explorer.evaluate.large_grids.MOST_PARTS", 1)
    by_distribution = next(runs_on(trips, [task])).figures
    assert by_distribution["random"]["mae"] == pytest.approx(drawn["random"]["mae"], rel=0.05)


class Pretending(TripBench):
    """Errors from a hat, and what was asked for."""

    def __init__(self, seed: int) -> None:
        super().__init__(quick=True)
        self.said: set[Task] = set()
        self.rng = np.random.default_rng(seed)

    def errors(self, data, made, workload="random", metric="mre20"):
        self.said.add((data, Task.of(made, 0), workload, metric))
        return self.rng.uniform(0.1, 2, self.seeds)


@pytest.mark.usefixtures("no_data")
def test_what_is_asked_does_not_depend_on_the_answers() -> None:
    for judge in (*(claim.judge for claim in CLAIMS), tables):
        benches = [Pretending(seed) for seed in (1, 2)]
        for bench in benches:
            judge(bench)
        assert benches[0].said == benches[1].said


@pytest.mark.usefixtures("no_data")
def test_the_command_checks_a_claim_and_reports(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "report.json"
    line = ["papers", "trips", "--quick", "--claim", "skew", "--seeds", "2", "-o", str(path)]
    assert main(line) == 0
    out = capsys.readouterr().out
    assert out.startswith("skew (trips-2022, 6.2, Fig. 5): ")
    assert "Zipf's law, a = 2.5, 4 axes, 100,000 draws" in out
    report = Report.load(path)
    assert report.row("skew").value < 1
    assert main(["papers", "trips", "--list"]) == 0
    out = capsys.readouterr().out
    assert all(f"{claim.key} (trips-2022, {claim.where})" in out for claim in CLAIMS)
    for arguments, why in {
        ("papers", "trips", "--claim", "htf-grids"): "no claim 'htf-grids': choose some of flat",
        ("papers", "--reference", "x"): "--reference and --set are about trips",
        ("papers", "trips", "--set", "x"): "--set names sets of a reference",
        ("papers", "trips", "--reference", str(path)): "could not be read as reference figures",
        ("papers", "trips", "--seeds", "1", "--quick"): "The number of seeds is 1",
    }.items():
        assert why in refusal(capsys, *arguments)


@pytest.mark.slow
def test_errors_are_those_of_the_reference(
    real_data: Callable[[str], Path],
    reference_data: Callable[[str], Path],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    real_data("nyc_green_taxi_2013-08_raw.parquet")
    path = reference_data("trips/bench_real.json")
    few = {name: reference.MADE[name] for name in ("eug", "ebp", "daf-entropy", "gravity")}
    monkeypatch.setattr(reference, "MADE", few)
    pairs = reference.compare_trips(path, ["nyc:o,d:64"], seeds=5, jobs=1)
    assert len(pairs) == 4 * 4 * 4 * 3
    # A difference of three standard errors of five draws each comes by chance in one of a hundred.
    assert sum(each.no_worse for each in pairs) >= 0.95 * len(pairs)
    # The reference's Gravity had the Mosaic of its day inside, whose errors were larger.
    others = [each for each in pairs if each.what["mechanism"] != "gravity"]
    assert sum(each.within for each in others) >= 0.95 * len(others)
    reference.save(pairs, tmp_path / "pairs.json")
    assert len(json.loads((tmp_path / "pairs.json").read_text())) == len(pairs)
    with pytest.raises(InputError, match="The reference has no sf:o,d:7"):
        reference.compare_trips(path, ["sf:o,d:7"])
