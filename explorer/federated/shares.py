"""Every person's own share of the noise, exactly: the few entries that are not zero.

A share is X - Y with X, Y ~ NB(1 / n_min, q) in each of v cells. Nearly all entries are 0, so the
entries of all survivors are taken as one line, person by person, and walked from one non-zero X to
the next; then once more for Y. Expected numbers: 2 m v (1 - (1-q)^(1/n_min)), about
2 v ln(1 / (1-q)) a shard, whatever its size.
"""

from __future__ import annotations

import hashlib
import math
import os
import warnings
from dataclasses import dataclass

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms
from numba import njit
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.federated.inverse import Share, Tables, tables
from explorer.releases.units import UNITS_PER_EPSILON, to_epsilon

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

SMALLEST = 10**-4
"""Least epsilon / S of a round: tables hold 44 S / epsilon sizes, five seconds' work at 10^-4."""

SLOW = 5 * 10**-4
"""Below it the tables of a round take a second and more."""

_DONE, _MORE_WORDS, _FULL, _UNDECIDED = range(4)
_GAP, _INSIDE, _SIZE = range(3)

KEY_BYTES = 32
_CHUNK = 1 << 20
_ZEROS = bytes(_CHUNK)


def new_key(seed: int | None = None) -> bytes:
    """A key of 32 bytes: from the operating system, or from a seed.

    >>> new_key(1) == new_key(1), new_key() == new_key()
    (True, False)
    """
    if seed is None:
        return os.urandom(KEY_BYTES)
    return hashlib.blake2b(f"shares/{seed}".encode(), digest_size=KEY_BYTES).digest()


class Stream:
    """Words of ChaCha20's key stream, in order.

    Parameters
    ----------
    key : 32 bytes
    name : int, 0 to 2^96 - 1
        Distinguishes a stream from others of the same key (the cipher's nonce). One stream gives
        256 GB; then it refuses.
    """

    def __init__(self, key: bytes, name: int = 0) -> None:
        # Its first four bytes count blocks, from 0.
        nonce = bytes(4) + int(name).to_bytes(12, "little")
        self._cipher = Cipher(algorithms.ChaCha20(key, nonce), None).encryptor()
        self._left = 2**32 * 64

    def words(self, number: int) -> NDArray[np.uint64]:
        """The next 64-bit words, (number,)."""
        buffer = np.empty(number, dtype="<u8")
        self.fill(buffer.view(np.uint8))
        return buffer.astype(np.uint64, copy=False)

    def bytes(self, number: int) -> bytes:
        """The next bytes."""
        buffer = np.empty(number, dtype=np.uint8)
        self.fill(buffer)
        return buffer.tobytes()

    def fill(self, target: NDArray[np.uint8]) -> None:
        """Write the next bytes into an array."""
        self._left -= len(target)
        if self._left < 0:
            raise RuntimeError("a stream of ChaCha20 ends after 2^32 blocks")
        view = target.data
        for begin in range(0, len(target), _CHUNK):
            part = view[begin : begin + _CHUNK]
            self._cipher.update_into(memoryview(_ZEROS)[: len(part)], part)


@dataclass(frozen=True)
class Shares:
    """Non-zero entries: person (k,), cell (k,) and value (k,); one of X and Y may be of one cell.

    Those of X come first, then those of Y, each by person and cell.
    """

    person: Ints
    cell: Ints
    value: Ints

    def __len__(self) -> int:
        return len(self.person)


class SlowWarning(UserWarning):
    """What was asked for takes seconds, and need not."""


def checked(units: int, sensitivity: int) -> None:
    """Refuse a round whose tables would explode, and warn of one whose tables are slow."""
    least = math.ceil(SMALLEST * sensitivity * UNITS_PER_EPSILON)
    if units < least:
        raise InputError(
            f"A round of epsilon {to_epsilon(units):.3g} has noise too wide for exact shares: give "
            f"every round epsilon {to_epsilon(least):.3g} or more."
        )
    if units < SLOW * sensitivity * UNITS_PER_EPSILON:
        several = f" shared out over {sensitivity:,} places a person" if sensitivity > 1 else ""
        fewer = "fewer places or " if sensitivity > 1 else ""
        warnings.warn(
            f"A round of epsilon {to_epsilon(units):.3g}{several} takes seconds, for the tables of "
            f"its noise: {fewer}a larger epsilon is quicker.",
            SlowWarning,
            stacklevel=2,
        )


def expected(share: Share, survivors: int, cells: int) -> float:
    """Expected number of non-zero entries of X and Y together."""
    return 2.0 * survivors * cells * share.chance


def shares(share: Share, survivors: int, cells: int, source: Stream) -> Shares:
    """Draw the shares of some survivors.

    Parameters
    ----------
    share : the distribution of one entry
    survivors, cells : m people with a vector of v entries each, m v below 2^62
    source : Stream
        Its words are read in order, so equal words give equal shares.
    """
    checked(share.units, share.sensitivity)
    lookup = tables(share)
    drawn = [_line(lookup, survivors * cells, share.chance, source) for _ in range(2)]
    at = np.concatenate([positions for positions, _ in drawn])
    value = np.concatenate([drawn[0][1], -drawn[1][1]])
    person = at // cells
    return Shares(person, at - person * cells, value)


def _line(lookup: Tables, length: int, chance: float, source: Stream) -> tuple[Ints, Ints]:
    """Positions of the non-zero X on a line of cells, and their sizes."""
    usual = length * chance
    room = math.ceil(usual + 6.0 * math.sqrt(usual) + 64)
    # Words an event: gaps of at most three tables, the cells inside a step, the size.
    words = source.words(_words(room, lookup))
    at, size = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
    # Position, which distribution comes next, an outcome found by hand, word, events.
    state = np.array([0, _GAP, -1, 0, 0], dtype=np.int64)
    laws = lookup.top, lookup.low, lookup.guide, lookup.begin, lookup.guides, lookup.shift
    while True:
        ended = _walk(words, length, lookup.step, *laws, state, at, size)
        if ended == _DONE:
            return at[: state[4]], size[: state[4]]
        if ended == _FULL:
            at, size = _longer(at), _longer(size)
        elif ended == _MORE_WORDS:
            rest = max(1, length - int(state[0])) / length
            words = source.words(_words(math.ceil(room * rest) + 64, lookup))
            state[3] = 0
        else:
            reader = _Reader(words[state[3] :], source)
            state[2] = lookup.laws[state[1]].resolve(reader)
            words, state[3] = reader.rest(), 0


class _Reader:
    """Words one by one: what is left of some, then new ones."""

    def __init__(self, words: Words, source: Stream) -> None:
        self._words, self._source, self._at = words, source, 0

    def __call__(self) -> int:
        if self._at == len(self._words):
            self._words, self._at = self._source.words(64), 0
        self._at += 1
        return int(self._words[self._at - 1])

    def rest(self) -> Words:
        return self._words[self._at :]


def _words(events: int, lookup: Tables) -> int:
    per_event = 2.2 if lookup.step == 1 else 3.2
    return math.ceil(per_event * events) + 64


def _longer(array: Ints) -> Ints:
    return np.concatenate([array, np.empty_like(array)])


@njit(cache=True, nogil=True)
def _walk(  # type: ignore[no-untyped-def]
    words, length, step, top, low, guide, begin, guides, shift, state, at, size
):
    """Walk the line until it ends, or something is missing; `state` says where it is.

    A draw that cannot be finished takes no word.
    """
    position, law, resolved, word, events = state
    ended = _DONE
    while True:
        first, behind = begin[law], begin[law + 1]
        if resolved >= 0:
            outcome, resolved = resolved, -1
        else:
            if word + 2 > len(words):
                ended = _MORE_WORDS
                break
            if events == len(at):
                ended = _FULL
                break
            u = words[word]
            k = first + guide[guides[law] + np.int64(u >> shift[law])]
            while k < behind and top[k] < u:
                k += 1
            n_words = 1
            if k < behind and top[k] == u:
                second = words[word + 1]
                n_words = 2
                while k < behind and top[k] == u and low[k] < second:
                    k += 1
                if k < behind and top[k] == u and low[k] == second:
                    ended = _UNDECIDED
                    break
            if law == _SIZE and k == behind:
                # Sizes have no end; the table has.
                ended = _UNDECIDED
                break
            word += n_words
            outcome = k - first
        if law == _GAP:
            position += outcome * step
            if position >= length:
                break
            if outcome < behind - first:
                law = _SIZE if step == 1 else _INSIDE
        elif law == _INSIDE:
            position += outcome
            if position >= length:
                break
            law = _SIZE
        else:
            at[events], size[events] = position, outcome + 1
            events += 1
            position += 1
            law = _GAP
            if position >= length:
                break
    state[0], state[1], state[2], state[3], state[4] = position, law, resolved, word, events
    return ended
