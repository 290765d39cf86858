"""The leaf inspector without a browser: clicks, steps, typed places, new pictures."""

import numpy as np
import pytest

from explorer.app import Explore
from explorer.app.curator.explain import OFF
from explorer.grid.grid import Grid
from explorer.inspection import inspect, study_cut
from explorer.mechanisms import all_mechanisms
from explorer.points.matrix import FrequencyMatrix
from tests.app import press
from tests.app.acts import words


@pytest.fixture
def matrix():
    grid = Grid.around(2.35, 48.85, 8000, shape=64, name="Test <town>")
    return FrequencyMatrix.from_array(np.random.default_rng(9).poisson(9, (64, 64)), grid)


@pytest.fixture
def page(matrix):
    page = Explore(matrix, epsilon=0.5)
    page.explain.choice.value = "Leaf"
    return page


def card(page: Explore) -> str:
    return words(page.leaf.view)


def outline(page: Explore) -> list[float]:
    data = page.maps.marks[0].node.data
    return [float(data[name][0]) for name in ("x0", "y0", "x1", "y1")]


def test_a_closed_panel_does_nothing(matrix) -> None:
    page = Explore(matrix, epsilon=0.5)
    page.leaf.tapped(0.0, 0.0)
    page.leaf.step("North")
    assert "Leaf" not in card(page)
    assert len(page.maps.marks[0].node.data["x0"]) == 0


def test_a_click_outlines_the_leaf_and_says_why_it_ended(page, matrix) -> None:
    page.leaf.tapped(-2000.0, 1500.0)
    release = page.screen.release
    leaves = release.boxes()
    inside = (leaves[:, 0] <= -2000) & (leaves[:, 2] > -2000)
    inside &= (leaves[:, 1] <= 1500) & (leaves[:, 3] > 1500)
    leaf = int(np.flatnonzero(inside)[0])
    assert outline(page) == pytest.approx(leaves[leaf].tolist(), abs=1e-3)
    node = inspect(release, int(release.tree.leaves[leaf]))
    for text in (
        f"Leaf {leaf + 1:,} of {release.n_leaves:,}",
        node.decision.verdict.replace(">", "&gt;"),
        f"{node.count:,.1f}".replace("-", "−"),
        f"{matrix.count(np.array([node.lower]), np.array([node.upper]))[0]:,}",
        "exact: for the curator only",
    ):
        assert text in card(page)
    for stage, part in node.spent:
        assert f"{stage} <b>{part:.4g}</b>" in card(page)


@pytest.mark.parametrize("place", [(1e9, 0.0), (None, 2.0), ("x", 0.0), (float("nan"), 0.0)])
def test_a_click_beside_the_map_or_of_a_raw_client_changes_nothing(page, place) -> None:
    before = card(page), page.leaf.node
    page.leaf.tapped(*place)
    assert (card(page), page.leaf.node) == before


def test_walking_up_and_down_comes_back(page) -> None:
    page.leaf.tapped(-2000.0, 1500.0)
    leaf = page.leaf.node
    page.leaf.steps["Parent"].clicks += 1
    assert page.leaf.node == page.screen.release.tree.parent[leaf]
    assert "Inner node, divided into 2 parts" in card(page)
    page.leaf.steps["Child"].clicks += 1
    assert page.leaf.node == leaf
    page.leaf.steps["Child"].clicks += 1
    assert "This is a leaf" in card(page)
    page.leaf.steps["East"].clicks += 1
    assert "notice" not in card(page)
    assert page.leaf.node != leaf
    while page.leaf.node:
        page.leaf.steps["Parent"].clicks += 1
    page.leaf.steps["Parent"].clicks += 1
    assert "no parent" in card(page)
    page.leaf.steps["North"].clicks += 1
    assert "edge of the map" in card(page)
    assert "The whole map" in card(page)


def test_a_leaf_number_or_a_place_can_be_typed(page) -> None:
    tree, leaves = page.screen.release.tree, page.screen.release.n_leaves
    for text in ("7", "7.0", " 7 "):
        page.leaf.entry.value = text
        assert page.leaf.node == tree.leaves[6]
    page.leaf.steps["Next leaf"].clicks += 1
    assert page.leaf.node == tree.leaves[7]
    page.leaf.entry.value = str(leaves)
    page.leaf.steps["Next leaf"].clicks += 1
    assert page.leaf.node == tree.leaves[0]
    page.leaf.tapped(-2000.0, 1500.0)
    clicked = page.leaf.node
    page.leaf.entry.value = "1"
    for text in ("-2, 1.5", "−2 1.5", "-2.0;1.5"):
        page.leaf.entry.value = text
        assert page.leaf.node == clicked


@pytest.mark.parametrize("text", ["0", "-3", "2.5", "99999999", "1e400", "a b", "1 2 3", "nan nan"])
def test_what_cannot_be_gone_to_is_said_and_put_back(page, text) -> None:
    before = page.leaf.node
    page.leaf.entry.value = text
    assert page.leaf.node == before
    assert 'role="alert"' in card(page)
    assert page.leaf.entry.value == ""


def test_an_inner_node_of_htf_has_its_curve_and_the_sentence_has_its_numbers(page, matrix) -> None:
    while page.leaf.node:
        page.leaf.step("Parent")
    study = study_cut(matrix, page.screen.release, 0)
    assert "Why this cut" in card(page)
    np.testing.assert_allclose(page.leaf.chart.line.data["y"], study.costs)
    np.testing.assert_allclose(page.leaf.chart.seen.data["noisy"], study.noisy)
    said = card(page)
    for text in (
        f"{study.chosen:,}, exact cost {study.cost(study.chosen):,.0f} points",
        f"{study.best:,} with {study.cost(study.best):,.0f}",
        f"the best of {len(study.positions):,} cuts",
        f"looked at {len(study.looked_at)} candidates",
        f"deviation {study.noise_sd:,.0f}",
    ):
        assert text in said
    assert page.leaf.chart.figure.html_attributes["aria-label"] in said
    page.leaf.entry.value = "1"
    assert "Why this cut" not in card(page)


@pytest.mark.parametrize("key", all_mechanisms())
def test_every_mechanism_has_leaves_to_look_at(matrix, key) -> None:
    page = Explore(matrix, mechanism=key, epsilon=0.5)
    page.explain.choice.value = "Leaf"
    assert f"of {page.screen.release.n_leaves:,}" in card(page)
    assert "not told" not in card(page)
    if page.screen.release.n_leaves > 1:
        page.leaf.step("Parent")
        assert "divided into" in card(page)


def test_a_new_picture_is_looked_at_in_the_same_place(page) -> None:
    page.leaf.tapped(-2000.0, 1500.0)
    page.state.put(epsilon=0.05)
    release, node = page.screen.release, page.leaf.node
    x0, y0, x1, y1 = inspect(release, node).bounds
    assert x0 <= -2000 < x1
    assert y0 <= 1500 < y1
    assert release.tree.fan_out[node] == 0
    assert f"of {release.n_leaves:,}" in card(page)
    page.leaf.step("Parent")
    depth = release.tree.depth[page.leaf.node]
    page.state.put(epsilon=0.6)
    assert page.screen.release.tree.depth[page.leaf.node] == min(
        depth, page.screen.release.tree.depth.max()
    )


def test_a_drawn_release_tells_as_much(page) -> None:
    press.draw_release(page)
    assert not page.screen.release.preview
    while page.leaf.node:
        page.leaf.step("Parent")
    assert "candidates" in card(page)


def test_closing_takes_the_outline_off(page) -> None:
    assert len(page.maps.marks[0].node.data["x0"]) == 1
    page.explain.choice.value = OFF
    assert len(page.maps.marks[0].node.data["x0"]) == 0
    page.explain.choice.value = "Leaf"
    assert len(page.maps.marks[0].node.data["x0"]) == 1


def test_without_metres_bounds_are_cells() -> None:
    page = Explore(FrequencyMatrix.from_array(np.full((9, 12), 5)), epsilon=1.0)
    page.explain.choice.value = "Leaf"
    page.leaf.entry.value = "3, 4"
    x0, y0, x1, y1 = inspect(page.screen.release, page.leaf.node).bounds
    assert x0 <= 3 < x1
    assert y0 <= 4 < y1
    assert "row 0 in the south" in card(page)
    page.leaf.entry.value = "50 50"
    assert "outside the map" in card(page)
