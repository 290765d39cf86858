"""Secure aggregation of a shard: the server learns the sum of the vectors and nothing else.

After Bell et al., Secure single-server aggregation with (poly)logarithmic overhead (2020), for a
server that is honest but curious, with vetted primitives (X25519, HKDF, ChaCha20-Poly1305,
ChaCha20); Shamir's sharing and the graph are our own (`shamir`, `graph`). All parties run in one
process here: it shows what each of them sees, and protects no one from anyone who runs the process.

0 keys      two X25519 pairs each: one for boxes, one for masks, made from a seed a_i
1 shares    of a_i and of a self-mask's seed b_i, t of k, in a box for every neighbour
2 vector    y_i = x_i + noise_i + PRG(b_i) + sum_(j>i) PRG(s_ij) - sum_(j<i) PRG(s_ij)  mod 2^b
            over the neighbours who sent shares, s_ij agreed by the keys for masks
3 answers   the share of b_j for who sent a vector, of a_j for who did not: never both of one
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from explorer.federated.graph import harary
from explorer.federated.parties import (
    MASK,
    SELF,
    Distrust,
    Person,
    Public,
    Wires,
    agree,
    mask,
    mask_key,
    self_mask,
    word_of,
)
from explorer.federated.places import Ints
from explorer.federated.protocol import Round
from explorer.federated.shamir import Bytes, combine

BLOCK_BYTES = 64 * 2**20
"""Masked vectors are made in blocks of columns of about so much memory."""

GONE, KEYS, SHARES, VECTOR, ANSWERS = range(5)
"""The last message that a person sends before she drops out; ANSWERS: she stays."""


class Refused(RuntimeError):
    """The shard gives no sum; nothing was unmasked."""


@dataclass(frozen=True)
class Vectors:
    """What people add up, as triples; several of one counter add up.

    Attributes
    ----------
    person, index, value : (k,) position in the shard, counter, whole number
    """

    person: Ints
    index: Ints
    value: Ints

    def dense(self, person: int, counters: int) -> Ints:
        """One person's vector, (v,)."""
        entries = self.person == person
        result = np.zeros(counters, dtype=np.int64)
        np.add.at(result, self.index[entries], self.value[entries])
        return result


@dataclass(frozen=True)
class Seen:
    """One person's part and what the server had of it, (v,) each; the first two stay with her.

    Attributes
    ----------
    person : position in the shard
    vector, share : her counts, and her share of the noise
    masked : what she sent: uniform modulo 2^b without the masks of others
    masked_sum : the sum of all that was sent
    total : the same without masks: the shard's sum modulo 2^b
    """

    person: int
    vector: Ints
    share: Ints
    masked: Ints
    masked_sum: Ints
    total: Ints


@dataclass(frozen=True)
class Aggregate:
    """What the server ends up with.

    Attributes
    ----------
    total : (v,) sum modulo 2^b
    survivors : (m,) whose vectors are in it
    revealed : person to "mask" (her seed a: she sent no vector) or "self" (b), as was rebuilt
    seen : of one person, if asked for
    """

    total: Ints
    survivors: Ints
    revealed: Mapping[int, str]
    seen: Seen | None = None


def wrapped(plan: Round, *parts: Vectors) -> int:
    """How many sums of a shard did not fit their bits: known to the simulation, not to the server.

    Parameters
    ----------
    parts : what was added up, counts and noise
    """
    sums = np.zeros(plan.counters, dtype=np.int64)
    for part in parts:
        np.add.at(sums, part.index, part.value)
    return int(np.count_nonzero((sums + plan.low) >> plan.bits))


def aggregate(
    plan: Round,
    counts: Vectors,
    noise: Vectors,
    last: Ints,
    ring: Ints,
    random: Bytes,
    watched: int | None = None,
) -> Aggregate:
    """Run the four phases for one shard.

    Parameters
    ----------
    plan : counters, bits, degree, threshold and `fewest` are looked at
    counts, noise : of all people of the shard; of those who send no vector they are not used
    last : (n,) the last message of each, `GONE` to `ANSWERS`
    ring : (n,) the people in random order
    random : source of seeds and coefficients
    watched : whose part is kept, a survivor

    Raises
    ------
    Refused
        If fewer than `fewest` sent a vector, or fewer than t neighbours of anybody answer.
    """
    if len(last) < 2:
        raise Refused("one person alone is no sum")
    neighbours = harary(ring, min(plan.degree, len(last) - 1))
    wires = Wires()
    people = {i: Person(i, random) for i in _those(last >= KEYS)}
    keys = {i: person.public for i, person in people.items()}
    boxes: dict[int, dict[int, bytes]] = {i: {} for i in people}
    shared = _those(last >= SHARES)
    for i in shared:
        others = {j: keys[j] for j in neighbours[i].tolist() if j in keys}
        try:
            sent = people[i].shares(others, plan.threshold, random, wires)
        except Distrust as error:
            raise Refused(str(error)) from error
        for j, box in sent.items():
            boxes[j][i] = box
    survivors = _those(last >= VECTOR)
    for i in survivors:
        people[i].receive(boxes[i], wires)
    masks = Masks.of([people[i] for i in survivors], wires)
    answering = [people[i] for i in _those(last >= ANSWERS)]
    # People see the announced survivors before they answer, and refuse when they are too few.
    if len(survivors) < plan.fewest:
        raise Refused(f"{len(survivors)} vectors arrived, {plan.fewest} are needed")
    answers = [(person.number, person.answer(set(survivors), plan.fewest)) for person in answering]
    needed = sorted({j for i in survivors for j in people[i].masked_with} | set(survivors))
    secrets = rebuilt(answers, needed, plan.threshold)
    rebuilt_masks = Masks.rebuilt(secrets, keys, {i: people[i].masked_with for i in survivors})
    sums = _summed(plan, counts, noise, survivors, masks, rebuilt_masks, watched)
    revealed = {j: kind for j, (kind, _) in secrets.items()}
    return Aggregate(sums[0], np.array(survivors), revealed, sums[1])


def rebuilt(
    answers: list[tuple[int, dict[int, tuple[str, bytes]]]], needed: list[int], threshold: int
) -> dict[int, tuple[str, bytes]]:
    """The server's part of phase 3: one secret of everybody who has a mask in a vector.

    Raises
    ------
    Refused
        If fewer than t neighbours of anybody answer.
    """
    shares_by_person: dict[int, list[tuple[int, str, bytes]]] = {}
    for i, shares in answers:
        for j, (kind, share) in shares.items():
            shares_by_person.setdefault(j, []).append((i + 1, kind, share))
    secrets = {}
    for j in needed:
        used = shares_by_person.get(j, [])[:threshold]
        if len(used) < threshold:
            raise Refused(f"{len(used)} neighbours of a person answered, {threshold} are needed")
        points, kinds, shares_of = zip(*used, strict=True)
        secrets[j] = kinds[0], combine(points, shares_of)
    return secrets


@dataclass(frozen=True)
class Masks:
    """Keys of masks, and in whose vectors they are: everybody's, or what the server rebuilt.

    Attributes
    ----------
    self_masks : person and key of the mask that is hers alone
    pairs : persons i < j and key: added to the vector of i, taken from that of j
    """

    self_masks: list[tuple[int, bytes]]
    pairs: list[tuple[int, int, bytes]]

    @classmethod
    def of(cls, survivors: list[Person], wires: Wires) -> Masks:
        """The masks in the vectors of those who sent one."""
        self_masks = [(person.number, person.self_mask) for person in survivors]
        pairs = {}
        for person in survivors:
            for j in person.masked_with:
                edge = min(person.number, j), max(person.number, j)
                if edge not in pairs:
                    pairs[edge] = person.pair_mask(j, wires)
        return cls(self_masks, [(*edge, key) for edge, key in pairs.items()])

    @classmethod
    def rebuilt(
        cls,
        secrets: Mapping[int, tuple[str, bytes]],
        keys: Mapping[int, Public],
        masked_with: Mapping[int, tuple[int, ...]],
    ) -> Masks:
        """What the server works out: own masks, and those of the dropped with each survivor."""
        self_masks = [
            (j, self_mask(secret)) for j, (kind, secret) in secrets.items() if kind == SELF
        ]
        dropped = {j: mask_key(seed) for j, (kind, seed) in secrets.items() if kind == MASK}
        pairs = [
            (min(i, j), max(i, j), agree(MASK, dropped[j], keys[i].mask))
            for i, others in masked_with.items()
            for j in others
            if j in dropped
        ]
        return cls(self_masks, pairs)


def _summed(
    plan: Round,
    counts: Vectors,
    noise: Vectors,
    survivors: list[int],
    masks: Masks,
    rebuilt_masks: Masks,
    watched: int | None,
) -> tuple[Ints, Seen | None]:
    """Vectors masked and added, block by block; then the server takes known masks off the sum."""
    word, modulus = word_of(plan.bits), (1 << plan.bits) - 1
    row = {i: at for at, i in enumerate(survivors)}
    rows = np.full(max(survivors) + 1, -1, dtype=np.int64)
    rows[survivors] = np.arange(len(survivors))
    total, masked_sum, masked = np.zeros((3, plan.counters), dtype=np.int64)
    # Whole blocks of the cipher, so that a mask can be entered there.
    columns = max(1, BLOCK_BYTES // (len(survivors) * 64)) * (64 // word.itemsize)
    for begin in range(0, plan.counters, columns):
        end = min(plan.counters, begin + columns)
        sent = np.zeros((len(survivors), end - begin), dtype=word)
        for part in (counts, noise):
            _place(sent, rows, part.person, part.index, part.value, begin)
        for i, key in masks.self_masks:
            sent[row[i]] += mask(key, begin, end, word)
        for i, j, key in masks.pairs:
            pair_mask = mask(key, begin, end, word)
            if i in row:
                sent[row[i]] += pair_mask
            if j in row:
                sent[row[j]] -= pair_mask
        added = sent.sum(axis=0, dtype=word)
        masked_sum[begin:end] = added & word.type(modulus)
        if watched is not None:
            masked[begin:end] = sent[row[watched]] & word.type(modulus)
        for _, key in rebuilt_masks.self_masks:
            added -= mask(key, begin, end, word)
        for i, _, key in rebuilt_masks.pairs:
            pair_mask = mask(key, begin, end, word)
            # The survivor of the two has it in her vector.
            added = added - pair_mask if i in row else added + pair_mask
        total[begin:end] = added & word.type(modulus)
    if watched is None:
        return total, None
    vectors = [part.dense(watched, plan.counters) for part in (counts, noise)]
    return total, Seen(watched, vectors[0], vectors[1], masked, masked_sum, total)


def _those(chosen: NDArray[np.bool_]) -> list[int]:
    result: list[int] = np.flatnonzero(chosen).tolist()
    return result


@njit(cache=True, nogil=True)
def _place(sent, rows, person, index, value, begin):  # type: ignore[no-untyped-def]
    for i in range(len(person)):
        at = index[i] - begin
        # Whole numbers below 0 wrap round, as they should.
        if 0 <= at < sent.shape[1] and person[i] < len(rows) and rows[person[i]] >= 0:
            sent[rows[person[i]], at] += value[i]
