"""Few people on a small square, and a plain run that refines a quadtree: what tests here share."""

from __future__ import annotations

import numpy as np

from explorer.federated.asking import Asking, Protocol, Question, Sums
from explorer.federated.people import People
from explorer.grid.grid import Grid

DEPTH = 3
GRID = Grid.cells((2**DEPTH, 2**DEPTH))


def some_people(seed: int, number: int = 40, **settings: object) -> People:
    """People about one corner of the square."""
    rng = np.random.default_rng(seed)
    cells = (rng.exponential(6.0, number)).astype(np.int64) % 4**DEPTH
    return People(cells, GRID, **settings)  # type: ignore[arg-type]


def walkers(seed: int, number: int = 30, places: int = 4) -> People:
    """People of one to four places, and one of none."""
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0, 0], np.cumsum(rng.integers(1, 5, number - 1))])
    cells = rng.integers(0, 4**DEPTH, offsets[-1])
    visits = rng.integers(1, 9, offsets[-1])
    return People(cells, GRID, offsets=offsets, visits=visits, places=places)


def question_of(leaves: list[tuple[int, int]]) -> Question:
    """Cells (first code, level) that tile the square, each a counter."""
    starts = np.array(sorted(first for first, _ in leaves))
    return Question(starts, np.arange(len(starts)), len(starts), DEPTH)


def refine(asking: Asking, rounds: int = 3, asked: int = 12, fresh: bool = True) -> list[object]:
    """Ask round after round, and divide every cell whose count stands out; all that is public."""
    leaves = [(16 * i, 1) for i in range(4)]
    published: list[object] = []
    for left in range(rounds, 0, -1):
        units = asking.units if fresh else (asking.units - asking.spent) // left
        number = asking.left if fresh and left == 1 else min(asked, asking.number)
        sums = asking.ask(question_of(leaves), number, units, fresh)
        published += [tuple(leaves), public(sums)]
        finer: list[tuple[int, int]] = []
        per_node = sums.values.reshape(asking.counters, -1).sum(axis=0)
        for (first, level), count in zip(sorted(leaves), per_node.tolist(), strict=True):
            if count > 2 * sums.sd and level < DEPTH:
                side = 4 ** (DEPTH - level - 1)
                finer += [(first + i * side, level + 1) for i in range(4)]
            else:
                finer.append((first, level))
        leaves = finer
    return published


def public(sums: Sums) -> tuple[object, ...]:
    """What is released of sums: all but the overflow, which only the simulation knows."""
    names = (name for name in sums.__dataclass_fields__ if name != "overflow")
    return tuple(getattr(sums, name) for name in names)


#: Nobody drops out: every sum has noise of exactly the law that epsilon is booked for.
EXACT = Protocol(shard=8, dropped=0.0, corrupt=0.0)
