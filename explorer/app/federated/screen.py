"""From choices to a screen: previews by one draw for all shares, releases by everybody's own."""

from __future__ import annotations

from typing import cast

from explorer.app.curator import screen as shared
from explorer.app.curator.data import CityData
from explorer.app.curator.screen import Job, Progress, Screen
from explorer.app.work.cache import Shelf
from explorer.federated.mechanism import Federated
from explorer.federated.people import People
from explorer.releases.distributed import DistributedRelease

#: Algorithms whose rounds refine a tree; the others have a map at their end only.
REFINING = ("people", "mended", "paper")
#: Places of people, 4 bytes each, and previews: the same for all visitors.
_PEOPLE: Shelf[People] = Shelf(4)
_PREVIEWS: Shelf[DistributedRelease] = Shelf(12)


def people_of(data: CityData) -> People:
    """Everybody of a city, each record one person.

    Raises
    ------
    InputError
        Where a person has several records.
    """
    return _PEOPLE.get(data.matrix.key, lambda: People.of_matrix(data.matrix))


def released(screen: Screen) -> DistributedRelease:
    """The release of a screen of this page."""
    return cast(DistributedRelease, screen.release)


def refines(release: DistributedRelease) -> bool:
    """Whether there is a map after every round."""
    return release.parameters["algorithm"] in REFINING


def chosen(screen: Screen) -> Federated:
    """The mechanism of a screen, as its release says it."""
    release = screen.release
    return Federated(epsilon=release.epsilon, **release.parameters)


def compute(job: Job, progress: Progress | None = None) -> Screen:
    """A screen of this page, see `explorer.app.curator.screen.compute`."""
    return shared.compute(job, progress, drawn)


def drawn(job: Job, progress: Progress | None) -> DistributedRelease:
    """What people and server end up with.

    A preview takes the noise of all shares in one draw for each sum: the same law, and quick. A
    release draws every person's own share, and so does a preview with bits that somebody chose:
    whether sums of shards fit them cannot be seen in one draw.

    Raises
    ------
    InputError
        See `Federated.release`.
    """
    made = cast(Federated, job.mechanism)
    people = people_of(job.data)
    if job.seed is None:
        found: DistributedRelease = job.release(people, progress)
        return found

    def preview() -> DistributedRelease:
        mode = "summed" if made.bits is None else "ideal"
        return made.with_(mode=mode).release(people, job.seed, progress)

    return _PREVIEWS.get((people.key, repr(made), job.seed), preview)
