"""Speed of reading, preparing, releasing and answering on eleven million real points.

Measure with `bash tests/run benchmarks`; in the tests each runs once.
"""

import time

import numpy as np
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest

from explorer import HTF, FrequencyMatrix, Grid, Mosaic, all_mechanisms, read_points, scan_points
from explorer.cities import nation
from explorer.evaluate.workloads import random_rectangles
from explorer.points.truth import exact
from tests.benchmarks.conftest import PEAK

pytestmark = [pytest.mark.slow, pytest.mark.benchmark(timer=time.process_time)]


@pytest.fixture(scope="module")
def points_file(real_data):
    return real_data("sf_cabspotting_points.parquet")


def count(points_file, shape=1024):
    return Grid.around(-122.42, 37.77, 20_000, shape=shape).count(read_points(points_file))


@pytest.fixture(scope="module")
def san_francisco(points_file):
    return count(points_file).prepare()


def test_reading_and_counting(in_units, points_file):
    matrix = in_units(
        "11.2 million points, read, then counted",
        lambda: count(points_file),
        "target 25 units",
        rounds=3,
    )
    assert matrix.total == 10_144_630


def test_counting_in_parts(in_units, points_file):
    grid = Grid.around(-122.42, 37.77, 20_000, shape=1024)
    matrix = in_units(
        "11.2 million points, Parquet to grid",
        lambda: grid.count(points_file),
        "target 20 units",
        rounds=5,
    )
    assert matrix.total == 10_144_630


@pytest.fixture(scope="module")
def text_file(points_file, tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "points.csv"
    csv.write_csv(pq.read_table(points_file), path)
    yield path
    path.unlink()


def test_counting_text(in_units, text_file):
    grid = Grid.around(-122.42, 37.77, 20_000, shape=1024)
    matrix = in_units(
        "11.2 million points, CSV to grid",
        lambda: grid.count(text_file),
        "target 80 units",
        rounds=3,
    )
    assert matrix.total == 10_144_630


@pytest.mark.parametrize(("kind", "target"), [("Parquet", 450), ("CSV", 450)])
def test_memory_of_counting(alone_in_units, points_file, text_file, kind, target):
    file = points_file if kind == "Parquet" else text_file
    statement = (
        "from explorer import Grid\n"
        f"print(Grid.around(-122.42, 37.77, 20_000, shape=1024).count({str(file)!r}).total)"
    )
    said = alone_in_units(
        f"the same from {kind}, a whole process", ["-c", statement + PEAK], f"target {target} MB", 1
    )
    assert said.startswith("10144630\n")


@pytest.mark.parametrize(
    ("label", "arguments", "target", "expected"),
    [
        ("dp-explorer --help", ["-m", "explorer", "--help"], ".4", "usage: dp-explorer"),
        ("import explorer", ["-c", "import explorer; print('there')"], ".1", "there"),
        ("from explorer import HTF", ["-c", "from explorer import HTF; HTF()"], ".7", ""),
    ],
)
def test_starting(alone_in_units, label, arguments, target, expected):
    assert alone_in_units(label, arguments, f"target {target} s").startswith(expected)


def test_counting_a_nation_in_parts(in_units, tmp_path):
    nation.write(tmp_path / "nation", 10_000_000)
    matrix = in_units(
        "10 million points of a nation, in parts",
        lambda: nation.grid().count(scan_points(tmp_path / "nation")),
        "target 1.2 s",
        rounds=3,
    )
    assert 9_900_000 < matrix.total <= 10_000_000


def test_preparation(in_units, san_francisco):
    matrix = in_units(
        "tables for 1024 x 1024",
        lambda: FrequencyMatrix(san_francisco.counts, san_francisco.grid).prepare(),
        "target 3.5 units",
    )
    assert matrix.tables.excess.shape == (1025, 1025, 16)


TARGETS = dict.fromkeys(all_mechanisms(), 10.0) | {"htf": 1.3, "mosaic": 2.5}
"""Units that a preview at epsilon 0.1 may take."""
TARGETS |= dict.fromkeys(["kd-standard", "kd-hybrid", "kd-cell"], 30.0)
TARGETS |= {"identity": 2.2, "hb": 2.8, "privlet": 3.5, "quadtree": 3.5}
PREVIEWS = [(all_mechanisms()[key](epsilon=0.1), target) for key, target in TARGETS.items()]
PREVIEWS.append((HTF(epsilon=0.1, split_rule="all cuts"), 6.0))
IDS = [*TARGETS, "htf, all cuts"]


@pytest.mark.parametrize(("mechanism", "target"), PREVIEWS, ids=IDS)
def test_previews(in_units, san_francisco, mechanism, target, request):
    def preview():
        return mechanism.release(san_francisco, rng=1)

    name = request.node.callspec.id
    release = in_units(
        f"{name} preview, epsilon 0.1", preview, f"target {target:g} units", rounds=7
    )
    assert release.total == pytest.approx(san_francisco.total, rel=0.01)


def test_htf_preview_with_many_leaves(in_units, san_francisco):
    mechanism = HTF(epsilon=1.0, T=3)
    release = in_units(
        "htf preview, epsilon 1",
        lambda: mechanism.release(san_francisco, rng=1),
        "target 3.5 units",
    )
    assert release.n_leaves > 1000


def test_mosaic_preview_with_many_leaves(in_units, san_francisco):
    release = in_units(
        "mosaic preview, focus 0.2, epsilon 1",
        lambda: Mosaic(epsilon=1.0, focus=0.2).release(san_francisco, rng=1),
        "target 5 units",
    )
    assert release.n_leaves > 10_000


def test_htf_preview_on_four_million_cells(in_units, points_file):
    matrix = count(points_file, 2048).prepare()
    in_units(
        "HTF preview, 2048 x 2048, epsilon 0.1",
        lambda: HTF(epsilon=0.1).release(matrix, rng=1),
        "interactive",
    )


def test_two_thousand_answers(in_units, san_francisco):
    release = HTF(epsilon=0.1, inference="least squares").release(san_francisco, rng=1)
    boxes = random_rectangles((1024, 1024), 2000, np.random.default_rng(1))
    metres = release.grid.from_cells(boxes)
    answers = in_units("2,000 answers with noise", lambda: release.answer(metres), "")
    truth = exact(san_francisco, metres)
    assert np.corrcoef(answers.value, truth)[0, 1] > 0.99


def test_release_grade_draw(in_units, san_francisco):
    mechanism = HTF(epsilon=0.1)
    in_units(
        "HTF release-grade (OpenDP), epsilon 0.1",
        lambda: mechanism.release(san_francisco),
        "",
        rounds=3,
    )
