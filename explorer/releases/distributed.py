"""The release of a distributed protocol: a map like any other, and the rounds it came from.

Everything in it is a sum that was released, or follows from such sums; it holds no place and no
seed. What only a simulation knows is the number of sums that did not fit their bits: it follows
from sums that were noisy before they wrapped round, so that it costs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.releases import file as release_file
from explorer.releases.inference import Estimate
from explorer.releases.joint import alone, mean_costs, together
from explorer.releases.release import Release
from explorer.releases.rounds import Heard, Row, frame, from_arrays, to_arrays
from explorer.releases.transcript import LedgerRow

if TYPE_CHECKING:
    import pandas as pd

ONCE, EVERYONE = "once", "everyone"
"""Who pays for a round: those who are asked in it and in no other, or everyone for every round."""

NOBODY = (
    "Every shard was refused, because fewer people answered than its noise needs, so there is "
    "nothing to release: ask more people, or expect more of them to drop out."
)
"""Of a run in which no one was heard."""

_DECLARED = "people declared"
"""The fact of a release whose number of people was declared; files without it published theirs."""

_MOST_ROUNDS = 1_000
# Bytes of a round's arrays for each node of a tree: keys, sums, and as many decisions again.
_BYTES = 64


@dataclass(frozen=True, eq=False, repr=False)
class DistributedRelease(Release):
    """A private map made of masked sums, round by round.

    Counts are of all people who take part: sums of those who were asked, scaled up. Standard
    deviations are estimates: they hold the noise and what asking a part of the people adds.

    Attributes
    ----------
    heard : the rounds; with their trees where the algorithm has some
    paying : "once" if each person was asked in one round only, "everyone" if every round is booked
        for all of them
    joined : whether all rounds make the map, or the last one alone

    All others are those of `Release`.
    """

    heard: tuple[Row, ...] = ()
    paying: str = ONCE
    joined: bool = True

    @property
    def kind(self) -> str:
        """How it was made: "distributed"; its domain is a grid."""
        return "distributed"

    @property
    def rounds(self) -> pd.DataFrame:
        """One line a round: cells, people, epsilon, bits, bytes, split, collapsed, noise, ..."""
        return frame(self.heard)

    @property
    def population(self) -> float:
        """How many people take part: declared or public, and what the counts are scaled to."""
        return self.facts["taking part"]

    @property
    def people_are_public(self) -> bool:
        """Whether `population` is the exact number of people; else one that a person declared."""
        return _DECLARED not in self.facts

    @property
    def neighbours(self) -> str:
        """Which data sets are distinguished by epsilon at most, as a sentence."""
        return neighbours(None if self.people_are_public else round(self.population))

    def summary(self) -> str:
        """One sentence about the map, and of a release another one about what it protects."""
        sentence = super().summary()
        return sentence if self.preview else f"{sentence} {self.neighbours}"

    @property
    def refined(self) -> bool:
        """Whether there is a map after every round: each tree follows from the round before it.

        Where all levels are asked in turn, whatever the sums, a round is no map on its way.
        """
        trees = [row for row in self.heard if isinstance(row, Heard)]
        return len(trees) == len(self.heard) and all(
            len(row.split) or len(row.collapsed) or np.array_equal(row.tree.keys, after.tree.keys)
            for row, after in pairwise(trees)
        )

    def replay(self, number: int) -> DistributedRelease:
        """The map as it was after a round; costs nothing.

        Parameters
        ----------
        number : int
            From 1 to the number of rounds; the last gives the release itself.

        Raises
        ------
        InputError
            For a round that there is not, one before which no one had answered, or an algorithm
            that has a map at its end only, see `refined`.
        """
        last = len(self.heard)
        whole = type(number) is int or isinstance(number, np.integer)
        if not whole or not 1 <= number <= last:
            raise InputError(f"There is no round {number!r} to replay: give one from 1 to {last}.")
        if number == last:
            return self
        if not self.refined:
            raise InputError(f"This algorithm has a map at its end only: replay round {last}.")
        release = self.of_rounds(
            [row for row in self.heard[:number] if isinstance(row, Heard)],
            population=self.population,
            declared=not self.people_are_public,
            paying=self.paying,
            joined=self.joined,
            mechanism=self.mechanism,
            parameters=self.parameters,
            units=self.units,
            preview=self.preview,
            domain=self.grid,
            unit=self.unit,
            contribution_bound=self.contribution_bound,
        )
        return replace(release, version=self.version)

    @classmethod
    def of_rounds(
        cls,
        rounds: Sequence[Heard],
        *,
        population: int | float,
        paying: str,
        joined: bool,
        units: int,
        domain: Grid,
        **about: Any,
    ) -> DistributedRelease:
        """The release that rounds over trees give.

        Parameters
        ----------
        rounds : Heard, at least one
        population : how many people take part
        paying, joined : as in the attributes
        units : what everybody paid at most, in 10^-12 epsilon
        domain : the grid
        about : mechanism, parameters, preview, unit, contribution_bound; told and declared of
            `of_estimate`

        Raises
        ------
        InputError
            If no one has answered in any round that counts.
        """
        estimate = estimated(rounds, domain.shape, population, paying, joined, units)
        return cls.of_estimate(
            estimate,
            rounds,
            population=population,
            paying=paying,
            joined=joined,
            units=units,
            domain=domain,
            **about,
        )

    @classmethod
    def of_estimate(
        cls,
        estimate: Estimate,
        rows: Sequence[Row],
        *,
        population: int | float,
        paying: str,
        declared: bool = False,
        told: Mapping[str, float] | None = None,
        **about: Any,
    ) -> DistributedRelease:
        """The release of what was inferred from rounds that need have no trees of quarters.

        Parameters
        ----------
        estimate : its stages, here and elsewhere, are "round 1", "round 2", ...
        rows, population, paying, about : as of `of_rounds`
        declared : whether a person gave the number of people, see `people_are_public`
        told : more of its facts
        """
        ledger = tuple(
            LedgerRow(f"round {at}", row.epsilon, row.cells * row.shards, 1.0, compositions[paying])
            for at, row in enumerate(rows, 1)
        )
        people_by_round = [row.people for row in rows]
        facts = {
            **estimate.facts,
            **(told or {}),
            **({_DECLARED: 1.0} if declared else {}),
            "taking part": float(population),
            "asked": float(sum(people_by_round) if paying == ONCE else max(people_by_round)),
            "rounds": float(len(rows)),
        }
        if any(row.bits for row in rows):
            facts["bits"] = float(max(row.bits for row in rows))
        counted = [row.overflow for row in rows if row.overflow is not None]
        if len(counted) == len(rows):
            facts["overflow"] = float(sum(counted))
        release = cls.from_estimate(
            estimate, ledger=ledger, heard=tuple(rows), paying=paying, **about
        )
        return replace(release, facts=facts)

    def in_file(self) -> dict[str, Any]:
        """As of any release, with the rounds and their trees."""
        depths = [row.tree.depth for row in self.heard if isinstance(row, Heard)]
        stored = {
            "paying": self.paying,
            "joined": self.joined,
            "depth": depths[0] if depths else 0,
            "rounds": release_file.packed(to_arrays(self.heard)),
        }
        return super().in_file() | {"distributed": stored}

    @classmethod
    def of_file(cls, release: Release, stored: Mapping[str, Any]) -> DistributedRelease:
        """What a file says of a release with its rounds; raises where that cannot be."""
        if stored["paying"] not in compositions or not isinstance(stored["joined"], bool):
            raise ValueError("nobody pays like that")
        depth = stored["depth"]
        if not isinstance(depth, int) or not isinstance(release.domain, Grid):
            raise ValueError("rounds are about a grid")
        cells = int(np.prod(release.domain.shape, dtype=np.int64))
        limit = 10**6 + _BYTES * _MOST_ROUNDS * min(4 * cells, 4 * len(release.tree) + 4**3)
        rows = from_arrays(release_file.unpacked(stored["rounds"], limit), depth)
        if not 1 <= len(rows) <= _MOST_ROUNDS or not release.facts["taking part"] >= 1:
            raise ValueError("there are no rounds, or there is nobody")
        trees = [row.tree for row in rows if isinstance(row, Heard)]
        if stored["joined"] and not all(np.isin(tree.keys, trees[-1].keys).all() for tree in trees):
            raise ValueError("a tree of a round has what the last one has not")
        about = {name: getattr(release, name) for name in release.__dataclass_fields__}
        return cls(**about, heard=rows, paying=stored["paying"], joined=stored["joined"])

    def __repr__(self) -> str:
        return f"<DistributedRelease: {self.summary()}>"


compositions = {
    ONCE: "each person is asked once; what a person pays here on average",
    EVERYONE: "everyone pays for every round",
}
"""Why rounds add up to epsilon, by who pays."""


def neighbours(declared: int | None) -> str:
    """What one step is for epsilon, by whether a person declared the number of people.

    Parameters
    ----------
    declared : that number; None where the exact one is public

    >>> neighbours(1_200)[:54]
    '1,200 people are declared, whatever the data holds: ad'
    """
    if declared is None:
        return (
            "How many people take part is public: one person's vector becoming zero is one step, "
            "so that her place is protected."
        )
    return (
        f"{declared:,} people are declared, whatever the data holds: adding or removing one person "
        "is one step."
    )


def estimated(
    rounds: Sequence[Heard],
    shape: tuple[int, int],
    population: float,
    paying: str,
    joined: bool,
    units: int,
) -> Estimate:
    """The map that rounds give.

    Raises
    ------
    InputError
        If no one has answered in any round that counts.
    """
    counted = rounds if joined else rounds[-1:]
    if not any(response.answered for response in counted):
        raise InputError(NOBODY)
    paid = [response.units for response in rounds]
    if paying == ONCE:
        paid = mean_costs(units, [response.people for response in rounds])
    if joined:
        return together(rounds, shape, population, paid)
    before = [
        (f"round {number}", response.epsilon) for number, response in enumerate(rounds[:-1], 1)
    ]
    return alone(rounds[-1], shape, population, before, f"round {len(rounds)}")
