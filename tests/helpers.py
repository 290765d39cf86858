"""Small matrices and a source without noise, shared by the tests of the core."""

from __future__ import annotations

import itertools

import numpy as np
from bokeh.document import Document
from bokeh.events import ModelEvent

from explorer import FrequencyMatrix, Grid, Points
from explorer.mechanisms import Mechanism
from explorer.privacy.curator import Curator
from explorer.privacy.noise import PreviewNoise
from explorer.releases.inference import Estimate
from explorer.releases.release import Release
from explorer.releases.units import to_units


def happen(event: ModelEvent) -> None:
    """Deliver an event to the model it names, as a server does."""
    document = Document()
    document.add_root(event.model)
    document.callbacks.trigger_event(event)
    # The model may share parts with others, which get a document of their own.
    document.clear()


class NoNoise(PreviewNoise):
    """Answers exactly; shows what a plan does when chance is taken out."""

    def __init__(self) -> None:
        super().__init__(0)

    def laplace(self, values, sensitivity, units, keys, stage):
        """The values as they are."""
        return values.copy()

    def lowest(self, costs, offsets, sensitivity, units, keys, stage):
        """The true minimum of each group."""
        groups = itertools.pairwise(offsets)
        return np.array([int(np.argmin(costs[a:b])) for a, b in groups])


def around(grid: Grid, n: int, seed: int = 0) -> Points:
    """Return places all over an extent and a fifth beyond it, some with longitudes above 180."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-0.6, 0.6, n) * grid.width
    y = rng.uniform(-0.6, 0.6, n) * grid.height
    lon, lat = grid.to_lonlat(x, y)
    lon[::3] %= 360.0
    return Points(lon, lat)


def city(shape=(64, 64), people=20_000, seed=0) -> FrequencyMatrix:
    """A made-up matrix: two towns on an empty plain."""
    rng = np.random.default_rng(seed)
    counts = np.zeros(shape, dtype=np.int64)
    for centre, spread, part in (((0.3, 0.4), 0.05, 0.7), ((0.7, 0.6), 0.12, 0.3)):
        place = rng.normal(centre, spread, (int(people * part), 2)) * shape
        inside = np.all((place >= 0) & (place < shape), axis=1)
        np.add.at(counts, tuple(place[inside].astype(int).T), 1)
    return FrequencyMatrix.from_array(counts)


def run(mechanism: Mechanism, matrix: FrequencyMatrix, noise) -> tuple[Release, Curator]:
    """Run a plan with a given source of noise; also returns the curator, for its books."""
    curator = Curator(matrix, to_units(mechanism.epsilon), noise)
    estimate: Estimate = mechanism.plan(curator)
    release = Release.from_estimate(
        estimate,
        mechanism=mechanism.key,
        parameters={},
        units=curator.units,
        preview=True,
        grid=matrix.grid,
        unit=matrix.unit,
        contribution_bound=matrix.contribution_bound,
        ledger=tuple(curator.ledger),
    )
    return release, curator
