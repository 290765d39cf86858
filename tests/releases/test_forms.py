"""The noise of linear forms after least squares: against the matrix of the normal equations."""

from __future__ import annotations

import numpy as np
import pytest

from explorer.releases.forms import Family


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


def test_forms_inside_leaves_are_leaves_of_a_finer_tree() -> None:
    """Halving a leaf by hand, and handing in its q and c, is the same."""
    whole = Family(np.array([-1, 0, 0]), np.array([0.5, 1.0, 2.0]))
    fine = Family(np.array([-1, 0, 0, 1, 1]), np.array([0.5, 0.25, 2.0, 1.5, 1.5]))
    assert fine.variances[0][1] == pytest.approx(1 / (0.25 + 0.75))
    q, c, b = 1 / 1.5, 1 / 1.5, 2 / 1.5
    s = 1 / 0.25
    form, shared = np.zeros((2, 1, 3))
    form[0, 1], shared[0, 1] = q - c**2 / (b + s), c * s / (b + s)
    wanted = fine.variance([[0, 0, 0, 1, 0]])
    np.testing.assert_allclose(whole.joined(form, shared), wanted)
