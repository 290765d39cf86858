"""Accuracy on fixed workloads against the figures of public implementations."""

import numpy as np
import pytest
from scipy import stats

from explorer import AG, HTF, UG, FrequencyMatrix, Identity, QuadTree, Uniform
from explorer.mechanisms import HB, Privlet, PrivTree
from explorer.mechanisms.hierarchies import best_branching, levels_of

WORKLOADS = ("a_random", "b_sq2", "b_sq6", "b_sq10")
METRICS = ("mre20", "mreRho", "mae")
THEIRS = 5
"""Runs behind a figure of the reference."""
EPSILONS = ("0.1", "0.5")
CITIES = ("checkin", "sfcab1024", "uber1024")


def ug_like_the_reference(matrix, epsilon):
    """The public UG cuts squares of floor(n / m) whole cells, so its grid is finer than m."""
    side = max(1, matrix.shape[0] // int(np.sqrt(matrix.total * epsilon / 10)))
    return UG(epsilon=epsilon, grid_size=-(-matrix.shape[0] // side)), matrix


def hb_like_the_reference(matrix, epsilon):
    """With empty cells up to a power of the branching factor, as the public HB has them."""
    side, b = max(matrix.shape), best_branching(matrix.shape)
    counts = np.zeros((b ** levels_of(side, b),) * 2, dtype=np.int64)
    counts[: matrix.shape[0], : matrix.shape[1]] = matrix.counts
    return HB(epsilon=epsilon, branching=b), FrequencyMatrix.from_array(counts)


def made(kind, **settings):
    return lambda matrix, epsilon: (kind(epsilon=epsilon, **settings), matrix)


# Name in the reference, ours with the matrix it runs on, runs, and whether ours may be better. The
# public AG rounds its sizes down and leaves slivers at the edges, the public HTF pays for cuts that
# it prunes again. Ours of HB needs no padding: the upper level takes fewer parts, so boxes that end
# at the map's edge (most of a_random do) end at an edge of nodes too and need no small ones; 18 to
# 20 % less error there. With the padding both are the same.
CASES = {
    "identity": ("dpcomp_identity", made(Identity), 5, False),
    "ug": ("dpcomp_UG", ug_like_the_reference, 5, False),
    "ag": ("dpcomp_AG", made(AG), 5, True),
    "quadtree geometric": ("uva_quad_ols_geo", made(QuadTree), 5, False),
    "quadtree uniform": ("uva_quad_ols_uni", made(QuadTree, budget="uniform"), 5, False),
    "htf": ("htf_fix_paperheight_olspost", made(HTF, inference="least squares"), 5, True),
    "privtree": ("privtree_noclip", made(PrivTree), 20, False),
    "privlet": ("dpcomp_Privelet", made(Privlet), 20, False),
    "hb, padded": ("dpcomp_HB", hb_like_the_reference, 20, False),
    "hb": ("dpcomp_HB", made(HB), 20, True),
}
#: Cases that the reference ran on some of the cities only, and trees of a million nodes, which
#: take a minute a city.
ONLY = {
    "quadtree geometric": ("checkin",),
    "quadtree uniform": ("checkin",),
    "hb, padded": ("checkin", "sfcab1024"),
    "hb": ("checkin", "uber1024"),
}


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


def distance(ours, mean, error, theirs):
    """Between means of two samples of one law, in standard errors of their pooled spread.

    A standard error from five runs is off by a third itself: pooled, the distance follows
    Student's t.
    """
    ours = np.array(ours)
    n = len(ours)
    spread = (n - 1) * ours.var(ddof=1) + (theirs - 1) * theirs * error**2
    spread *= (1 / n + 1 / theirs) / (n + theirs - 2)
    return (ours.mean() - mean) / np.sqrt(spread)


@pytest.mark.statistical
@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "city_name"), [(case, city) for case in CASES for city in ONLY.get(case, CITIES)]
)
def test_accuracy_lies_within_three_standard_errors(load, city_name, case):
    matrix, workload, figures = load(city_name)
    name, make, number, better_is_fine = CASES[case]
    distances = []
    for epsilon in EPSILONS:
        mechanism, counts = make(matrix, float(epsilon))
        runs = [
            errors(mechanism.release(counts, rng=seed), workload, matrix.total)
            for seed in range(number)
        ]
        for work, metric in runs[0]:
            mean, error, _ = figures[epsilon][name][work][metric]
            ours = [run[work, metric] for run in runs]
            distances.append(distance(ours, mean, error, THEIRS))
    distances = np.array(distances)
    if better_is_fine:
        distances = np.maximum(distances, 0)
    # With 8 degrees of freedom or more a distance passes 3 in 1.7 % of right cases; of 24 cells (12
    # of them nearly the same queries) two may, and none the bound that any of 24 passes in 1 %
    # however they hang together (Bonferroni).
    assert np.sum(np.abs(distances) > 3) <= 2, distances.round(1)
    bound = stats.t.isf(0.01 / 2 / len(distances), number + THEIRS - 2)
    assert np.abs(distances).max() < bound, distances.round(1)
    assert np.median(np.abs(distances)) < 2


@pytest.mark.statistical
def test_uniform_is_the_references_to_its_four_digits(load):
    matrix, workload, figures = load("checkin")
    found = errors(Uniform(epsilon=1).release(matrix, rng=1), workload, matrix.total)
    for (work, metric), value in found.items():
        assert value == pytest.approx(figures["1.0"]["dpcomp_uniform"][work][metric][0], rel=1e-3)
