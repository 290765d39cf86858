"""From finished runs to what the panel shows of the chosen boxes: run in the worker's thread."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.app.curator.chosen import Chosen
from explorer.app.curator.runs_work import Order
from explorer.evaluate.bias import ErrorParts
from explorer.evaluate.repeats import Spread, one_run
from explorer.grid.range_queries import edges_and_shapes, same_shape
from explorer.releases.release import Release
from explorer.views.dots import Dots

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ViewJob:
    """One request: the chosen boxes in the runs there are, and a run for the maps or None.

    Its screen is of the page's own kind, with a ``release`` and `paint`.
    """

    screen: Any
    order: Order | None
    answers: Floats
    chosen: Chosen
    shown: int | None
    previous: RunsView | None = None


@dataclass(frozen=True, eq=False)
class Picture:
    """A run as it is on the maps: ``painted`` is what the screen's `paint` made of it."""

    screen: Any
    order: Order
    run: int
    release: Release
    painted: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class RunsView:
    """What the panel shows.

    Attributes
    ----------
    stale : whether the settings have changed since the runs were ordered
    runs : number of finished runs
    names, dots, spread : one entry for each chosen box that the runs were asked about
    missing : names of chosen boxes that they were not asked about
    """

    screen: Any
    order: Order | None
    stale: bool
    runs: int
    chosen: Chosen
    missing: tuple[str, ...]
    picture: Picture | None
    names: tuple[str, ...] = ()
    dots: tuple[Dots, ...] = ()
    spread: Spread | None = None
    parts: ErrorParts | None = None


def key_of(screen: Any) -> tuple[object, ...]:
    """What runs of this screen depend on: data and settings, and not the seed."""
    return *screen.key[:2], screen.release.inside


def compute_view(job: ViewJob) -> RunsView:
    """Find the chosen boxes among those asked, summarise, draw the run that is on the map."""
    order, screen = job.order, job.screen
    stale = order is not None and order.key != key_of(screen)
    rows, matched = _found(job)
    picture = None
    if order is not None and job.shown is not None and not stale:
        picture = _picture(job, order, job.shown)
    names = np.array(job.chosen.names, dtype=str)
    if order is None:
        matched[:] = True
    view = RunsView(
        screen,
        order,
        stale,
        len(job.answers),
        job.chosen,
        missing=tuple(map(str, names[~matched])),
        picture=picture,
    )
    if order is None or not len(rows) or not len(job.answers):
        return view
    true, answers = order.true[rows], job.answers[:, rows]
    here = screen.release.answer(order.boxes[rows]).value
    return replace(
        view,
        names=tuple(map(str, names[matched])),
        dots=tuple(
            Dots(answers[:, i], float(true[i]), float(here[i]), job.shown) for i in range(len(rows))
        ),
        spread=Spread.of(answers, true),
        parts=ErrorParts.of(answers, true) if len(answers) > 1 else None,
    )


def _found(job: ViewJob) -> tuple[Rows, NDArray[np.bool_]]:
    """Rows of the order for the chosen boxes, and which of these it has: the same edges."""
    n = len(job.chosen)
    if job.order is None or not n or not len(job.order.boxes):
        return np.zeros(0, dtype=np.int64), np.zeros(n, dtype=bool)
    chosen, its = edges_and_shapes(job.chosen.boxes)
    ordered, theirs = edges_and_shapes(job.order.boxes)
    chosen, ordered = chosen.reshape(n, 1, -1), ordered.reshape(1, len(ordered), -1)
    # NaN represents anywhere, which is the same as anywhere.
    same = ((chosen == ordered) | (np.isnan(chosen) & np.isnan(ordered))).all(axis=2)
    for row, column in np.argwhere(same):
        same[row, column] = same_shape(its[row], theirs[column])
    matched = same.any(axis=1)
    return same.argmax(axis=1)[matched], matched


def _picture(job: ViewJob, order: Order, run: int) -> Picture:
    """The run again, from its own seed: to keep two hundred maps would cost more than this."""
    screen = job.screen
    old = None if job.previous is None else job.previous.picture
    if old is not None and (old.order, old.run) == (order, run):
        if old.screen is screen:
            return old
        release = old.release
    else:
        release = one_run(order.data.matrix, order.mechanism, run, order.inside)
    return Picture(screen, order, run, release, screen.paint(release))
