"""A release in one sentence."""

from __future__ import annotations

import math
from collections.abc import Sequence


def sentence(
    *,
    preview: bool,
    mechanism: str,
    epsilon: float,
    unit: str,
    bound: int,
    weighted: bool,
    leaves: int,
    sides: Sequence[int],
    total: float,
    noise: float,
    inside: str,
) -> str:
    """What a release is and how good, see `Release.summary`."""
    kind = "Preview (reproducible noise, not private)" if preview else "Private release"
    by_maps = ", spread inside leaves by the maps of the places" if inside == "maps" else ""
    records = f"about {total:,.0f} records in all"
    if weighted:
        people = f"{max(total, 0.0) / bound:,.0f} {unit}{'' if round(total / bound) == 1 else 's'}"
        records += f" by weight, {bound} at most of each {unit}, as many as {people} would give"
    return (
        f"{kind} by {mechanism} with epsilon {epsilon:g} per {unit}: "
        f"{leaves:,} {'leaf' if leaves == 1 else 'leaves'} over "
        f"{' x '.join(map(str, sides))} {'cell' if math.prod(sides) == 1 else 'cells'}, "
        f"{records}, noise of a leaf's count typically {noise:,.1f} (standard deviation){by_maps}."
    )
