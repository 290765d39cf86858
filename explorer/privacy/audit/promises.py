"""What must have been tried of a mechanism before an audit says that it holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from explorer.privacy.audit.audit import Finding
from explorer.privacy.audit.large import FULL, LONGEST


class Promise(NamedTuple):
    """The least that is tried.

    Attributes
    ----------
    pairs, large : neighbouring pairs, those of them on large grids
    cells, call : cells of the largest grid, draws of the longest measurement
    """

    pairs: int
    large: int
    cells: int
    call: int


PAIRS = 80
"""Of a mechanism of maps or trips."""
_CALLS: Mapping[str, int] = {
    **dict.fromkeys(FULL, LONGEST),
    "ebp": 100_000,
    "daf-entropy": 100_000,
    "daf-homogeneity": 100_000,
    "htf": 20_000,
    "kd-standard": 16_384,
    "kd-hybrid": 30_000,
    "uniform": 1,
}
"""Of those that merge cells fewer are drawn at once, by where they merge them."""
_OTHERS: Mapping[str, Promise] = {
    "federated": Promise(32, 4, 256**2, 64),
    "country": Promise(40, 4, 256**2, 1_000),
}
"""Of what asks people, or has many maps: whole runs, of fewer pairs."""


def promise(key: str) -> Promise:
    """What is promised of a mechanism; one of someone's own has no longest call."""
    return _OTHERS.get(key, Promise(PAIRS, PAIRS // 10, LONGEST, _CALLS.get(key, 0)))


def missing(finding: Finding) -> list[str]:
    """What was promised and not tried, in words."""
    required = promise(finding.key)
    shortfalls = []
    for tried, least, what in (
        (finding.pairs, required.pairs, "pairs"),
        (finding.large, required.large, "pairs on large grids"),
        (finding.cells, required.cells, "cells of the largest grid"),
        (finding.call, required.call, "draws of the longest call"),
    ):
        if tried < least:
            shortfalls.append(f"{tried:,} of {least:,} {what}")
    return shortfalls
