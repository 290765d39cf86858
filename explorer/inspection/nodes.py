"""Nodes of a release: the one at a place, its neighbours, all that was released of it, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.mechanisms import rebuild
from explorer.mechanisms.decisions import UNKNOWN, Decision
from explorer.mechanisms.figures import Figures
from explorer.releases.answers import Z95
from explorer.releases.release import Release
from explorer.releases.tree import Tree, no_map
from explorer.releases.units import UNITS_PER_EPSILON

#: Steps in (rows, columns); row 0 is in the south.
SIDES = {"north": (1, 0), "south": (-1, 0), "east": (0, 1), "west": (0, -1)}


@dataclass(frozen=True)
class Node:
    """One node of a released tree; everything in it has been released.

    Attributes
    ----------
    number : position in the tree, 0 for the whole map
    leaf : position among the leaves, None for an inner node
    parent : position of the parent, -1 for the whole map
    children : number of children
    depth : cuts between the whole map and the node
    height : levels between the node and the lowest that the tree could have
    lower, upper : half open, in cells, one number for each axis
    bounds : as people write boxes of the domain: of a grid x0, y0, x1, y1 in its unit
    count : private count after inference
    sd : standard deviation of the noise in it; `sd_exact` says whether that is a closed form
    draws : the node's own noisy counts, (stage, count)
    spent : budget on the way from the whole map to the node, (stage, epsilon)
    decision : why it ended here or went on
    """

    number: int
    leaf: int | None
    parent: int
    children: int
    depth: int
    height: int
    lower: tuple[int, ...]
    upper: tuple[int, ...]
    bounds: tuple[float, ...]
    count: float
    sd: float
    sd_exact: bool
    draws: tuple[tuple[str, float], ...]
    spent: tuple[tuple[str, float], ...]
    decision: Decision

    @property
    def shape(self) -> tuple[int, ...]:
        """Cells along each axis."""
        return tuple(high - low for low, high in zip(self.lower, self.upper, strict=True))

    @property
    def interval(self) -> tuple[float, float]:
        """Approximate 95 % interval of the noise part: count -+ Z95 sd."""
        return self.count - Z95 * self.sd, self.count + Z95 * self.sd

    @property
    def epsilon(self) -> float:
        """What its path has spent."""
        return sum(part for _, part in self.spent)


def inspect(release: Release, number: int) -> Node:
    """Everything that `release` knows of the node at position ``number`` of its tree.

    Examples
    --------
    >>> from explorer import Uniform
    >>> inspect(Uniform(epsilon=1.0).release([[1, 2], [3, 4]], rng=1), 0).decision.verdict
    'never divided'
    """
    tree = release.tree
    lower, upper = tree.lower[number], tree.upper[number]
    bounds = release.domain.from_cells(np.array([[lower, upper]]))
    is_leaf = tree.fan_out[number] == 0
    deepest = int(release.facts.get("height", tree.depth.max()))
    drawn = zip(tree.stages, tree.draws[number].tolist(), strict=True)
    return Node(
        number=number,
        leaf=leaf_number(tree, number) if is_leaf else None,
        parent=int(tree.parent[number]),
        children=int(tree.fan_out[number]),
        depth=int(tree.depth[number]),
        height=deepest - int(tree.depth[number]),
        lower=tuple(lower.tolist()),
        upper=tuple(upper.tolist()),
        bounds=tuple(bounds[0].tolist()),
        count=float(tree.value[number]),
        sd=_sd(release, number, bounds),
        sd_exact=release.sd_exact,
        draws=tuple((stage, value) for stage, value in drawn if not np.isnan(value)),
        spent=_path(release, number),
        decision=decision(release, number),
    )


def _sd(release: Release, number: int, bounds: np.ndarray) -> float:
    # Wavelets tie all cells together: only an answer knows the noise of several.
    if release.haar_variance is not None:
        return float(release.answer(bounds).sd[0])
    return float(release.tree.sd[number])


def _path(release: Release, number: int) -> tuple[tuple[str, float], ...]:
    """Budget by stage from the whole map to the node; stages that cost it nothing are left out."""
    tree, total = release.tree, np.zeros(len(release.tree.stages), dtype=np.int64)
    while number >= 0:
        total += tree.spent[number]
        number = int(tree.parent[number])
    here = zip(tree.stages, (total / UNITS_PER_EPSILON).tolist(), strict=True)
    return tuple((stage, part) for stage, part in (*release.elsewhere, *here) if part > 0)


def decision(release: Release, number: int) -> Decision:
    """The decision that ended the node at position ``number``, or let it go on.

    Parameters
    ----------
    release : Release
    number : position in `release.tree`
    """
    try:
        return rebuild(release).decision(Figures(release, number))
    except (InputError, KeyError, IndexError, ValueError, OverflowError, TypeError):
        # A file of another version, or one that someone has changed.
        return UNKNOWN


def node_at(
    tree: Tree, place: Sequence[float] | NDArray[np.float64], depth: int | None = None
) -> int:
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
