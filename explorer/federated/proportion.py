"""What part of the people in each cell says yes: two counts a cell, intervals by Fieller.

A person's vector has a number for yes and one for no in every cell (section 2.1 of heatmaps-2022
asks for such maps); it is one-hot over both, so its sensitivity is that of a map. Noise in both
counts makes the quotient y1 / (y1 + y0) no normal figure; its interval is that of Fieller: all p
for which

    (y1 - p N)^2 <= z^2 [sd^2 ((1 - p)^2 + p^2) + N+ p (1 - p)],   N = y1 + y0,

sd the noise of one count and N+ p (1 - p) what sampling adds; where that has no solution between
two bounds, nothing is known: 0 to 1. No count of people is below 0: a noisy one that is counts as
0, or all p could be outside 0 to 1, and a chance of noise would look like certainty. That adds p
to the set and takes none away, see `fieller`. A cell is divided while a quarter of it would keep a
half width w.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.federated.asking import Asking, Protocol
from explorer.federated.calibration import sigma
from explorer.federated.mechanism import Federated
from explorer.federated.people import People, declared_number
from explorer.federated.rounds import GROWTH, divided, scheduled, several
from explorer.federated.session import Session, figures
from explorer.federated.shares import checked
from explorer.privacy.ledger import Ledger
from explorer.releases.answers import Z95
from explorer.releases.distributed import neighbours
from explorer.releases.joint import boxes
from explorer.releases.quarters import KeyTree
from explorer.releases.rounds import Heard, frame
from explorer.releases.units import to_units

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

START = 1


@dataclass(frozen=True, eq=False)
class Proportions:
    """Shares of yes in the cells of a refined map. It holds sums that were released alone."""

    # lower, upper: (v, 2) rows and columns of cells, half open; a cell that was never given up is
    # one rectangle
    lower: Ints
    upper: Ints
    # yes, no: (v,) noisy sums of the last round
    yes: Floats
    no: Floats
    noise: float  # standard deviation of each
    heard: tuple[Heard, ...]  # the rounds
    preview: bool  # True for reproducible noise
    # the number of people if a person declared it, None if the exact one is public
    declared: int | None = None

    @property
    def neighbours(self) -> str:
        """Which data sets are distinguished by epsilon at most, as a sentence."""
        return neighbours(self.declared)

    @property
    def share(self) -> Floats:
        """y1 / N between 0 and 1, (v,); 1/2 where N is not above 0."""
        both = self.yes + self.no
        share = np.divide(self.yes, both, out=np.full(len(both), 0.5), where=both > 0)
        return np.clip(share, 0.0, 1.0)

    @property
    def interval(self) -> tuple[Floats, Floats]:
        """Low and high ends of 95 % intervals, (v,) each."""
        return fieller(self.yes, self.no, self.noise)

    @property
    def rounds(self) -> pd.DataFrame:
        """One line a round, see `releases.rounds.frame`."""
        return frame(self.heard)

    def table(self) -> pd.DataFrame:
        """One line a cell: row0, column0, row1, column1, share, low, high, yes, no."""
        import pandas as pd

        names = ["row0", "column0", "row1", "column1", "share", "low", "high", "yes", "no"]
        figures = self.share, *self.interval, self.yes, self.no
        columns = *self.lower.T, *self.upper.T, *figures
        return pd.DataFrame(dict(zip(names, columns, strict=True)))


def fieller(yes: Floats, no: Floats, noise: float, z: float = Z95) -> tuple[Floats, Floats]:
    """Interval of the share of yes in noisy counts, (n,) low and high; 0 to 1 where none is known.

    With y0 = -d below 0 (y1 alike) a p is rejected when (y1 (1 - p) + d p)^2 passes the bound; with
    0 in its place the left side is less and N+, so the bound, more. So all that y0 allows is in the
    interval, which covers as much as Fieller's set, and it is as wide as noise about 0 makes it.

    Parameters
    ----------
    yes, no : (n,) noisy counts y1, y0
    noise : standard deviation of the noise of each
    z : 1.96 for 95 %

    >>> low, high = fieller(np.array([300.0, 2.0]), np.array([700.0, -5.0]), 10.0)
    >>> np.round(low, 3).tolist(), np.round(high, 3).tolist()
    ([0.269, 0.0], [0.333, 1.0])
    >>> low, high = fieller(np.array([100.0, -20.0]), np.array([-20.0, 100.0]), 10.0)
    >>> np.round(low, 3).tolist(), np.round(high, 3).tolist()
    ([0.819, 0.0], [1.0, 0.181])
    """
    has_answers = yes + no > 0
    yes, no = np.maximum(yes, 0.0), np.maximum(no, 0.0)
    whole, spread = yes + no, (z * noise) ** 2
    a = whole**2 - 2 * spread + z**2 * whole
    b = -2 * yes * whole + 2 * spread - z**2 * whole
    c = yes**2 - spread
    inside = b**2 - 4 * a * c
    solved = (a > 0) & (inside >= 0) & has_answers
    root = np.sqrt(np.where(solved, inside, 0.0))
    twice = 2 * np.where(solved, a, 1.0)
    low = np.where(solved, np.clip((-b - root) / twice, 0.0, 1.0), 0.0)
    high = np.where(solved, np.clip((-b + root) / twice, 0.0, 1.0), 1.0)
    return low, high


def enough(width: float, noise: float) -> float:
    """The count N whose interval has a half width of at most `width` at p = 1/2.

    (1/4 + sqrt(1/16 + 2 a sd^2)) / (2 a), a = (width / 1.96)^2: where the variance
    (sd^2 / 2 + N / 4) / N^2 reaches a, made safe for p away from 1/2, where noise counts twice.
    """
    a = (width / Z95) ** 2
    return (0.25 + math.sqrt(1 / 16 + 2 * a * noise**2)) / (2 * a)


def proportion(
    people: People,
    epsilon: float = 1.0,
    *,
    width: float = 0.1,
    number: int | None = None,
    protocol: Protocol | None = None,
    depth: int = 10,
    c: float = 0.5,
    b: float = 3.0,
    rng: int | np.random.Generator | None = None,
    mode: str = "ideal",
    ledger: Ledger | None = None,
    progress: Callable[[float], None] | None = None,
    people_are_public: bool | None = None,
) -> Proportions:
    """A map of shares of yes, refined while intervals stay narrower than `width`.

    The schedule is that of Algorithm 2 corrected, the rule of division `enough`; the noise of the
    last sums is taken for what is left after the present round.

    Parameters
    ----------
    people : with an answer each, see `People.proportion`
    epsilon : what a person spends at most
    width : half width of a cell's interval, above 0, below 1
    number : people in each round; all by default. Given for a release it declares how many there
        are, as `people` of `Federated`
    protocol, depth, c, b, mode : as of `Federated`
    rng : None for a release, a seed for a preview
    ledger, progress, people_are_public : as of `Federated.release`

    Raises
    ------
    InputError
        For people without answers, a width that cannot be, or see `Federated.release`.
    """
    if people.counters != 2:
        raise InputError("These people were asked nothing: give each an answer, people.proportion.")
    is_number = isinstance(width, int | float)
    if not is_number or not 0.0 < width < 1.0:
        raise InputError(f"The half width is {width!r}: give a number above 0 and below 1.")
    # The same bounds, in the same sentences.
    Federated(epsilon=epsilon, c=c, b=b, depth=depth, people=number, mode=mode)
    declared = declared_number(number, people_are_public, preview=rng is not None)
    if declared is not None:
        people = people.padded(declared)
    number = len(people) if number is None else min(number, len(people))
    protocol = protocol or Protocol()
    first = KeyTree.even(min(depth, people.depth), START)
    # What can be refused is, before anything is booked.
    n_counters = first.v * people.counters
    protocol.round(min(number, protocol.shard), to_units(epsilon), n_counters, people.places)
    if mode != "summed":
        checked(to_units(epsilon), people.places)
    asking = Asking(
        people,
        protocol,
        to_units(epsilon),
        rng,
        mode,
        ledger=ledger,
        mechanism="proportion",
        what=f"half width {width:g}; {neighbours(declared)}",
    )
    session = _Halves(asking, number, min(depth, people.depth), people.grid.shape, progress)

    def decide(response: Heard, remaining: int) -> tuple[KeyTree, Heard]:
        noise = sigma(remaining / 10**12, people.places) / people.places * several(session)
        down = (response.sums / 4 >= enough(width, noise)).astype(np.int64)
        return divided(response, down, np.zeros(response.cells, dtype=bool))

    try:
        responses = list(scheduled(session, first, c, b, decide, growth=GROWTH))
        last = responses[-1]
        if not last.answered:
            raise InputError(
                "Every shard of the last round was refused, so there is nothing to release: ask "
                "more people, or expect more of them to drop out."
            )
    except InputError:
        # It stays booked with what it has asked.
        asking.close()
        raise
    lower, upper = boxes(last.tree, people.grid.shape)
    here = last.tree.open
    on_grid = (upper[here] > lower[here]).all(axis=1)
    yes, no = session.halves
    return Proportions(
        lower[here][on_grid],
        upper[here][on_grid],
        yes[on_grid],
        no[on_grid],
        last.noise,
        tuple(responses),
        asking.preview,
        declared,
    )


class _Halves(Session):
    """A session whose sums are yes and no together; the last ones are also kept separately."""

    halves: tuple[Floats, Floats]

    def ask(self, tree: KeyTree, people: int, units: int, fresh: bool) -> Heard:
        """Sums of yes and no together; `noise` is that of one of them."""
        sums = self.sums(self.question(tree), people, units, fresh)
        values = sums.values / sums.sensitivity
        self.halves = values[: tree.v], values[tree.v :]
        return Heard(**figures(sums, tree.v), tree=tree, sums=self.halves[0] + self.halves[1])
