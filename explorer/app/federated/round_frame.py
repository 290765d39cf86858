"""From a screen and a round to what the player shows: run in the worker's thread."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.app.curator.figures import map_error
from explorer.app.curator.screen import Painted, Screen
from explorer.app.federated.screen import refines, released
from explorer.releases.distributed import DistributedRelease
from explorer.releases.quarters import separate
from explorer.releases.rounds import Heard
from explorer.views.partition import Leaves
from explorer.views.rounds import Marked


@dataclass(frozen=True, eq=False)
class FrameJob:
    """One request: which round of a screen, 0 for the last; whether noise is marked grey."""

    screen: Screen
    number: int
    grey: bool
    previous: Frame | None = None


@dataclass(frozen=True, eq=False)
class Frame:
    """One round.

    Attributes
    ----------
    number, last : which round it is, and how many there are
    release : the map as it stood after it
    picture : of the right map; None at the end, where the screen's own is right
    marks : of the round; None where its cells are no tree
    drowned : how many cells had less than their noise
    error : L1 / N of the map
    """

    screen: Screen
    number: int
    last: int
    grey: bool
    release: DistributedRelease
    picture: Painted | None
    marks: Marked | None
    drowned: int
    error: float

    @property
    def replayed(self) -> bool:
        """Whether earlier rounds have maps too; some algorithms have one at their end only."""
        return refines(released(self.screen))


def drowned_in_noise(release: DistributedRelease, received: Heard) -> NDArray[np.bool_]:
    """Which cells of a round hold fewer people than the noise of its sums, (v,).

    What they hold is what the map says, to which all rounds so far have contributed; noise is
    scaled up to all people, as the map is.
    """
    tree, (rows, cols) = received.tree, release.grid.shape
    scale = release.population / max(received.answered, 1)
    shift = (max(rows, cols) - 1).bit_length() - tree.depth
    # A cell's people are spread evenly over what it owns: one place of it tells them all.
    _, first = np.unique(tree.run_index, return_index=True)
    column, row = (coordinate << shift for coordinate in separate(tree.runs[0][first]))
    there = (row < rows) & (column < cols)
    people = received.sums * scale
    people[there] = release.density()[row[there], column[there]] * (tree.area[there] << 2 * shift)
    return np.asarray(people <= received.noise * scale)


def compute_frame(job: FrameJob) -> Frame:
    """Replay a round, draw its map at the size of the screen, mark its cells."""
    screen, old = job.screen, job.previous
    whole = released(screen)
    rounds = len(whole.heard)
    replayed = refines(whole)
    number = min(job.number, rounds) if job.number and replayed else rounds
    same = old is not None and old.number == number and released(old.screen) is whole
    if same and old is not None:
        release, error = old.release, old.error
    else:
        release = whole.replay(number)
        error = map_error(screen.data.matrix, release, Leaves.of(release))
    received = whole.heard[number - 1]
    marks, drowned = None, 0
    # With one round alone its cells are those of the map, whatever the algorithm.
    if isinstance(received, Heard) and (replayed or rounds == 1):
        below = drowned_in_noise(release, received)
        drowned = int(np.count_nonzero(below))
        marks = Marked.of(
            received.tree,
            received.split,
            received.collapsed,
            below if job.grey else None,
            screen.data.grid,
            screen.view,
        )
    picture = screen.paint(release) if number < rounds else None
    return Frame(screen, number, rounds, job.grey, release, picture, marks, drowned, error)
