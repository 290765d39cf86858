"""Adaptive grids: their sizes, what they cost, and that both agree."""

from __future__ import annotations

import numpy as np

from explorer.federated.adaptive_grid import adaptive_grid
from explorer.releases.tree import Tree
from tests.federated.town import session


def test_sizes_of_an_adaptive_grid() -> None:
    estimate, rows = adaptive_grid(session(), 60_000)
    # max(10, ceil(sqrt(60,000 / 10) / 4)) = 20 along a side; half of epsilon each.
    assert rows[0].cells == 400
    assert [row.units for row in rows] == [10**12 // 2] * 2
    tree = Tree.of(estimate)
    assert np.allclose(np.bincount(tree.parent[1:], tree.value[1:], len(tree))[tree.fan_out > 0],
                       tree.value[tree.fan_out > 0])  # fmt: skip
    fewer = adaptive_grid(session(), 60_000, by_shards=True)[1]
    assert fewer[0].cells == 169
    assert fewer[1].cells < rows[1].cells
