"""The graph of a shard: regular, mutual, and whole unless two runs are taken out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from explorer.federated.graph import harary


def parts_without(table: np.ndarray, out: np.ndarray) -> int:
    """Parts that are left of the graph without some people."""
    size, degree = table.shape
    kept = ~np.isin(np.arange(size), out)
    edges = np.repeat(np.arange(size), degree), table.ravel()
    inside = kept[edges[0]] & kept[edges[1]]
    graph = coo_array((np.ones(inside.sum()), [e[inside] for e in edges]), shape=(size, size))
    return len(np.unique(connected_components(graph, directed=False)[1][kept]))


@pytest.mark.parametrize(("size", "degree"), [(2, 1), (5, 2), (5, 4), (6, 5), (40, 8)])
def test_everybody_has_so_many_different_neighbours(size: int, degree: int) -> None:
    table = harary(np.random.default_rng(0).permutation(size), degree)
    assert table.shape == (size, degree)
    for i, row in enumerate(table):
        assert len(set(row.tolist())) == degree
        assert i not in row
        assert all(i in table[j] for j in row)


def test_two_runs_of_the_ring_cut_it_and_less_does_not() -> None:
    ring = np.random.default_rng(1).permutation(30)
    table = harary(ring, 6)
    assert parts_without(table, ring[[0, 1, 2, 15, 16, 17]]) == 2
    rng = np.random.default_rng(2)
    for _ in range(200):
        assert parts_without(table, rng.choice(30, 5, replace=False)) == 1


def test_an_odd_degree_joins_everybody_or_nobody() -> None:
    with pytest.raises(ValueError, match="even degree"):
        harary(np.arange(6), 3)
    with pytest.raises(ValueError, match="even degree"):
        harary(np.arange(4), 4)
