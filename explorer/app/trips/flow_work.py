"""From a screen of trips to its flows between zones: run in a thread."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from explorer.app.trips.screen import TripScreen
from explorer.grid.grid import Grid
from explorer.releases.flows import Direction, Flows, flows
from explorer.releases.places import place_counts
from explorer.trips.found import LEVELS, exact_flows, found
from explorer.views.flows import FlowPicture, flow_picture
from explorer.views.scale import ColourScale, top_value_of_leaves

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class FlowChoice:
    """What the panel is asked for.

    Parameters
    ----------
    zones : along each side of a place
    pair : the two places, from 0
    direction : "between" all zones, or those "incoming" to or "outgoing" from one
    zone : that one, where there is one
    most : so many arcs
    loops : whether flows that stay in their zone are drawn
    """

    zones: int = 8
    pair: tuple[int, int] = (0, 1)
    direction: Direction = "between"
    zone: int | None = None
    most: int = 50
    loops: bool = False


@dataclass(frozen=True, eq=False)
class FlowScreen:
    """What the panel shows.

    Attributes
    ----------
    every : all flows of the release; ``drawn`` those on the map, largest first
    true : exact counts of all flows, (zones, zones): the curator's
    table : false discoveries and misses by size of the zones: the curator's
    """

    screen: TripScreen
    choice: FlowChoice
    every: Flows
    drawn: Flows
    picture: FlowPicture
    true: Floats
    table: pd.DataFrame


@dataclass(frozen=True, eq=False)
class FlowJob:
    """One request; what is still right in ``previous`` is used again.

    ``half_width`` (n,) of all flows by simulation, once it is known.
    """

    screen: TripScreen
    choice: FlowChoice
    half_width: Floats | None = None
    previous: FlowScreen | None = None


def find_flows(job: FlowJob) -> FlowScreen:
    """Count all flows, choose those to be drawn, hold them against the truth.

    Raises
    ------
    InputError
        For zones finer than the grids, or too many of them.
    """
    screen, choice, old = job.screen, job.choice, job.previous
    if choice.direction == "between":
        choice = replace(choice, zone=None)
    release, matrix = screen.release, screen.data.matrix
    same = old is not None and old.screen.release is release and old.choice.pair == choice.pair
    if old is not None and same and old.choice.zones == choice.zones:
        every, true = old.every, old.true
    else:
        every = flows(release, choice.zones, choice.pair)
        true = exact_flows(matrix, every.origins, every.destinations, choice.pair)
    if job.half_width is not None and len(job.half_width) == len(every):
        every = every.with_half_width(job.half_width)
    table = old.table if same and old is not None else found(matrix, release, LEVELS, choice.pair)
    if choice.direction != "between" and choice.zone is None:
        # The zone that most arrive in, or leave.
        choice = replace(choice, zone=int(np.argmax(every.totals(choice.direction))))
    drawn = every.largest(choice.most, choice.direction, choice.zone, choice.loops)
    drawn = drawn.select(drawn.value > 0)
    private = place_counts(release, choice.pair[0])
    ones = np.ones(private.size, dtype=np.int64)
    ground = ColourScale("log", top_value_of_leaves(private.ravel(), ones, "log"), "release")
    ones = np.ones(len(every), dtype=np.int64)
    scale = ColourScale("log", top_value_of_leaves(every.value, ones, "log"), "release")
    ends = _on(every.origins.grid, every.destinations.grid, every.destinations.centres)
    picture = flow_picture(every, drawn, ends, ground.encode(private.astype(np.float32)), scale)
    return FlowScreen(screen, choice, every, drawn, picture, true, table)


def _on(ground: Grid, other: Grid, middles: Floats) -> Floats:
    """Points of another place's grid (n, 2) on the map of the origin."""
    if ground.crs is None or other.crs is None or ground.crs == other.crs:
        return middles
    x, y = ground.from_lonlat(*other.to_lonlat(*middles.T))
    return np.stack([x, y], axis=1)
