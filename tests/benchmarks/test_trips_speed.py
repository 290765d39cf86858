"""Speed of counting, releasing and answering on the trips of San Francisco, four and six axes.

Measure with `bash tests/run benchmarks`; in the tests each runs once. Targets are those of 2 cores
whose unit (two cumulative sums over 1024 x 1024) takes about 9 ms.
"""

import time

import numpy as np
import pytest

from explorer import DAFEntropy, DAFHomogeneity, Gravity, Grid, TripDomain, TripMatrix, read_trips
from explorer.evaluate.workloads import trip_workload
from explorer.releases.flows import flows
from explorer.releases.places import place_counts

pytestmark = [pytest.mark.slow, pytest.mark.benchmark(timer=time.process_time)]

PLACES = {"4-D": ("o", "d"), "6-D": ("o", "s2", "d")}


@pytest.fixture(scope="module", params=PLACES)
def trips(request, real_data) -> tuple[str, TripMatrix]:
    """Trips on 64 x 64 cells a place, prepared."""
    read = read_trips(real_data("sf_cabspotting_trips.parquet"), PLACES[request.param])
    grid = Grid.around(-122.42, 37.77, 20_000, shape=64)
    return request.param, TripDomain([grid] * len(read.places)).count(read, per="record").prepare()


def test_preparation(in_units, trips):
    name, matrix = trips
    made = in_units(
        f"trips {name}: unique cells and index",
        lambda: TripMatrix(matrix.cells, matrix.multiplicities, matrix.domain).prepare(),
        "target 150 ms",
        rounds=5,
    )
    assert made.total == matrix.total


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
@pytest.mark.parametrize(
    ("mechanism", "target"),
    [(DAFEntropy, "60 ms"), (DAFHomogeneity, "150 ms"), (Gravity, "400 ms")],
    ids=["daf-entropy", "daf-homogeneity", "gravity"],
)
def test_previews(in_units, trips, mechanism, target, epsilon):
    name, matrix = trips
    made = mechanism(epsilon=epsilon)
    release = in_units(
        f"trips {name}: {made.key} preview, epsilon {epsilon:g}",
        lambda: made.release(matrix, rng=1),
        f"target {target}",
        rounds=5,
    )
    assert release.total == pytest.approx(matrix.total, rel=0.05)


def test_release_grade_gravity(in_units, trips):
    name, matrix = trips
    made = Gravity(epsilon=0.1)
    in_units(
        f"trips {name}: gravity release-grade (OpenDP), epsilon 0.1",
        lambda: made.release(matrix),
        "target 2 s",
        rounds=2,
    )


@pytest.mark.parametrize("kind", ["random", "place"])
def test_answers(in_units, trips, kind):
    name, matrix = trips
    release = Gravity(epsilon=1.0).release(matrix, rng=1)
    asked = trip_workload(kind, matrix.shape, n=200).boxes
    boxes = matrix.domain.from_cells(asked)
    answers = in_units(
        f"trips {name}: 200 answers ({kind})", lambda: release.answer(boxes), "target 200 ms"
    )
    assert np.isfinite(answers.value).all()


def test_the_map_of_a_place(in_units, trips):
    name, matrix = trips
    release = Gravity(epsilon=1.0).release(matrix, rng=1)
    k = len(matrix.shape) // 2
    within = np.array([[20.0, 20.0] * k, [40.5, 40.0] * k])
    counts = in_units(
        f"trips {name}: map of a place", lambda: place_counts(release, 0, within), "", rounds=5
    )
    assert counts.shape == (64, 64)


def test_all_flows(in_units, trips):
    name, matrix = trips
    release = Gravity(epsilon=1.0).release(matrix, rng=1)
    every = in_units(f"trips {name}: 4,096 flows", lambda: flows(release, 8), "", rounds=5)
    assert len(every) == 4096
