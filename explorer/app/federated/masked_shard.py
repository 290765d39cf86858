"""A real masked shard of a hundred people of a city, and what the server saw of one of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.app.curator.screen import Screen
from explorer.app.federated.screen import chosen, people_of
from explorer.errors import InputError
from explorer.federated.aggregation import Seen
from explorer.federated.asking import Asking, Protocol, Question, Sums
from explorer.federated.mechanism import START
from explorer.releases.quarters import KeyTree
from explorer.releases.units import to_units

Ints = NDArray[np.int64]
#: People of the shard: its masks take a tenth of a second, those of a thousand three.
PEOPLE = 100


@dataclass(frozen=True, eq=False)
class MaskedShard:
    """One shard, and one of its people. Exact data: it is for the curator's screen.

    Attributes
    ----------
    seen : her vector and her share, which stay with her; what she sent; both sums
    sums : what the round gave
    decoded : (v,) the sum read as numbers of both signs
    """

    screen: Screen
    seen: Seen
    sums: Sums
    decoded: Ints


def masked_shard(screen: Screen) -> MaskedShard:
    """Ask a hundred people about the 64 cells of the first round, behind masks.

    The seed is that of the preview on screen, or 1 next to a drawn release: a shard of its own, of
    which nothing is released or booked.

    Raises
    ------
    InputError
        Where a shard so small cannot be, or so few answered that nothing was unmasked.
    """
    mechanism, people = chosen(screen), people_of(screen.data)
    number = min(PEOPLE, len(people))
    if number < 2:
        raise InputError("One person alone is no sum: choose a city with more people.")
    protocol = Protocol(number, mechanism.dropped, mechanism.corrupt, mechanism.bits)
    seed = screen.key[2]
    asking = Asking(
        people, protocol, to_units(mechanism.epsilon), 1 if seed is None else seed, "masked", number
    )
    tree = KeyTree.even(min(mechanism.depth, people.depth), START)
    starts = tree.runs[0] << 2 * (people.depth - tree.depth)
    sums = asking.ask(
        Question(starts, tree.run_index, tree.v, people.depth), number, to_units(mechanism.epsilon)
    )
    if not asking.seen:
        raise InputError(
            f"Of {number} people too few answered, so nothing was unmasked: expect more of them "
            "to drop out."
        )
    return MaskedShard(screen, asking.seen[0], sums, sums.values)
