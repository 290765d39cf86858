"""Ways through a released tree: the node at a place, its neighbours, its child on a path."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.releases.tree import Tree, no_map

Floats = NDArray[np.float64]

#: Steps in (rows, columns); row 0 is in the south.
SIDES = {"north": (1, 0), "south": (-1, 0), "east": (0, 1), "west": (0, -1)}


def node_at(tree: Tree, place: Sequence[float] | Floats, depth: int | None = None) -> int:
    """The leaf that holds a place, or what holds it after ``depth`` cuts.

    Parameters
    ----------
    tree : Tree
    place : (d,) in cells, fractions allowed; the outermost edges belong to the domain
    depth : the deepest level to go to, None for the leaf

    Raises
    ------
    InputError
        For a place outside the map.
    """
    last, at = tree.upper[0], np.asarray(place, dtype=np.float64)
    if not (np.all(at >= 0) and np.all(at <= last)):
        raise InputError("This place lies outside the map: give one within it.")
    cell = np.minimum(np.floor(at), last - 1)
    node, level = 0, 0
    while tree.fan_out[node] and (depth is None or level < depth):
        begin = int(tree.first_child[node])
        children = slice(begin, begin + int(tree.fan_out[node]))
        holds = (tree.lower[children] <= cell) & (cell < tree.upper[children])
        node = begin + int(np.argmax(holds.all(axis=1)))
        level += 1
    return node


def neighbour(tree: Tree, node: int, side: str) -> int:
    """The node beyond the middle of one side: a leaf next to a leaf, else of the same level.

    Parameters
    ----------
    side : {"north", "south", "east", "west"}

    Raises
    ------
    InputError
        At the edge of the map, and for a tree of other than two dimensions.
    """
    if tree.lower.shape[1] != 2:
        raise no_map(tree.lower.shape[1])
    step = np.array(SIDES[side])
    lower, upper = tree.lower[node], tree.upper[node]
    place = np.where(step > 0, upper, np.where(step < 0, lower - 1, (lower + upper - 1) // 2))
    if np.any(place < 0) or np.any(place >= tree.upper[0]):
        raise InputError(f"There is nothing to the {side}: this is the edge of the map.")
    depth = int(tree.depth[node]) if tree.fan_out[node] else None
    return node_at(tree, place, depth)


def leaf_number(tree: Tree, node: int) -> int:
    """Position of a leaf in `Tree.leaves`."""
    return int(np.searchsorted(tree.leaves, node))
