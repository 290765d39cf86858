"""Accuracy on fixed workloads against the figures of public implementations."""

import json

import numpy as np
import pytest
from scipy import stats

from explorer import AG, HTF, UG, FrequencyMatrix, Identity, QuadTree, Uniform
from explorer.mechanisms import HB, Privlet, PrivTree
from explorer.mechanisms.hierarchies import best_branching, levels_of

WORKLOADS = ("a_random", "b_sq2", "b_sq6", "b_sq10")
METRICS = ("mre20", "mreRho", "mae")
SEEDS = 5
EPSILONS = ("0.1", "0.5")


def ug_like_the_reference(matrix, epsilon):
    """The public UG cuts squares of floor(n / m) whole cells, so its grid is finer than m."""
    side = max(1, matrix.shape[0] // int(np.sqrt(matrix.total * epsilon / 10)))
    return UG(epsilon=epsilon, grid_size=-(-matrix.shape[0] // side))


# Name in the reference, ours, and whether ours may be better. The public AG rounds its sizes down
# and leaves slivers at the edges, the public HTF pays for cuts that it prunes again.
CASES = {
    "identity": ("dpcomp_identity", lambda _, e: Identity(epsilon=e), False),
    "ug": ("dpcomp_UG", ug_like_the_reference, False),
    "ag": ("dpcomp_AG", lambda _, e: AG(epsilon=e), True),
    "quadtree geometric": ("uva_quad_ols_geo", lambda _, e: QuadTree(epsilon=e), False),
    "quadtree uniform": (
        "uva_quad_ols_uni",
        lambda _, e: QuadTree(epsilon=e, budget="uniform"),
        False,
    ),
    "htf": (
        "htf_fix_paperheight_olspost",
        lambda _, e: HTF(epsilon=e, inference="least squares"),
        True,
    ),
}


CITIES = ("checkin", "sfcab1024", "uber1024")
#: Cases that the reference ran on some of the cities only, and trees of a million nodes, which
#: take a minute a city.
ONLY = {
    "quadtree geometric": ("checkin",),
    "quadtree uniform": ("checkin",),
    "hb, padded": ("checkin", "sfcab1024"),
    "hb": ("checkin", "uber1024"),
}


@pytest.fixture(scope="module")
def load(reference_data, real_data):
    figures = json.loads(reference_data("peers.json").read_text())["results"]
    kept = {}

    def of(name):
        if name not in kept:
            if name == "checkin":
                counts = np.load(real_data("checkin_256_256.npy"))
            else:
                with np.load(reference_data(f"matrix_{name}.npz")) as file:
                    counts = file[file.files[0]]
            with np.load(reference_data(f"workload_{name}.npz")) as file:
                workload = {key: file[key] for key in file.files}
            kept[name] = FrequencyMatrix.from_array(counts).prepare(), workload, figures[name]
        return kept[name]

    return of


def errors(release, workload, total):
    """Mean errors of one release, by workload and metric."""
    sums = np.zeros(np.array(release.grid.shape) + 1)
    sums[1:, 1:] = release.density().cumsum(0).cumsum(1)
    result = {}
    for name in WORKLOADS:
        r0, r1, c0, c1 = workload[name].T
        found = sums[r1, c1] - sums[r0, c1] - sums[r1, c0] + sums[r0, c0]
        true = workload[f"{name}__true"]
        off = np.abs(found - true)
        result[name, "mre20"] = np.mean(off / np.maximum(true, 20))
        result[name, "mreRho"] = np.mean(off / np.maximum(true, 0.001 * total))
        result[name, "mae"] = np.mean(off)
    return result


@pytest.mark.statistical
@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "city_name"), [(case, city) for case in CASES for city in ONLY.get(case, CITIES)]
)
def test_accuracy_lies_within_three_standard_errors(load, city_name, case):
    matrix, workload, figures = load(city_name)
    name, make, better_is_fine = CASES[case]
    distances = []
    for epsilon in EPSILONS:
        runs = [
            errors(make(matrix, float(epsilon)).release(matrix, rng=seed), workload, matrix.total)
            for seed in range(SEEDS)
        ]
        for (work, metric), _ in runs[0].items():
            ours = [run[work, metric] for run in runs]
            mean, error, _ = figures[epsilon][name][work][metric]
            # Both sides are means of five runs; their errors add in squares.
            spread = np.hypot(error, np.std(ours, ddof=1) / np.sqrt(SEEDS))
            distances.append((np.mean(ours) - mean) / spread)
    distances = np.array(distances)
    if better_is_fine:
        distances = np.maximum(distances, 0)
    # With 5 + 5 runs the distance follows Student's t with about 8 degrees of freedom, which
    # passes 3 in 1.7 % of right cases; of 24 cells (12 of them nearly the same queries) two may.
    assert np.sum(np.abs(distances) > 3) <= 2, distances.round(1)
    assert np.median(np.abs(distances)) < 2


def padded(matrix):
    """With empty cells up to a power of HB's branching factor, as the public HB has them."""
    side, b = max(matrix.shape), best_branching(matrix.shape)
    room = b ** levels_of(side, b)
    counts = np.zeros((room, room), dtype=np.int64)
    counts[: matrix.shape[0], : matrix.shape[1]] = matrix.counts
    return FrequencyMatrix.from_array(counts), b


def hb_like_the_reference(matrix, epsilon):
    wide, b = padded(matrix)
    return HB(epsilon=epsilon, branching=b), wide


# Name in the reference, ours with the matrix it runs on, and whether ours may be better. Ours of
# HB needs no padding: the upper level takes fewer parts, so boxes that end at the map's edge (most
# of a_random do) end at an edge of nodes too and need no small ones; 18 to 20 % less error there.
# With the padding both are the same.
DRAWS = {
    "privtree": ("privtree_noclip", lambda m, e: (PrivTree(epsilon=e), m), False),
    "privlet": ("dpcomp_Privelet", lambda m, e: (Privlet(epsilon=e), m), False),
    "hb, padded": ("dpcomp_HB", hb_like_the_reference, False),
    "hb": ("dpcomp_HB", lambda m, e: (HB(epsilon=e), m), True),
}


@pytest.mark.statistical
@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "city_name"), [(case, city) for case in DRAWS for city in ONLY.get(case, CITIES)]
)
def test_trees_and_wavelets_lie_within_three_standard_errors(load, city_name, case):
    """Means of 20 runs of ours and 5 of the reference, their spreads pooled."""
    matrix, workload, figures = load(city_name)
    name, make, better_is_fine = DRAWS[case]
    ours, theirs, distances = 20, SEEDS, []
    for epsilon in EPSILONS:
        mechanism, counts = make(matrix, float(epsilon))
        runs = [
            errors(mechanism.release(counts, rng=seed), workload, matrix.total)
            for seed in range(ours)
        ]
        for cell in runs[0]:
            found = np.array([run[cell] for run in runs])
            mean, error, _ = figures[epsilon][name][cell[0]][cell[1]]
            # A standard error from five runs is off by a third itself: both samples estimate the
            # spread of one law, which makes the distance follow Student's t (23 degrees).
            spread = (ours - 1) * found.var(ddof=1) + (theirs - 1) * theirs * error**2
            spread *= (1 / ours + 1 / theirs) / (ours + theirs - 2)
            distances.append((found.mean() - mean) / np.sqrt(spread))
    distances = np.array(distances)
    if better_is_fine:
        distances = np.maximum(distances, 0)
    # Noise that only scales with epsilon fills half of the 24 cells twice, so a rare draw shows in
    # two: two may pass 3 (one cell does so in 0.6 % of right cases), and none the bound that any
    # of 24 passes in 1 % however they hang together (Bonferroni; 4.1).
    assert np.sum(np.abs(distances) > 3) <= 2, distances.round(1)
    bound = stats.t.isf(0.01 / 2 / len(distances), ours + theirs - 2)
    assert np.abs(distances).max() < bound, distances.round(1)
    assert np.median(np.abs(distances)) < 2


@pytest.mark.statistical
def test_uniform_is_the_references_to_its_four_digits(load):
    matrix, workload, figures = load("checkin")
    found = errors(Uniform(epsilon=1).release(matrix, rng=1), workload, matrix.total)
    for (work, metric), value in found.items():
        assert value == pytest.approx(figures["1.0"]["dpcomp_uniform"][work][metric][0], rel=1e-3)
