"""Great Britain's accidents in 380 districts, against the reference figures; slow."""

import json
from functools import cache

import numpy as np
import pytest

from explorer import Areas, Country, read_points
from explorer.country.benchmarks import benchmark, benchmark_plan, by_cells

pytestmark = pytest.mark.slow

SEEDS = 4


@pytest.fixture(scope="module")
def counts(real_data):
    levels = ["country", "region", "district"]
    areas = Areas.read(real_data("gb_districts.parquet"), levels)
    return areas.count(read_points(real_data("gb_road_accidents.parquet")))


@pytest.fixture(scope="module")
def reference(reference_data):
    rows = json.loads(reference_data("country/release_gb.json").read_text())["rows"]
    return {(row["plan"], row["epsilon"]): row for row in rows}


def relative(value, truth):
    return float(np.mean(np.abs(value - truth) / np.maximum(truth, 20)))


def district_errors(country, counts, seeds=SEEDS):
    """Mean relative error of districts, seed by seed."""
    lowest = counts.areas.level == 3
    truth = counts.by_node[lowest]
    made = (country.release(counts, rng=seed) for seed in range(seeds))
    return np.array([relative(each.areas()["count"].to_numpy()[lowest], truth) for each in made])


@pytest.fixture(scope="module")
def ours(counts):
    """`district_errors` of our own plan, made once for each epsilon."""
    return cache(lambda epsilon: district_errors(Country(epsilon=epsilon), counts))


def near(found, row, name):
    """Within four standard errors of both means, ours from the reference's spread of seeds."""
    mean, error = row[name]
    return abs(found.mean() - mean) < 4 * error * np.sqrt(1 + row["seeds"] / len(found))


@pytest.mark.parametrize(("epsilon", "most"), [(0.1, 0.16), (1.0, 0.017)])
def test_districts_with_maps_inside(ours, reference, epsilon, most):
    """The target, and the prototype's figure (its regions had .1 in place of .11)."""
    found = ours(epsilon)
    assert found.mean() < most
    assert near(found, reference["region .1, own 0.3, Mosaic, NN", epsilon], "mre3")


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_the_paper_as_printed(counts, ours, reference, epsilon):
    plan = Country.paper_as_printed(epsilon, threshold=0)
    found = district_errors(plan, counts, 2)
    assert near(found, reference["paper HTF thr 0", epsilon], "mre3")
    # The same two seeds.
    of_ours = ours(epsilon)[:2].mean()
    assert found.mean() > 1.4 * of_ours if epsilon == 0.1 else found.mean() > 3 * of_ours


def test_a_threshold_makes_districts_worse(counts, reference):
    found = district_errors(Country.paper_as_printed(0.1, threshold=20_000), counts, 2)
    # Which regions pass changes from seed to seed, and with them everything below.
    assert found.mean() > 0.4
    assert near(found, reference["paper HTF thr 20000", 0.1], "mre3")


def test_static_counts_alone(counts):
    """Sum of squares over all nodes at most .66 of Eq. 38 as drawn; 40 draws of either.

    A sum of squares over 395 nodes spreads by a few hundredths of itself a draw: .628 is expected,
    and the ratio of two means of 40 has a standard error of about .03.
    """
    lowest = {"inside": "none", "epsilon": 1.0}
    ours = Country(**lowest)
    drawn = Country(**lowest, budgets="Eq. 38", consistency="drawn")
    sums = []
    for plan in (ours, drawn):
        errors = []
        for seed in range(40):
            release = plan.release(counts, rng=seed)
            error = release.tree.value - counts.by_node[release.windows.people.top[release.node]]
            errors.append(np.sum(release.windows.people.chain[release.node] * error**2))
        sums.append(np.array(errors))
    ratio = sums[0].mean() / sums[1].mean()
    spread = [each.std(ddof=1) / each.mean() / np.sqrt(len(each)) for each in sums]
    # Only children drawn once with both shares: Eq. 38 as drawn is a tenth better than printed.
    assert abs(ratio - 1060 / 1537.6) < 4 * ratio * np.hypot(*spread)
    assert ratio * 1537.6 / 1689.15 < 0.66 + 2 * ratio * np.hypot(*spread)


@pytest.mark.parametrize(("number", "name"), [
    (1, "Benchmark 1 (fan-out 2, h 9) HTF"), (2, "Benchmark 2 (fan-out 4, h 5) HTF"),
])  # fmt: skip
def test_benchmarks_of_the_paper(counts, reference, number, name):
    """The grid of the prototype was another one: within a tenth, besides the seeds' spread."""
    cells = benchmark(counts, number)
    assert cells.by_area.sum() == counts.by_area.sum()
    release = benchmark_plan(1.0, 139_776, 380).release(cells, rng=0)
    found = relative(by_cells(release, counts.windows), counts.by_area)
    mean, error = reference[name, 1.0]["mre3"]
    assert abs(found - mean) < 0.1 * mean + 4 * error * np.sqrt(1 + reference[name, 1.0]["seeds"])
