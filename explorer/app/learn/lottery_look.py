"""What the lesson on blind cuts looks at: all cuts of one run, one choice played many times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.app.curator.data import CityData
from explorer.app.learn.travels import counts_of, journeys_of, notes_of
from explorer.app.work.cache import Shelf
from explorer.teaching.lottery import Level, Seen, seen

#: Trips with an origin and a destination, on as many cells to a side.
PLACES, CELLS = 2, 64

Floats = NDArray[np.float64]
#: Parts of the possible gain by cut, for the paper's choice and noisy-min.
Gains = tuple[tuple[float, float] | None, ...]
_SEEN: Shelf[tuple[Seen, Gains]] = Shelf(24)


@dataclass(frozen=True, eq=False)
class Played:
    """All levels, and one node whose choice was played many times.

    Candidates are in the order of their true costs, the cheapest first.
    """

    data: CityData
    settings: Any
    notes: str
    seen: Seen
    gained: Gains
    level: Level | None
    true: Floats
    noisy: Floats
    paper: Floats
    least: Floats

    def gain(self, wins: Floats) -> float:
        """Part of the possible gain that a choice with such chances reaches, 1 at best."""
        possible = self.true.mean() - self.true[0]
        reached = self.true.mean() - float(wins @ self.true)
        return float(reached / possible) if possible > 0 else 0.0


def play(data: CityData, settings: Any, node: int, seed: int) -> Played:
    """Run the mechanism, look at its candidates, and play one node's choice many times."""
    parameters = settings.epsilon, settings.q, settings.p
    run, gained = seen_in(data.city[0], *parameters)
    rng = np.random.default_rng([0x107, seed])
    level = run.levels[settings.cut - 1]
    true = noisy = paper = least = np.zeros(0)
    if level is not None:
        at = level.in_the_middle(node)
        order = np.argsort(level.costs[at], kind="stable")
        true = level.costs[at][order]
        noisy = true + rng.laplace(0.0, level.noise, len(true))
        paper = level.wins(at, "noised costs", rng)[order]
        least = level.wins(at, "noisy-min", rng)[order]
    notes = notes_of(journeys_of(data.city[0]), PLACES)
    return Played(data, settings, notes, run, gained, level, true, noisy, paper, least)


def seen_in(city: str, epsilon: float, q: float, p: int) -> tuple[Seen, Gains]:
    """One run on the trips of a city, and what the choices of each cut gain; kept."""
    return _SEEN.get((city, epsilon, q, p), lambda: _seen(city, epsilon, q, p))


def _seen(city: str, epsilon: float, q: float, p: int) -> tuple[Seen, Gains]:
    run = seen(counts_of(city, PLACES, CELLS), epsilon, q, p)
    rng = np.random.default_rng(0x107)
    return run, tuple(None if level is None else level.gained(rng) for level in run.levels)
