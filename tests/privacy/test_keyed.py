"""Previews search for cuts in one kernel: bit for bit what asking for every draw gives."""

from __future__ import annotations

import numpy as np
import pytest

from explorer import FrequencyMatrix, Grid
from explorer.privacy import cuts, keyed
from explorer.privacy.curator import Curator
from explorer.privacy.noise import PreviewNoise

RULES = ("search", "middle half", "middle quarter")


class Forwarding:
    """A source that is no `PreviewNoise` and draws as one."""

    preview = True

    def __init__(self, seed: int) -> None:
        source = PreviewNoise(seed)
        self.laplace, self.lowest, self.above = source.laplace, source.lowest, source.above


class Inheriting(PreviewNoise):
    """A source that might draw otherwise."""


def searched(source, matrix, parts, axis, rule, rounds):
    """All that a curator has learnt, charged and noted after one search in each part of a map."""
    desk = Curator(matrix, 10**12, source)
    regions = desk.open().grid(parts)
    rows, cols = regions.shape.T
    regions = regions.select((rows > 1) & (cols > 1))
    axes = np.arange(len(regions)) % 2 if axis is None else np.full(len(regions), axis)
    # Some pay more than others: neighbours' scales are no guide.
    units = 10**9 * (1 + np.arange(len(regions)) % 3)
    found = desk.cut(regions, axes, units, rule, rounds)
    record = desk.transcript()
    looked_at = [
        (each.ids.tolist(), each.positions.tolist(), each.costs.tolist())
        for each in record.candidates
    ]
    return found.tolist(), record.spent.tolist(), desk.ledger, looked_at


def town(shape, mean, most=None):
    rng = np.random.default_rng(int(mean))
    counts = rng.poisson(mean * rng.gamma(0.5, 2.0, shape))
    if most is not None:
        counts[0, 0] += most - counts.sum()
    return counts


MAPS = {
    "sides of two to five": (town((23, 45), 3), (8, 9), 1),
    "few records": (town((64, 96), 0.4), (3, 5), 1),
    "small boxes beyond the tables": (town((60, 60), 40), (7, 4), 5),
    "large boxes beyond the tables": (town((150, 170), 60), (2, 2), 1),
    "beyond the coarse tables": (town((100, 90), 900), (2, 5), 2),
    "thin boxes beyond the tables": (town((5, 1200), 60), (2, 1), 1),
    "as many as 32 bits count": (town((64, 64), 50, 2**31 - 1), (3, 3), 1),
    "more than 32 bits count": (town((64, 64), 50, 2**31), (3, 3), 3),
    "more than 32 bits count, small boxes": (town((40, 50), 50, 2**31), (5, 4), 1),
}


@pytest.mark.parametrize("name", MAPS)
def test_the_kernel_finds_what_asking_for_every_draw_finds(monkeypatch, name):
    counts, parts, bound = MAPS[name]
    unit = "point" if bound == 1 else "user"
    matrix = FrequencyMatrix(counts, Grid.cells(counts.shape), bound, unit)
    # Counts beyond 32 bits have no tables: every source asks for its draws, one by one.
    unused = cuts if matrix.total < 2**31 else keyed
    looked_at = 0
    for case in [(a, rule, T) for a in (0, 1, None) for rule in RULES for T in (1, 2, 3, 4, 5, 6)]:
        with monkeypatch.context() as patch:
            patch.setattr(unused, "search", None)
            in_one_go = searched(PreviewNoise(5), matrix, parts, *case)
        with monkeypatch.context() as patch:
            patch.setattr(keyed, "search", None)
            for source in (Forwarding(5), Inheriting(5)):
                assert searched(source, matrix, parts, *case) == in_one_go, case
        looked_at += sum(len(ids) for ids, _, _ in in_one_go[3])
    assert looked_at > 400
