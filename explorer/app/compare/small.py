"""Small maps of both mechanisms for four epsilons, on the colour scale of the large ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import panel as pn
from numpy.typing import NDArray

from explorer.app.curator.data import CityData
from explorer.app.curator.figures import map_error
from explorer.app.curator.maps import colours_of
from explorer.app.curator.screen import Look
from explorer.app.kit import ui
from explorer.app.kit.html import html_pane, put
from explorer.app.state.explore import ExploreState
from explorer.grid.grid import Grid
from explorer.mechanisms import Mechanism
from explorer.views.partition import Leaves
from explorer.views.pictures import colour, private_map
from explorer.views.scale import ColourScale
from explorer.views.small import SmallMap
from explorer.views.viewport import Viewport

#: Pixels on a side; the browser scales the picture to the room there is.
PIXELS = 320
Place = tuple[int, str, int]


@dataclass(frozen=True, eq=False)
class Thumbnail:
    """One small map: density per cell (height, width), leaves, and the map's error (L1/N)."""

    picture: NDArray[np.float32]
    leaves: int
    error: float


@dataclass(frozen=True, eq=False)
class SmallJob:
    """One request: all of ``mechanisms``, A's four and then B's, each with its own epsilon."""

    data: CityData
    mechanisms: Sequence[Mechanism]
    seed: int
    look: Look
    previous: SmallScreen | None = None


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

    Releases themselves are not stored: some have a million leaves, and there are eight.
    """
    view = Viewport.whole(job.data.grid, PIXELS)
    old = {} if job.previous is None else job.previous.stored
    stored = {}
    for i, made in enumerate(job.mechanisms):
        place = (id(job.data), repr(made), job.seed)
        if progress is not None:
            progress(i / len(job.mechanisms))
        stored[place] = old.get(place) or _thumbnail(job, made, view, progress)
    thumbnails = [stored[id(job.data), repr(made), job.seed] for made in job.mechanisms]
    scale = ColourScale(job.look.scale, job.data.top(job.look.scale), "data")
    truth = job.data.truth(view, False)
    pictures = [colour(each.picture, truth, scale, job.look.right) for each in thumbnails]
    return SmallScreen(job.data, job.mechanisms, view, thumbnails, pictures, stored)


def _thumbnail(
    job: SmallJob, made: Mechanism, view: Viewport, progress: Callable[[float], None] | None
) -> Thumbnail:
    release = made.release(job.data.matrix, rng=job.seed, progress=progress)
    leaves = Leaves.of(release)
    error = map_error(job.data.matrix, release, leaves)
    return Thumbnail(private_map(release, leaves, view), release.n_leaves, error)


class SmallMaps:
    """Two rows of small maps, built once for a grid.

    Parameters
    ----------
    state : ExploreState
    grid : Grid
    n : how many epsilons a row has
    """

    def __init__(self, state: ExploreState, grid: Grid, n: int) -> None:
        self._state, self._n = state, n
        self.views = [
            SmallMap(grid.bounds, f"Small map {letter}") for letter in "AB" for _ in range(n)
        ]
        self._captions = [html_pane(margin=(2, 0, 0, 0)) for _ in self.views]
        self._titles = [html_pane(margin=(12, 0, 2, 0)) for _ in "AB"]
        aspect = grid.width / grid.height
        rows: list[Any] = []
        for side in range(2):
            cards = [self._card(side * n + i, aspect) for i in range(n)]
            rows += [self._titles[side], ui.wrapping(*cards, gap="8px 12px")]
        self.view = pn.Column(*rows, sizing_mode="stretch_width", margin=0)
        self.restyle()

    def _card(self, i: int, aspect: float) -> Any:
        pane = pn.pane.Bokeh(
            self.views[i].figure, sizing_mode="scale_width", aspect_ratio=aspect, margin=0
        )
        return pn.Column(
            pane,
            self._captions[i],
            styles={"flex": "1 1 150px", "max-width": "330px"},
            sizing_mode="stretch_width",
            margin=0,
        )

    def show(self, screen: SmallScreen) -> None:
        """Put computed pictures on the maps and say what they are."""
        self.restyle()
        for i, made in enumerate(screen.mechanisms):
            thumbnail, letter = screen.thumbnails[i], "AB"[i // self._n]
            error = "" if np.isnan(thumbnail.error) else f", error {thumbnail.error:.2f}"
            count = f"{thumbnail.leaves:,} {'leaf' if thumbnail.leaves == 1 else 'leaves'}{error}"
            put(self._captions[i], f"<p><b>epsilon {made.epsilon:g}</b>: {count}</p>")
            spoken = f"Small map {letter}, {made.title} at epsilon {made.epsilon:g}: {count}"
            self.views[i].show(screen.pictures[i], spoken)
            put(self._titles[i // self._n], f"<h3>{letter}: {made.title}</h3>")

    def restyle(self) -> None:
        """Apply the palette."""
        for view in self.views:
            view.recolour(colours_of(self._state))
