"""From finished runs to what the panel shows of the chosen boxes: run in the worker's thread."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from explorer.app.curator.chosen import Chosen
from explorer.app.curator.runs_work import Order
from explorer.app.curator.screen import Screen
from explorer.evaluate.repeats import Spread, seed_of
from explorer.releases.release import Release
from explorer.views.dots import Dots
from explorer.views.partition import Leaves, Partition, partition
from explorer.views.pictures import colour, private_map

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ViewJob:
    """One request: the chosen boxes in the runs there are, and a run for the map or None."""

    screen: Screen
    order: Order | None
    answers: Floats
    chosen: Chosen
    shown: int | None
    previous: RunsView | None = None


@dataclass(frozen=True, eq=False)
class Picture:
    """A run as it stands on the map."""

    screen: Screen
    order: Order
    run: int
    release: Release
    bytes: NDArray[np.uint8]
    partition: Partition


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

    screen: Screen
    order: Order | None
    stale: bool
    runs: int
    chosen: Chosen
    missing: tuple[str, ...]
    picture: Picture | None
    names: tuple[str, ...] = ()
    dots: tuple[Dots, ...] = ()
    spread: Spread | None = None


def key_of(screen: Screen) -> tuple[object, ...]:
    """What runs of this screen depend on: data and settings, and not the seed."""
    return screen.key[:2]


def compute_view(job: ViewJob) -> RunsView:
    """Find the chosen boxes among those asked, summarise, draw the run that is on the map."""
    order, screen = job.order, job.screen
    stale = order is not None and order.key != key_of(screen)
    rows, found = _found(job)
    picture = None
    if order is not None and job.shown is not None and not stale:
        picture = _picture(job, order, job.shown)
    names = np.array(job.chosen.names, dtype=str)
    if order is None:
        found[:] = True
    view = RunsView(
        screen,
        order,
        stale,
        len(job.answers),
        job.chosen,
        missing=tuple(map(str, names[~found])),
        picture=picture,
    )
    if order is None or not len(rows) or not len(job.answers):
        return view
    true, answers = order.true[rows], job.answers[:, rows]
    here = screen.release.answer(order.boxes[rows]).value
    return replace(
        view,
        names=tuple(map(str, names[found])),
        dots=tuple(
            Dots(answers[:, i], float(true[i]), float(here[i]), job.shown) for i in range(len(rows))
        ),
        spread=Spread.of(answers, true),
    )


def _found(job: ViewJob) -> tuple[Rows, NDArray[np.bool_]]:
    """Rows of the order for the chosen boxes, and which of these it has: the same four edges."""
    n = len(job.chosen)
    if job.order is None or not len(job.order.boxes):
        return np.zeros(0, dtype=np.int64), np.zeros(n, dtype=bool)
    same = (job.chosen.boxes[:, None] == job.order.boxes[None]).all(axis=2)
    found = same.any(axis=1)
    return same.argmax(axis=1)[found], found


def _picture(job: ViewJob, order: Order, run: int) -> Picture:
    """The run again, from its own seed: to keep two hundred maps would cost more than this."""
    screen = job.screen
    old = None if job.previous is None else job.previous.picture
    if old is not None and (old.order, old.run) == (order, run):
        if old.screen is screen:
            return old
        release = old.release
    else:
        release = order.mechanism.release(order.data.matrix, rng=seed_of(run))
    leaves = Leaves.of(release)
    values = private_map(release, leaves, screen.view)
    strength = 0.25 if screen.look.right == "difference" else 0.5
    return Picture(
        screen,
        order,
        run,
        release,
        colour(values, screen.truth, screen.scale, screen.look.right),
        partition(leaves, screen.view, order.data.grid, strength),
    )
