"""Releases over more axes than a map has: answers, marginals, files, and what is refused."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from explorer import Grid, InputError, Release
from explorer.grid.places import TripDomain
from explorer.releases.transcript import LedgerRow
from explorer.releases.tree import Tree
from explorer.releases.units import to_units
from tests.releases.test_tree import random_tree

TRIPS = TripDomain(
    (Grid.around(2.35, 48.85, 5000, shape=(5, 4)), Grid.around(2.45, 48.8, 6000, shape=(6, 3)))
)


def spending(tree: Tree, units: int) -> Tree:
    """The tree with one stage, for which every leaf paid."""
    spent = np.zeros((len(tree), 1), dtype=np.int64)
    spent[tree.leaves] = units
    draws = np.full((len(tree), 1), np.nan)
    draws[tree.leaves, 0] = np.round(tree.value[tree.leaves])
    return Tree(
        tree.lower, tree.upper, tree.parent, tree.value, tree.precision, ("leaves",), spent, draws
    )


def made(seed: int = 0, **changes: object) -> Release:
    """A release of trips whose tree was put together by hand."""
    tree = random_tree(np.random.default_rng(seed), TRIPS.shape, 40)
    units = to_units(0.5)
    about = {
        "domain": TRIPS,
        "ledger": [
            LedgerRow("leaves", 0.5, 1, 3.0, "parallel"),
            LedgerRow("leaves", 0.5, 2, 3.0, "parallel"),
        ],
        "mechanism": "by-hand",
        "parameters": {"height": 3},
        "units": units,
        "preview": False,
        "unit": "client",
        "contribution_bound": 3,
        "facts": {"height": 40.0},
    }
    return Release.from_tree(spending(tree, units), **{**about, **changes})


def boxes(n: int = 25) -> np.ndarray:
    """Boxes of trips in cells, (n, 2, 4), some beyond the places."""
    return np.sort(
        np.random.default_rng(7).uniform(-1, np.array(TRIPS.shape) + 1, (n, 2, 4)), axis=1
    )


def test_a_release_over_four_axes_answers() -> None:
    release = made()
    assert (release.kind, release.unit, release.is_uniform, release.sd_exact) == (
        "trips",
        "client",
        True,
        True,
    )
    asked = TRIPS.from_cells(boxes())
    answers, touched = release.answer(asked), release.touched(asked)
    values, variances, leaves = release.tree.integrate(boxes())
    assert answers.value == pytest.approx(values)
    assert answers.sd**2 == pytest.approx(variances)
    assert np.array_equal(touched, leaves)
    whole = TRIPS.from_cells([[[0] * 4, TRIPS.shape]])
    assert release.answer(whole).value[0] == pytest.approx(release.total)
    assert release.boxes().shape == (release.n_leaves, 8)
    assert release.answer(release.boxes()).value == pytest.approx(release.counts)
    assert "over 5 x 4 x 6 x 3 cells" in release.summary()
    (row,) = release.ledger
    assert (row.stage, row.epsilon, row.draws) == ("leaves", pytest.approx(0.5), 3)


@pytest.mark.parametrize("axes", [(0,), (3,), (0, 1), (2, 3), (1, 0), (3, 0, 2), (0, 1, 2, 3)])
def test_answers_of_a_marginal_are_those_of_the_release(axes: tuple[int, ...]) -> None:
    release = made(2)
    found = release.marginal(axes)
    assert found.shape == tuple(TRIPS.shape[axis] for axis in axes)
    assert found.sum() == pytest.approx(release.total)
    rng = np.random.default_rng(5)
    for _ in range(20):
        cells = np.array([[0] * 4, TRIPS.shape])
        for axis in axes:
            cells[:, axis] = np.sort(rng.integers(0, TRIPS.shape[axis] + 1, 2))
        inside = found[tuple(slice(*cells[:, axis]) for axis in axes)].sum()
        answer = release.answer(TRIPS.from_cells(cells[None])).value[0]
        assert inside == pytest.approx(answer, abs=1e-9 * abs(release.counts).sum())


@pytest.mark.parametrize("axes", [(), (0, 0), (4,), (-1,), (0, 1, 2, 3, 4)])
def test_axes_that_are_not_there(axes: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match="from row, from column, to row, to column"):
        made().marginal(axes)


def test_more_cells_than_can_be_summed_are_refused() -> None:
    wide = TripDomain((Grid.cells(1000), Grid.cells(1000)))
    none, one = np.zeros((1, 4), dtype=np.int64), np.ones(1)
    tree = Tree(none, np.array([wide.shape]), np.array([-1]), 1e6 * one, one, (), none[:, :0],
                np.zeros((1, 0)))  # fmt: skip
    release = Release.from_tree(
        tree, domain=wide, ledger=[], mechanism="x", parameters={}, units=1, preview=True
    )
    assert release.marginal((0, 2)).sum() == pytest.approx(1e6)
    with pytest.raises(InputError, match="choose fewer"):
        release.marginal((0, 1, 2))


def test_what_a_map_alone_can_do_is_refused_in_one_sentence() -> None:
    release = made()
    for draw in (
        release.density,
        release.to_geodataframe,
        lambda: release.grid,
        lambda: release.tree.paint((5, 4)),
        lambda: release.tree.owners((5, 4)),
    ):
        with pytest.raises(InputError, match=r"has 4 axes .* release.marginal\(\(0, 1\)\)"):
            draw()


def test_a_release_over_four_axes_comes_back_from_its_file(tmp_path: Path) -> None:
    release = made()
    path = tmp_path / "trips.parquet"
    release.save(path)
    again = Release.load(path)
    assert again.domain == release.domain
    for name in ("kind", "mechanism", "parameters", "units", "preview", "unit", "ledger", "facts"):
        assert getattr(again, name) == getattr(release, name), name
    asked = TRIPS.from_cells(boxes())
    before, after = release.answer(asked), again.answer(asked)
    assert np.array_equal(before.value, after.value)
    assert np.array_equal(before.sd, after.sd)
    assert again.summary() == release.summary()
    table = pq.read_table(path)
    assert "geometry" not in table.column_names
    assert b"geo" not in table.schema.metadata
    assert {f"lower_{axis}" for axis in range(4)} <= set(table.column_names)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"domain": Grid.cells((5, 4))}, "not of this domain"),
        ({"domain": TripDomain((Grid.cells((5, 4)), Grid.cells((6, 4))))}, "not the whole domain"),
        ({"ledger": []}, "no row for leaves"),
        ({"units": to_units(0.4)}, "more than the 0.4 of the release"),
        ({"unit": "household"}, "one of point, user, client"),
    ],
)
def test_trees_that_no_release_can_stand_on(changes: dict, said: str) -> None:
    with pytest.raises(InputError, match=said):
        made(**changes)
    assert math.isclose(made().epsilon, 0.5)
