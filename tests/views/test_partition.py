"""The partition's drawing: which leaves become boxes, and when the crowd becomes an image."""

from dataclasses import replace

import numpy as np
import pytest

from explorer.mechanisms import HTF, Identity
from explorer.points.matrix import FrequencyMatrix
from explorer.views.partition import LEGIBLE_PIXELS, MOST_BOXES, OPAQUE, Leaves, partition
from explorer.views.viewport import Viewport

#: Half a step of an opacity as it is sent.
STEP = 0.5 / OPAQUE + 1e-9


def leaves_of(mechanism, side: int):
    counts = np.random.default_rng(1).poisson(3, (side, side))
    matrix = FrequencyMatrix.from_array(counts)
    return Leaves.of(mechanism.release(matrix, rng=5)), matrix.grid


def test_lines_are_faint_where_nobody_is() -> None:
    leaves, grid = leaves_of(Identity(epsilon=1.0), 4)
    people = np.where(leaves.boxes[:, 0] >= 2, 60.0, -1.0)
    drawn = partition(replace(leaves, counts=people), Viewport.whole(grid, 400), grid)
    east = drawn.boxes["x0"] >= 2
    np.testing.assert_allclose(drawn.boxes["alpha"][east] / OPAQUE, 0.5, atol=STEP)
    np.testing.assert_allclose(drawn.boxes["alpha"][~east] / OPAQUE, 0.5 * 0.3, atol=STEP)


def test_lines_fade_in_with_zoom_and_illegible_leaves_are_not_sent() -> None:
    leaves, grid = leaves_of(Identity(epsilon=1.0), 16)
    # All are as dense as each other, so that no line is fainter for being in a quiet place.
    leaves = replace(leaves, counts=np.ones(len(leaves.counts)))
    for pixels, sent, alpha in [(32, 0, None), (16 * 16, 256, 0.5), (16 * 8, 256, 0.5 * 5 / 13)]:
        drawn = partition(leaves, Viewport.whole(grid, pixels), grid)
        assert drawn.edges is None
        assert len(drawn.boxes["x0"]) == sent
        if alpha is not None:
            np.testing.assert_allclose(drawn.boxes["alpha"] / OPAQUE, alpha, atol=STEP)
    half = partition(leaves, Viewport.whole(grid, 256), grid, strength=0.25)
    np.testing.assert_allclose(half.boxes["alpha"] / OPAQUE, 0.25, atol=STEP)


def test_only_leaves_in_view_are_sent() -> None:
    leaves, grid = leaves_of(Identity(epsilon=1.0), 16)
    drawn = partition(leaves, Viewport.of((2, 3, 6, 5), 400, 200, grid), grid)
    assert sorted(zip(drawn.boxes["x0"], drawn.boxes["y0"], strict=True)) == [
        (x, y) for x in range(2, 6) for y in range(3, 5)
    ]


def test_hover_columns_belong_to_their_boxes() -> None:
    leaves, grid = leaves_of(HTF(epsilon=1.0), 64)
    drawn = partition(leaves, Viewport.whole(grid, 640), grid)
    sent = drawn.boxes
    for k in (0, len(sent["x0"]) // 2, -1):
        box = [sent[name][k] for name in ("x0", "y0", "x1", "y1")]
        row = int(np.flatnonzero((leaves.boxes == box).all(axis=1))[0])
        assert sent["count"][k] == pytest.approx(leaves.counts[row])
        assert sent["height"][k] == leaves.height[row]


def test_a_crowd_becomes_one_image() -> None:
    side = int(np.ceil(np.sqrt(MOST_BOXES))) + 1
    leaves, grid = leaves_of(Identity(epsilon=1.0), side)
    pixels = int(side * (LEGIBLE_PIXELS + 1))
    drawn = partition(leaves, Viewport.whole(grid, pixels), grid)
    assert drawn.edges is not None
    assert drawn.edges.shape == (pixels, pixels)
    assert drawn.edges.any()
    assert len(drawn.boxes["x0"]) == 0
