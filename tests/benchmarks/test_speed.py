"""Speed of counting, releasing and answering on real data, in units of a reference computation.

Measure with `bash tests/run benchmarks`; in the tests each runs once. The targets are those of two
cores whose unit (two cumulative sums over 1024 x 1024) takes about 9 ms.
"""

import time

import numpy as np
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest

from explorer import (
    HTF,
    DAFEntropy,
    DAFHomogeneity,
    Federated,
    FrequencyMatrix,
    Gravity,
    Grid,
    Mosaic,
    TripDomain,
    all_mechanisms,
    read_trips,
    scan_points,
)
from explorer.cities import nation
from explorer.evaluate.workloads import random_rectangles, trip_workload
from explorer.federated.asking import Asking, Protocol
from explorer.federated.people import People
from explorer.federated.session import Session
from explorer.points.truth import exact
from explorer.releases.flows import flows
from explorer.releases.places import place_counts
from explorer.releases.quarters import KeyTree
from explorer.releases.units import to_units
from tests.benchmarks.conftest import PEAK

pytestmark = [pytest.mark.slow, pytest.mark.benchmark(timer=time.process_time)]

TOTAL = 10_144_630


def grid_of(shape):
    return Grid.around(-122.42, 37.77, 20_000, shape=shape)


@pytest.fixture(scope="module")
def points_file(real_data):
    return real_data("sf_cabspotting_points.parquet")


@pytest.fixture(scope="module")
def text_file(points_file, tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "points.csv"
    csv.write_csv(pq.read_table(points_file), path)
    yield path
    path.unlink()


@pytest.fixture(scope="module")
def san_francisco(points_file):
    return grid_of(1024).count(points_file).prepare()


@pytest.mark.parametrize(("kind", "target"), [("Parquet", 20), ("CSV", 80)])
def test_counting(in_units, alone_in_units, points_file, text_file, kind, target):
    file = points_file if kind == "Parquet" else text_file
    label = f"11.2 million points, {kind} to grid"
    matrix = in_units(label, lambda: grid_of(1024).count(file), f"target {target} units", rounds=3)
    assert matrix.total == TOTAL
    statement = (
        "from explorer import Grid\n"
        f"print(Grid.around(-122.42, 37.77, 20_000, shape=1024).count({str(file)!r}).total)"
    )
    label = f"the same from {kind}, a whole process"
    printed = alone_in_units(label, ["-c", statement + PEAK], "target 450 MB", 1)
    assert printed.startswith(f"{TOTAL}\n")


def test_counting_a_nation_in_parts(in_units, tmp_path):
    nation.write(tmp_path / "nation", 10_000_000)
    matrix = in_units(
        "10 million points of a nation, in parts",
        lambda: nation.grid().count(scan_points(tmp_path / "nation")),
        "target 1.2 s",
        rounds=3,
    )
    assert 9_900_000 < matrix.total <= 10_000_000


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


def test_preparation(in_units, san_francisco):
    matrix = in_units(
        "tables for 1024 x 1024",
        lambda: FrequencyMatrix(san_francisco.counts, san_francisco.grid).prepare(),
        "target 3.5 units",
    )
    assert matrix.tables.excess.shape == (1025, 1025, 16)


#: Units that a preview at epsilon 0.1 may take.
TARGETS = dict.fromkeys(all_mechanisms(), 10.0) | {"htf": 1.3, "mosaic": 2.5}
TARGETS |= dict.fromkeys(["kd-standard", "kd-hybrid", "kd-cell"], 30.0)
TARGETS |= {"identity": 2.2, "hb": 2.8, "privlet": 3.5, "quadtree": 3.5}
PREVIEWS = {
    f"{key} preview, epsilon 0.1": (all_mechanisms()[key](epsilon=0.1), target)
    for key, target in TARGETS.items()
} | {
    "htf, all cuts preview, epsilon 0.1": (HTF(epsilon=0.1, split_rule="all cuts"), 6.0),
    "htf preview, epsilon 1": (HTF(epsilon=1.0, T=3), 3.5),
    "mosaic preview, focus 0.2, epsilon 1": (Mosaic(epsilon=1.0, focus=0.2), 5.0),
}


@pytest.mark.parametrize("label", PREVIEWS)
def test_previews(in_units, san_francisco, label):
    mechanism, target = PREVIEWS[label]
    release = in_units(
        label, lambda: mechanism.release(san_francisco, rng=1), f"target {target:g} units", rounds=7
    )
    assert release.total == pytest.approx(san_francisco.total, rel=0.01)


def test_htf_preview_on_four_million_cells(in_units, points_file):
    matrix = grid_of(2048).count(points_file).prepare()
    label = "HTF preview, 2048 x 2048, epsilon 0.1"
    in_units(label, lambda: HTF(epsilon=0.1).release(matrix, rng=1), "interactive")


def test_two_thousand_answers(in_units, san_francisco):
    release = HTF(epsilon=0.1, inference="least squares").release(san_francisco, rng=1)
    boxes = random_rectangles((1024, 1024), 2000, np.random.default_rng(1))
    metres = release.grid.from_cells(boxes)
    answers = in_units("2,000 answers with noise", lambda: release.answer(metres), "")
    assert np.corrcoef(answers.value, exact(san_francisco, metres))[0, 1] > 0.99


def test_release_grade_draw(in_units, san_francisco):
    label = "HTF release-grade (OpenDP), epsilon 0.1"
    in_units(label, lambda: HTF(epsilon=0.1).release(san_francisco), "", rounds=3)


@pytest.fixture(scope="module", params=[("o", "d"), ("o", "s2", "d")], ids=["4-D", "6-D"])
def trips(request, real_data):
    """A name, and trips on 64 x 64 cells a place, prepared."""
    read = read_trips(real_data("sf_cabspotting_trips.parquet"), request.param)
    domain = TripDomain([grid_of(64)] * len(read.places))
    return f"trips {2 * len(read.places)}-D", domain.count(read, per="record").prepare()


@pytest.mark.parametrize(
    ("mechanism", "target"),
    [(DAFEntropy, "60 ms"), (DAFHomogeneity, "150 ms"), (Gravity, "400 ms")],
)
def test_previews_of_trips(in_units, trips, mechanism, target):
    name, matrix = trips
    made = mechanism(epsilon=1.0)
    label = f"{name}: {made.key} preview, epsilon 1"
    release = in_units(label, lambda: made.release(matrix, rng=1), f"target {target}", rounds=5)
    assert release.total == pytest.approx(matrix.total, rel=0.05)


def test_answers_maps_and_flows_of_trips(in_units, trips):
    name, matrix = trips
    release = Gravity(epsilon=1.0).release(matrix, rng=1)
    boxes = matrix.domain.from_cells(trip_workload("place", matrix.shape, n=200).boxes)
    k = len(matrix.shape) // 2
    within = np.array([[20.0, 20.0] * k, [40.5, 40.0] * k])
    flow = in_units(f"{name}: 4,096 flows", lambda: flows(release, 8), "", rounds=5)
    assert len(flow) == 4096
    assert np.isfinite(release.answer(boxes).value).all()
    assert place_counts(release, 0, within).shape == (64, 64)


def test_the_preview_of_a_slider_of_the_federated_page(in_units, san_francisco):
    people = People.of_matrix(san_francisco)
    made = Federated(people=1_000_000, dropped=0.0, corrupt=0.0, mode="summed")
    label = "federated people, 1 million, preview of a slider"
    release = in_units(label, lambda: made.release(people, rng=1), "target .3 s", rounds=7)
    assert release.total == pytest.approx(len(people), rel=0.05)


def test_a_masked_shard(in_units, benchmark):
    # Where nothing is measured a fifth of the people do.
    size = 200 if benchmark.disabled else 1_000
    counts = np.zeros((128, 128), dtype=np.int64)
    counts[30:40, 50:60] = size // 100
    people = People.of_matrix(FrequencyMatrix(counts, Grid.cells((128, 128))))

    def shard():
        asking = Asking(people, Protocol(size, 0.1, 0.05, 32), to_units(1.0), 1, "masked")
        session = Session(asking, size, 7, (128, 128))
        return session.ask(KeyTree.even(7, 7), size, to_units(1.0), fresh=True)

    heard = in_units("masked shard, 1,000 people x 16,384 x 32 bits", shard, "target 5 s", rounds=2)
    assert (heard.cells, heard.bits, heard.shards) == (16_384, 32, 1)
    assert heard.sums.sum() == pytest.approx(heard.answered, abs=6 * heard.noise * 128)
