"""From choices to everything one screen of trips shows: a pure function, run in a thread."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from explorer.app.curator.answers import BoxAnswers
from explorer.app.curator.parts import PageParts
from explorer.app.curator.screen import Job
from explorer.app.trips.data import TripData
from explorer.points.truth import exact
from explorer.releases.places import Branch, branch, place_counts
from explorer.releases.release import Release
from explorer.trips.matrix import TripMatrix
from explorer.views.marks import PlaceBranch
from explorer.views.raster import mean_per_cell
from explorer.views.scale import ColourScale, Kind, top_value, top_value_of_leaves
from explorer.views.viewport import Viewport

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Shows = Literal["private", "true", "difference"]


@dataclass(frozen=True)
class TripLook:
    """How a screen is drawn; of the release it touches how counts lie inside leaves, at no cost.

    Parameters
    ----------
    shows : what the maps show
    row : the row whose trips they count, None for all trips
    spread : "maps" or "uniform": how a leaf's count is inside it
    partition : whether the branch of the row is drawn
    """

    shows: Shows = "private"
    row: int | None = None
    spread: str = "maps"
    scale: Kind = "log"
    scale_from: Literal["data", "release"] = "data"
    partition: bool = True

    @classmethod
    def of(cls, parts: PageParts) -> TripLook:
        """How the visitor has chosen it to be drawn: the selected row, or the first."""
        state, rectangles = parts.state, parts.rectangles
        chosen = [row for row in rectangles.selected if row < len(rectangles)] or [0]
        row = chosen[0] if len(rectangles) and state.focus == "row" else None
        if parts.truth:
            source, shows = state.scale_from, state.shows
        else:
            source, shows = "release", "private"
        return cls(shows, row, state.spread, state.scale, source, state.partition)

    @property
    def exact(self) -> bool:
        return self.shows != "private" or self.scale_from == "data"

    def within(self, data: TripData, boxes: Floats) -> Floats | None:
        """(2, 2 k) in cells: where the trips that the maps count lie, of rows (n, k, 4); or all."""
        if self.row is None or self.row >= len(boxes):
            return None
        result: Floats = data.matrix.domain.to_cells(boxes[self.row][np.newaxis])[0]
        return result


@dataclass(frozen=True, eq=False)
class PlacePicture:
    """One map: bytes (height, width) with row 0 south, and the parts of a branch, if drawn."""

    view: Viewport
    bytes: NDArray[np.uint8]
    branch: PlaceBranch | None


@dataclass(frozen=True, eq=False)
class TripScreen:
    """Everything the page shows.

    Attributes
    ----------
    drawn : the release as it was drawn
    release : the same with counts spread inside leaves as the visitor has chosen
    branch : of the row that the maps are about
    boxes : (n, k, 4), NaN where a row asks about anywhere
    """

    data: TripData
    key: tuple[Any, ...]
    title: str
    drawn: Release
    release: Release
    seconds: float
    look: TripLook
    scale: ColourScale
    pictures: tuple[PlacePicture, ...]
    branch: Branch
    boxes: Floats
    answers: BoxAnswers

    @property
    def painted(self) -> tuple[tuple[PlacePicture, ...]]:
        return (self.pictures,)

    @property
    def cell(self) -> Ints:
        """(2 k,) a cell of every place that together lie in the leaf at the end of the branch."""
        return self.drawn.tree.lower[self.branch.leaf]

    def paint(self, release: Release, cell: Ints | None = None) -> tuple[tuple[PlacePicture, ...]]:
        """Another release of these trips on the maps, in the same colours.

        Parameters
        ----------
        release : over the same places
        cell : (2 k,) where the branch to be drawn leads, whether or not branches are drawn; without
            it, where they are, the one that a screen of this release would have
        """
        if release.inside != self.release.inside:
            release = release.spread(self.release.inside)
        within = self.look.within(self.data, self.boxes)
        private = _private(release, within)
        drawn = self.look.partition or cell is not None
        # The true maps would be the same for every release.
        shows = "private" if self.look.shows == "true" else self.look.shows
        true = private if shows == "private" else _true(self.data, within)
        cell_branch = branch(release.tree, _cell(private, within) if cell is None else cell)
        views = [picture.view for picture in self.pictures]
        colour = partial(_coloured, shows, data=self.data, scale=self.scale)
        return (_pictures(private, true, views, self.data, cell_branch if drawn else None, colour),)


def compute(job: Job, progress: Callable[[float], None] | None = None) -> TripScreen:
    """Release (unless the last one still holds), count what the maps show, colour, answer.

    Raises
    ------
    InputError
        When the mechanism refuses the settings for these trips, or the ledger a draw.
    """
    data: TripData = job.data
    look: TripLook = job.look
    old: TripScreen | None = job.previous
    if old is not None and old.data is data and old.key == job.key:
        drawn, release, seconds = old.drawn, old.release, old.seconds
    else:
        # What could not be published is not previewed: it would take a server's memory.
        job.mechanism.require_release(data.matrix.shape)
        started = time.perf_counter()
        drawn = job.release(data.matrix, progress)
        release, seconds = drawn, time.perf_counter() - started
    inside = "uniform" if drawn.maps is None else look.spread
    if release.inside != inside:
        release = drawn if drawn.inside == inside else drawn.spread(inside)
    within = look.within(data, job.boxes)
    private, true = _private(release, within), _true(data, within)
    scale = _scale(look, private, true)
    cell_branch = branch(drawn.tree, _cell(private, within))
    colour = partial(_coloured, look.shows, data=data, scale=scale)
    return TripScreen(
        data=data,
        key=job.key,
        title=job.mechanism.title,
        drawn=drawn,
        release=release,
        seconds=seconds,
        look=look,
        scale=scale,
        pictures=_pictures(
            private, true, job.view, data, cell_branch if look.partition else None, colour
        ),
        branch=cell_branch,
        boxes=job.boxes,
        answers=answer_trips(release, data, job.boxes),
    )


def answer_trips(release: Release, data: TripData, boxes: Floats) -> BoxAnswers:
    """Ask both sides about rows of boxes (n, k, 4) in grid units.

    Where persons are protected the answers are shares in percent, of all trips and of the private
    total: bounded counts are none of trips.
    """
    answers, matrix = release.answer(boxes), data.matrix
    shares = matrix.unit != "point"
    private = 100.0 / max(release.total, 1.0) if shares else 1.0

    def scaled(counts: TripMatrix) -> Floats:
        """Exact answers of some counts, as shares of their own total where those are shown."""
        share = 100.0 * counts.lattice / max(counts.total, 1) if shares else 1.0
        return exact(counts, boxes, counted=True) * share

    return BoxAnswers(
        true=scaled(data.every),
        counted=None if matrix.unclipped is None else scaled(matrix),
        private=answers.value * private,
        sd=answers.sd * private,
        scale=private,
        touched=release.touched(boxes),
        leaves=release.n_leaves,
        exact=answers.sd_exact,
    )


def _scale(look: TripLook, private: Sequence[Floats], true: Sequence[Floats]) -> ColourScale:
    """One scale for the maps of all places."""
    if look.scale_from == "data":
        every = np.concatenate([counts.ravel() for counts in true])
        return ColourScale(look.scale, top_value(every, look.scale), "data")
    every = np.concatenate([counts.ravel() for counts in private])
    top = top_value_of_leaves(every, np.ones(every.size, dtype=np.int64), look.scale)
    return ColourScale(look.scale, top, "release")


def _cell(private: Sequence[Floats], within: Floats | None) -> NDArray[np.int64]:
    results = []
    for place, counts in enumerate(private):
        low, high = np.zeros(2, dtype=np.int64), np.array(counts.shape)
        if within is not None:
            axes = slice(2 * place, 2 * place + 2)
            low = np.clip(np.floor(within[0, axes]).astype(np.int64), 0, high - 1)
            high = np.clip(np.ceil(within[1, axes]).astype(np.int64), low + 1, high)
        part = counts[low[0] : high[0], low[1] : high[1]]
        results.append(low + np.unravel_index(int(np.argmax(part)), part.shape))
    return np.concatenate(results).astype(np.int64)


def _private(release: Release, within: Floats | None) -> list[Floats]:
    places = range(len(release.domain.shape) // 2)
    return [place_counts(release, place, within) for place in places]


def _true(data: TripData, within: Floats | None) -> list[Floats]:
    return [data.counts(place, within) for place in range(len(data.grids))]


def _pictures(
    private: Sequence[Floats],
    true: Sequence[Floats],
    views: Sequence[Viewport],
    data: TripData,
    drawn: Branch | None,
    colour: Callable[..., NDArray[np.uint8]],
) -> tuple[PlacePicture, ...]:
    """All maps, with a branch or none; ``colour`` is `_coloured` with the rest of it known."""
    return tuple(
        PlacePicture(
            view,
            colour(private[place], true[place], view, place),
            None if drawn is None else _branch(drawn, data, place, view),
        )
        for place, view in enumerate(views)
    )


def _coloured(
    shows: Shows,
    private: Floats,
    true: Floats,
    view: Viewport,
    place: int,
    *,
    data: TripData,
    scale: ColourScale,
) -> NDArray[np.uint8]:
    where = *view.cells(data.grids[place]), view.height, view.width
    if shows == "difference":
        return scale.encode_difference(mean_per_cell(private - true, *where))
    return scale.encode(mean_per_cell(private if shows == "private" else true, *where))


def _branch(cell_branch: Branch, data: TripData, place: int, view: Viewport) -> PlaceBranch:
    boxes = data.grids[place].from_cells(cell_branch.boxes[place].astype(np.float64))
    return PlaceBranch.of(boxes, cell_branch.cut[place], view)
