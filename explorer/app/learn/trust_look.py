"""What the lesson on trust looks at: one masked shard, and people in shards of several sizes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from explorer.app.curator.data import CityData
from explorer.app.work.cache import Shelf
from explorer.errors import InputError
from explorer.federated.people import People
from explorer.teaching.trust import Cut, Shared, in_a_shard, in_shards

_PEOPLE: Shelf[People] = Shelf(3)


@dataclass(frozen=True, eq=False)
class Trusted:
    """What the settings lead to."""

    data: CityData
    settings: Any
    shared: Shared
    cuts: list[Cut]


def look(data: CityData, settings: Any, person: int, seed: int) -> Trusted:
    """Put people of the city into a shard and add up what they send."""
    matrix = data.matrix
    if matrix.total < settings.size:
        raise InputError(
            f"This city has fewer than {settings.size} people inside its extent: choose a smaller "
            "shard or another city."
        )
    people = _PEOPLE.get(matrix.key, lambda: People.of_matrix(matrix))
    shared = in_a_shard(
        people,
        settings.epsilon,
        settings.size,
        settings.dropped / 100,
        settings.corrupt / 100,
        person,
        seed,
    )
    return Trusted(data, settings, shared, in_shards(settings.epsilon))
