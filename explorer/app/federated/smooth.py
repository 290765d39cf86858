"""City against smooth map: the same number of people, asked by rounds or once over an even grid."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.app.curator.comparing import Order
from explorer.app.curator.data import CityData
from explorer.app.federated.comparison import errors, telling
from explorer.app.federated.screen import REFINING, people_of
from explorer.app.work.cache import Shelf
from explorer.app.work.job import Run
from explorer.errors import InputError
from explorer.evaluate.repeats import seed_of
from explorer.federated.mechanism import START, Federated
from explorer.federated.people import People
from explorer.grid.grid import Grid
from explorer.points.matrix import FrequencyMatrix
from explorer.releases.distributed import DistributedRelease
from explorer.views.partition import Leaves
from explorer.views.pictures import private_map
from explorer.views.scale import ColourScale, top_value
from explorer.views.truth import true_map
from explorer.views.viewport import Viewport

Counts = NDArray[np.int64]

#: Standard deviation of the blur, as a part of the longer side of the map.
WIDTH = 1 / 25
#: Previews by rounds, whose error varies by a few percent; that of an even grid hardly does.
RUNS = 3
#: The finest even grid, 256 x 256: finer ones are all noise.
FINEST = 8
#: Pixels on a side of a picture; the browser scales it to the space there is.
PIXELS = 240


@dataclass(frozen=True, eq=False)
class Asked:
    """One way to ask the people of one map.

    Attributes
    ----------
    level : of the even grid, 2^level cells a side; 0 is by rounds
    mse, l1 : of shares of people in cells, and L1 / N
    numbers : that a person sends at most, in the last preview
    picture : bytes (height, width) on the colour scale of its map
    """

    level: int
    mse: float
    l1: float
    numbers: int
    picture: NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Held:
    """What was found on one map; exact data: it is for the curator's screen.

    Attributes
    ----------
    title : of the map
    true : its picture, bytes (height, width)
    refined : by rounds
    even : every even grid, the coarsest first
    """

    title: str
    true: NDArray[np.uint8]
    refined: Asked
    even: tuple[Asked, ...]

    @property
    def best(self) -> Asked:
        """The even grid with the least squared error: who knows it has seen the truth."""
        return min(self.even, key=lambda grid_answers: grid_answers.mse)

    @property
    def ratio(self) -> float:
        """Squared error of the best even grid over that of rounds; above 1 rounds win."""
        return self.best.mse / max(self.refined.mse, 1e-300)


@dataclass(frozen=True, eq=False)
class CityOrSmooth:
    """Both maps of one order."""

    order: Order
    grid: Grid
    city: Held
    smooth: Held


_HELD: Shelf[tuple[Held, Held]] = Shelf(4)


def smoothed(counts: Counts) -> Counts:
    """As many people as ``counts`` (rows, cols) has, spread by a Gaussian of `WIDTH`.

    >>> town = np.zeros((32, 32), dtype=np.int64)
    >>> town[10, 10] = 1000
    >>> int(smoothed(town).sum()), int(smoothed(town).max()) < 100
    (1000, True)
    """
    from scipy.ndimage import gaussian_filter

    spread = gaussian_filter(counts.astype(np.float64), max(counts.shape) * WIDTH)
    total = int(counts.sum())
    # Whole people: each cell gets what the running total has gained by it.
    running = np.floor(np.cumsum(spread) * (total / max(spread.sum(), 1e-300)) + 0.5)
    running[-1:] = total
    result: Counts = np.diff(running, prepend=0.0).astype(np.int64).reshape(counts.shape)
    return result


def hold(order: Order, run: Run) -> CityOrSmooth:
    """Ask both maps in both ways, with the settings of the screen. In a thread.

    Raises
    ------
    InputError
        Where a person has several records, or no one could be asked.
    """
    mechanism: Federated = order.chosen.with_(mode="summed")
    if mechanism.algorithm not in REFINING:
        mechanism = mechanism.with_(algorithm="people")
    data: CityData = order.data

    def found() -> tuple[Held, Held]:
        city = _held(data.title, data.matrix, people_of(data), mechanism, run, 0.0)
        counts = smoothed(data.matrix.counts)
        matrix = FrequencyMatrix.from_array(counts, data.grid)
        people = People.of_matrix(matrix)
        return city, _held("As many people, spread smoothly", matrix, people, mechanism, run, 0.5)

    city, smooth = _HELD.get((data.matrix.key, repr(mechanism)), found)
    return CityOrSmooth(order, data.grid, city, smooth)


def _held(
    title: str, matrix: FrequencyMatrix, people: People, base: Federated, run: Run, before: float
) -> Held:
    """One map; of all work, ``before`` is done and a half is its own."""
    view = Viewport.whole(matrix.grid, PIXELS)
    scale = ColourScale("log", top_value(matrix.counts, "log"), "data")
    levels = range(START, min(FINEST, people.depth) + 1)
    if not levels:
        raise InputError("This map has too few cells to be refined: choose a finer grid.")

    def asked(mechanism: Federated, level: int, runs: int) -> Asked:
        of_runs = []
        release: DistributedRelease | None = None
        share = 0.5 / (len(levels) + 1)
        done = before + share * (level and level - START + 1)
        for again in range(runs):
            tell = telling(run, done + share * again / runs, share / runs)
            tell(0.0)
            release = mechanism.release(people, seed_of(again), tell)
            of_runs.append(errors(release, matrix.counts))
        assert release is not None
        mse, l1 = np.mean(of_runs, axis=0)
        picture = scale.encode(private_map(release, Leaves.of(release), view))
        numbers = max(row.cells for row in release.heard)
        return Asked(level, float(mse), float(l1), numbers, picture)

    return Held(
        title,
        scale.encode(true_map(matrix.counts, matrix.grid, view).shown),
        asked(base, 0, RUNS),
        tuple(
            asked(base.with_(algorithm="flat", depth=level, level=None), level, 1)
            for level in levels
        ),
    )
