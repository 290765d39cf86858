"""Texts with their packed twins, made once."""

from __future__ import annotations

import gzip
from dataclasses import dataclass


@dataclass(frozen=True)
class Packed:
    """A text as it is, and packed.

    >>> len(Packed.of(b"a" * 1000).packed) < 100
    True
    """

    plain: bytes
    packed: bytes

    @classmethod
    def of(cls, plain: bytes) -> Packed:
        """Pack it."""
        return cls(plain, gzip.compress(plain, 6, mtime=0))
