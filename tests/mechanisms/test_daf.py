"""DAF-Entropy and DAF-Homogeneity: budgets, fan-outs, draws, cuts."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer import (
    DAFEntropy,
    DAFHomogeneity,
    Identity,
    InputError,
    Mosaic,
    PrivTree,
    QuadTree,
    Uniform,
)
from explorer.inspection import decision
from explorer.mechanisms import daf
from explorer.privacy.noise import PreviewNoise
from explorer.releases.units import to_epsilon, to_units
from explorer.testing import NoNoise, mechanism_checks
from explorer.testing.counts import counted
from tests.mechanisms.test_trip_grids import GRIDS, trips

BOTH = [DAFEntropy, DAFHomogeneity]


def in_dimensions(kind, number: int):
    """Return the class as one that takes so many dimensions and no others."""
    about = {
        "__doc__": kind.__doc__,
        "__module__": __name__,
        "key": f"{kind.key}-{number}d",
        "dimensions": (number,),
    }
    return type(f"{kind.__name__}{number}", (kind,), about)


CHECKED = [in_dimensions(kind, d) for kind in (*GRIDS, *BOTH) for d in (2, 4)]


@pytest.mark.parametrize("check", mechanism_checks(*CHECKED), ids=str)
def test_it_keeps_the_promises_of_every_mechanism(check) -> None:
    check()


OTHERS = [in_dimensions(kind, d) for kind in BOTH for d in (3, 6)]
OTHERS += [in_dimensions(kind, 4) for kind in (Identity, Uniform, QuadTree, PrivTree, Mosaic)]


@pytest.mark.parametrize("kind", OTHERS)
def test_other_dimensions_spend_epsilon_and_tile(kind) -> None:
    checks = {check.name: check for check in mechanism_checks(kind)}
    checks["every path spends exactly epsilon"]()
    checks["leaves tile odd maps"]()
    checks["without noise it is exact"]()
    if kind.dimensions == (4,):
        checks["an audit finds no breach"]()


def test_budgets_are_the_references(reference_data) -> None:
    table = json.loads(reference_data("trips/formulas.json").read_text())["budgets"]
    for name, wanted in table.items():
        m0, d = (float(each.split("=")[1]) for each in name.split("|"))
        found = daf.level_budgets(99 * 10**10, m0, int(d))
        # Eight decimals in the file, whole units here.
        assert np.array(found) / 10**12 == pytest.approx(wanted, abs=1e-8)
        assert 0 <= 99 * 10**10 - sum(found) <= d


class Noted(PreviewNoise):
    """Exact counts; writes down what every draw was paid, and its sensitivity."""

    def __init__(self) -> None:
        super().__init__(0)
        self.asked: list[tuple[str, int, int, list[int]]] = []

    def laplace(self, values, sensitivity, units, keys, stage):
        self.asked.append((stage, len(values), sensitivity, sorted(set(units.tolist()))))
        return (
            values.copy()
            if stage != "cuts"
            else super().laplace(values, sensitivity, units, keys, stage)
        )

    def lowest(self, costs, offsets, sensitivity, units, keys, stage):
        self.asked.append((stage, len(units), sensitivity, sorted(set(units.tolist()))))
        return super().lowest(costs, offsets, sensitivity, units, keys, stage)


def test_entropy_spends_as_printed() -> None:
    """Root eps/100, budgets of Eq. 32, fan-outs of Eq. 19, the last draw all that is left."""
    matrix, noted, units = trips(6000), Noted(), to_units(0.8)
    release = DAFEntropy(epsilon=0.8).release(matrix, rng=noted)
    tree, total = release.tree, matrix.total
    m0 = (total * 0.792 / math.sqrt(2)) ** (2 / 12)
    assert release.facts["parts at the root"] == pytest.approx(m0)
    paid = [units // 100, *daf.level_budgets(units - units // 100, m0, 4)]
    asked = [each for each in noted.asked if each[0] == "levels"]
    assert [each[3] for each in asked] == [[each] for each in paid[:4]]
    spent = 0
    for depth in range(4):
        spent += paid[depth]
        nodes = np.flatnonzero(tree.depth == depth)
        exact = matrix.count(tree.lower[nodes], tree.upper[nodes])
        wanted = (exact * to_epsilon(units - spent) / math.sqrt(2)) ** (2 / (3 * (4 - depth)))
        side = (tree.upper - tree.lower)[nodes, depth]
        assert tree.fan_out[nodes].tolist() == np.clip(np.rint(wanted), 1, side).tolist()
    leaves = [each for each in noted.asked if each[0] == "leaves"]
    assert [each[3] for each in leaves] == [[units - sum(paid[:4])]]


@pytest.mark.parametrize(("rule", "draws"), [("noised costs", 7), ("noisy-min", 1)])
def test_homogeneity_divides_every_budget_and_keeps_what_it_does_not_need(rule, draws) -> None:
    matrix, noted, units, q = trips(6000), Noted(), to_units(0.8), 0.25
    release = DAFHomogeneity(epsilon=0.8, q=q, p=7, rule=rule).release(matrix, rng=noted)
    tree = release.tree
    m0 = release.facts["parts at the root"]
    budgets = [units // 100, *daf.level_budgets(units - units // 100, m0, 4)]
    cuts, levels = tree.stages.index("cuts"), tree.stages.index("levels")
    single = 0
    for depth in range(4):
        choice = int(budgets[depth] * q)
        nodes = np.flatnonzero(tree.depth == depth)
        # Erratum 23: the root's draw has (1 - q) of its hundredth.
        assert set(tree.spent[nodes, levels].tolist()) == {budgets[depth] - choice}
        several = tree.fan_out[nodes] > 1
        single += np.sum(~several)
        assert set(tree.spent[nodes[several], cuts].tolist()) == {choice // draws * draws}
        assert not tree.spent[nodes[~several], cuts].any()
        counted_ = [each for each in noted.asked if each[0] == "cuts"][depth]
        assert counted_[1] == draws * several.sum()
        # Costs move by 2, on a lattice of 2^-10; each draw has its part of the budget.
        assert counted_[2:] == (2048, [choice // draws])
    assert single > 0
    assert set(tree.path_spent[tree.leaves].sum(axis=1).tolist()) == {units}


def test_without_noise_the_cheapest_candidate_is_taken() -> None:
    """On a map of two even halves a cut between them costs nothing."""
    counts = np.zeros((40, 2), dtype=np.int64)
    counts[:17] = 50
    found = DAFHomogeneity(epsilon=0.02, p=100).release(counts, rng=NoNoise())
    # (1,700 x .0198 / sqrt 2)^(1/3) = 2.9: three slabs, their cuts at 6.7 to 20 and at 20 to 33.3.
    first = np.unique(found.tree.lower[found.tree.depth == 1, 0])
    assert len(first) == 3
    # One hundred candidates of 14 places miss the best in 6 cases of ten thousand.
    assert first[1] == 17


@pytest.mark.parametrize("inference", ["leaves", "least squares", "split"])
@pytest.mark.parametrize("kind", BOTH)
def test_a_stop_count_ends_nodes_with_a_second_draw(kind, inference) -> None:
    release = kind(epsilon=0.5, stop_count=40, inference=inference).release(trips(), rng=1)
    tree = release.tree
    draws, leaf = tree.draws[:, tree.stages.index("levels")], tree.fan_out == 0
    inner = (tree.depth > 0) & ~leaf
    assert np.all(draws[inner] > 40)
    stopped = leaf & (tree.depth < 4)
    assert stopped.any()
    assert np.all(draws[stopped] <= 40)
    assert not np.isnan(tree.draws[leaf, tree.stages.index("leaves")]).any()
    if inference == "leaves":
        wanted = tree.draws[leaf, tree.stages.index("leaves")]
        np.testing.assert_allclose(tree.value[leaf], wanted)
    said = {decision(release, node).kind for node in np.flatnonzero(stopped)}
    assert said == {"stopped"}


def test_too_many_parts_are_refused_after_the_draw_that_asks_for_them(monkeypatch) -> None:
    monkeypatch.setattr("explorer.mechanisms.limits.MOST_PARTS", 500)
    with pytest.raises(InputError, match=r"DAF-Entropy would publish .* which stays spent"):
        DAFEntropy(epsilon=5.0).release(trips(20_000), rng=1)


@settings(max_examples=40)
@given(
    st.sampled_from(BOTH),
    st.lists(st.integers(1, 7), min_size=2, max_size=6),
    st.floats(1e-6, 10),
    st.integers(0, 2**32),
    st.integers(0, 2000),
)
def test_any_small_domain_gives_a_tiling_within_budget(kind, shape, epsilon, seed, people) -> None:
    rng = np.random.default_rng(seed)
    array = np.zeros(shape, dtype=np.int64)
    where = tuple(rng.integers(0, side, people) // rng.integers(1, 3) for side in shape)
    np.add.at(array, where, 1)
    release = kind(epsilon=epsilon).release(counted(array), rng=seed)
    cells = np.prod(release.upper - release.lower, axis=1)
    assert cells.sum() == array.size
    paths = release.tree.path_spent[release.tree.leaves].sum(axis=1)
    assert set(paths.tolist()) == {to_units(epsilon)}


@pytest.mark.parametrize("kind", BOTH)
def test_destination_first_cuts_its_axes_first(kind) -> None:
    release = kind(epsilon=0.5, order="destination first").release(trips(), rng=1)
    tree = release.tree
    for depth, axis in enumerate((2, 3, 0, 1)):
        below = np.flatnonzero(tree.depth == depth + 1)
        smaller = (tree.upper - tree.lower)[below] < (tree.upper - tree.lower)[tree.parent[below]]
        assert smaller[:, axis].any()
        assert not np.delete(smaller, axis, axis=1).any()
    assert daf.axes_in_order(5, "destination first") == [4, 2, 3, 0, 1]
    assert daf.axes_in_order(6, "origin first") == list(range(6))
