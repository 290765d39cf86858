"""Small maps of several mechanisms, on the colour scale of the large ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import panel as pn
from numpy.typing import NDArray

from explorer.app.curator.answers import answer_boxes, median_error
from explorer.app.curator.data import CityData
from explorer.app.curator.screen import Look, map_error
from explorer.app.kit.prose import column
from explorer.mechanisms import Mechanism
from explorer.views.partition import Leaves
from explorer.views.pictures import colour, private_map
from explorer.views.scale import ColourScale
from explorer.views.small import SmallMap
from explorer.views.viewport import Viewport

#: Pixels on a side; the browser scales the picture to the space there is.
PIXELS = 320
Place = tuple[int, str, int, bytes]


@dataclass(frozen=True, eq=False)
class Thumbnail:
    """One small map: density per cell (height, width), leaves, and the map's error (L1/N).

    ``off`` is the median relative error of the job's boxes in percent, NaN without any.
    """

    picture: NDArray[np.float32]
    leaves: int
    error: float
    off: float


@dataclass(frozen=True, eq=False)
class SmallJob:
    """One request: all of ``mechanisms``, each with its own epsilon, and boxes (n, 4) to ask."""

    data: CityData
    mechanisms: Sequence[Mechanism]
    seed: int
    look: Look
    previous: SmallScreen | None = None
    boxes: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 4)))

    def place(self, mechanism: Mechanism) -> Place:
        return id(self.data), repr(mechanism), self.seed, self.boxes.tobytes()


@dataclass(frozen=True, eq=False)
class SmallScreen:
    """What the small maps show: bytes (height, width) for each."""

    data: CityData
    mechanisms: Sequence[Mechanism]
    view: Viewport
    thumbnails: list[Thumbnail]
    pictures: list[NDArray[np.uint8]]
    stored: dict[Place, Thumbnail] = field(default_factory=dict)


def compute_small(job: SmallJob, progress: Callable[[float], None] | None = None) -> SmallScreen:
    """Draw what is not there from the last time, and colour everything.

    Releases themselves are not stored: some have a million leaves, and there are many.
    """
    view = Viewport.whole(job.data.grid, PIXELS)
    old = {} if job.previous is None else job.previous.stored
    stored = {}
    for i, instance in enumerate(job.mechanisms):
        place = job.place(instance)
        if progress is not None:
            progress(i / len(job.mechanisms))
        stored[place] = old.get(place) or _thumbnail(job, instance, view, progress)
    thumbnails = [stored[job.place(mechanism)] for mechanism in job.mechanisms]
    scale = ColourScale(job.look.scale, job.data.top(job.look.scale), "data")
    truth = job.data.truth(view, False)
    pictures = [colour(thumbnail.picture, truth, scale, job.look.right) for thumbnail in thumbnails]
    return SmallScreen(job.data, job.mechanisms, view, thumbnails, pictures, stored)


def _thumbnail(
    job: SmallJob, mechanism: Mechanism, view: Viewport, progress: Callable[[float], None] | None
) -> Thumbnail:
    release = mechanism.release(job.data.matrix, rng=job.seed, progress=progress)
    leaves = Leaves.of(release)
    error = map_error(job.data.matrix, release, leaves)
    off = median_error(answer_boxes(release, job.data.matrix, job.boxes))
    return Thumbnail(private_map(release, leaves, view), release.n_leaves, error, off)


def card(view: SmallMap, *below: Any) -> Any:
    """A small map with what is said of it."""
    aspect = view.figure.aspect_ratio
    pane = pn.pane.Bokeh(view.figure, sizing_mode="scale_width", aspect_ratio=aspect, margin=0)
    return column(pane, *below, styles={"flex": "1 1 150px", "max-width": "330px"})
