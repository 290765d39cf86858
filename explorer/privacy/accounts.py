"""Accounts: the family tree of one pass, and what was spent on the way to each of its nodes.

A node leaves the set of those that can be measured by being split into children, who inherit what
was spent on it, or by being handed on to an inner curator. So the nodes that can be measured are
always disjoint, and the largest account is what the pass has cost: the composition theorems need
no trust in the mechanism. What a node is, a box of cells or something else, accounts do not know.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
from numba import njit
from numpy.typing import NDArray

from explorer.releases.nodes import MANY, Ints, one_or_each, span

Keys = NDArray[np.uint64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_WHOLE, _SPLIT, _HANDED_ON = 0, 1, 2
_FAULTS = (
    "",
    "there is no such region in this book",
    "a region that was split or handed on can neither be measured nor split again",
    "every region may be named only once, in the order of the book",
    "nobody pays below 0",
    "nobody pays more than 2^61 units",
)
_in_use: weakref.WeakValueDictionary[str, Ints] = weakref.WeakValueDictionary()
_FIRST_ROOM = 256  # forests open books by the thousand, most of them for fewer nodes than that
_MOST_SPARE = 2**20  # bytes of space for more that a view may hold on to
_LARGE_ROOM = 2**16  # from there on space that is not used counts for more than another copy
_MOST = 2**61  # twice that is still an int64: no sum of accounts wraps


@njit(cache=True, nogil=True)
def mix(values):  # type: ignore[no-untyped-def]
    """Scramble 64-bit words (splitmix64's finaliser), one or an array; keys of preview noise."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


@njit(cache=True, nogil=True)
def numbered(key, keys):  # type: ignore[no-untyped-def]
    """Fill `keys` (n,) with those of n draws at one node, whose own is `key`."""
    for i in range(len(keys)):
        keys[i] = mix(np.uint64(key) + np.uint64(i))


def shown(values: NDArray[Any]) -> NDArray[Any]:
    """The same numbers, not to be written to: not even after setting a flag."""
    return np.asarray(values.data.toreadonly())


class Accounts:
    """Accounts of one pass; they start with a single node, number 0.

    `name` distinguishes the preview noise of this pass from that of other passes, `under` is the
    key of the node that the whole pass is in, for a pass of an inner curator. Arrays grow by
    doubling, small ones fourfold: n nodes opened one by one take O(n) steps. What is handed out are
    views that no one can write to. Accounts are never saved: their arrays end in space for more.
    """

    __slots__ = (
        *("_ids", "_keys", "_limit", "_most", "_number", "_open", "_parent", "_spent"),
        *("_state", "_views"),
    )

    def __init__(self, name: int, limit: int, under: np.uint64 | None = None) -> None:
        self._limit = int(limit)
        # Nodes in all, and those that can be measured.
        self._number = self._open = 1
        self._most = 0
        self._ids = _counted_off(_FIRST_ROOM)
        self._parent = np.full(_FIRST_ROOM, -1, dtype=np.int64)
        self._spent = np.zeros(_FIRST_ROOM, dtype=np.int64)
        self._state = np.zeros(_FIRST_ROOM, dtype=np.int8)
        self._keys: Keys = np.empty(_FIRST_ROOM, dtype=np.uint64)
        words = np.array([name + 1], dtype=np.uint64) * _GOLDEN
        # Scrambled once more, or the first pass would be the region's first child by name.
        # In numpy: one number needs no kernel.
        scrambled = mix.py_func
        self._keys[:1] = scrambled(words if under is None else words + scrambled(np.array([under])))
        self._views: dict[str, NDArray[Any]] = {}

    def __len__(self) -> int:
        return self._number

    def __reduce__(self) -> NoReturn:
        raise TypeError("accounts stay in the process that keeps them")

    @property
    def limit(self) -> int:
        """The most that any path may spend, in units of 10^-12 epsilon."""
        return self._limit

    @property
    def most(self) -> int:
        """What the most expensive path has spent, in units of 10^-12 epsilon."""
        return self._most

    @property
    def parent(self) -> Ints:
        """Numbers of the parents, (n,); -1 for the first node."""
        return self._seen("_parent")

    @property
    def spent(self) -> Ints:
        """What was spent on each node and on all above it, (n,)."""
        return self._seen("_spent")

    @property
    def keys(self) -> Keys:
        """Names that depend only on the way from the root, (n,); they key preview noise."""
        return self._seen("_keys")

    @property
    def is_split(self) -> NDArray[np.bool_]:
        """Which nodes have children, (n,)."""
        result: NDArray[np.bool_] = self._state[: self._number] == _SPLIT
        return result

    def named(self, ids: Ints) -> Ints:
        """The numbers of some nodes, the book's own; each can be measured and split.

        A ValueError for nodes that do not exist, have been split or handed on, or are named twice
        or out of order.
        """
        ids = np.asarray(ids, dtype=np.int64)
        run = self._run(ids)
        if run is None:
            _refuse(_look(ids, self._state, self._number))
        elif self._state[run].any():
            _refuse(2)
        where = span(ids)
        # Side by side, they are a part of the book's own list of numbers.
        return self._numbers(where) if isinstance(where, slice) else shown(ids.copy())

    def dearest(self, ids: Ints, paid: Ints) -> int:
        """The largest account that there would be if some nodes paid (n,) units more."""
        if np.shape(paid) != np.shape(ids):
            raise ValueError("every region pays one number of units")
        run, units = self._run(ids), one_or_each(paid)
        if run is None or len(units) > 1:
            fault, largest = _dearest(ids, units, self._spent[: self._number])
            _refuse(fault)
            return int(largest)
        _refuse(4 if units[0] < 0 else 5 if units[0] > _MOST else 0)
        return int(self._spent[run].max() + units[0])

    def pay(self, ids: Ints, paid: Ints, agree: Callable[[int], None] | None = None) -> None:
        """Book (n,) units, 0 or more, on the accounts of some nodes.

        `agree` is told beforehand what the largest of them would be, and may raise.
        """
        limit = self.dearest(ids, paid)
        if agree is not None:
            agree(limit)
        self._most = max(self._most, limit)
        run = self._run(ids)
        if run is None:
            _pay(ids, one_or_each(paid), self._spent)
        else:
            self._spent[run] += paid

    def hand_on(self, ids: Ints) -> None:
        """Close nodes: from now on an inner curator measures what is in them."""
        self._state[self.named(ids)] = _HANDED_ON
        self._open -= len(ids)

    def pay_inside(self, number: int, units: int) -> None:
        """Book what an inner curator spends on the account of the node that was handed on to it."""
        if units < 0 or self._state[number] != _HANDED_ON:
            raise ValueError("only an inner curator pays for a region that was handed on")
        spent = int(self._spent[number]) + units
        if spent > self._limit:
            raise ValueError("an inner curator pays no more than its region has left")
        self._spent[number] = spent
        self._most = max(self._most, spent)

    def _make_room(self, more: int, expected: int = 0) -> int:
        """Space for so many nodes more; returns the number of the first of them.

        Where there is none, it is made for as many as are `expected` in the end.
        """
        needed = self._number + more
        if needed > len(self._parent):
            had = len(self._parent)
            size = max(needed, (4 if had < _LARGE_ROOM else 2) * had, expected)
            self._lengthen(size)
            self._ids = _counted_off(size)
            self._views = {}
        return self._number

    def _numbers(self, where: slice) -> Ints:
        """Numbers of nodes that are side by side, not to be written to."""
        return self._ids[where]

    def _run(self, ids: Ints) -> slice | None:
        """Where nodes are, if these many numbers are a part of the book's own list; else None.

        No one can write to that: such a part need not be looked at.
        """
        layout = self._ids.dtype, self._ids.strides
        if len(ids) <= MANY or ids.base is not self._ids or (ids.dtype, ids.strides) != layout:
            return None
        where = span(ids)
        return where if isinstance(where, slice) and where.stop <= self._number else None

    def _seen(self, name: str) -> NDArray[Any]:
        """Rows of a column that are in use; not to be written to.

        Views are made once for each time that columns grow: small questions come by the thousand.
        """
        if name not in self._views:
            self._views[name] = shown(getattr(self, name))
        return self._views[name][: self._number]

    def _without_room(self, name: str) -> NDArray[Any]:
        """Rows of a column that are in use; without the space for more where that is much."""
        used = self._seen(name)
        spare = getattr(self, name).nbytes - used.nbytes
        if 4 * spare < max(used.nbytes, _MOST_SPARE):
            return used
        rows = np.empty(used.shape, used.dtype)
        rows[:] = used
        return shown(rows)

    def _lengthen(self, size: int) -> None:
        """Give the arrays with one row a node space for `size` nodes."""
        self._parent = longer(self._parent, self._number, size)
        self._spent = longer(self._spent, self._number, size)
        self._state = longer(self._state, self._number, size)
        self._keys = longer(self._keys, self._number, size)

    def _enter(self, parents: Ints, fan_out: Ints) -> None:
        """Enter children, `fan_out` (n,) of them each, in their order, and close their parents."""
        _enter(parents, fan_out, self._number, self._parent, self._spent, self._state, self._keys)
        more = int(fan_out.sum())
        self._number += more
        self._open += more - len(parents)


def _counted_off(number: int) -> Ints:
    """0, 1, 2, ... up to the number, or further: the same array while any book has it."""
    result = _in_use.get("numbers")
    if result is None or len(result) < number:
        _in_use["numbers"] = result = shown(np.arange(number, dtype=np.int64))
    return result


def longer(values: NDArray[Any], number: int, size: int) -> NDArray[Any]:
    """A copy of the first rows, with space for `size` of them."""
    longer = np.empty((size, *values.shape[1:]), values.dtype)
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


def _refuse(fault: int) -> None:
    if fault:
        raise ValueError(_FAULTS[fault])


@njit(cache=True, nogil=True)
def _look(ids, state, number):  # type: ignore[no-untyped-def]
    """What is wrong with some of `number` nodes, as an index of `_FAULTS`; 0 if nothing is."""
    low, high, in_order = 0, -1, True
    for i in range(len(ids)):
        low, high = min(low, ids[i]), max(high, ids[i])
        in_order &= i == 0 or ids[i] > ids[i - 1]
    if low < 0 or high >= number:
        return 1
    closed = 0
    for i in range(len(ids)):
        closed |= state[np.uint64(ids[i])]
    return 2 if closed else 0 if in_order else 3


@njit(cache=True, nogil=True)
def _pay(ids, paid, spent):  # type: ignore[no-untyped-def]
    if len(paid) == 1:
        for i in range(len(ids)):
            spent[np.uint64(ids[i])] += paid[0]
        return
    for i in range(len(ids)):
        spent[np.uint64(ids[i])] += paid[i]


@njit(cache=True, nogil=True)
def _dearest(ids, paid, spent):  # type: ignore[no-untyped-def]
    """What is wrong, as an index of `_FAULTS`, and the largest account with what is paid."""
    low, high, least, dear, largest = 0, -1, 0, 0, 0
    for i in range(len(ids)):
        low, high = min(low, ids[i]), max(high, ids[i])
    for i in range(len(paid)):
        least, dear = min(least, paid[i]), max(dear, paid[i])
    if low < 0 or high >= len(spent):
        return 1, largest
    if dear > _MOST:
        return 5, largest
    if len(paid) == 1:
        for i in range(len(ids)):
            largest = max(largest, spent[np.uint64(ids[i])])
        # No one at all pays nothing.
        largest = largest + paid[0] if len(ids) > 0 else 0
    else:
        for i in range(len(ids)):
            largest = max(largest, spent[np.uint64(ids[i])] + paid[i])
    return 4 if least < 0 else 0, largest
