"""Which of a person's records count under a contribution bound, whatever order they come in.

Of a person with n_1, n_2, .. records in the cells 1, 2, .. of a domain, n in all, k count:
C_i = n_1 + .. + n_i, and cell i keeps floor((C_i k + u) / n) - floor((C_(i-1) k + u) / n) of its
n_i records. The start u is one of 0, .., n - 1: a keyed hash of what the file calls the person,
modulo n. With n <= k all records count. Records of one cell are interchangeable for counts.

* *Sensitivity.* The kept numbers follow from the person's own records and name, and from nothing
  else: no other person, no order, no part of a file. They are 0 or more and add up to min(n, k), so
  that one person more or less changes the counts by at most k, in her own cells alone.
* *No place is preferred.* The sum of floor((m + u) / n) over u = 0, .., n - 1 is m (Hermite), so
  that over the starts cell i keeps n_i k / n records on average: each record is as likely as
  another. It keeps this number rounded down or up (systematic sampling).
* *The key is public.* Sensitivity holds for every start, so that no secret protects it; the key
  only makes starts have nothing to do with how people were named. Who chooses a name chooses
  which of the own records count, and nothing about others.

The numbers n_i are all that the rule needs, and they add up over chunks, files and workers in any
order. Another key or rule is another `RULE`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.points.tally import Tally

Ints = NDArray[np.int64]
Hashes = NDArray[np.uint64]
Pairs = tuple[Ints, Ints, Ints]
Rows = tuple[Ints, Ints, Ints | None]

#: Version of the rule and of who is one person: parts of different ones are not added up.
RULE = 2
_KEY = hashlib.sha256(b"dp-explorer contribution bound 1").digest()
# Bits of a number of 0 or more; rows that are sorted in the caches; pairs that may wait.
_BITS, _ROWS, _FEW = 63, 2**18, 2**20
_NONE = np.empty(0, np.int64)


class Clipped(NamedTuple):
    """Counts of atoms under a contribution bound, and without it.

    Attributes
    ----------
    atoms : (m,) int64
        Atoms that hold a record, ascending.
    counts : (m,) int64
        Units that count, 0 or more.
    unclipped : (m,) int64
        Records in each, 1 or more.
    """

    atoms: Ints
    counts: Ints
    unclipped: Ints


class PersonCells:
    """How many records each person has in each atom, added up in any order.

    It takes 24 bytes for each pair of a person and an atom that occurs, however many records.

    Examples
    --------
    >>> cells = PersonCells()
    >>> for order in ([0, 1, 2, 3], [3, 2, 1]):
    ...     cells.add(np.array([7, 7, 5, 7])[order], np.array([2, 0, 1, 2])[order])
    >>> [each.tolist() for each in cells.pairs()]
    [[5, 7, 7], [1, 0, 2], [2, 2, 3]]
    """

    def __init__(self) -> None:
        #: What was added up so far, a pair in one or several of them.
        self.sums: list[Pairs] = []

    def add(self, person: Ints, atom: Ints, records: Ints | None = None) -> None:
        """Add (n,) rows of one record each, or for ``records``; atom -1 is none."""
        for start in range(0, len(atom), _ROWS):
            part = slice(start, start + _ROWS)
            number = None if records is None else records[part]
            self.add_pairs(added_up([(person[part], atom[part], number)]))

    def add_pairs(self, pairs: Pairs) -> None:
        """Add what was added up elsewhere; a pair may be there more than once."""
        self.sums.append(pairs)
        # Added to what is added up already when they are as many: each pair a few times.
        if sum(len(atoms) for _, atoms, _ in self.sums[1:]) > max(_FEW, len(self.sums[0][1])):
            self.pairs()

    def pairs(self) -> Pairs:
        """Person, atom and records of each pair, by person and atom, (m,) each."""
        if len(self.sums) != 1:
            self.sums = [added_up(self.sums)]
        return self.sums[0]

    def clipped(
        self,
        bound: int,
        start: Callable[[Ints], Hashes],
        size: int,
        lattice: int = 1,
    ) -> Clipped:
        """Counts of at most ``bound`` records of each person, see the module.

        Parameters
        ----------
        bound : k, 1 or more
        start : gives the hashes of persons
        size : how many atoms there may be
        lattice : units of a record
            With more than 1 no record is left out: all of n weigh min(1, k / n) each, as exactly
            as whole units allow, and the units of one person add up to ``lattice`` min(n, k).
        """
        person, atom, records = self.pairs()
        kept_records = shares(person, records, bound, start, lattice)
        every, some = Tally(size), Tally(size)
        every.add(atom, records)
        some.add(atom, kept_records)
        atoms, unclipped = every.sparse()
        there, units = some.sparse()
        counts = np.zeros_like(unclipped)
        counts[np.searchsorted(atoms, there)] = units
        return Clipped(atoms, counts, unclipped)


def shares(
    person: Ints, records: Ints, bound: int, start: Callable[[Ints], Hashes], lattice: int = 1
) -> Ints:
    """How many of the records of each pair count, (m,), pairs by person and atom; see the module.

    Examples
    --------
    A person with 3 records in each of two cells keeps 1 or 2 of each:

    >>> pair = np.array([0, 0]), np.array([3, 3])
    >>> [shares(*pair, 3, lambda _: np.array([u], np.uint64)).tolist() for u in range(6)]
    [[1, 2], [1, 2], [1, 2], [2, 1], [2, 1], [2, 1]]
    """
    new = np.ones(len(person), np.bool_)
    new[1:] = person[1:] != person[:-1]
    kept_records = np.empty(len(person), np.int64)
    _share(np.flatnonzero(new), start(person[new]), records, bound, lattice, kept_records)
    return kept_records


def starts(identity: Ints) -> Hashes:
    """The keyed hash of each of n persons from their 128 bits, (n, 2): (n,).

    >>> starts(np.array([[7, 0], [8, 0]])) % np.uint64(10)
    array([7, 3], dtype=uint64)
    """
    first, second = (np.uint64(int.from_bytes(part, "big")) for part in (_KEY[:8], _KEY[8:16]))
    one, other = identity.T.astype(np.uint64)
    return _mixed(_mixed(one ^ first) ^ _mixed(other ^ second))


def starts_of_codes(hashes: Hashes | None) -> Callable[[Ints], Hashes]:
    """The hashes of persons from their codes; without a table of them, of the codes."""
    if hashes is None:
        return lambda code: starts(np.column_stack([code, np.zeros_like(code)]))
    return lambda code: hashes[code]


def refuse_hashes(code: Ints, hashes: Hashes) -> None:
    """Raise `InputError` where there are codes without a hash."""
    if hashes.ndim != 1 or code.max(initial=-1) >= len(hashes):
        raise InputError("Some codes of users have no hash; give one for each, or none at all.")


def added_up(rows: Sequence[Rows] | Sequence[Pairs]) -> Pairs:
    """Each pair of a person and an atom in rows, in order, and its records, (m,) each.

    Parameters
    ----------
    rows : arrays (n,) of persons, of atoms, and of records or None for one each
    """
    person_bits, atom_bits, total = 0, 0, 0.0
    for person, atom, records in rows:
        person_bits = max(person_bits, int(person.max(initial=0)).bit_length())
        atom_bits = max(atom_bits, int(atom.max(initial=0)).bit_length())
        total += len(atom) if records is None else float(records.sum(dtype=np.float64))
    record_bits = int(total).bit_length()
    if person_bits + atom_bits + record_bits > _BITS:
        return _by_comparing(rows)
    keys, n = np.empty(sum(len(atom) for _, atom, _ in rows), np.int64), 0
    for person, atom, records in rows:
        number = _NONE if records is None else records
        n += _pack(person, atom, number, atom_bits, record_bits, keys[n:])
    keys = _in_order(keys[:n], record_bits, person_bits + atom_bits + record_bits)
    pairs = np.empty((3, _different(keys, record_bits)), np.int64)
    _unpack(keys, atom_bits, record_bits, *pairs)
    return pairs[0], pairs[1], pairs[2]


def _by_comparing(rows: Sequence[Rows] | Sequence[Pairs]) -> Pairs:
    """As `added_up`, of numbers that do not fit in one."""
    person, atom = (np.concatenate([row[side] for row in rows]) for side in (0, 1))
    records = np.concatenate(
        [np.ones(len(row[1]), np.int64) if row[2] is None else row[2] for row in rows]
    )
    order = np.lexsort((atom, person))
    order = order[(atom[order] >= 0) & (records[order] > 0)]
    person, atom = person[order], atom[order]
    new = np.ones(len(order), np.bool_)
    new[1:] = (person[1:] != person[:-1]) | (atom[1:] != atom[:-1])
    first = np.flatnonzero(new)
    number = np.add.reduceat(records[order], first) if len(first) else records[order]
    return person[first], atom[first], number


@njit(cache=True, nogil=True)
def _pack(person, atom, records, atom_bits, record_bits, keys):  # type: ignore[no-untyped-def]
    """Person, atom and records of rows in one number each, of equal rows in a row in one."""
    n = 0
    last_person = last_atom = -1
    for i in range(atom.size):
        number = records[i] if records.size else 1
        if atom[i] < 0 or number <= 0:
            continue
        if atom[i] == last_atom and person[i] == last_person:
            keys[n - 1] += number
            continue
        last_person, last_atom = person[i], atom[i]
        keys[n] = ((last_person << atom_bits | last_atom) << record_bits) | number
        n += 1
    return n


@njit(cache=True, nogil=True)
def _in_order(keys, first_bit, end_bit):  # type: ignore[no-untyped-def]
    """Radix sort by some of their bits: several times as fast as by comparing."""
    other = np.empty_like(keys)
    passes = max(1, (end_bit - first_bit + 10) // 11)
    width = (end_bit - first_bit + passes - 1) // passes
    mask = (1 << width) - 1
    for turn in range(passes):
        shift = first_bit + turn * width
        place = np.zeros(mask + 2, np.int64)
        for i in range(keys.size):
            place[((keys[i] >> shift) & mask) + 1] += 1
        for digit in range(mask):
            place[digit + 1] += place[digit]
        for i in range(keys.size):
            digit = (keys[i] >> shift) & mask
            other[place[digit]] = keys[i]
            place[digit] += 1
        keys, other = other, keys
    return keys


@njit(cache=True, nogil=True)
def _different(keys, record_bits):  # type: ignore[no-untyped-def]
    """How many pairs are in keys in order."""
    m = min(keys.size, 1)
    for i in range(1, keys.size):
        m += keys[i] >> record_bits != keys[i - 1] >> record_bits
    return m


@njit(cache=True, nogil=True)
def _unpack(keys, atom_bits, record_bits, person, atom, records):  # type: ignore[no-untyped-def]
    """Write down what is in keys in order, those of one pair in one."""
    m, last = -1, -1
    for i in range(keys.size):
        pair, number = keys[i] >> record_bits, keys[i] & ((1 << record_bits) - 1)
        if pair == last:
            records[m] += number
            continue
        m, last = m + 1, pair
        person[m], atom[m] = pair >> atom_bits, pair & ((1 << atom_bits) - 1)
        records[m] = number


def _mixed(values: Hashes) -> Hashes:
    """The finalizer of SplitMix64: a bijection that spreads every bit."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


@njit(cache=True, nogil=True)
def _share(first, start, records, bound, lattice, kept_records):  # type: ignore[no-untyped-def]
    """See the module; ``first`` are the first pairs of persons."""
    for person in range(first.size):
        end = first[person + 1] if person + 1 < first.size else records.size
        n = records[first[person] : end].sum()
        units = lattice * min(n, bound)
        u = np.int64(start[person] % np.uint64(n))
        before = reach = 0
        for i in range(first[person], end):
            reach += records[i]
            to = reach * (units // n) + _part(reach, units % n, u, n)
            kept_records[i] = to - before
            before = to


@njit(cache=True, nogil=True)
def _part(reach, rest, u, n):  # type: ignore[no-untyped-def]
    """floor((reach rest + u) / n) of numbers up to n, also where the product passes an int64."""
    if n < 2**31:
        return (reach * rest + u) // n
    quotient = remainder = 0
    for bit in range(61, -1, -1):
        quotient, remainder = 2 * quotient, 2 * remainder
        if (rest >> bit) & 1:
            remainder += reach
        quotient, remainder = quotient + remainder // n, remainder % n
    return quotient + (remainder + u) // n
