"""Least squares on trees against a dense solver, AG's closed form, and balance."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

from explorer import AG, HTF, UG, PrivTree, QuadTree
from explorer.cities import madeup
from explorer.privacy.noise import PreviewNoise
from explorer.releases import inference
from explorer.releases.forms import Family
from explorer.releases.inference import SPIKE, share
from explorer.releases.transcript import Measurement, Transcript
from tests.helpers import city, run


def transcript(parent, draws, variances, spent=None):
    """A transcript of a tree given by its parents; NaN draws are missing ones."""
    parent = np.array(parent)
    n = len(parent)
    leaf = ~np.isin(np.arange(n), parent)
    ids = np.flatnonzero(~np.isnan(draws))
    boxes = np.zeros((n, 2), dtype=np.int64)
    measured = Measurement("test", ids, np.array(draws)[ids], np.array(variances)[ids])
    spent = np.zeros((n, 1), dtype=np.int64) if spent is None else spent
    return Transcript(boxes, boxes + 1, parent, leaf, ("test",), spent, (measured,))


def random_tree(rng):
    parent, open_nodes = [-1], [0]
    while open_nodes:
        node = open_nodes.pop(0)
        if len(parent) < 25 and rng.random() < 0.7:
            children = rng.integers(1, 5)
            open_nodes += range(len(parent), len(parent) + children)
            parent += [node] * children
    n = len(parent)
    draws, variances = rng.normal(100, 50, n), rng.uniform(0.5, 30, n)
    inner = np.isin(np.arange(n), parent)
    draws[inner & (rng.random(n) < 0.4)] = np.nan
    return transcript(parent, draws, variances), draws, variances


def leaf_matrix(parent, is_leaf):
    """Row v holds a 1 for every leaf below v."""
    leaves = np.flatnonzero(is_leaf)
    below = np.zeros((len(parent), len(leaves)))
    for column, leaf in enumerate(leaves):
        node = leaf
        while node >= 0:
            below[node, column] = 1
            node = parent[node]
    return below


@pytest.mark.parametrize("seed", range(20))
def test_two_passes_solve_weighted_least_squares(seed):
    record, draws, variances = random_tree(np.random.default_rng(seed))
    estimate = inference.least_squares(record)
    below = leaf_matrix(record.parent, record.is_leaf)
    there = ~np.isnan(draws)
    root_weight = 1 / np.sqrt(variances[there])
    leaves = np.linalg.lstsq(
        below[there] * root_weight[:, None], draws[there] * root_weight, rcond=None
    )[0]
    assert estimate.value == pytest.approx(below @ leaves, rel=1e-9)


def moved(draw, weight, noise):
    """A first count of AG as it weighs in without bias, by sums over the law of its noise."""
    q = np.exp(-noise)
    k = np.arange(-400, 401)
    law = (1 - q) / (1 + q) * q ** np.abs(k)
    smoothed = [law @ weight(draw + step + k) for step in (-1, 1)]
    return draw - q / (1 - q) ** 2 * (smoothed[1] - smoothed[0]) / weight(draw)


def test_ag_inference_is_the_printed_formula_with_erratum_19():
    alpha, epsilon = 0.3, 0.7
    mechanism = AG(epsilon=epsilon, alpha=alpha, first_size=4, c2=0.5)
    release, desk = run(mechanism, city(), PreviewNoise(2))
    tree, record = release.tree, desk.transcript()
    first = record.counts(["first level"])[0]
    second = record.counts(["second level"])[0]
    # Discrete noise has variance 1/(2 sinh(e/2)^2); with it in place of 1/e^2 the printed
    # weights hold exactly.
    a, b = (2 * np.sinh(e / 2) for e in (alpha * epsilon, (1 - alpha) * epsilon))
    side = 16

    def weight(count):
        parts = np.ceil(np.sqrt(np.maximum(count, 0) * (1 - alpha) * epsilon / 0.5)).clip(1, side)
        return a**2 * parts**2 / (b**2 + a**2 * parts**2)

    cells = np.flatnonzero(tree.parent == 0)
    assert (tree.upper[cells] - tree.lower[cells] == side).all()
    for v in cells:
        below = np.flatnonzero(tree.parent == v)
        m2 = len(below)
        assert weight(first[v]) == pytest.approx(a**2 * m2 / (b**2 + a**2 * m2))
        corrected = moved(first[v], weight, alpha * epsilon)
        v_new = weight(first[v]) * corrected + (1 - weight(first[v])) * second[below].sum()
        u_new = second[below] + (v_new - second[below].sum()) / m2
        assert tree.value[below] == pytest.approx(u_new, rel=1e-9)
    # What is published of a draw is the draw.
    assert (tree.draws[cells, tree.stages.index("first level")] % 1 == 0).all()
    assert not release.sd_exact


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.05, 0.1])
def test_the_total_of_adaptive_grids_is_unbiased(epsilon):
    # Weights as printed make it too large by 8 to 9 standard errors of this mean (see the note on
    # adaptive grids). The seeds are one set for both budgets, so their errors go together; beyond
    # 4 of them lies an unbiased mean for one set in 16,000.
    matrix = madeup.grid(256).count(madeup.points(20_000)).prepare()
    totals = [AG(epsilon=epsilon).release(matrix, rng=seed).total for seed in range(2000)]
    error = np.mean(totals) - matrix.total
    assert abs(error) < 4 * np.std(totals) / np.sqrt(len(totals))


@pytest.mark.statistical
@pytest.mark.parametrize("stop_count", [10, 50])
def test_least_squares_over_a_tree_that_stopped_itself_is_unbiased(stop_count):
    # Plain weights would make the total of this map too large by about two standard errors of
    # a single release (see the note on least squares); with balanced shares the mean of 200
    # lies within 4 standard errors of the truth.
    matrix = city((128, 128), 40_000).prepare()
    totals = [
        HTF(epsilon=0.2, inference="least squares", stop_count=stop_count)
        .release(matrix, rng=seed)
        .total
        for seed in range(200)
    ]
    error = np.mean(totals) - matrix.total
    assert abs(error) < 4 * np.std(totals) / np.sqrt(len(totals))


def test_shares_are_held_back_only_near_the_threshold():
    units = 10**12
    spent = np.array([[units // 10], [0], [0]])
    near = transcript([-1, 0, 0], [60.0, 1, 1], [200.0, 1, 1], spent)
    far = transcript([-1, 0, 0], [900.0, 1, 1], [200.0, 1, 1], spent)
    stop_at = np.full(3, 50.0)

    def shares(record):
        doubtful = inference.in_doubt(record, "test", stop_at)
        return inference.balanced_shares(record, units, "test", "none", doubtful)

    # e = .1 and R = .9 of the budget: as a leaf its first draw would have weighed .01 / .82.
    assert shares(near) == pytest.approx([0.01 / 0.82, 1, 1])
    assert shares(far).tolist() == [1, 1, 1]


def covariance(parent: np.ndarray, precision: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Covariance of the leaves after least squares, and which nodes are leaves."""
    leaf = np.bincount(parent[1:], minlength=len(parent)) == 0
    below = np.zeros((len(parent), len(parent)))
    for node in np.flatnonzero(leaf):
        above = node
        while above >= 0:
            below[above, node] = 1
            above = parent[above]
    design = below[:, leaf]
    return np.linalg.inv(design.T @ np.diag(precision) @ design), leaf


@pytest.mark.parametrize("seed", range(8))
def test_any_form_has_the_variance_of_the_normal_equations(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 30))
    parent = np.array([-1, *(int(rng.integers(0, i)) for i in range(1, n))])
    leaf = np.bincount(parent[1:], minlength=n) == 0
    precision = np.where(leaf | (rng.random(n) < 0.5), rng.uniform(0.1, 5, n), 0.0)
    cov, leaf = covariance(parent, precision)
    family = Family(parent, precision)
    weights = rng.normal(size=(5, n))
    wanted = np.einsum("mi,ij,mj->m", weights[:, leaf], cov, weights[:, leaf])
    np.testing.assert_allclose(family.variance(weights), wanted, rtol=1e-9)
    totals = np.array(
        [[float(_is_in(parent, node, each)) for each in range(n)] for node in range(n)]
    )
    np.testing.assert_allclose(family.final, family.variance(totals), rtol=1e-9)


def _is_in(parent: np.ndarray, above: int, node: int) -> bool:
    while node >= 0:
        if node == above:
            return True
        node = int(parent[node])
    return False


def by_quadrature(z1, v1, z2, v2, t, rho=0.5):
    """Posterior mean of x under the mixture prior, integrated numerically."""

    def likelihood(x):
        return stats.norm.pdf(z1, x, np.sqrt(v1)) * stats.norm.pdf(z2, t - x, np.sqrt(v2))

    points = [np.clip(z1, 0, t), np.clip(t - z2, 0, t)]
    mass = integrate.quad(likelihood, 0, t, points=points, limit=200)[0]
    moment = integrate.quad(lambda x: x * likelihood(x), 0, t, points=points, limit=200)[0]
    slab = (1 - 2 * SPIKE) / t
    at_0, at_t = 2 * SPIKE * (1 - rho) * likelihood(0), 2 * SPIKE * rho * likelihood(t)
    return (t * at_t + slab * moment) / (at_0 + at_t + slab * mass)


@pytest.mark.parametrize(
    "case",
    [
        (3.0, 4.0, 5.0, 9.0, 10.0),
        (-2.0, 4.0, 12.0, 1.0, 10.0),
        (0.5, 100.0, 0.5, 100.0, 3.0),
        (40.0, 25.0, 61.0, 16.0, 100.0),
        (9.0, 2.0, 1.0, 2.0, 10.0),
    ],
)
def test_share_is_the_posterior_mean(case):
    assert share(*case, SPIKE) == pytest.approx(by_quadrature(*case), rel=1e-6)


def test_share_stays_inside_and_is_symmetric():
    rng = np.random.default_rng(1)
    for _ in range(2000):
        z1, z2 = rng.normal(0, 100, 2)
        v1, v2 = rng.uniform(0.1, 500, 2)
        t = rng.exponential(50)
        rho = rng.uniform()
        x = share(z1, v1, z2, v2, t, SPIKE, rho)
        assert 0 <= x <= t
        other = share(z2, v2, z1, v1, t, SPIKE, 1 - rho)
        assert x + other == pytest.approx(t, abs=1e-6 * t + 1e-9)


@pytest.mark.parametrize(
    "mechanism",
    [
        UG(epsilon=0.1, inference="split"),
        AG(epsilon=0.1, inference="split"),
        QuadTree(epsilon=0.1, inference="split"),
        HTF(epsilon=0.1, inference="split"),
        PrivTree(epsilon=0.1, inference="split"),
    ],
)
def test_split_inference_is_non_negative_and_adds_up(mechanism):
    release, _ = run(mechanism, city((40, 33)), PreviewNoise(5))
    tree = release.tree
    assert np.all(tree.value >= 0)
    sums = np.bincount(tree.parent[1:], tree.value[1:], minlength=len(tree))
    inner = tree.fan_out > 0
    assert sums[inner] == pytest.approx(tree.value[inner], rel=1e-9, abs=1e-6)
    assert not release.answer([[0, 0, 3, 3]]).sd_exact


def small_transcript(*measurements: Measurement) -> Transcript:
    """A root with two children, the second with two of its own."""
    parent = np.array([-1, 0, 0, 2, 2])
    boxes, spent = np.zeros((5, 2), dtype=np.int64), np.zeros((5, 1), dtype=np.int64)
    leaf = np.array([False, True, False, True, True])
    return Transcript(boxes, boxes + 1, parent, leaf, ("a",), spent, measurements)


def measured(stage: str, ids: list[int], values: list[int], variances: list[float]) -> Measurement:
    return Measurement(stage, np.array(ids), np.array(values), np.array(variances))


def test_depth_counts_the_splits_above() -> None:
    assert small_transcript().depth.tolist() == [0, 1, 1, 2, 2]


def test_draws_of_one_node_are_averaged_by_precision() -> None:
    one = measured("a", [0, 1, 3], [10, 7, 5], [2.0, 2.0, 4.0])
    other = measured("b", [1, 4], [1, 8], [1.0, 0.0])
    value, precision = small_transcript(one, other).counts()
    assert precision[:4] == pytest.approx([0.5, 1.5, 0, 0.25])
    assert value == pytest.approx([10, (7 / 2 + 1) / 1.5, 0, 5, 8])
    value, precision = small_transcript(one, other).counts(["b"])
    assert value == pytest.approx([0, 1, 0, 0, 8])
    assert precision[[0, 2, 3]].tolist() == [0, 0, 0]


def test_reading_counts_leaves_the_record_alone() -> None:
    record = small_transcript(measured("a", [0, 1], [10, 7], [2.0, 2.0]))
    first, precision = record.counts()
    first[:], precision[:] = -1, -1
    assert record.counts()[0].tolist() == [10, 7, 0, 0, 0]
    assert record.measurements[0].values.tolist() == [10, 7]


def test_a_leaf_without_a_draw_is_refused():
    record = transcript([-1, 0, 0], [1.0, 2.0, np.nan], [1.0, 1.0, 1.0])
    with pytest.raises(ValueError, match="never measured"):
        inference.least_squares(record)
