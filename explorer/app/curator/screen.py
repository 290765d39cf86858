"""From choices to everything one screen shows: a pure function, run in the worker's thread."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from explorer.app.curator.answers import BoxAnswers, answer_boxes, median_error
from explorer.app.curator.data import CityData
from explorer.app.kit.numbers import percent
from explorer.grid.range_queries import Queries
from explorer.mechanisms import Mechanism
from explorer.privacy.ledger import Ledger
from explorer.releases.release import Release
from explorer.views.partition import Leaves, Partition, partition
from explorer.views.pictures import (
    By,
    RightView,
    colour,
    leaf_map,
    leaf_scale,
    of_leaves,
    private_map,
)
from explorer.views.scale import ColourScale, Kind, top_value_of_leaves
from explorer.views.truth import Truth
from explorer.views.viewport import Viewport

if TYPE_CHECKING:
    from explorer.app.curator.parts import PageParts
    from explorer.points.matrix import FrequencyMatrix
    from explorer.releases.release import Release
    from explorer.views.partition import Leaves


Floats = NDArray[np.float64]


def map_error(matrix: FrequencyMatrix, release: Release, leaves: Leaves) -> float:
    """Sum over all cells of |private - true|, divided by the number of points (L1 / N).

    0 is perfect, 1 means as much error as there are points. Nothing in the data gives NaN.
    """
    if matrix.total == 0:
        return float("nan")
    if release.is_uniform:
        wrong = _absolute_error(matrix.counts, leaves.lower, leaves.upper, leaves.density)
    else:
        wrong = _difference(matrix.counts, release.density())
    return float(wrong) / matrix.total


@njit(cache=True, nogil=True)
def _difference(counts, density):  # type: ignore[no-untyped-def]
    total = 0.0
    for r in range(counts.shape[0]):
        for c in range(counts.shape[1]):
            total += abs(counts[r, c] - density[r, c])
    return total


@njit(cache=True, nogil=True)
def _absolute_error(counts, lower, upper, density):  # type: ignore[no-untyped-def]
    total = 0.0
    for leaf in range(density.size):
        value = density[leaf]
        for r in range(lower[leaf, 0], upper[leaf, 0]):
            for c in range(lower[leaf, 1], upper[leaf, 1]):
                total += abs(counts[r, c] - value)
    return total


def key_figures(
    release: Release, answers: BoxAnswers, error: float, seconds: float
) -> list[tuple[str, str]]:
    """Label and value of the strip below the maps."""
    return [
        ("Leaves", f"{release.n_leaves:,}"),
        ("Epsilon", f"{release.epsilon:.4g}"),
        ("Median box error", percent(median_error(answers))),
        ("Cell errors (L1/N)", "–" if np.isnan(error) else f"{error:.2f}"),
        ("Computed in", f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"),
    ]


def summary(
    title: str, place: str, release: Release, answers: BoxAnswers | None, counted: str = ""
) -> str:
    """What the maps and the table show, in numbers.

    ``counted`` is the sentence about the records that a contribution bound keeps. Without
    ``answers`` nothing is said of exact counts.
    """
    return " ".join(filter(None, (_summary(title, place, release, answers), counted)))


def _summary(title: str, place: str, release: Release, answers: BoxAnswers | None) -> str:
    rows, cols = release.grid.shape
    kind = "a preview by" if release.preview else "a release by"
    unit = "record" if release.unit == "point" else "person"
    cells = "cell" if rows * cols == 1 else "cells"
    counts = "count of" if release.n_leaves == 1 else "counts that add up to"
    text = (
        f"{place}: {kind} {title} with epsilon {release.epsilon:.4g} per {unit} replaces "
        f"{rows:,} × {cols:,} {cells} by {release.n_leaves:,} private {counts} "
        f"{release.total:,.0f}"
    )
    if answers is None:
        return f"{text}."
    n = len(answers.true)
    if n == 0:
        return f"{text}; no box has been drawn."
    worst = int(np.argmax(np.abs(answers.difference)))
    text += (
        f"; {'the box is' if n == 1 else f'the {n} boxes are'} off by "
        f"{percent(median_error(answers))} in the median, at most by "
        f"{abs(answers.shown_difference()[worst]):,.0f} "
        f"(private {answers.private[worst]:,.0f}, true {answers.true[worst]:,.0f})."
    )
    return text


Progress = Callable[[float], None]


@dataclass(frozen=True)
class Look:
    """How a screen is drawn; nothing in it touches the release."""

    right: RightView = "private"
    scale: Kind = "log"
    scale_from: Literal["data", "release"] = "data"
    points: bool = True
    by: By = "density"

    @classmethod
    def of(cls, parts: PageParts) -> Look:
        state, points = parts.state, parts.state.truth == "points"
        if parts.truth:
            return cls(state.right, state.scale, state.scale_from, points, state.colour)
        by: By = "density" if state.colour == "error" else state.colour
        return cls("private", state.scale, "release", points, by)

    @property
    def exact(self) -> bool:
        """Whether the right map says something of exact counts."""
        return self.right == "difference" or self.by == "error" or self.scale_from == "data"

    @property
    def of_leaves(self) -> bool:
        """Whether the right map says something of each leaf in place of densities."""
        return self.right == "private" and self.by != "density"

    @property
    def strength(self) -> float:
        """Opacity of the partition's lines: less over a difference, whose colours are dark."""
        return 0.25 if self.right == "difference" else 0.5


@dataclass(frozen=True, eq=False)
class Job:
    """One request for a screen; data, view, look, boxes and screen are of the page's own kind.

    Parameters
    ----------
    seed : of a preview's random noise; None draws a release with release-grade noise
    draw : number of the drawing; a release is drawn again only when it changes
    previous : the last screen; whatever is still right in it is used again
    ledger : where a release is booked before it is drawn; a preview has none
    keep : is given a drawn release before anything else is done with it
    terms : further arguments of a release, see `Drawing.terms`
    scale : of the colours, where another screen has decided it
    """

    data: Any
    mechanism: Mechanism
    seed: int | None
    draw: int
    view: Any
    look: Any
    boxes: Any
    previous: Any = None
    ledger: Ledger | None = None
    keep: Callable[[Any], None] | None = None
    terms: Mapping[str, Any] = field(default_factory=dict)
    scale: ColourScale | None = None

    def __post_init__(self) -> None:
        if (self.seed is None) != (self.ledger is not None):
            raise ValueError("A release is booked in a ledger and a preview has a seed.")

    @property
    def key(self) -> tuple[Any, ...]:
        """What the release depends on."""
        return id(self.data), repr(self.mechanism), self.seed, self.draw

    def release(self, counts: Any, progress: Progress | None) -> Any:
        """What is released of counts: a preview, or a release that is booked and kept."""
        mechanism: Any = self.mechanism
        release = mechanism.release(counts, self.seed, progress, self.ledger, **self.terms)
        if self.keep is not None:
            self.keep(release)
        return release


class Painted(NamedTuple):
    """What `MapPair.cover` shows: bytes (height, width), row 0 south, and a partition."""

    bytes: NDArray[np.uint8]
    partition: Partition
    view: Viewport


@dataclass(frozen=True, eq=False)
class Screen:
    """Everything the page shows; arrays of bytes are (height, width), row 0 south."""

    data: CityData
    key: tuple[Any, ...]
    title: str
    release: Release
    leaves: Leaves
    seconds: float
    look: Look
    scale: ColourScale
    leaf_scale: ColourScale | None
    truth: Truth
    left_bytes: NDArray[np.uint8]
    right_bytes: NDArray[np.uint8]
    partition: Partition
    boxes: Queries
    answers: BoxAnswers
    error: float

    @property
    def view(self) -> Viewport:
        return self.truth.view

    @property
    def painted(self) -> Painted:
        return Painted(self.right_bytes, self.partition, self.view)

    def paint(
        self, release: Release, strength: float | NDArray[np.float64] | None = None
    ) -> Painted:
        """Another release of these data on the right map, in the same colours.

        Parameters
        ----------
        release : over the same grid
        strength : opacity of the partition's lines, of all or of each leaf; as usual without
        """
        leaves, look = Leaves.of(release), self.look
        coloured = _right(release, leaves, self.data, self.truth, look, self.scale, self.leaf_scale)
        return Painted(
            coloured[0],
            partition(
                leaves, self.view, self.data.grid, look.strength if strength is None else strength
            ),
            self.view,
        )


def drawn(job: Job, progress: Progress | None) -> Release:
    """What the mechanism of a job releases of its data."""
    release: Release = job.release(job.data.matrix, progress)
    return release


def compute(
    job: Job,
    progress: Progress | None = None,
    draw: Callable[[Job, Progress | None], Release] = drawn,
) -> Screen:
    """Release (unless the last one still holds), resample, colour, answer.

    Parameters
    ----------
    job : Job
    progress : called with the finished part of the release
    draw : how the release is drawn

    Raises
    ------
    InputError
        When the mechanism refuses the settings for this matrix, or the ledger a draw.
    """
    old = job.previous if job.previous is not None and job.previous.data is job.data else None
    if old is not None and old.key == job.key:
        release, leaves, seconds, error = old.release, old.leaves, old.seconds, old.error
    else:
        started = time.perf_counter()
        release = draw(job, progress)
        seconds = time.perf_counter() - started
        leaves = Leaves.of(release)
        error = map_error(job.data.every, release, leaves)
    truth = job.data.truth(job.view, job.look.points)
    scale = job.scale or _scale(job, leaves)
    grid = job.data.grid
    same_left = old is not None and old.truth is truth and old.scale == scale
    left = old.left_bytes if same_left and old is not None else scale.encode(truth.shown)
    own_scale = (
        old.leaf_scale if old is not None and old.key == job.key and old.look == job.look else None
    )
    right, own_scale = _right(release, leaves, job.data, truth, job.look, scale, own_scale)
    return Screen(
        data=job.data,
        key=job.key,
        title=job.mechanism.title,
        release=release,
        leaves=leaves,
        seconds=seconds,
        look=job.look,
        scale=scale,
        leaf_scale=own_scale,
        truth=truth,
        left_bytes=left,
        right_bytes=right,
        partition=partition(leaves, job.view, grid, job.look.strength),
        boxes=job.boxes,
        answers=answer_boxes(release, job.data.matrix, job.boxes),
        error=error,
    )


def _right(
    release: Release,
    leaves: Leaves,
    data: CityData,
    truth: Truth,
    look: Look,
    scale: ColourScale,
    own_scale: ColourScale | None,
) -> tuple[NDArray[np.uint8], ColourScale | None]:
    """Bytes of the right map, and the scale of what it says of leaves; None for densities."""
    if not look.of_leaves:
        return colour(private_map(release, leaves, truth.view), truth, scale, look.right), None
    true = None
    if look.by == "error":
        true = data.every.count(leaves.lower, leaves.upper).astype(float)
    values = of_leaves(release, leaves, look.by, true)
    own_scale = own_scale or leaf_scale(values, look.by)
    return own_scale.encode(leaf_map(values, leaves, truth.view, release.grid)), own_scale


def _scale(job: Job, leaves: Leaves) -> ColourScale:
    kind, source = job.look.scale, job.look.scale_from
    if source == "data":
        return ColourScale(kind, job.data.top(kind), source)
    return ColourScale(kind, top_value_of_leaves(leaves.density, leaves.cells, kind), source)
