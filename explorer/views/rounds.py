"""What is marked on a map while rounds are shown: divided cells, cells given up, cells in noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from bokeh.models import ColumnDataSource, GlyphRenderer, LinearColorMapper
from bokeh.plotting import figure
from numpy.typing import NDArray

from explorer.releases.quarters import KeyTree, interleave, level_of, separate
from explorer.views import palette
from explorer.views.viewport import Viewport

if TYPE_CHECKING:
    from explorer.grid.grid import Grid

#: A cell whose shorter side is below so many pixels has no outline of its own.
_LEGIBLE = 3.0
#: More outlines than so many, smallest first, are left out: they would only cover the map.
_MOST = 3_000
#: Divided after this round, given up after it, and cells with less than their noise.
DIVIDED, GIVEN_UP, GREY = palette.HOVER, "#ff9d5c", "#aeb9c4"
_GREY_PALETTE = ("#00000000", f"{GREY}d9")
#: Pixels from one grey stripe to the next, and the width of one.
_APART, _STRIPE = 6, 2
_EDGES = ("x0", "y0", "x1", "y1")


@dataclass(frozen=True, eq=False)
class Marked:
    """What one round marks, in grid units.

    Attributes
    ----------
    split, gone : (k, 4) cells that were divided, and cells that were given up
    grey : (height, width) uint8, 1 where noise exceeds the count, row 0 south; None for nowhere
    view : what `grey` covers
    """

    split: NDArray[np.float64]
    gone: NDArray[np.float64]
    grey: NDArray[np.uint8] | None
    view: Viewport

    @classmethod
    def of(
        cls,
        tree: KeyTree,
        split: NDArray[np.int64],
        gone: NDArray[np.int64],
        drowned: NDArray[np.bool_] | None,
        grid: Grid,
        view: Viewport,
    ) -> Marked:
        """The marks of a round.

        Parameters
        ----------
        tree : that was asked about
        split, gone : keys of its cells
        drowned : (v,) which open nodes have less than their noise; None to leave them as they are
        grid : whose beginning the tree's square fills
        view : Viewport
        """
        grey = None if drowned is None else _picture(tree, drowned, grid, view)
        divided, given_up = (_legible(boxes_of(keys, grid), view) for keys in (split, gone))
        return cls(divided, given_up, grey, view)


def boxes_of(keys: NDArray[np.int64], grid: Grid) -> NDArray[np.float64]:
    """Cells of a tree on a grid, (k, 4) x0, y0, x1, y1 in grid units.

    Parameters
    ----------
    keys : (k,) nodes; the tree's square is the smallest power of two that holds the grid
    grid : Grid
    """
    side = 1 << (max(grid.shape) - 1).bit_length()
    level = level_of(keys)
    column, row = separate(keys - (np.int64(1) << 2 * level))
    size = side >> level
    lower = np.stack([row, column], axis=1) * size[:, np.newaxis]
    upper = lower + size[:, np.newaxis]
    limit = np.array(grid.shape)
    ends = np.stack([np.minimum(lower, limit), np.minimum(upper, limit)], axis=1)
    nonempty = np.all(ends[:, 1] > ends[:, 0], axis=1)
    return np.asarray(grid.from_cells(ends[nonempty].astype(np.float64)), dtype=np.float64)


def _legible(boxes: NDArray[np.float64], view: Viewport) -> NDArray[np.float64]:
    x0, y0, x1, y1 = boxes.reshape(-1, 4).T
    side = np.minimum((x1 - x0) * view.pixels_per_x, (y1 - y0) * view.pixels_per_y)
    in_view = (x1 > view.x0) & (x0 < view.x1) & (y1 > view.y0) & (y0 < view.y1)
    legible = np.flatnonzero((side >= _LEGIBLE) & in_view)
    return boxes[legible[np.argsort(-side[legible], kind="stable")[:_MOST]]]


def _picture(
    tree: KeyTree, drowned: NDArray[np.bool_], grid: Grid, view: Viewport
) -> NDArray[np.uint8]:
    """1 in each pixel whose cell is one of those, (height, width)."""
    side = 1 << (max(grid.shape) - 1).bit_length()
    col0, row0, col1, row1 = view.cells(grid)
    rows, inside_rows = _cells(row0, row1, view.height, grid.shape[0])
    cols, inside_cols = _cells(col0, col1, view.width, grid.shape[1])
    shift = int(side).bit_length() - 1 - tree.depth
    code = interleave(0, rows >> shift)[:, np.newaxis] | interleave(cols >> shift, 0)
    pixels = drowned[tree.table[code]]
    pixels &= inside_rows[:, np.newaxis] & inside_cols
    return pixels.astype(np.uint8)


def _cells(
    start: float, end: float, pixels: int, size: int
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The cell under the middle of each pixel, and whether it is on the grid."""
    at = np.floor(start + (np.arange(pixels) + 0.5) * (end - start) / pixels).astype(np.int64)
    return np.clip(at, 0, size - 1), (at >= 0) & (at < size)


def striped(grey: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Slanting stripes of what is marked, (height, width): an even grey is a count on some scales.

    >>> int(striped(np.ones((6, 6), dtype=np.uint8)).sum())
    12
    """
    rows, cols = np.ogrid[: grey.shape[0], : grey.shape[1]]
    return np.asarray(grey * ((rows + cols) % _APART < _STRIPE), dtype=np.uint8)


class RoundMarks:
    """The marks of a round on one figure.

    Parameters
    ----------
    fig : figure
    above : the renderer right below them; all others that ``fig`` has stay above
    """

    def __init__(self, fig: figure, above: GlyphRenderer) -> None:
        others = list(fig.renderers)
        at = others.index(above) + 1
        self.grey = ColumnDataSource({name: [] for name in ("image", "x", "y", "w", "h")})
        self.split, self.gone = (ColumnDataSource(_columns(np.zeros((0, 4)))) for _ in range(2))
        fig.image(
            "image",
            x="x",
            y="y",
            dw="w",
            dh="h",
            source=self.grey,
            color_mapper=LinearColorMapper(palette=list(_GREY_PALETTE), low=0, high=2),
        )
        edges = {"left": "x0", "bottom": "y0", "right": "x1", "top": "y1"}
        fig.quad(
            **edges,
            source=self.split,
            fill_color=None,
            line_color=DIVIDED,
            line_width=2,
        )
        fig.quad(
            **edges,
            source=self.gone,
            fill_color=None,
            line_color=GIVEN_UP,
            line_width=1,
            hatch_pattern="x",
            hatch_color=GIVEN_UP,
            hatch_alpha=0.8,
            hatch_scale=8,
        )
        fig.renderers = [*others[:at], *fig.renderers[len(others) :], *others[at:]]

    def show(self, marked: Marked | None) -> None:
        """Show the marks of a round, or none."""
        nothing = np.zeros((0, 4))
        for source, boxes in (
            (self.split, nothing if marked is None else marked.split),
            (self.gone, nothing if marked is None else marked.gone),
        ):
            if len(boxes) or len(source.data["x0"]):
                source.data = _columns(boxes)
        if marked is not None and marked.grey is not None:
            view = marked.view
            self.grey.data = {
                "image": [striped(marked.grey)],
                "x": [view.x0],
                "y": [view.y0],
                "w": [view.x1 - view.x0],
                "h": [view.y1 - view.y0],
            }
        elif len(self.grey.data["image"]):
            self.grey.data = {name: [] for name in ("image", "x", "y", "w", "h")}


def _columns(boxes: NDArray[np.float64]) -> dict[str, Any]:
    # Copies: a source that holds views of one array never notices a change in it.
    edges = boxes.astype(np.float32)
    return {name: edges[:, i].copy() for i, name in enumerate(_EDGES)}
