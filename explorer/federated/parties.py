"""One person of a shard: her keys, her secrets, what she sends, and what she refuses to send."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from numpy.typing import NDArray

from explorer.federated.shamir import SECRET_BYTES, SHARE_BYTES, Bytes, split

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

    Parameters
    ----------
    number : her position in the shard
    random : source of her keys and seeds

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

        Raises
        ------
        Distrust
            With fewer neighbours than rebuild a secret.
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
    """Words begin to end of the mask that a key represents (ChaCha20).

    Parameters
    ----------
    begin : a whole number of blocks of 64 bytes
    """
    block, rest = divmod(begin * word.itemsize, _BLOCK)
    if rest:
        raise ValueError("a mask is entered at whole blocks")
    nonce = block.to_bytes(4, "little") + bytes(12)
    cipher = Cipher(algorithms.ChaCha20(key, nonce), None).encryptor()
    result = np.zeros(end - begin, word)
    # In place: a stream cipher adds its key stream to what is there, nothing.
    cipher.update_into(result.data.cast("B"), result.data.cast("B"))
    return result
