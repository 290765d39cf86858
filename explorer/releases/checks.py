"""Whether a tree is one that a release can be on: for files, and for trees made elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.releases.transcript import LedgerRow
from explorer.releases.tree import Tree
from explorer.releases.units import UNITS_OF_PRIVACY, to_epsilon

Ints = NDArray[np.int64]

# The largest prime below 2^31: products of two remainders stay within int64.
_PRIME = 2**31 - 1
_ROUNDS = 2


def check_made(
    tree: Tree, shape: tuple[int, ...], ledger: Sequence[LedgerRow], units: int, unit: str
) -> None:
    """Refuse what no single plan drew where no release can be on it, see `Release.from_tree`.

    Raises
    ------
    InputError
        For a tree that does not tile the domain or was not measured, stages without a row in the
        ledger, a path that spent more than ``units``, or another unit of privacy.
    """
    try:
        check_tree(tree, shape)
    except ValueError as error:
        raise InputError(f"No release can stand on this tree: {error}.") from error
    if unit not in UNITS_OF_PRIVACY:
        raise InputError(
            f"The unit of privacy is {unit!r}; it is one of {', '.join(UNITS_OF_PRIVACY)}."
        )
    missing = set(tree.stages) - {row.stage for row in ledger}
    if missing:
        raise InputError(f"The ledger has no row for {', '.join(sorted(missing))}; add one.")
    spent = int(tree.path_spent.sum(axis=1).max())
    if spent > units:
        raise InputError(
            f"A path of this tree spent epsilon {to_epsilon(spent):g}, more than the "
            f"{to_epsilon(units):g} of the release."
        )


def check_tree(tree: Tree, shape: tuple[int, ...]) -> None:
    """Refuse a tree that does not divide a domain of ``shape``, or was not measured.

    Raises
    ------
    ValueError
        Where parents do not precede their children, siblings do not are side by side, children
        do not tile their parent, the root is not the whole domain, a leaf was never measured, or a
        count is no number.
    """
    if tree.lower.shape != (len(tree), len(shape)) or tree.upper.shape != tree.lower.shape:
        raise ValueError("the boxes are not of this domain")
    if tree.parent[0] != -1 or np.any(tree.parent[1:] < 0):
        raise ValueError("no root")
    if np.any(tree.parent[1:] >= np.arange(1, len(tree))):
        raise ValueError("children stand before their parents")
    families = 1 + np.count_nonzero(np.diff(tree.parent[1:])) if len(tree) > 1 else 0
    if families != np.count_nonzero(tree.fan_out):
        raise ValueError("children of one node do not stand side by side")
    if np.any(tree.lower < 0) or np.any(tree.upper > shape) or np.any(tree.upper <= tree.lower):
        raise ValueError("a box leaves the domain")
    if np.any(tree.lower[0] != 0) or np.any(tree.upper[0] != shape):
        raise ValueError("the root is not the whole domain")
    if not children_tile(tree.lower, tree.upper, tree.parent):
        raise ValueError("children do not tile their parent")
    leaves = tree.leaves
    if np.any(tree.precision < 0) or np.any(tree.precision[leaves] == 0):
        raise ValueError("a leaf was never measured")
    if not np.isfinite(tree.value).all() or not np.isfinite(tree.precision).all():
        raise ValueError("a count is not a number")


def children_tile(lower: Ints, upper: Ints, parent: Ints) -> bool:
    """Whether the children of every node cover it, none of its cells twice.

    Parameters
    ----------
    lower, upper : (n, d) half open, 0 or more, upper above lower
    parent : (n,) parents before children, children of one node side by side

    Notes
    -----
    Volumes that add up do not suffice: one child may overlap another while a cell is left out.
    So every axis is measured by a ruler whose marks are at random. A box has the volume
    prod (R(upper) - R(lower)), and as polynomials in the marks R the volumes of the children add
    up to that of their parent only if the boxes do, corner by corner. Marks are drawn anew for
    each call from the remainders of a prime p, so that a tree that does not tile is taken for one
    that does with probability (d / p)^2, below 10^-16 for d up to 20 (Schwartz and Zippel).
    """
    if len(parent) < 2:
        return True
    rng = np.random.default_rng()
    # The first child of every family; families follow each other.
    first = np.flatnonzero(np.diff(parent, prepend=-1))
    for _ in range(_ROUNDS):
        volume = np.ones(len(parent), dtype=np.int64)
        for axis in range(lower.shape[1]):
            marks = rng.integers(0, _PRIME, int(upper[:, axis].max()) + 1)
            side = (marks[upper[:, axis]] - marks[lower[:, axis]]) % _PRIME
            volume = volume * side % _PRIME
        together = np.add.reduceat(volume, first) % _PRIME
        if not np.array_equal(together, volume[parent[first]]):
            return False
    return True
