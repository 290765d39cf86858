"""KD-trees, hierarchies, Privlet and PrivTree: what is theirs alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer import (
    HB,
    FrequencyMatrix,
    Hierarchy,
    KDCell,
    KDHybrid,
    Privlet,
    PrivTree,
    all_mechanisms,
)
from explorer.mechanisms.hierarchies import best_branching, levels_of
from explorer.privacy.curator import Curator
from explorer.privacy.noise import PreviewNoise
from explorer.releases import haar
from tests.helpers import NoNoise, city, run


@pytest.mark.parametrize("key", list(all_mechanisms()))
def test_counts_near_the_limit_do_not_overflow(key):
    counts = np.full((16, 16), 3 * 10**8)
    release = all_mechanisms()[key](epsilon=10.0).release(counts, rng=1)
    assert release.total == pytest.approx(counts.sum(), rel=1e-4)


def test_median_candidates_are_all_positions_whatever_the_data():
    # The exponential mechanism over occupied coordinates would never cut where nobody is.
    counts = np.zeros((1, 40), dtype=int)
    counts[0, [10, 20]] = 3
    cuts = set()
    for seed in range(400):
        desk = Curator(FrequencyMatrix.from_array(counts), 10**12, PreviewNoise(seed))
        cuts.add(int(desk.median(desk.open(), np.array([1]), 10**11)[0]))
    # At epsilon .1 every cut is nearly as likely as any other; 400 draws miss one of the 39
    # with probability 39 (1 - 1/60)^400 = 0.05, and the seeds are fixed.
    assert len(cuts) >= 37


def test_branching_of_hb():
    # 7 . 3^2 = 63 < 4 . 4^2 = 16 . 2^2 = 64; and 6 . 4^2 = 96 < 11 . 3^2 = 99 < 4 . 5^2 = 100.
    assert best_branching((256, 256)) == 7
    for side in range(1, 600):
        every = range(2, max(side, 2) + 1)
        assert best_branching((side, 1)) == min(every, key=lambda b: b * levels_of(side, b) ** 2)
    assert best_branching((1024, 700)) == 6
    assert best_branching((1, 1)) == best_branching((1, 2)) == 2
    assert best_branching((3, 3)) == 3
    assert levels_of(1024, 4) == 5
    assert run(HB(epsilon=1), city((60, 45)), PreviewNoise(1))[0].n_leaves == 60 * 45


@given(st.integers(1, 20), st.integers(1, 20), st.integers(0, 2**31))
def test_haar_goes_there_and_back(rows, cols, seed):
    matrix = np.random.default_rng(seed).integers(0, 100, (rows, cols))
    back = haar.inverse(haar.forward(matrix))
    assert back[:rows, :cols] == pytest.approx(matrix)
    assert not back[rows:].any()


def transformed(lines):
    """One step of the definition after the other: sums go on, differences stay."""
    if len(lines) == 1:
        return lines
    return np.concatenate([transformed(lines[::2] + lines[1::2]), lines[::2] - lines[1::2]])


@pytest.mark.parametrize("shape", [(1, 1), (1, 200), (37, 1), (64, 32), (33, 100), (128, 9)])
def test_haar_is_as_defined_on_either_side_of_a_strip(shape):
    matrix = np.random.default_rng(3).integers(-(2**40), 2**40, shape)
    matrix.flags.writeable = False
    padded = np.zeros((haar.side(shape[0]), haar.side(shape[1])), dtype=np.int64)
    padded[: shape[0], : shape[1]] = matrix
    found = haar.forward(matrix)
    assert np.array_equal(found, transformed(transformed(padded).T).T)
    assert np.array_equal(haar.inverse(found), padded)


def test_one_record_moves_one_coefficient_of_every_level_by_one():
    matrix = np.random.default_rng(1).integers(0, 9, (8, 4))
    neighbour = matrix.copy()
    neighbour[5, 2] += 1
    change = haar.forward(neighbour) - haar.forward(matrix)
    assert set(np.abs(change).ravel().tolist()) == {0, 1}
    assert np.abs(change).sum() == (1 + 3) * (1 + 2)


@pytest.mark.statistical
def test_claimed_noise_of_privlet_is_the_noise_over_many_draws():
    matrix = city((32, 20), 2000)
    boxes = np.array([[0, 0, 20, 32], [3, 4, 11, 9.5]])
    answers = [Privlet(epsilon=1).release(matrix, rng=s).answer(boxes) for s in range(300)]
    spread = np.std([a.value for a in answers], axis=0)
    # Sums of many draws are nearly normal: the sd of 300 is known to 4 %; allow 4 of those.
    assert spread == pytest.approx(answers[0].sd, rel=0.17)


def test_privtree_publishes_no_score_and_charges_its_structure_once():
    release, desk = run(PrivTree(epsilon=1), city(), PreviewNoise(1))
    assert desk.spent == desk.units
    assert release.tree.stages == ("structure", "leaves")
    drawn = release.tree.draws
    assert np.isnan(drawn[:, 0]).all()
    structure = release.ledger[0]
    assert structure.composition == "PrivTree's proof"
    assert structure.epsilon == 0.5


@pytest.mark.parametrize("order", ["kd first", "quad first"])
def test_hybrid_has_both_kinds_of_levels(order):
    release, _ = run(KDHybrid(order=order, kd_levels=3, quad_levels=2), city(), PreviewNoise(1))
    fan_out = release.tree.fan_out[release.tree.fan_out > 0]
    assert set(fan_out.tolist()) == {2, 4}
    assert release.tree.fan_out[0] == (2 if order == "kd first" else 4)


def test_kd_cell_reads_the_data_again_for_its_counts():
    matrix = city((32, 32))
    moved = FrequencyMatrix.from_array(matrix.counts + np.eye(32, dtype=int) * 50)
    a, b = (run(KDCell(epsilon=5), m, NoNoise())[0] for m in (matrix, moved))
    assert b.total - a.total == pytest.approx(50 * 32)
    assert [stage for stage, _ in a.elsewhere] == ["total", "grid"]


def test_hierarchy_has_the_levels_it_says():
    release, _ = run(Hierarchy(grid_size=16, branching=2, levels=3), city(), PreviewNoise(1))
    sizes = np.bincount(release.tree.depth)
    assert sizes.tolist() == [1, 16, 64, 256]
    assert {row.stage for row in release.ledger} == {"grid 1", "grid 2", "grid 3"}
