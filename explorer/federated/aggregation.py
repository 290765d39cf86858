"""Secure aggregation of a shard: the server learns the sum of the vectors and nothing else.

After Bell et al., Secure single-server aggregation with (poly)logarithmic overhead (2020), for a
server that is honest but curious, with vetted primitives (X25519, HKDF, ChaCha20-Poly1305,
ChaCha20); Shamir's sharing and the graph are our own (`shamir`, `harary`). All parties run in one
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
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from numba import njit
from numpy.typing import NDArray

from explorer.federated.places import Ints
from explorer.federated.protocol import Round
from explorer.federated.shamir import SECRET_BYTES, SHARE_BYTES, Bytes, combine, split

_BLOCK = 64
"""Bytes of a block of ChaCha20: its key stream can be entered at each."""

SELF, MASK = "self", "mask"

Word = np.dtype[np.unsignedinteger]


class Distrust(RuntimeError):
    """A person was asked for what would open her neighbours, and answers nothing."""


@dataclass(frozen=True)
class Public:
    """The public keys of a person, 32 bytes each on the wire: for boxes and for masks."""

    box: X25519PublicKey
    mask: X25519PublicKey


class Wires:
    """What two people agree upon (X25519, then HKDF), worked out once for both ends.

    Each end comes to the same 32 bytes by itself; a simulation of all of them need not do it twice.
    """

    def __init__(self) -> None:
        self._agreed: dict[tuple[str, int, int], bytes] = {}

    def agreed(
        self, kind: str, private_key: X25519PrivateKey, other: X25519PublicKey, i: int, j: int
    ) -> bytes:
        """The key of persons i and j for boxes or for masks."""
        edge = (kind, i, j) if i < j else (kind, j, i)
        result = self._agreed.get(edge)
        if result is None:
            result = self._agreed[edge] = agree(kind, private_key, other)
        return result


class Person:
    """A person in a shard.

    Attributes
    ----------
    public : her public keys
    masked_with : neighbours who sent her their shares: her vector carries masks with them
    """

    def __init__(self, number: int, random: Bytes) -> None:
        self.number = number
        self._mask_seed, self._self_seed = random(SECRET_BYTES), random(SECRET_BYTES)
        self._box_key = private_key(random(32))
        # Another key than that for boxes: who rebuilds it must not open them.
        self._mask_key = mask_key(self._mask_seed)
        self.public = Public(self._box_key.public_key(), self._mask_key.public_key())
        self.masked_with: tuple[int, ...] = ()
        self._neighbours: Mapping[int, Public] = {}
        self._held: dict[int, tuple[bytes, bytes]] = {}
        self._answered = False

    def shares(
        self, neighbours: Mapping[int, Public], threshold: int, random: Bytes, wires: Wires
    ) -> dict[int, bytes]:
        """Boxes with shares of both her secrets, one for each neighbour.

        A box holds 34 bytes and its tag of 16. Its nonce is the sender's number: the two of one
        edge share a key.
        """
        self._neighbours = neighbours
        if len(neighbours) < threshold:
            raise Distrust("fewer neighbours than rebuild a secret")
        points = [j + 1 for j in neighbours]
        of_mask = split(self._mask_seed, points, threshold, random)
        of_self = split(self._self_seed, points, threshold, random)
        nonce, boxes = self.number.to_bytes(12, "little"), {}
        for (j, keys), one, two in zip(neighbours.items(), of_mask, of_self, strict=True):
            key = wires.agreed("box", self._box_key, keys.box, self.number, j)
            boxes[j] = ChaCha20Poly1305(key).encrypt(nonce, one + two, None)
        return boxes

    def receive(self, boxes: Mapping[int, bytes], wires: Wires) -> None:
        """Open the boxes of those neighbours who sent one; masks are made with them alone."""
        for j, box in boxes.items():
            key = wires.agreed("box", self._box_key, self._neighbours[j].box, self.number, j)
            both = ChaCha20Poly1305(key).decrypt(j.to_bytes(12, "little"), box, None)
            self._held[j] = both[:SHARE_BYTES], both[SHARE_BYTES:]
        self.masked_with = tuple(sorted(self._held))

    @property
    def self_mask(self) -> bytes:
        """The key of the mask that is hers alone."""
        return self_mask(self._self_seed)

    def pair_mask(self, other: int, wires: Wires) -> bytes:
        """The key of the mask with a neighbour."""
        keys = self._neighbours[other]
        return wires.agreed(MASK, self._mask_key, keys.mask, self.number, other)

    def answer(self, survivors: set[int], fewest: int) -> dict[int, tuple[str, bytes]]:
        """One share for each neighbour, never both: of her own mask if her vector arrived.

        Of a neighbour without a vector it is a share of the seed of her key for masks.

        Raises
        ------
        Distrust
            If too few survive, or she has answered before: another list of survivors could ask
            for the other secret.
        """
        if self._answered or len(survivors) < fewest or self.number not in survivors:
            raise Distrust("this answer could open what must stay closed")
        self._answered = True
        return {
            j: (SELF, entry[1]) if j in survivors else (MASK, entry[0])
            for j, entry in self._held.items()
        }


def private_key(secret: bytes) -> X25519PrivateKey:
    """A private key of 32 bytes."""
    return X25519PrivateKey.from_private_bytes(secret)


def mask_key(seed: bytes) -> X25519PrivateKey:
    """The key for masks that a seed of 16 bytes represents."""
    return private_key(derived(seed, "key"))


def self_mask(seed: bytes) -> bytes:
    """The key of a person's own mask."""
    return derived(seed, SELF)


def agree(kind: str, private_key: X25519PrivateKey, other: X25519PublicKey) -> bytes:
    """What one end of an edge works out: HKDF of the Diffie-Hellman secret."""
    return derived(private_key.exchange(other), kind)


def derived(secret: bytes, purpose: str) -> bytes:
    """32 bytes from a secret, others for every purpose (HKDF with SHA-256)."""
    return HKDF(SHA256(), 32, None, purpose.encode()).derive(secret)


def word_of(bits: int) -> Word:
    """Words of a masked vector: the smallest that hold so many bits."""
    kinds = ((16, np.uint16), (32, np.uint32), (64, np.uint64))
    return np.dtype(next(kind for width, kind in kinds if bits <= width))


def mask(key: bytes, begin: int, end: int, word: Word) -> NDArray[np.unsignedinteger]:
    """Words begin to end of the mask that a key represents (ChaCha20)."""
    block, rest = divmod(begin * word.itemsize, _BLOCK)
    if rest:
        raise ValueError("a mask is entered at whole blocks")
    nonce = block.to_bytes(4, "little") + bytes(12)
    cipher = Cipher(algorithms.ChaCha20(key, nonce), None).encryptor()
    result = np.zeros(end - begin, word)
    # In place: a stream cipher adds its key stream to what is there, nothing.
    cipher.update_into(result.data.cast("B"), result.data.cast("B"))
    return result


BLOCK_BYTES = 64 * 2**20
"""Masked vectors are made in blocks of columns of about so much memory."""

GONE, KEYS, SHARES, VECTOR, ANSWERS = range(5)
"""The last message that a person sends before she drops out; ANSWERS: she stays."""


class Refused(RuntimeError):
    """The shard gives no sum; nothing was unmasked."""


@dataclass(frozen=True)
class Vectors:
    """What people add up, as triples; several of one counter add up."""

    # person, index, value: (k,) position in the shard, counter, whole number
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
    """One person's part and what the server had of it, (v,) each; the first two stay with her."""

    person: int  # position in the shard
    # vector, share: her counts, and her share of the noise
    vector: Ints
    share: Ints
    masked: Ints  # what she sent: uniform modulo 2^b without the masks of others
    masked_sum: Ints  # the sum of all that was sent
    total: Ints  # the same without masks: the shard's sum modulo 2^b


@dataclass(frozen=True)
class Aggregate:
    """What the server ends up with."""

    total: Ints  # (v,) sum modulo 2^b
    survivors: Ints  # (m,) whose vectors are in it
    # person to "mask" (her seed a: she sent no vector) or "self" (b), as was rebuilt
    revealed: Mapping[int, str]
    seen: Seen | None = None  # of one person, if asked for


def wrapped(plan: Round, *parts: Vectors) -> int:
    """How many sums of a shard did not fit their bits: known to the simulation alone."""
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
    masks = masks_of([people[i] for i in survivors], wires)
    answering = [people[i] for i in _those(last >= ANSWERS)]
    # People see the announced survivors before they answer, and refuse when they are too few.
    if len(survivors) < plan.fewest:
        raise Refused(f"{len(survivors)} vectors arrived, {plan.fewest} are needed")
    answers = [(person.number, person.answer(set(survivors), plan.fewest)) for person in answering]
    needed = sorted({j for i in survivors for j in people[i].masked_with} | set(survivors))
    secrets = rebuilt(answers, needed, plan.threshold)
    rebuilt_masks = masks_rebuilt(secrets, keys, {i: people[i].masked_with for i in survivors})
    sums = _summed(plan, counts, noise, survivors, masks, rebuilt_masks, watched)
    revealed = {j: kind for j, (kind, _) in secrets.items()}
    return Aggregate(sums[0], np.array(survivors), revealed, sums[1])


def rebuilt(
    answers: list[tuple[int, dict[int, tuple[str, bytes]]]], needed: list[int], threshold: int
) -> dict[int, tuple[str, bytes]]:
    """The server's part of phase 3: one secret of everybody who has a mask in a vector."""
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


Masks = tuple[list[tuple[int, bytes]], list[tuple[int, int, bytes]]]
"""Persons and keys of their own masks; pairs i < j and keys: added to i's vector, off that of j."""


def masks_of(survivors: list[Person], wires: Wires) -> Masks:
    """The masks in the vectors of those who sent one."""
    self_masks = [(person.number, person.self_mask) for person in survivors]
    pairs = {}
    for person in survivors:
        for j in person.masked_with:
            edge = min(person.number, j), max(person.number, j)
            if edge not in pairs:
                pairs[edge] = person.pair_mask(j, wires)
    return self_masks, [(*edge, key) for edge, key in pairs.items()]


def masks_rebuilt(
    secrets: Mapping[int, tuple[str, bytes]],
    keys: Mapping[int, Public],
    masked_with: Mapping[int, tuple[int, ...]],
) -> Masks:
    """What the server works out: own masks, and those of the dropped with each survivor."""
    self_masks = [(j, self_mask(secret)) for j, (kind, secret) in secrets.items() if kind == SELF]
    dropped = {j: mask_key(seed) for j, (kind, seed) in secrets.items() if kind == MASK}
    pairs = [
        (min(i, j), max(i, j), agree(MASK, dropped[j], keys[i].mask))
        for i, others in masked_with.items()
        for j in others
        if j in dropped
    ]
    return self_masks, pairs


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
        for i, key in masks[0]:
            sent[row[i]] += mask(key, begin, end, word)
        for i, j, key in masks[1]:
            pair_mask = mask(key, begin, end, word)
            if i in row:
                sent[row[i]] += pair_mask
            if j in row:
                sent[row[j]] -= pair_mask
        added = sent.sum(axis=0, dtype=word)
        masked_sum[begin:end] = added & word.type(modulus)
        if watched is not None:
            masked[begin:end] = sent[row[watched]] & word.type(modulus)
        for _, key in rebuilt_masks[0]:
            added -= mask(key, begin, end, word)
        for i, _, key in rebuilt_masks[1]:
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


def harary(ring: Ints, degree: int) -> Ints:
    """Neighbours of everybody: the k/2 next ones on either side of a ring.

    A Harary graph stays in one part unless two runs of k/2 people on the ring are taken out; on a
    random ring that is as rare as `calibration.neighbours` says (Bell et al. 2020, section 4.2).

    Parameters
    ----------
    ring : (n,) the people 0 to n - 1 in random order
    degree : k, even, or n - 1 for everybody

    Returns
    -------
    (n, k) int64: row i holds the neighbours of person i

    >>> harary(np.array([2, 0, 1, 3, 4]), 2).tolist()
    [[2, 1], [0, 3], [4, 0], [1, 4], [3, 2]]
    """
    size = len(ring)
    if not 1 <= degree < size or (degree % 2 and degree != size - 1):
        raise ValueError("a Harary graph has an even degree below its size, or joins everybody")
    half = degree // 2
    if degree == size - 1:
        steps = np.arange(1, size)
    else:
        steps = np.concatenate([np.arange(-half, 0), np.arange(1, half + 1)])
    around = np.asarray(ring)[(np.arange(size)[:, np.newaxis] + steps) % size]
    table = np.empty((size, degree), dtype=np.int64)
    table[ring] = around
    return table
