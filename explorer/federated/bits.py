"""Whether every round that may come can be asked: what cannot is refused before it is booked."""

from __future__ import annotations

from explorer.federated import rounds
from explorer.federated.adaptive_grid import ALPHA
from explorer.federated.baselines import ROWS
from explorer.federated.protocol import Protocol
from explorer.federated.session import least_units
from explorer.federated.settings import Settings
from explorer.releases.units import share, to_units


def require_bits(
    settings: Settings, protocol: Protocol, people: int, depth: int, places: int, at_once: bool
) -> None:
    """Refuse bits that are too few for a round of a run, the fewest that do being named.

    Sums are largest in the fullest shard, noise is widest at the cheapest price; which rounds come
    depends on what people answer, so that all which could are thought of, with all finest cells.

    Parameters
    ----------
    settings : what is to be drawn
    protocol : with the bits, or none
    people : how many may be asked
    depth : of the tree
    places : S
    at_once : whether there is one round alone, on cells of an earlier release

    Raises
    ------
    InputError
        See `Protocol.require_bits`.
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

    Parameters
    ----------
    people : how many may be asked
    shard : the most people of one
    whole : whether every round asks all of them

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
