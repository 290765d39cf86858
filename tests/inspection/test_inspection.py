"""One node of a release: its facts, ways to its neighbours, and HTF's choice of a cut."""

import numpy as np
import pytest

from explorer import (
    HTF,
    FrequencyMatrix,
    Grid,
    Identity,
    InputError,
    QuadTree,
    Release,
    all_mechanisms,
)
from explorer.inspection import inspect, neighbour, node_at, study_cut
from explorer.mechanisms.figures import cut_of
from explorer.points.split_costs import LATTICE_BITS
from tests.helpers import city
from tests.releases.test_domains import made as trips


@pytest.fixture
def matrix():
    return FrequencyMatrix(city((32, 40)).counts, Grid.around(10, 50, 4000, shape=(32, 40)))


@pytest.fixture
def release(matrix):
    return HTF(epsilon=0.5, inference="least squares").release(matrix, rng=2)


def test_a_leaf_says_what_the_release_says(release) -> None:
    for leaf in (0, 3, release.n_leaves - 1):
        node = inspect(release, int(release.tree.leaves[leaf]))
        assert node.leaf == leaf
        assert node.children == 0
        assert node.count == release.counts[leaf]
        assert node.sd == pytest.approx(release.sd[leaf])
        assert node.height == release.height[leaf]
        assert node.bounds == pytest.approx(release.boxes()[leaf].tolist())
        assert node.epsilon == pytest.approx(0.5)
        low, high = node.interval
        assert high - low == pytest.approx(2 * 1.96 * node.sd)


@pytest.mark.parametrize("kind", all_mechanisms().values())
def test_budget_by_stage_is_the_path_of_every_mechanism(kind) -> None:
    release = kind(epsilon=0.5).release(city((16, 16), 3000), rng=1)
    for number in {0, int(release.tree.leaves[0]), int(release.tree.leaves[-1])}:
        node = inspect(release, number)
        here = release.tree.path_spent[number].sum() / 1e12
        assert node.epsilon == pytest.approx(here + sum(part for _, part in release.elsewhere))
        assert node.epsilon <= 0.5 + 1e-9
        assert all(part > 0 for _, part in node.spent)


@pytest.mark.parametrize("made", [HTF(epsilon=0.5), Identity(epsilon=0.5), QuadTree(epsilon=0.5)])
def test_the_node_at_every_cell_is_the_one_that_owns_it(made, matrix) -> None:
    release = made.release(matrix, rng=1)
    tree, owners = release.tree, release.tree.owners(matrix.shape)
    rng = np.random.default_rng(1)
    for row, column in zip(rng.integers(0, 32, 60), rng.integers(0, 40, 60), strict=True):
        assert node_at(tree, (row + 0.4, column + 0.9)) == tree.leaves[owners[row, column]]
        above = node_at(tree, (row, column), 1)
        assert tree.depth[above] <= 1
        assert np.all(tree.lower[above] <= (row, column))
        assert np.all((row, column) < tree.upper[above])


def test_neighbours_touch_and_the_map_has_edges(release) -> None:
    tree = release.tree
    stopped = 0
    for node in tree.leaves:
        for side, (axis, low, high) in {
            "north": (0, "upper", "lower"),
            "south": (0, "lower", "upper"),
            "east": (1, "upper", "lower"),
            "west": (1, "lower", "upper"),
        }.items():
            at_edge = getattr(tree, low)[node, axis] == getattr(tree, low)[0, axis]
            if at_edge:
                with pytest.raises(InputError, match="edge of the map"):
                    neighbour(tree, int(node), side)
                stopped += 1
                continue
            other = neighbour(tree, int(node), side)
            assert tree.fan_out[other] == 0
            assert getattr(tree, low)[node, axis] == getattr(tree, high)[other, axis]
            middle = (tree.lower[node, 1 - axis] + tree.upper[node, 1 - axis] - 1) // 2
            assert tree.lower[other, 1 - axis] <= middle < tree.upper[other, 1 - axis]
    assert stopped >= 4
    inner = int(np.flatnonzero(tree.fan_out)[3])
    for side in ("north", "south", "east", "west"):
        try:
            assert tree.depth[neighbour(tree, inner, side)] <= tree.depth[inner]
        except InputError:
            continue


def naive_cost(counts, axis, cut) -> float:
    halves = (counts[:cut], counts[cut:]) if axis == 0 else (counts[:, :cut], counts[:, cut:])
    return sum(np.abs(half - half.mean()).sum() for half in halves)


def test_the_curve_of_costs_is_that_of_the_cells(matrix, release) -> None:
    for node in np.flatnonzero(release.tree.fan_out)[:6]:
        study = study_cut(matrix, release, int(node))
        (r0, c0), (r1, c1) = release.tree.lower[node], release.tree.upper[node]
        counts = matrix.counts[r0:r1, c0:c1]
        begin = (r0, c0)[study.axis]
        assert study.positions.tolist() == list(range(begin + 1, (r1, c1)[study.axis]))
        for position, cost in zip(study.positions, study.costs, strict=True):
            # Two floors to the lattice lie between them.
            exact = naive_cost(counts, study.axis, position - begin)
            assert exact - 2 / 2**LATTICE_BITS <= cost <= exact + 1e-6
        assert study.cost(study.best) == study.costs.min()
        assert (study.axis, study.chosen) == cut_of(release.tree, int(node))


def test_the_stated_noise_is_that_of_the_candidates(matrix) -> None:
    made = HTF(epsilon=2.0, height=1, split_budget=0.7, T=1, stop_count=0)
    off, variances = [], []
    for seed in range(400):
        study = study_cut(matrix, made.release(matrix, rng=seed), 0)
        exact = [study.cost(int(position)) for position in study.looked_at]
        off.extend(study.noisy - exact)
        variances.append(study.noise_sd**2)
    # The variance of n Laplace draws is known to sqrt(5 / n); allow four of those.
    assert np.var(off) == pytest.approx(np.mean(variances), rel=4 * np.sqrt(5 / len(off)))


def test_files_keep_no_candidates_and_other_nodes_have_no_curve(matrix, release, tmp_path) -> None:
    release.save(tmp_path / "map.parquet")
    loaded = Release.load(tmp_path / "map.parquet")
    study = study_cut(matrix, loaded, 0)
    assert not study.stored
    assert len(study.looked_at) == 0
    assert study.chosen == study_cut(matrix, release, 0).chosen
    assert study.noise_sd == study_cut(matrix, release, 0).noise_sd
    assert study_cut(matrix, release, int(release.tree.leaves[0])) is None
    assert study_cut(matrix, QuadTree(epsilon=1.0).release(matrix, rng=1), 0) is None


def test_a_node_of_four_axes_says_what_it_can() -> None:
    release = trips(1)
    tree = release.tree
    for number in (0, 1, int(tree.leaves[-1])):
        node = inspect(release, number)
        assert node.shape == tuple(tree.upper[number] - tree.lower[number])
        assert len(node.bounds) == 8
        assert node.count == tree.value[number]
    for number, leaf in enumerate(tree.leaves):
        middle = (tree.lower[leaf] + tree.upper[leaf]) / 2
        assert node_at(tree, middle) == leaf
        assert inspect(release, leaf).leaf == number
    with pytest.raises(InputError, match="4 axes"):
        neighbour(tree, 0, "north")
