"""Decisions read back from releases, against a direct reading of every mechanism's rule."""

import math
from dataclasses import replace

import numpy as np
import pytest

from explorer import Release, all_mechanisms
from explorer.inspection import decision
from explorer.mechanisms.base import Mechanism
from explorer.mechanisms.decisions import Decision
from explorer.privacy import allocation
from explorer.releases.units import UNITS_PER_EPSILON, laplace_variance, to_units
from tests.helpers import city


def said(mechanism: Mechanism, seed: int = 1, people: int = 20_000):
    """A release, and the decision of every node."""
    release = mechanism.release(city((40, 50), people), rng=seed)
    return release, [decision(release, node) for node in range(len(release.tree))]


def cells(release: Release) -> np.ndarray:
    return np.prod(release.tree.upper - release.tree.lower, axis=1)


def drawn(release: Release, stage: str) -> np.ndarray:
    return release.tree.draws[:, release.tree.stages.index(stage)]


def number(text: str) -> float:
    return float(text.replace(",", "").replace("−", "-"))


@pytest.mark.parametrize("kind", all_mechanisms().values())
def test_every_node_of_every_mechanism_has_a_decision_and_a_file_tells_the_same(kind, tmp_path):
    release, decisions = said(kind(epsilon=0.5))
    leaves = release.tree.fan_out == 0
    for node, each in enumerate(decisions):
        assert each.kind != "unknown"
        assert each.verdict
        assert each.reason.endswith(".")
        assert (each.kind in ("stopped", "height", "cell", "extent", "budget")) <= leaves[node]
        assert (each.kind == "on") <= (not leaves[node])
    release.save(tmp_path / "map.parquet")
    loaded = Release.load(tmp_path / "map.parquet")
    assert [decision(loaded, node) for node in range(len(loaded.tree))] == decisions


@pytest.mark.parametrize("rule", ["count", "per epsilon", "optimal"])
def test_htf_stops_where_its_test_draw_is_not_above_the_threshold(rule):
    made = all_mechanisms()["htf"](epsilon=0.4, stop_rule=rule, stop_count=50, stop_extent=3)
    release, decisions = said(made)
    height, tests = int(release.facts["height"]), drawn(release, "stop test")
    total = int(drawn(release, "height")[0])
    share = min(to_units(made.split_budget), to_units(0.4) // (2 * height))
    left = to_units(0.4) - min(to_units(made.height_budget), to_units(0.4) // 10) - height * share
    budgets = allocation.geometric(left, height) / UNITS_PER_EPSILON
    limits = {
        "count": np.full(height + 1, 50.0),
        "per epsilon": np.full(height + 1, 20 / 0.4),
        "optimal": allocation.stop_thresholds(budgets, total),
    }[rule]
    depth, size = release.tree.depth, cells(release)
    seen = set()
    for node, each in enumerate(decisions):
        limit = limits[height - depth[node]]
        if depth[node] == height:
            wanted = "height"
        elif size[node] == 1:
            wanted = "cell"
        elif size[node] <= 3:
            wanted = "extent"
        else:
            wanted = "stopped" if tests[node] <= limit else "on"
            figures = each.verdict.split(": ")[1]
            left_side, right_side = figures.split(" ≤ " if wanted == "stopped" else " > ")
            assert number(left_side) == tests[node]
            assert number(right_side) == pytest.approx(limit, abs=0.0051)
        assert each.kind == wanted
        seen.add(wanted)
    assert {"stopped", "on"} <= seen


def test_ag_divides_again_by_guideline_2():
    release, decisions = said(all_mechanisms()["ag"](epsilon=0.5, first_size=6))
    tree, first = release.tree, drawn(release, "first level")
    again = 0
    for node in range(1, 37):
        paid = tree.path_spent[node].sum() / UNITS_PER_EPSILON
        expected = max(first[node], 0) * (0.5 - paid) / 5.0
        parts = max(1, math.ceil(math.sqrt(expected)))
        assert f"{parts} × {parts}" in decisions[node].verdict
        for child in np.flatnonzero(tree.parent == node):
            assert decisions[child].kind == ("stopped" if parts == 1 else "public")
        again += parts > 1
    assert 0 < again < 36


def test_mosaic_stops_where_count_times_budget_is_not_worth_it():
    release, decisions = said(all_mechanisms()["mosaic"](epsilon=0.5), people=60_000)
    tree, noisy, size = release.tree, drawn(release, "levels"), cells(release)
    leaf_paid, paid = (tree.spent[:, tree.stages.index(each)] for each in ("leaves", "levels"))
    rest = (to_units(0.5) - tree.path_spent.sum(axis=1) + leaf_paid) / UNITS_PER_EPSILON
    for node, each in enumerate(decisions):
        is_leaf = tree.fan_out[node] == 0
        if is_leaf and size[node] == 1:
            assert each.kind == "cell"
        elif np.isnan(noisy[node]):
            assert each.kind == ("budget" if is_leaf else "public")
        else:
            # 10 for parts along both axes, 5 where a node is a row of cells.
            axes = (tree.upper[node] > tree.lower[node] + 1).sum()
            doubt = 0.25 * math.sqrt(laplace_variance(paid[node : node + 1], 1)[0])
            worth = (tree.tested[node] + doubt) * rest[node] / (2.5 * 2**axes)
            assert (each.kind == "stopped") == is_leaf == (worth < 1 and tree.depth[node] > 0)
            assert tree.depth[node] in (0, *range(3, 7))
    assert {"stopped", "on", "public"} <= {each.kind for each in decisions}


def test_kd_cell_is_told_by_the_noisy_grid_it_looked_at():
    made = all_mechanisms()["kd-cell"](epsilon=0.5, stop_count=80)
    release, decisions = said(made)
    held, size = release.tree.tested, cells(release)
    assert len(held) == len(release.tree)
    # The figures of two halves are the figure of the whole: both look at one noisy map.
    for node in np.flatnonzero(release.tree.fan_out):
        children = np.flatnonzero(release.tree.parent == node)
        assert held[children].sum() == pytest.approx(held[node])
    for node, each in enumerate(decisions):
        if release.tree.fan_out[node]:
            assert each.kind == "on"
            assert held[node] > 80
        elif held[node] <= 80:
            assert each.kind == "stopped"
        else:
            assert each.kind == ("cell" if size[node] == 1 else "height")


def test_what_a_file_does_not_tell_is_said_so():
    release = all_mechanisms()["htf"](epsilon=0.5).release(city((8, 8), 500), rng=1)
    unknown = Decision("unknown", "not known", decision(replace(release, facts={}), 0).reason)
    assert decision(replace(release, facts={}), 0) == unknown
    assert decision(replace(release, mechanism="<b>"), 0) == unknown
    assert decision(replace(release, parameters={"stop_rule": 7}), 0) == unknown
