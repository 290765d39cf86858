"""Random bytes for shares: ChaCha20 keyed by the operating system, or by a seed for a preview."""

from __future__ import annotations

import hashlib
import os

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms
from numpy.typing import NDArray

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
