"""From choices to a screen: previews by one draw for all shares, releases by everybody's own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from explorer.app.curator import screen as shared
from explorer.app.curator.data import CityData
from explorer.app.curator.screen import Job, Progress, Screen
from explorer.app.kit.words import words
from explorer.app.mappage.drawing import Drawing
from explorer.app.work.cache import Shelf
from explorer.errors import InputError
from explorer.federated.mechanism import Federated
from explorer.federated.people import (
    CONSENTING,
    DECLARING,
    People,
    declared_number,
    require_declared,
)
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

    A preview takes the noise of all shares in one draw for each sum: the same distribution, and
    quick. A release draws every person's own share, and so does a preview with bits that someone
    chose: whether sums of shards fit them cannot be seen in one draw.

    Raises
    ------
    InputError
        See `Federated.release`.
    """
    mechanism = cast(Federated, job.mechanism)
    if job.seed is None:
        # What is in the field People was confirmed with the price.
        declaring = replace(job, mechanism=mechanism.with_(people=mechanism.people))
        release: DistributedRelease = declaring.release(job.data.matrix, progress)
        return release
    people = people_of(job.data)

    def preview() -> DistributedRelease:
        mode = "summed" if mechanism.bits is None else "ideal"
        return mechanism.with_(mode=mode).release(people, job.seed, progress)

    return _PREVIEWS.get((people.key, repr(mechanism), job.seed), preview)


class FederatedDrawing(Drawing):
    """Screens of this page; a release is for the number in the field People, or the exact one."""

    def terms(self) -> dict[str, Any]:
        return {"people_are_public": self._parts.state.people_are_public}

    def protects(self, matrix: Any) -> str:
        text = words("federated")
        try:
            declared = declared_number(
                self._parts.state.instance().people, **self.terms(), preview=False
            )
            if declared is None:
                return text["Protected places"]
            require_declared(int(matrix.counts.sum()), declared)
        except InputError as error:
            sentence = str(error).replace(DECLARING, text["Declaring"])
            raise InputError(sentence.replace(CONSENTING, text["Consenting"])) from error
        return text["Protected people"].format(declared=f"{declared:,}")
