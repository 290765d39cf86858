"""Accounts: the family tree of one pass, and what was spent on the way to each of its nodes.

A node leaves the set of those that can be measured by being split into children, who inherit what
was spent on it, or by being handed on to an inner curator. So the nodes that can be measured are
always disjoint, and the largest account is what the pass has cost: the composition theorems need
no trust in the mechanism. What a node is, a box of cells or something else, accounts do not know.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from explorer.releases.nodes import Ints, span

Keys = NDArray[np.uint64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_WHOLE, _SPLIT, _HANDED_ON = 0, 1, 2


@njit(cache=True, nogil=True)
def mix(values):  # type: ignore[no-untyped-def]
    """Scramble 64-bit words (splitmix64's finaliser), one or an array; keys of preview noise."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def shown(values: NDArray[Any]) -> NDArray[Any]:
    """The same numbers, not to be written to: not even after setting a flag."""
    return np.asarray(values.data.toreadonly())


class Accounts:
    """Accounts of one pass; they start with a single node, number 0.

    Parameters
    ----------
    name : keys the preview noise of this pass apart from that of other passes
    limit : the most that any path may spend, in units of 10^-12 epsilon
    under : the key of the node that the whole pass lies in, for a pass of an inner curator

    Notes
    -----
    Arrays grow by doubling: n nodes opened one by one take O(n) steps. What is handed out are
    views that nobody can write to.
    """

    __slots__ = ("_keys", "_limit", "_most", "_number", "_parent", "_spent", "_state")

    def __init__(self, name: int, limit: int, under: np.uint64 | None = None) -> None:
        self._limit = int(limit)
        self._number = 1
        self._most = 0
        self._parent = np.array([-1], dtype=np.int64)
        self._spent = np.zeros(1, dtype=np.int64)
        self._state = np.zeros(1, dtype=np.int8)
        words = np.array([name + 1], dtype=np.uint64) * _GOLDEN
        # Scrambled once more, or the first pass would be the region's first child by name.
        self._keys: Keys = mix(words if under is None else words + mix(np.array([under])))

    def __len__(self) -> int:
        return self._number

    @property
    def limit(self) -> int:
        """The most that any path may spend, in units of 10^-12 epsilon."""
        return self._limit

    @property
    def most(self) -> int:
        """What the dearest path has spent, in units of 10^-12 epsilon."""
        return self._most

    @property
    def parent(self) -> Ints:
        """Numbers of the parents, (n,); -1 for the first node."""
        return shown(self._parent)[: self._number]

    @property
    def spent(self) -> Ints:
        """What was spent on each node and on all above it, (n,)."""
        return shown(self._spent)[: self._number]

    @property
    def keys(self) -> Keys:
        """Names that depend only on the way from the root, (n,); they key preview noise."""
        return shown(self._keys)[: self._number]

    @property
    def is_split(self) -> NDArray[np.bool_]:
        """Which nodes have children, (n,)."""
        found: NDArray[np.bool_] = self._state[: self._number] == _SPLIT
        return found

    def named(self, ids: Ints) -> Ints:
        """A copy of the numbers of some nodes, each of which can be measured and split.

        Raises
        ------
        ValueError
            For nodes that do not exist, have been split or handed on, or are named twice or out
            of order.
        """
        own: Ints = np.array(ids, dtype=np.int64, ndmin=1)
        self._require_open(own)
        own.flags.writeable = False
        return own

    def dearest(self, ids: Ints, paid: Ints) -> int:
        """The largest account that there would be if some nodes paid (n,) units more."""
        self._require_there(ids)
        return int(_dearest(ids, paid, self._spent))

    def pay(self, ids: Ints, paid: Ints) -> None:
        """Book (n,) units, 0 or more, on the accounts of some nodes."""
        if paid.min(initial=0) < 0:
            raise ValueError("nobody pays below 0")
        self._require_open(ids)
        self._most = max(self._most, self.dearest(ids, paid))
        self._spent[span(ids)] += paid

    def hand_on(self, ids: Ints) -> None:
        """Close nodes: from now on an inner curator measures what lies in them."""
        self._require_open(ids)
        self._state[ids] = _HANDED_ON

    def pay_inside(self, number: int, units: int) -> None:
        """Book what an inner curator spends on the account of the node that was handed on to it."""
        if units < 0 or self._state[number] != _HANDED_ON:
            raise ValueError("only an inner curator pays for a region that was handed on")
        self._spent[number] += units
        self._most = max(self._most, int(self._spent[number]))

    def _require_there(self, ids: Ints) -> None:
        if len(ids) and (ids.min() < 0 or ids.max() >= self._number):
            raise ValueError("there is no such region in this book")

    def _require_open(self, ids: Ints) -> None:
        self._require_there(ids)
        closed, in_order = _look(ids, self._state)
        if closed:
            raise ValueError(
                "a region that was split or handed on can neither be measured nor split again"
            )
        if not in_order:
            raise ValueError("every region may be named only once, in the order of the book")

    def _make_room(self, more: int) -> int:
        """Room for so many nodes more; returns the number of the first of them."""
        wanted = self._number + more
        if wanted > len(self._parent):
            size = max(wanted, 2 * len(self._parent))
            for name in self._columns():
                setattr(self, name, _longer(getattr(self, name), self._number, size))
        return self._number

    def _columns(self) -> tuple[str, ...]:
        """Names of the arrays with one row a node."""
        return "_parent", "_spent", "_state", "_keys"

    def _enter(self, parents: Ints, fan_out: Ints) -> None:
        """Enter children, `fan_out` (n,) of them each, in their order, and close their parents."""
        _enter(parents, fan_out, self._number, self._parent, self._spent, self._state, self._keys)
        self._number += int(fan_out.sum())


def _longer(values: NDArray[Any], number: int, size: int) -> NDArray[Any]:
    """A copy of the first rows, with room for `size` of them."""
    longer = np.empty((size, *values.shape[1:]), dtype=values.dtype)
    longer[:number] = values[:number]
    return longer


@njit(cache=True, nogil=True)
def _enter(ids, fan_out, row, parent, spent, state, keys):  # type: ignore[no-untyped-def]
    """Fill in what children inherit, from position `row` on, and close their parents."""
    for i in range(len(ids)):
        p = ids[i]
        state[p] = _SPLIT
        key = keys[p]
        for _ in range(fan_out[i]):
            key += _GOLDEN
            parent[row], spent[row] = p, spent[p]
            state[row], keys[row] = _WHOLE, mix(key)
            row += 1


@njit(cache=True, nogil=True)
def _look(ids, state):  # type: ignore[no-untyped-def]
    """Whether any node is closed, and whether all stand in increasing order."""
    closed, in_order = False, True
    for i in range(len(ids)):
        closed |= state[ids[i]] != _WHOLE
        in_order &= i == 0 or ids[i] > ids[i - 1]
    return closed, in_order


@njit(cache=True, nogil=True)
def _dearest(ids, paid, spent):  # type: ignore[no-untyped-def]
    most = 0
    for i in range(len(ids)):
        most = max(most, spent[ids[i]] + paid[i])
    return most
