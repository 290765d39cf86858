"""Rounds against even grids, on the city and on a smooth map of as many people."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

import numpy as np
import panel as pn
from numpy.typing import NDArray

from explorer.app.curator.data import CityData
from explorer.app.curator.panel import Comparing, ComparingPanel, Order
from explorer.app.curator.parts import PageParts
from explorer.app.curator.screen import Screen
from explorer.app.federated.algorithms import errors, telling
from explorer.app.federated.screen import REFINING, chosen, people_of
from explorer.app.kit import ui
from explorer.app.kit.html import html_pane, put
from explorer.app.work.cache import Shelf
from explorer.app.work.job import Run, patient
from explorer.errors import InputError
from explorer.evaluate.repeats import seed_of
from explorer.federated.mechanism import START, Federated
from explorer.federated.people import People
from explorer.grid.grid import Grid
from explorer.points.matrix import FrequencyMatrix
from explorer.releases.distributed import DistributedRelease
from explorer.views import palette
from explorer.views.partition import Leaves
from explorer.views.pictures import private_map
from explorer.views.scale import ColourScale, top_value
from explorer.views.small import SmallMap
from explorer.views.tables import Cell, table
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


#: A ratio of errors so near to 1 is no difference.
_ALIKE = 0.1
_WAYS = ("true", "refined by rounds", "the best even grid, asked once")


POOL = patient(1, "smooth")


class SmoothPanel(ComparingPanel):
    """Two rows of small maps, a sentence with both ratios, a table of all even grids.

    It begins by itself when it is first opened: one click.
    """

    def __init__(self, parts: PageParts) -> None:
        comparison = Comparing(
            start="Compare again",
            done="is done",
            pool=POOL,
            compare=hold,
            chosen=chosen,
            sentence=sentence,
            table=ways_table,
        )
        super().__init__(parts, comparison)
        self._state = parts.state
        self._begun = False
        self._grid: Grid | None = None
        self.maps: list[SmallMap] = []
        self._pictures = pn.Column(sizing_mode="stretch_width", margin=(4, 0))
        self.view.insert(3, self._pictures)

    def show(self, screen: Screen) -> None:
        super().show(screen)
        if not self._begun:
            self._begun = True
            self._start()

    def hide(self) -> None:
        self._begun = self.found is not None
        super().hide()

    def restyle(self) -> None:
        for small_map in self.maps:
            small_map.recolour(palette.PALETTES[self._state.palette])

    def _done(self, result: Any) -> None:
        self._lay_out(result)
        super()._done(result)

    def _lay_out(self, result: CityOrSmooth) -> None:
        """Small maps for a grid, built once, and what is on them."""
        if self._grid != result.grid:
            self._grid = result.grid
            self.maps = [SmallMap(result.grid.bounds, "Small map") for _ in range(6)]
            self._captions = [html_pane(margin=(2, 0, 0, 0)) for _ in self.maps]
            self._titles = [html_pane(margin=(8, 0, 2, 0)) for _ in range(2)]
            self.restyle()
            cards = [self._card(i, result.grid) for i in range(6)]
            self._pictures.objects = [
                part
                for row in range(2)
                for part in (
                    self._titles[row],
                    ui.wrapping(*cards[3 * row : 3 * row + 3], gap="8px 12px"),
                )
            ]
        for row, people_map in enumerate((result.city, result.smooth)):
            put(self._titles[row], f"<h3>{html.escape(people_map.title)}</h3>")
            for i, (picture, caption) in enumerate(_told(people_map), 3 * row):
                put(self._captions[i], f"<p>{caption}</p>")
                self.maps[i].show(picture, f"{people_map.title}: {caption}")

    def _card(self, i: int, grid: Grid) -> Any:
        plot = pn.pane.Bokeh(
            self.maps[i].figure,
            sizing_mode="scale_width",
            aspect_ratio=grid.width / grid.height,
            margin=0,
        )
        return pn.Column(
            plot,
            self._captions[i],
            styles={"flex": "1 1 90px", "max-width": "240px"},
            sizing_mode="stretch_width",
            margin=0,
        )


def _told(people_map: Held) -> list[tuple[Any, str]]:
    best = people_map.best
    return [
        (people_map.true, _WAYS[0]),
        (people_map.refined.picture, f"{_WAYS[1]}: MSE {_mse(people_map.refined)}"),
        (best.picture, f"{_WAYS[2]}: MSE {_mse(best)}"),
    ]


def _mse(answers: Asked) -> str:
    return f"{answers.mse * 1e11:.3g}e-11"


def _cells(answers: Asked) -> str:
    side = 1 << answers.level
    return f"{side} × {side}"


def sentence(result: CityOrSmooth) -> str:
    """How an even grid does against rounds, on the city and on the smooth map.

    An even grid's level is chosen with the truth at hand, so it is the hardest rival there is.
    """
    city, smooth = result.city, result.smooth
    return (
        f"{city.title}, epsilon {result.order.chosen.epsilon:.4g}: the best even grid "
        f"({_cells(city.best)}) has {city.ratio:.2f} times the squared error of refining by "
        f"rounds. With as many people spread smoothly, the best one ({_cells(smooth.best)}) has "
        f"{smooth.ratio:.2f} times that of rounds. {_verdict(city.ratio, smooth.ratio)}"
    )


def _verdict(city: float, smooth: float) -> str:
    """Where rounds win, in words that the ratios bear out."""
    here, there = _wins(city), _wins(smooth)
    if here == there:
        return f"On both maps refining {here}."
    return f"So refining {here} on the city, and {there} on the smooth map."


def _wins(ratio: float) -> str:
    if ratio > 1 + _ALIKE:
        return "wins"
    return "loses" if ratio < 1 - _ALIKE else "makes no difference"


def ways_table(result: CityOrSmooth) -> str:
    """Rounds and every even grid, on the city and on the smooth map side by side."""
    columns = [
        ("way", "by rounds, or all cells of an even grid at once"),
        ("numbers", "that one person sends at most, on the city"),
        ("MSE, city", "1e-11: mean squared error of the shares of people in cells"),
        ("L1/N, city", "people that all cells are off together, over the number of people"),
        ("MSE, smooth", "as for the city"),
        ("L1/N, smooth", "as for the city"),
    ]
    pairs = [
        (result.city.refined, result.smooth.refined),
        *zip(result.city.even, result.smooth.even, strict=True),
    ]
    least = [min(pair[k].mse for pair in pairs) for k in range(2)]
    rows = []
    for here, there in pairs:
        title = f"Even grid, {_cells(here)}" if here.level else "Refined by rounds"
        row = [Cell(title), Cell(f"{here.numbers:,}")]
        for answers, best in zip((here, there), least, strict=True):
            row += [
                Cell(f"{answers.mse * 1e11:.3g}", best=answers.mse == best),
                Cell(f"{answers.l1:.2f}"),
            ]
        rows.append(row)
    return table("The least error of each map in bold; nothing is booked.", columns, rows)
