"""The door of federated maps: people's places on one side, sums of shards on the other.

A server asks rounds of questions; `Asking.ask` is the only way to learn anything about places. It
books the price of a round for the people it concerns before anything is drawn, and refuses one
that anybody could not pay. Who is asked, who is in which shard and who drops out never depends on
a place. Two sets of people are neighbours if one person's vectors become zero; she still takes
part (another place in place of hers costs twice as much). How many there are is public here: who
must not tell the exact number declares one (`People.padded`), and a person who joins is a vector
that was zero. All that is done with sums afterwards is post-processing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numba import njit
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.federated.people import People
from explorer.federated.places import Ints, Question, Whole
from explorer.federated.protocol import Protocol, Round
from explorer.federated.shards import Hook, Roll, ideal, masked, summed
from explorer.federated.shares import Stream, checked, new_key
from explorer.privacy.exceeded import BudgetExceeded
from explorer.privacy.ledger import Ledger
from explorer.releases.transcript import LedgerRow
from explorer.releases.units import to_epsilon

if TYPE_CHECKING:
    from explorer.federated.aggregation import Seen


@dataclass(frozen=True)
class Sums:
    """What a round gives."""

    # (v,) sums over the shards that were not refused, in units of 1 / S persons; with yes and no
    # (`People.counters` 2) the first half counts yes, the second no
    values: Ints
    # asked, answered: people; those whose vectors are in the values
    asked: int
    answered: int
    # shards, refused: how many, and how many of them gave nothing
    shards: int
    refused: int
    units: int  # the round's price, in units of 10^-12 epsilon
    bits: int  # of a counter
    # bytes_up, bytes_down: of one person
    bytes_up: float
    bytes_down: float
    sd: float  # noise of each value, sigma(epsilon) sqrt(shape), in the unit of the values
    shape: float  # sum of m / n_min over the shards in the values
    sensitivity: int = 1  # S
    # sums of shards that did not fit their bits and wrapped round; None where no one counted them,
    # in one draw for all shards. A server that sees sums modulo 2^b alone does not know it, the
    # simulation does; it follows from noisy sums, so that it may be released
    overflow: int | None = None


__all__ = ["MODES", "Asking", "Protocol", "Question", "Sums"]

MODES = ("ideal", "masked", "summed")
"""Every person's exact share; the same behind masks; one draw for all shares (previews only)."""


class Asking:
    """One run: people who are asked, what they agreed upon, what each may spend.

    Parameters
    ----------
    people, protocol : whom to ask, and how
    units : what each person may spend in all, in units of 10^-12 epsilon
    rng : None, int or numpy Generator
        None is release-grade: exact shares from bytes of the operating system. A seed draws a
        preview, by the same code and distribution, which is not private.
    mode : see `MODES`; "summed" hides shards and overflow, and is for previews alone
    number : how many of the people take part, chosen at random; all by default
    ledger : where a release-grade run is booked before anything is drawn
    mechanism, what : its key, and a note for people, in the ledger
    record : sees every shard (`shards.Hook`), exact counts and all: for the audit of previews alone

    Raises
    ------
    InputError
        For a mode or rng that cannot be, more people than there are, or a run over a ledger's cap.
    """

    def __init__(
        self,
        people: People,
        protocol: Protocol,
        units: int,
        rng: int | np.random.Generator | None = None,
        mode: str = "ideal",
        number: int | None = None,
        ledger: Ledger | None = None,
        mechanism: str = "federated",
        what: str = "",
        record: Hook | None = None,
    ) -> None:
        if mode not in MODES:
            raise InputError(f"There is no mode {mode!r}: choose one of {', '.join(MODES)}.")
        if mode == "summed" and rng is None:
            raise InputError("One draw for all shares makes previews: give a seed, or mode ideal.")
        if record is not None and rng is None:
            raise ValueError("nobody looks into the shards of a release")
        self.protocol, self.units, self.mode = protocol, int(units), mode
        self.number = _number(len(people) if number is None else number, len(people))
        self.__people, self._record = people, record
        self.preview = rng is not None
        self._random = generator(rng)
        self._key = new_key(None if rng is None else int(self._random.integers(2**63)))
        self._ledger: list[LedgerRow] = []
        self._seen: list[Seen] = []
        # Accounts: what everybody paid, and the most that anybody paid in a round of her own.
        self._everyone, self._dearest, self._asked, self._closed = 0, 0, 0, False
        self._order: Whole | None = None
        self._booked = None
        if ledger is not None and not self.preview:
            self._booked = ledger, ledger.book(people, self.units, mechanism, what)

    @property
    def left(self) -> int:
        """People who were never asked."""
        return self.number - self._asked

    @property
    def depth(self) -> int:
        """Of the finest cells: public."""
        return self.__people.depth

    @property
    def sensitivity(self) -> int:
        """S: public."""
        return self.__people.places

    @property
    def counters(self) -> int:
        """Numbers for every node: 1, or 2 with yes and no: public."""
        return self.__people.counters

    @property
    def spent(self) -> int:
        """What the person who paid most has paid, in units of 10^-12 epsilon."""
        return self._everyone + self._dearest

    @property
    def ledger(self) -> tuple[LedgerRow, ...]:
        """Every round as the books show it."""
        return tuple(self._ledger)

    @property
    def seen(self) -> tuple[Seen, ...]:
        """What the server saw of one survivor of every masked shard: exact data, of previews."""
        return tuple(self._seen)

    def close(self) -> int:
        """Ask nothing from now on, and book no more than was spent; returns what was."""
        if not self._closed and self._booked is not None:
            ledger, booking = self._booked
            ledger.lower(booking, self.spent)
        self._closed = True
        return self.spent

    def ask(self, question: Question, number: int, units: int, fresh: bool = True) -> Sums:
        """Ask some people, and add up what they answer.

        Parameters
        ----------
        question : Question
        number : people, 1 or more
        units : the round's price, above 0, in units of 10^-12 epsilon
        fresh : bool
            True: people who were never asked before. Each pays for her one round (parallel
            composition over people, though later rounds depend on earlier sums). False: a new
            sample of everyone; who is in it is no secret, so everyone pays (sequential).

        Returns
        -------
        Sums
            With every shard refused the values are 0 and `answered` is 0; it is booked anyway.

        Raises
        ------
        BudgetExceeded
            If anybody would pay more than she may; nothing is drawn then.
        InputError
            For more people than are left, or figures that make no round (`Protocol.round`).
        """
        if question.depth != self.depth:
            raise ValueError("a question is about finest cells of the people's depth")
        number = _number(number, self.left if fresh else self.number)
        people = self.__people
        plan = self.protocol.round(
            number, self._price(units), question.counters * people.counters, people.places
        )
        if self.mode != "summed":
            checked(plan.units, plan.sensitivity)
        self._book(plan, fresh)
        members = self._members(number, fresh)
        return self._drawn(question, plan, members)

    def _price(self, units: int) -> int:
        price = int(units)
        if price != units or price < 1:
            raise ValueError("a round costs a whole number of units, above 0")
        return price

    def _book(self, plan: Round, fresh: bool) -> None:
        after = self._everyone + plan.units + (0 if fresh else self._dearest)
        if self._closed or after > self.units:
            raise BudgetExceeded(f"a round would make it {after} units of {self.units}")
        if fresh:
            self._dearest = max(self._dearest, plan.units)
        else:
            self._everyone += plan.units
        self._ledger.append(
            LedgerRow(
                f"round {len(self._ledger) + 1}",
                to_epsilon(plan.units),
                plan.counters * plan.shards,
                float(plan.sensitivity),
                "each person is asked once" if fresh else "everyone pays in turn",
            )
        )

    def _members(self, number: int, fresh: bool) -> Whole:
        """Who is asked, in random order: never by a place."""
        if fresh:
            chosen = self._session[self._asked : self._asked + number]
            self._asked += number
            return chosen
        positions = sample(self._random, self.number, number)
        # Where all take part, no one has to say in which order.
        return positions if self.number == len(self.__people) else self._session[positions]

    @property
    def _session(self) -> Whole:
        """All who take part, in random order: drawn once."""
        if self._order is None:
            self._order = sample(self._random, len(self.__people), self.number)
        return self._order

    def _drawn(self, question: Question, plan: Round, members: Whole) -> Sums:
        there = self._random.random(len(members)) >= self.protocol.dropped
        words = self._random.integers(0, 2**64, len(members), dtype=np.uint64)
        roll = Roll.of(plan, members, there, words)
        arguments = self.__people, question, plan, roll
        overflow: int | None = None
        number = len(self._ledger)
        if self.mode == "summed":
            # Not the stream of samples and dropouts, which are the same in every mode.
            values = summed(*arguments, np.random.default_rng([*self._key, number]))
        elif self.mode == "ideal":
            # Names of their own for every round: no word of a stream is read twice.
            total = ideal(*arguments, Stream(self._key, 2 * number), self._record, number)
            values, overflow = total.values, total.overflow
        else:
            secrets = Stream(self._key, 2 * number + 1)
            keep = self._seen.append if self.preview else None
            total, lost = masked(*arguments, Stream(self._key, 2 * number), secrets.bytes, keep)
            values, overflow, roll = total.values, total.overflow, roll.without(lost)
        shape = roll.answered / plan.honest
        return Sums(
            values=values,
            asked=plan.asked,
            answered=roll.answered,
            shards=plan.shards,
            refused=int(np.count_nonzero(~roll.kept)),
            units=plan.units,
            bits=plan.bits,
            bytes_up=plan.bytes_up,
            bytes_down=plan.bytes_down,
            sd=plan.sd(shape),
            shape=shape,
            sensitivity=plan.sensitivity,
            overflow=overflow,
        )


def generator(rng: int | np.random.Generator | None) -> np.random.Generator:
    """The source of samples and dropouts, which are no secrets."""
    if rng is None or isinstance(rng, np.random.Generator):
        return np.random.default_rng(rng)
    if isinstance(rng, bool) or not isinstance(rng, int | np.integer):
        raise InputError(f"rng is {rng!r}: give None for a release or a whole number as a seed.")
    return np.random.default_rng(int(rng) % 2**64)


def _number(number: float, limit: int) -> int:
    if isinstance(number, bool) or number != int(number) or number < 1:
        raise InputError(f"{number!r} people cannot be asked: give a whole number, 1 or more.")
    if number > limit:
        raise InputError(f"{number:,} people are to be asked, {limit:,} can be: ask fewer.")
    return int(number)


LOTS = 256
"""As many as a byte can say."""
_SPARE = 1_024  # words, and four times as many as are thrown away on average


def sample(random: np.random.Generator, people: int, number: int) -> NDArray[np.int32]:
    """Some of the people 0 to n - 1, none twice, in random order.

    Parameters
    ----------
    random : numpy Generator
    people : n, 1 to 2^31 - 1
    number : how many, 1 to n

    Returns
    -------
    (number,) int32

    >>> sorted(sample(np.random.default_rng(1), 5, 5).tolist())
    [0, 1, 2, 3, 4]
    """
    lots = _words(random, people, np.uint8)
    sizes = _sizes(lots)
    ends = np.cumsum(sizes)
    # Whose lots come later is not asked: they need no order.
    needed = int(np.searchsorted(ends, number)) + 1
    ends = ends[:needed]
    chosen = np.empty(ends[-1], dtype=np.int32)
    _lay_out(lots, ends - sizes[:needed], chosen)
    spare = _SPARE + int(np.sum(sizes.astype(np.float64) ** 2) / 2**32)
    while not _shuffle(chosen, ends, _words(random, len(chosen) + spare, np.uint32)):
        # Too many words were thrown away, which tells nothing of the order: begin again.
        continue
    return chosen[:number]


def _words(
    random: np.random.Generator, number: int, kind: type[np.unsignedinteger]
) -> NDArray[np.unsignedinteger]:
    """Random whole numbers of a kind, cut from words of 64 bits."""
    per_word = 8 // np.dtype(kind).itemsize
    return random.integers(0, 2**64, -(-number // per_word), dtype=np.uint64).view(kind)[:number]


@njit(cache=True, nogil=True)
def _sizes(lots):  # type: ignore[no-untyped-def]
    sizes = np.zeros(LOTS, dtype=np.int64)
    for lot in lots:
        sizes[lot] += 1
    return sizes


@njit(cache=True, nogil=True)
def _lay_out(lots, starts, chosen):  # type: ignore[no-untyped-def]
    for person in range(len(lots)):
        lot = lots[person]
        if lot < len(starts):
            chosen[starts[lot]] = person
            starts[lot] += 1


@njit(cache=True, nogil=True)
def _shuffle(chosen, ends, words):  # type: ignore[no-untyped-def]
    """Shuffle every run (Fisher and Yates); whether there were words enough."""
    used, begin, low_half = 0, 0, np.uint64(2**32 - 1)
    for end in ends:
        for last in range(end - 1, begin, -1):
            # One of as many as are left, none likelier (Lemire 2019): words are thrown away
            # where 2^32 divided by their number leaves a rest.
            many = np.uint64(last - begin + 1)
            while True:
                if used == len(words):
                    return False
                wide = np.uint64(words[used]) * many
                used += 1
                low = wide & low_half
                if low >= many or low >= (np.uint64(2**32) - many) % many:
                    break
            other = begin + np.int64(wide >> np.uint64(32))
            chosen[last], chosen[other] = chosen[other], chosen[last]
        begin = end
    return True
