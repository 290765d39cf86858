"""What a server and people agree upon before a round: all of it public, none of it from places."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from explorer.errors import InputError
from explorer.federated import calibration
from explorer.releases.units import to_epsilon

MOST_PEOPLE = 10**9


@dataclass(frozen=True)
class Protocol:
    """How people are put together, and how many of them may fail.

    Parameters
    ----------
    shard : int, 2 or more
        The most people whose vectors are added before anybody sees a sum. Large shards have less
        noise: it goes by the number of shards.
    dropped : float, 0 to 0.9
        Share of people who are asked and send no vector: half of them drop out before they have
        shared their secrets, half after. Who drops out later, with her vector in the sum, is not
        drawn here; `aggregation.aggregate` takes such people, too, and needs `threshold` answers.
    corrupt : float, 0 to 0.9
        Share of the people of every shard who tell the server what they know; their shares of the
        noise count nothing. Shards are drawn at random: name a little more than the share of all
        people. Together with `dropped` below 1.
    bits : int, optional
        Bits of a counter, 1 to 62; by default as many as a sum with its noise needs
        (`calibration.bits`). With fewer, counters wrap round: `Sums.overflow`; see `require_bits`.
    """

    shard: int = 10_000
    dropped: float = 0.1
    corrupt: float = 0.05
    bits: int | None = None

    def __post_init__(self) -> None:
        if not _is_whole(self.shard) or not 2 <= self.shard <= MOST_PEOPLE:
            raise InputError(
                f"A shard of {self.shard!r} people cannot be: give a whole number, 2 to 10^9."
            )
        _check_share(self.dropped, "drop out")
        _check_share(self.corrupt, "are corrupt")
        if self.dropped + self.corrupt >= 1.0:
            raise InputError(
                f"With {self.dropped:g} dropped and {self.corrupt:g} corrupt nobody honest is "
                "left: give shares that add up to less than 1."
            )
        limit = calibration.MOST_BITS
        if self.bits is not None and not (_is_whole(self.bits) and 1 <= self.bits <= limit):
            raise InputError(
                f"Bits of a counter is {self.bits!r}: give a whole number, 1 to {limit}, or none."
            )

    def require_bits(self, people: int, units: int, counters: int, sensitivity: int = 1) -> None:
        """Refuse bits that are too few for such a round; parameters as of `round`."""
        if self.bits is None:
            return
        needed = replace(self, bits=None).round(people, units, counters, sensitivity).bits
        if self.bits < needed:
            raise InputError(
                f"{self.bits} bits a number are too few for the sums of a shard with their noise: "
                f"give {needed} or more, or leave them to the bound."
            )

    def round(self, people: int, units: int, counters: int, sensitivity: int = 1) -> Round:
        """The figures of a round.

        Parameters
        ----------
        people : those asked, 1 or more
        units : its price, above 0, in units of 10^-12 epsilon
        counters : numbers of a vector
        sensitivity : S, what a person's vector adds up to

        Raises
        ------
        InputError
            For one person alone, shards too small for anybody honest to be left, or bits too few
            for the noise.
        """
        number = calibration.shards(people, self.shard)
        # The smallest shard's size, by which all are calibrated: shares are alike.
        size, largest = people // number, -(-people // number)
        if size < 2:
            raise InputError("One person alone is no sum: ask at least 2 people.")
        epsilon = to_epsilon(units)
        honest = calibration.honest(size, self.dropped, self.corrupt)
        # The most noise is that of the largest shard if no one drops out.
        low = calibration.lowest(epsilon, counters, number, sensitivity, largest / honest)
        needed = calibration.bits(largest, low, sensitivity)
        if needed > calibration.MOST_BITS:
            raise InputError(
                f"At epsilon {epsilon:.3g} a sum with its noise needs {needed} bits, more than "
                f"{calibration.MOST_BITS}: give the round a larger epsilon."
            )
        bits = needed if self.bits is None else self.bits
        if 2**bits <= 2 * low:
            raise InputError(
                f"{bits} bits a counter hold not even the noise of epsilon {epsilon:.3g}, up to "
                f"{low} on either side: give {needed} bits or a larger epsilon."
            )
        degree, threshold = calibration.neighbours(size, self.dropped, self.corrupt)
        corrupt = math.ceil(self.corrupt * size - 1e-9)
        if degree == size - 1 and threshold <= corrupt:
            raise InputError(
                f"In a shard of {size} people, of whom {corrupt} may be corrupt, these could "
                "rebuild what hides the vector of another: make shards larger, or ask more people."
            )
        if degree == size - 1:
            # Everybody is a neighbour, in a shard of one more, too.
            degree = largest - 1
        return Round(
            asked=people,
            shards=number,
            units=units,
            sensitivity=sensitivity,
            counters=counters,
            fewest=calibration.fewest(size, self.dropped),
            honest=honest,
            low=low,
            bits=bits,
            degree=degree,
            threshold=threshold,
        )


@dataclass(frozen=True)
class Round:
    """The figures of one round."""

    # asked, shards: people, and how many shards they make, as even as can be
    asked: int
    shards: int
    units: int  # its price, in units of 10^-12 epsilon
    sensitivity: int  # S
    counters: int  # numbers of a vector
    fewest: int  # a shard of fewer survivors is refused
    honest: int  # n_min, of them honest; every share has shape 1 / n_min
    # low, bits: a sum modulo 2^bits represents a number of [-low, 2^bits - low)
    low: int
    bits: int
    # degree, threshold: neighbours of a person, and how many of them can rebuild a secret
    degree: int
    threshold: int

    @property
    def sigma(self) -> float:
        """Noise of one shard of exactly n_min survivors."""
        return calibration.sigma(to_epsilon(self.units), self.sensitivity)

    def sd(self, shape: float) -> float:
        """Noise of a sum of shares of total shape: sigma sqrt(shape)."""
        return self.sigma * math.sqrt(shape)

    @property
    def bytes_up(self) -> int:
        """Bytes that a person sends."""
        return calibration.bytes_up(self.counters, self.bits, self.degree)

    @property
    def bytes_down(self) -> int:
        """Bytes that a person receives."""
        return calibration.bytes_down(self.degree)


def _is_whole(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _check_share(part: Any, noun: str) -> None:
    number = isinstance(part, int | float | np.number) and not isinstance(part, bool)
    if not number or not 0.0 <= part <= 0.9:
        raise InputError(
            f"A share of {part!r} of the people who {noun} leaves no sum to release: give a number "
            "from 0 to 0.9."
        )
