"""From a screen and a step of its tree to what the replay shows: run in the worker's thread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from explorer.app.curator.chosen import Chosen
from explorer.app.curator.screen import Painted, Screen
from explorer.inspection.growth import Growth
from explorer.points.truth import exact
from explorer.releases.release import Release

Floats = NDArray[np.float64]
#: Opacity of the lines: of pieces that are new, and of the others over a map or a difference.
NEW, OLD, FAINT = 0.85, 0.4, 0.2


@dataclass(frozen=True)
class Place:
    """Where the replay is.

    Attributes
    ----------
    kind : a "step" counts splits, a "height" counts levels; "end" is the release itself
    number : of the step or the height; one that does not exist gives way to the nearest
    since : pieces made after this step are highlighted; by default those of the last split
    """

    kind: Literal["step", "height", "end"] = "end"
    number: int = 0
    since: int | None = None

    def step(self, growth: Growth) -> int:
        """The step of ``growth`` that is meant."""
        if self.kind == "end":
            return growth.n_splits
        if self.kind == "height":
            return int(growth.level_ends[min(max(self.number, 0), growth.levels)])
        return int(min(max(self.number, 0), growth.n_splits))


@dataclass(frozen=True, eq=False)
class FrameJob:
    """One request; ``previous`` lends whatever is still right in it."""

    screen: Screen
    place: Place
    boxes: Chosen
    previous: Frame | None = None


@dataclass(frozen=True, eq=False)
class Frame:
    """One moment of the replay.

    Attributes
    ----------
    picture : the right map with its partition, None at the end, where the screen's own is right
    private : (n,) answers of the cut to the chosen boxes
    final, true : (n,) answers of the release, and true ones
    """

    screen: Screen
    growth: Growth
    place: Place
    step: int
    cut: Release | None
    picture: Painted | None
    boxes: Chosen
    private: Floats
    final: Floats
    true: Floats

    @property
    def at_end(self) -> bool:
        """Whether this is the release itself."""
        return self.step == self.growth.n_splits


def compute_frame(job: FrameJob) -> Frame:
    """Cut the tree, draw the pieces at the size of the map, answer the boxes."""
    screen, old = job.screen, job.previous
    release = screen.release
    same_release = old is not None and old.screen.release is release
    growth = old.growth if same_release and old is not None else Growth(release)
    step = job.place.step(growth)
    final = release.answer(job.boxes.boxes).value
    true = exact(screen.data.matrix, job.boxes.boxes)
    if step == growth.n_splits:
        return Frame(screen, growth, job.place, step, None, None, job.boxes, final, final, true)
    same = (
        same_release and old is not None and old.step == step and old.place.since == job.place.since
    )
    if same and old is not None and old.cut is not None:
        cut = old.cut
    else:
        cut = growth.at(step)
    if same and old is not None and old.screen is screen:
        picture = old.picture
    else:
        others = FAINT if screen.look.right == "difference" else OLD
        new = growth.new(step, job.place.since)
        picture = screen.paint(cut, np.where(new, NEW, others))
    private = cut.answer(job.boxes.boxes).value
    return Frame(screen, growth, job.place, step, cut, picture, job.boxes, private, final, true)
