"""Federated: a map of people who keep their places, from masked sums of shards, round by round."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.errors import InputError
from explorer.federated import baselines, rounds
from explorer.federated.adaptive_grid import ALPHA
from explorer.federated.asking import Asking, Question, generator, sample
from explorer.federated.baselines import ROWS
from explorer.federated.people import People, declared_number
from explorer.federated.protocol import Protocol
from explorer.federated.rounds import mended, once, paper
from explorer.federated.session import Session, least_units
from explorer.federated.settings import ALGORITHMS, PAPER_START, START, Settings
from explorer.federated.shards import Hook
from explorer.federated.shares import checked
from explorer.grid.kinds import alike
from explorer.mechanisms.base import as_counts
from explorer.points.matrix import FrequencyMatrix
from explorer.privacy.bars import Progress, teller
from explorer.privacy.counts import Counts
from explorer.privacy.curator import Curator
from explorer.privacy.ledger import Ledger
from explorer.releases.distributed import EVERYONE, ONCE, DistributedRelease, neighbours
from explorer.releases.inference import Estimate
from explorer.releases.quarters import KeyTree
from explorer.releases.release import Release
from explorer.releases.rounds import Heard
from explorer.releases.units import share, to_units

__all__ = ["ALGORITHMS", "PAPER_START", "START", "Federated"]

Ints = NDArray[np.int64]
Plan = Callable[..., Iterator[Heard]]


class Federated(Settings):
    """A map of people who keep their places: a server sees masked sums alone (heatmaps-2022).

    Every person adds a share of noise to her vector, one number for each cell of a tree; a shard's
    vectors are added behind masks, and only their sum is seen. From the sums the server refines the
    tree and asks again. "people" asks each person once, at the whole epsilon; "paper" is Algorithm
    2 as printed, "mended" the same with its errata corrected; the others are what the paper
    compares with, see `baselines`.

    Privacy: pure epsilon for anyone who gets the release. How many people take part is public, so a
    release without a seed needs one of two things. Either a person declares the number (`people`
    given): so many take part whatever the data holds, those who are not there with a vector of
    zeros, and adding or removing one person is one step. Or the exact number is published by
    consent (`people_are_public=True`): then a person's vector becoming zero is one step, and that
    someone is on the grid at all is not protected. Another place in place of hers is two steps.
    What a release from here may not claim: that places stayed with people. One process holds them
    all; it simulates.

    Counts are scaled to all who take part. Their standard deviations are estimates, because sums of
    a part of the people sample, and joined rounds have no closed form: `sd_exact` is False.

    A grid that is no square of a power of two fills the beginning of one; no one is outside it.

    Examples
    --------
    >>> import numpy as np
    >>> town = np.zeros((64, 64), dtype=int)
    >>> town[10:14, 20:30] = 500
    >>> release = Federated(epsilon=1, shard=1_000).release(town, rng=1)
    >>> list(release.rounds.columns[:3]), release.unit
    (['cells', 'people', 'epsilon'], 'client')
    >>> drawn = Federated(epsilon=1, people=20_500, shard=1_000).release(town)
    >>> drawn.population, Federated.of(drawn).declared
    (20500.0, 20500)
    """

    key: ClassVar[str] = "federated"
    title: ClassVar[str] = "Federated"
    summary: ClassVar[str] = "People keep their places; a server adds masked vectors and refines."
    paper: ClassVar[str] = "Bagdasaryan et al., PoPETs 2022"
    for_maps: ClassVar[bool] = False

    def with_(self, **changes: Any) -> Self:
        """As of `Mechanism`; a number of people that was not given stays undeclared.

        Parameters
        ----------
        **changes : parameters by name

        Returns
        -------
        Federated

        Raises
        ------
        InputError
            For settings that are not there or out of range.

        Examples
        --------
        >>> from explorer import Federated
        >>> Federated().with_(epsilon=0.5).declared is None
        True
        """
        # All settings are passed on, so that a default would count as given.
        changed = super().with_(**changes)
        changed._people_given = self._people_given or "people" in changes
        return changed

    def plan(self, curator: Curator) -> Estimate:
        """People are asked by `release`: raises InputError."""
        raise InputError("Federated asks people and no curator: give it a matrix or people.")

    def release(  # type: ignore[override]  # no source of noise: everybody draws her own share
        self,
        matrix: Counts | People | ArrayLike,
        rng: int | np.random.Generator | None = None,
        progress: Progress = None,
        ledger: Ledger | None = None,
        prior: DistributedRelease | None = None,
        record: Hook | None = None,
        people_are_public: bool | None = None,
    ) -> DistributedRelease:
        """Ask people, round by round, and draw one map.

        Parameters
        ----------
        matrix : FrequencyMatrix or (rows, cols) array, each record of which is one person; or
            People, who may have several places
        rng : None, int of 0 or more, or numpy Generator
            None draws release-grade shares from bytes of the operating system; a seed draws a
            reproducible preview by the same code, which is not private.
        progress, ledger : as of `Mechanism.release`
        prior : DistributedRelease, optional
            An earlier release of the same grid: everybody is asked in one round about the cells
            that it ended with, and their siblings. Only previews take one that is a preview: the
            cells of a preview tell of the people that it was made of.
        record : callable, optional
            Sees every shard of a preview, exact counts and all: for the audit.
        people_are_public : bool, optional
            True consents to publish exactly how many people there are; `people` of them are asked,
            at most. False takes the number that was declared as `people` in their place. By default
            a release takes the declared number, and a preview the exact one.

        Returns
        -------
        DistributedRelease

        Raises
        ------
        InputError
            For what holds no people, an `rng` that cannot be used, shards in which no one honest
            is sure to be left, a run in which all were refused, or a draw over the ledger's cap.
            For a number of people that is neither declared nor public, and for more people than
            were declared: only the curator sees that sentence, and knows that there are more
            (`People.padded`). Nothing is booked then.
        """
        declared = declared_number(self.declared, people_are_public, preview=rng is not None)
        everybody = _people(matrix, declared)
        if everybody.counters != 1:
            raise InputError(
                "These people have an answer each, yes or no: ask federated.proportion.proportion."
            )
        protocol = Protocol(self.shard, self.dropped, self.corrupt, self.bits)
        number = min(self.people or len(everybody), len(everybody))
        whose = ONCE if prior is not None or self.algorithm in _ONCE else EVERYONE
        depth = min(self.depth, everybody.depth)
        tree = self._first(depth)
        if prior is not None:
            tree = _earlier(prior, everybody, depth, drawn=rng is None)
        # What can be refused is, before anything is booked.
        require_bits(self, protocol, number, depth, everybody.places, prior is not None)
        once_for_all = prior is not None or self.algorithm != "people"
        for round_size in rounds_to_come(number, self.shard, once_for_all):
            protocol.round(round_size, to_units(self.epsilon), tree.v, everybody.places)
        if self.mode != "summed":
            at_once = prior is not None
            dear = to_units(self.epsilon)
            checked(dear if at_once else cheapest(self, depth, everybody.places), everybody.places)
        if self.algorithm == "sampling" and rng is None:
            raise InputError("A sample without noise is not private: draw a preview, with a seed.")
        if ledger is not None and rng is None:
            self.warm_up()
        asking = Asking(
            everybody,
            protocol,
            to_units(self.epsilon),
            rng,
            self.mode,
            number if whose == ONCE else None,
            ledger if rng is None else None,
            self.key,
            f"{self!r}; {neighbours(declared)}",
            record,
        )
        sample = None if rng is None else _sample_of(everybody, number, rng)
        report = teller(progress, self.title, ledger is not None and rng is None)
        session = Session(asking, number, depth, everybody.grid.shape, report, sample)
        about: dict[str, Any] = {
            "population": len(everybody),
            "declared": declared is not None,
            "paying": whose,
            "units": asking.units,
            "domain": everybody.grid,
            "mechanism": self.key,
            "parameters": self.settings(),
            "preview": asking.preview,
            "unit": "client",
            "contribution_bound": 1,
            "told": dict(self.schedule),
        }
        if prior is not None:
            # What it is asked about came from elsewhere.
            about["told"] = {"cells of an earlier release": float(tree.v)}
        try:
            return self._drawn(session, tree, prior is not None, about)
        except InputError:
            # It stays booked with what it has asked.
            asking.close()
            raise

    def _drawn(
        self, session: Session, tree: KeyTree, at_once: bool, about: dict[str, Any]
    ) -> DistributedRelease:
        if self.algorithm in baselines.BASELINES and not at_once:
            baseline = baselines.BASELINES[self.algorithm]
            estimate, rows = baseline(session, about["population"], **self.options())
            return DistributedRelease.of_estimate(estimate, rows, joined=False, **about)
        if at_once:
            rounds = [session.ask(tree, session.people, session.units, fresh=True)]
        else:
            plans: dict[str, Plan] = {"people": once, "mended": mended, "paper": paper}
            plan = plans[self.algorithm]
            rounds = list(plan(session, tree, **self.schedule, **self.options()))
        joined = self.algorithm != "paper" or at_once
        return DistributedRelease.of_rounds(rounds, joined=joined, **about)

    def _first(self, depth: int) -> KeyTree:
        return KeyTree.even(depth, PAPER_START if self.algorithm == "paper" else START)

    @classmethod
    def of(cls, release: Release) -> Self:  # noqa: D102  as of Mechanism
        # Declared for another release if it was for that one.
        result = super().of(release)
        result._people_given = not getattr(release, "people_are_public", True)
        return result

    def warm_up(self, counts: Counts | None = None) -> None:
        """Compile whatever a release with these settings needs, on made-up people."""
        town = np.zeros((16, 16), dtype=np.int64)
        town[3:9, 2:5] = 100
        # Bits that do for one's own people may be too few for these.
        small = self.with_(
            epsilon=1.0, people=None, shard=1_000, dropped=0.0, corrupt=0.0, bits=None
        )
        release = small.release(FrequencyMatrix.from_array(town), rng=0)
        _ = release.density(), release.summary()


_ONCE = ("people", "flat", "sampling")


def _sample_of(everybody: People, number: int, rng: Any) -> Callable[[Question], Ints]:
    """What a sample of people counts without noise; for previews."""

    def count(question: Question) -> Ints:
        random = generator(rng)
        members = sample(random, len(everybody), number)
        words = random.integers(0, 2**64, number, dtype=np.uint64)
        _, index, value = everybody.entries(members, question.owner, question.counters, words)
        sums = np.bincount(index, weights=value, minlength=question.counters)
        return np.rint(sums / everybody.places).astype(np.int64)

    return count


def _people(matrix: Counts | People | ArrayLike, declared: int | None) -> People:
    if isinstance(matrix, People):
        return matrix if declared is None else matrix.padded(declared)
    counts = as_counts(matrix)
    if not isinstance(counts, FrequencyMatrix):
        raise InputError(
            "Federated takes a matrix of one map, or People: ask for places one at a time."
        )
    return People.of_matrix(counts, declared)


def _earlier(prior: object, everybody: People, depth: int, drawn: bool) -> KeyTree:
    """The last tree of an earlier release, in whole families, once it is about the same grid."""
    if not isinstance(prior, DistributedRelease) or not isinstance(prior.heard[-1], Heard):
        raise InputError("An earlier release has cells to ask about if it was refined: give one.")
    if drawn and prior.preview:
        raise InputError(
            "The earlier release is a preview, whose cells are not private: give one that was "
            "drawn, or a seed for another preview."
        )
    tree = prior.heard[-1].tree
    if not alike(prior.grid, everybody.grid) or tree.depth != depth:
        raise InputError(
            f"The earlier release has {prior.grid!r} to depth {tree.depth}, these people "
            f"{everybody.grid!r} to depth {depth}: give one of the same grid and depth."
        )
    # Sums are joined family by family; Algorithm 2 as printed leaves some of them in part.
    return tree.complete


def require_bits(
    settings: Settings, protocol: Protocol, people: int, depth: int, places: int, at_once: bool
) -> None:
    """Refuse bits that are too few for a round of a run, the fewest that do being named.

    Sums are largest in the fullest shard, noise is widest at the cheapest price; which rounds come
    depends on what people answer, so that all which could are thought of, with all finest cells.
    """
    if protocol.bits is None or settings.algorithm == "sampling":
        return
    units, sizes = to_units(settings.epsilon), {people}
    if not at_once:
        units = cheapest(settings, depth, places)
        if settings.algorithm == "people":
            # A round of its own is a part of them.
            sizes |= {min(people, rounds.SMALLEST), min(people, protocol.shard)}
    for size in sizes:
        protocol.require_bits(max(size, 2), units, 4**depth, places)


def rounds_to_come(people: int, shard: int, whole: bool) -> set[int]:
    """How many people rounds may ask, as far as the sizes of their shards go.

    Shards are even, so that those of one person more than fill some are the smallest.

    >>> sorted(rounds_to_come(5_000, 2_000, False)), sorted(rounds_to_come(5_000, 2_000, True))
    ([1000, 2001, 5000], [5000])
    """
    if whole:
        return {people}
    least = min(people, rounds.SMALLEST)
    return {people, least, min(people, -(-least // shard) * shard + 1)}


def cheapest(settings: Settings, depth: int, places: int) -> int:
    """The least that a round of a run may cost, in 10^-12 epsilon."""
    units = to_units(settings.epsilon)
    # A map of one cell is asked at once.
    depth = max(depth, 1)
    if settings.algorithm in ("mended", "paper"):
        if settings.algorithm == "paper" and settings.equal_rounds is not None:
            return max(units // settings.equal_rounds, 1)
        return rounds.least(units, least_units(places))
    parts = {
        "adaptive grid": min(ALPHA, 1 - ALPHA),
        "hierarchical": 1 / depth,
        "count-min": 1 / (depth * ROWS),
        "decomposition": 1 / sum(2 ** (level / 3) for level in range(depth)),
    }
    return max(share(units, parts.get(settings.algorithm, 1.0)), 1)
