"""Budgets along the paths of trees of areas: printed figures, optima, whole units."""

import itertools
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from explorer.country import budgets
from explorer.grid.areas.people import People
from explorer.releases.units import to_units


def regular(counts):
    """Parents and levels of a tree with so many nodes a level, as even as whole numbers allow."""
    parent, level, start = [-1], [0], 0
    for number, (above, here) in enumerate(itertools.pairwise(counts), 1):
        end = len(parent)
        parent += [start + i * above // here for i in range(here)]
        level += [number] * here
        start = end
    return np.array(parent), np.array(level)


def every(parent, level):
    """All nodes on their own, only children too: what a paper writes down."""
    own = np.arange(len(parent))
    return People(parent, np.ones_like(parent), level, own, own)


@pytest.fixture(scope="module")
def great_britain(real_data):
    import pyarrow.parquet as pq

    table = pq.read_table(
        real_data("gb_districts.parquet"), columns=["country", "region", "district"]
    ).to_pandas()
    names, parent, level = {(): 0}, [-1], [0]
    for depth in (1, 2, 3):
        for row in table.itertuples(index=False):
            path = tuple(row[:depth])
            if path not in names:
                names[path] = len(parent)
                parent.append(names[path[:-1]])
                level.append(depth)
    return np.array(parent), np.array(level)


@pytest.mark.parametrize(("counts", "printed"), [
    ((1, 50, 3006, 19495), (0.0217, 0.0800, 0.3135, 0.5847)),
    ((1, 3, 11, 380), (0.0840, 0.1211, 0.1867, 0.6082)),
])  # fmt: skip
def test_eq_38_as_printed(counts, printed):
    tree = every(*regular(list(counts)))
    paid, _ = budgets.units_on_paths(tree, budgets.parts(tree, "Eq. 38", np.array(counts)), 10**12)
    for level, share in enumerate(printed):
        np.testing.assert_allclose(paid[tree.level == level] / 1e12, share, atol=5e-5)


def test_figures_of_great_britain(great_britain, reference_data):
    figures = json.loads(reference_data("country/budgets_exact.json").read_text())
    given, once = every(*great_britain), People.of_areas(*great_britain)
    levels = np.bincount(great_britain[1])
    assert levels.tolist() == figures["levels"]
    drawn, after = figures["sum_n_over_e2_at_eps1"], figures["after_least_squares"]
    for rule, name in (("Eq. 38", "eq38"), ("uniform", "uniform"), ("geometric", "geometric2"),
                       ("per node", "path_wise")):  # fmt: skip
        taken = budgets.parts(given, rule, levels)
        assert budgets.squared_error(given, taken, False) == pytest.approx(drawn[name], abs=0.01)
        assert budgets.squared_error(given, taken) == pytest.approx(after[name], abs=0.1)
    lowest = budgets.parts(given, "lowest level")
    assert budgets.squared_error(given, lowest) == pytest.approx(after["districts_only"])
    once_each = budgets.per_node(once, np.ones(len(once)))
    found = budgets.squared_error(once, once_each, False)
    assert found == pytest.approx(drawn["path_wise_bypass_all395"], abs=0.05)
    best = budgets.after_least_squares(once)
    np.testing.assert_allclose(best, [0, 0, 0.2754, 0], atol=5e-4)
    assert budgets.squared_error(once, budgets.spread(once, best)) == pytest.approx(1060, abs=0.05)


def test_figures_of_the_united_states(reference_data):
    """Whole fan-outs here, regular ones in the reference: they differ by less than a thousandth."""
    figures = json.loads(reference_data("country/budgets_exact.json").read_text())["usa"]
    tree, levels = every(*regular(figures["levels"])), np.array(figures["levels"])
    for rule, name in (("Eq. 38", "eq38"), ("uniform", "uniform"), ("geometric", "geometric2")):
        taken = budgets.parts(tree, rule, levels)
        found = budgets.squared_error(tree, taken, False)
        assert found == pytest.approx(figures["sum_n_over_e2"][name.removesuffix("_ls")], rel=1e-5)
        after = figures["sum_n_over_e2"][f"{name}_ls"]
        assert budgets.squared_error(tree, taken) == pytest.approx(after, rel=1e-3)
    best = budgets.after_least_squares(tree)
    shares = best * np.cumprod([1, *(1 - best[:-1])])
    np.testing.assert_allclose(shares[:3], figures["sum_n_over_e2"]["best_shares"][:3], atol=1e-3)
    assert best[2] == 0, "counties are sums of cities: better not counted"
    found = budgets.squared_error(tree, budgets.spread(tree, best))
    assert found == pytest.approx(figures["sum_n_over_e2"]["best_ls"], rel=1e-3)


def test_the_optimum_of_single_nodes_is_one():
    """Against a solver, on a tree with branches of two depths."""
    tree = every(
        np.array([-1, 0, 0, 1, 1, 1, 2, 2, 4, 4]), np.array([0, 1, 1, 2, 2, 2, 2, 2, 3, 3])
    )
    weights = np.array([1, 3, 1, 2, 1, 1, 5, 1, 1, 1.0])

    def error(logits):
        taken = np.where(tree.is_leaf, 1.0, 1 / (1 + np.exp(-logits)))
        left, e = np.ones(len(tree)), np.empty(len(tree))
        for v, p in enumerate(tree.parent):
            left[v] = 1.0 if p < 0 else left[p] - e[p]
            e[v] = left[v] * taken[v]
        return float(np.sum(weights / e**2))

    taken = budgets.per_node(tree, weights)
    here = np.log(np.clip(taken, 0, 1 - 1e-12) / (1 - np.clip(taken, 0, 1 - 1e-12)))
    found = minimize(error, np.zeros(len(tree)), method="BFGS", options={"gtol": 1e-9})
    assert error(here) == pytest.approx(found.fun, rel=1e-7)


def test_only_children_take_both_shares_and_are_measured_once():
    tree = People.of_areas([-1, 0, 0, 1, 1, 2, 5, 5], [0, 1, 1, 2, 2, 2, 3, 3])
    assert tree.chain.tolist() == [1, 1, 2, 1, 1, 1, 1]
    assert tree.of.tolist() == [0, 1, 2, 3, 4, 2, 5, 6]
    assert tree.level.tolist() == [0, 1, 2, 2, 2, 3, 3]
    paid, left = budgets.units_on_paths(tree, budgets.of_levels(tree, np.full(4, 0.25)), 10**6)
    # Rounded down at each step, within a unit or two.
    np.testing.assert_allclose(paid, 10**4 * np.array([25, 25, 50, 50, 50, 25, 25]), atol=3)
    np.testing.assert_allclose(left, 10**4 * np.array([100, 75, 75, 50, 50, 25, 25]), atol=3)


def test_a_chain_from_the_whole_down_is_one_node():
    tree = People.of_areas([-1, 0, 1, 1], [0, 1, 2, 2])
    assert (tree.chain.tolist(), tree.parent.tolist()) == ([2, 1, 1], [-1, 0, 0])
    alone = People.of_areas([-1, 0, 1], [0, 1, 2])
    assert (alone.chain.tolist(), alone.is_leaf.tolist()) == ([3], [True])
    for rule in budgets.RULES:
        taken = budgets.parts(alone, rule, np.ones(3))
        assert budgets.units_on_paths(alone, taken, 77)[0].tolist() == [77]


@given(st.data())
def test_every_path_spends_epsilon_to_the_unit(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    parent = np.array([-1, *(int(rng.integers(0, i)) for i in range(1, rng.integers(2, 30)))])
    level = np.zeros(len(parent), dtype=np.int64)
    for v in range(1, len(parent)):
        level[v] = level[parent[v]] + 1
    tree = People.of_areas(parent, level)
    units = to_units(data.draw(st.floats(0.001, 10)))
    rule = data.draw(st.sampled_from(budgets.RULES))
    paid, left = budgets.units_on_paths(tree, budgets.parts(tree, rule, np.bincount(level)), units)
    path = np.zeros(len(tree), dtype=np.int64)
    for v, p in enumerate(tree.parent):
        path[v] = paid[v] + (path[p] if p >= 0 else 0)
        assert 0 <= paid[v] <= left[v]
    assert np.all(path[tree.is_leaf] == units)
