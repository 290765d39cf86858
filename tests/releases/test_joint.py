"""From rounds to a map: exact sums give the truth, pieces share what their owner counts."""

from __future__ import annotations

import numpy as np
import pytest

from explorer.errors import InputError
from explorer.releases.distributed import EVERYONE, ONCE, estimated
from explorer.releases.joint import alone, boxes, together
from explorer.releases.quarters import KeyTree, interleave
from explorer.releases.rounds import Heard

RNG = np.random.default_rng(1)


def exact(tree: KeyTree, counts: np.ndarray, noise: float = 0.0, answered: int = 0) -> Heard:
    """A round whose sums are right."""
    rows, cols = np.indices(counts.shape)
    shift = 2 * (int(max(counts.shape) - 1).bit_length() - tree.depth)
    owner = tree.index(interleave(cols.ravel(), rows.ravel()) >> shift)
    sums = np.bincount(owner, counts.ravel(), tree.v)
    return Heard(cells=tree.v, people=100, answered=answered or int(counts.sum()), units=10**12,
                 noise=noise, tree=tree, sums=sums)  # fmt: skip


def test_boxes_tile_a_square_and_a_grid_inside_one() -> None:
    tree = KeyTree.even(3, 1).split([0, 2])
    for shape in ((8, 8), (16, 16), (5, 7), (9, 12)):
        lower, upper = boxes(tree, shape)
        seen = np.zeros(shape, dtype=int)
        for low, high in zip(lower[tree.open], upper[tree.open], strict=True):
            seen[low[0] : high[0], low[1] : high[1]] += 1
        assert np.all(seen == 1)


@pytest.mark.parametrize("shape", [(16, 16), (11, 14), (3, 16), (1, 5)])
def test_exact_sums_of_all_cells_give_the_truth(shape: tuple[int, int]) -> None:
    counts = RNG.poisson(3.0, shape)
    depth = int(max(shape) - 1).bit_length()
    finest = exact(KeyTree.even(depth, depth), counts)
    rough = exact(KeyTree.even(depth, 1), counts)
    for estimate in (
        alone(finest, shape, counts.sum(), [], "round 1"),
        together([rough, finest], shape, counts.sum(), [1, 1]),
    ):
        record = estimate.transcript
        painted = np.zeros(shape)
        for low, high, value in zip(
            record.lower[record.is_leaf], record.upper[record.is_leaf],
            estimate.value[record.is_leaf], strict=True,
        ):  # fmt: skip
            painted[low[0] : high[0], low[1] : high[1]] = value / np.prod(high - low)
        # Together cells are estimated: sampling is taken into account even of everybody.
        near = 1e-9 if estimate.linear or record.stages == ("round 1",) else 3.0
        assert np.abs(painted - counts).max() <= near


def test_joining_rounds_is_better_than_the_last_alone() -> None:
    rng = np.random.default_rng(4)
    counts = np.zeros((16, 16), dtype=np.int64)
    counts[2:5, 3:12] = 40
    counts[12, 12] = 300
    errors = []
    trees = [KeyTree.even(4, 2), KeyTree.even(4, 4)]
    for _ in range(60):
        rounds = []
        for tree in trees:
            heard = exact(tree, counts, noise=10.0)
            object.__setattr__(heard, "sums", heard.sums + rng.normal(0, 10.0, tree.v))
            rounds.append(heard)
        both = estimated(rounds, (16, 16), counts.sum(), EVERYONE, True, 10**12)
        one = estimated(rounds, (16, 16), counts.sum(), EVERYONE, False, 10**12)
        errors.append([_squared(each, counts) for each in (both, one)])
    first, second = np.array(errors).T
    gain = second - first
    assert gain.mean() > 5 * gain.std() / np.sqrt(len(gain))


def _squared(estimate, counts: np.ndarray) -> float:  # type: ignore[no-untyped-def]
    record, error = estimate.transcript, 0.0
    for low, high, value in zip(record.lower[record.is_leaf], record.upper[record.is_leaf],
                                estimate.value[record.is_leaf], strict=True):  # fmt: skip
        inside = counts[low[0] : high[0], low[1] : high[1]]
        error += float(((inside - value / inside.size) ** 2).sum())
    return error


def test_rounds_in_which_nobody_was_heard_do_not_count() -> None:
    counts = RNG.poisson(3.0, (8, 8))
    tree = KeyTree.even(3, 2)
    heard = exact(tree, counts, noise=1.0)
    silent = Heard(cells=tree.v, people=100, answered=0, units=1, noise=0.0, refused=1, tree=tree,
                   sums=np.zeros(tree.v))  # fmt: skip
    one = estimated([heard], (8, 8), 100, ONCE, True, 10**12)
    two = estimated([heard, silent], (8, 8), 100, ONCE, True, 10**12)
    assert np.array_equal(one.value, two.value)
    for joined in (True, False):
        with pytest.raises(InputError, match="Every shard was refused"):
            estimated([silent], (8, 8), 100, ONCE, joined, 10**12)


def test_epsilon_of_a_path_is_that_of_the_release() -> None:
    counts = RNG.poisson(3.0, (8, 8))
    trees = [KeyTree.even(3, 1), KeyTree.even(3, 1).split([1, 2]), KeyTree.even(3, 2)]
    rounds = [exact(tree, counts, noise=1.0) for tree in trees]
    once = estimated(rounds, (8, 8), 300, ONCE, True, 10**12)
    total = np.zeros(len(once.transcript), dtype=np.int64)
    for i, parent in enumerate(once.transcript.parent):
        total[i] = once.transcript.spent[i].sum() + (total[parent] if parent >= 0 else 0)
    assert set(total[once.transcript.is_leaf].tolist()) == {10**12}
    everyone = estimated(rounds, (8, 8), 300, EVERYONE, False, 3 * 10**12)
    assert sum(part for _, part in everyone.transcript.elsewhere) == pytest.approx(2.0)
