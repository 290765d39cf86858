"""What a mechanism can be expected to give on an extent, before any data is looked at."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid.cards import card
from explorer.grid.grid import Grid
from explorer.grid.values import shown
from explorer.points.matrix import FrequencyMatrix
from explorer.releases.release import Release

if TYPE_CHECKING:
    import pandas as pd

#: The most records that may be expected.
MOST_EXPECTED = 10**9
# Previews of each made-up layout; their figures are averaged.
_DRAWS = 3
# Of the extent's side: how far from its centre a town is dense.
_CORE = 0.08
_COLUMNS = ("leaves", "sd_of_leaf", "sd_of_quarter", "sd_of_all")


@dataclass(frozen=True, eq=False)
class Forecast:
    """Leaves and noise of a mechanism on made-up layouts of so many records."""

    mechanism: str  # as it is written in code
    expected: int  # records in all
    figures: Mapping[str, Mapping[str, float]]  # for each layout, by its name, see `to_frame`

    def to_frame(self) -> pd.DataFrame:
        """A row for each layout.

        Returns
        -------
        DataFrame
            ``leaves``, and standard deviations of the noise: ``sd_of_leaf`` (median over leaves),
            ``sd_of_quarter`` (of a box over the middle quarter of the extent), ``sd_of_all`` (of
            the whole extent). In records, averages over three previews.
        """
        import pandas as pd

        return pd.DataFrame(self.figures).T[list(_COLUMNS)].rename_axis("layout")

    def __repr__(self) -> str:
        lines = "; ".join(
            f"{name}: {row['leaves']:,.0f} leaves, noise of a leaf {row['sd_of_leaf']:,.1f}, of a "
            f"quarter of the map {row['sd_of_quarter']:,.1f}"
            for name, row in self.figures.items()
        )
        return f"Forecast({self.mechanism} on {self.expected:,} made-up records; {lines})"

    def _repr_html_(self) -> str:
        rows = {
            name: f"{row['leaves']:,.0f} leaves; noise (standard deviation) of a leaf "
            f"{row['sd_of_leaf']:,.1f}, of a quarter of the map {row['sd_of_quarter']:,.1f}, of "
            f"all {row['sd_of_all']:,.1f}"
            for name, row in self.figures.items()
        }
        note = f"{self.expected:,} made-up records on the extent; no data was looked at."
        return card(self.mechanism, rows, note=note)


#: From counts and a seed to a preview.
Drawn = Callable[[FrequencyMatrix, int], Release]


def forecast(
    name: str, draw: Drawn, grid: Grid, expected: float, contribution_bound: int = 1
) -> Forecast:
    """The forecast of a mechanism of that name that draws so; see `Mechanism.summarize`."""
    if not isinstance(grid, Grid):
        raise InputError(
            "What is to be expected is asked of a public extent; give a grid, such as "
            'Grid.around(13.4, 52.5, "20km").'
        )
    number: object = expected
    real = isinstance(number, int | float | np.integer | np.floating)
    if isinstance(number, bool) or not real or not 1 <= expected <= MOST_EXPECTED:
        raise InputError(
            f"The records to expect are {shown(expected)}: give a number, 1 to {MOST_EXPECTED:,}."
        )
    figures = {}
    for layout, density in (("even", _even(grid)), ("one town", _town(grid))):
        counts = _placed(density, round(expected))
        made_up = FrequencyMatrix.from_array(counts, grid, contribution_bound)
        drawn = [_figures(draw(made_up, seed), grid) for seed in range(_DRAWS)]
        figures[layout] = {
            column: float(np.mean([row[column] for row in drawn])) for column in _COLUMNS
        }
    return Forecast(name, round(expected), figures)


def _even(grid: Grid) -> NDArray[np.float64]:
    return np.ones(grid.shape)


def _town(grid: Grid) -> NDArray[np.float64]:
    """A centre from which density falls with the cube of the distance, as around a town."""
    rows, cols = grid.shape
    y, x = (np.arange(rows) + 0.5) / rows - 0.42, (np.arange(cols) + 0.5) / cols - 0.45
    squared: NDArray[np.float64] = (y**2)[:, None] + (x**2)[None, :]
    return (1 + squared / _CORE**2) ** -1.5


def _placed(density: NDArray[np.float64], number: int) -> NDArray[np.int64]:
    """So many records over cells in proportion to a density, the same for the same arguments.

    Each cell gets the step of the rounded running sum, so that all add up to ``number``.
    """
    share = np.cumsum(density.ravel())
    steps = np.rint(share / share[-1] * number).astype(np.int64)
    return np.diff(steps, prepend=0).reshape(density.shape)


def _figures(release: Release, grid: Grid) -> dict[str, float]:
    x0, y0, x1, y1 = grid.bounds
    w, h = (x1 - x0) / 4, (y1 - y0) / 4
    quarter = np.array([[x0 + w, y0 + h, x1 - w, y1 - h]])
    answers = release.answer(np.concatenate([quarter, [[x0, y0, x1, y1]]]))
    return dict(
        zip(
            _COLUMNS,
            (release.n_leaves, float(np.median(release.sd)), *answers.sd.tolist()),
            strict=True,
        )
    )
