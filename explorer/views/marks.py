"""What is marked on a map: leaves, one node, a branch over several places, cells of a round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from bokeh.models import GlyphRenderer, LinearColorMapper, Quad
from bokeh.plotting import figure
from numpy.typing import NDArray

from explorer.releases.quarters import KeyTree, interleave, level_of, separate
from explorer.views import palette
from explorer.views.figures import EDGES, LateLayer, draw, edge_columns, empty, rendered
from explorer.views.viewport import Viewport

if TYPE_CHECKING:
    from bokeh.models import ColumnDataSource

    from explorer.grid.grid import Grid

#: A box whose shorter side is below so many pixels has no outline of its own.
_LEGIBLE = 3.0
#: More parts of a branch, or cells of a round, than so many are left out, smallest first: such as
#: those of a fine grid, which would only cover the map.
_MOST_PARTS, _MOST_CELLS = 4_000, 3_000
#: Divided after this round, given up after it, and cells with less than their noise.
DIVIDED, GIVEN_UP, GREY = palette.HOVER, "#ff9d5c", "#aeb9c4"
_GREY_PALETTE = ("#00000000", f"{GREY}d9")
#: Pixels from one grey stripe to the next, and the width of one.
_APART, _STRIPE = 6, 2
_NO_BOXES = np.zeros((0, 4))


def _show(source: ColumnDataSource, columns: dict[str, Any]) -> bool:
    """Replace the columns of boxes where there were some or are some; whether there are."""
    if len(columns["x0"]) or len(source.data["x0"]):
        source.data = columns
    return len(columns["x0"]) > 0


def _sides(boxes: NDArray[np.float64], view: Viewport) -> NDArray[np.float64]:
    """(m,) the shorter side of boxes in pixels."""
    x0, y0, x1, y1 = boxes.T
    return np.minimum((x1 - x0) * view.pixels_per_x, (y1 - y0) * view.pixels_per_y)


class Marks:
    """Leaves that a box cuts through, chosen leaves and one node, on all maps they are drawn on."""

    def __init__(self) -> None:
        self.cut, self.chosen, self.node = (empty(*EDGES.values()) for _ in range(3))
        self._layer = LateLayer(self._renderers)

    def draw_on(self, fig: figure, above: GlyphRenderer | None = None) -> None:
        """Draw the marks on ``fig``, directly above a renderer or over all it shows."""
        self._layer.draw_on(fig, above)

    def _renderers(self) -> list[GlyphRenderer]:
        colour = palette.CUT
        cut = Quad(**EDGES, fill_color=colour, fill_alpha=0.3, line_color=colour, line_width=1)
        # A dark line below a light one is seen on light and on dark ground.
        outlines = (
            (self.chosen, palette.HOVER, 1.2),
            (self.node, palette.RIM, 6),
            (self.node, palette.NODE, 2.5),
        )
        return [
            rendered(self.cut, cut),
            *(
                rendered(source, Quad(**EDGES, fill_color=None, line_color=line, line_width=width))
                for source, line, width in outlines
            ),
        ]

    def show_cut(self, boxes: NDArray[np.float64]) -> None:
        """Mark leaves, (k, 4) x0, y0, x1, y1 in grid units."""
        self._mark(self.cut, boxes)

    def show_chosen(self, boxes: NDArray[np.float64]) -> None:
        """Outline chosen leaves, (k, 4) in grid units."""
        self._mark(self.chosen, boxes)

    def show_node(self, box: tuple[float, float, float, float] | None) -> None:
        """Outline one node, or none."""
        self._mark(self.node, _NO_BOXES if box is None else np.array([box], float))

    def _mark(self, source: ColumnDataSource, boxes: NDArray[np.float64]) -> None:
        if _show(source, edge_columns(boxes)):
            self._layer.need()


@dataclass(frozen=True, eq=False)
class PlaceBranch:
    """Columns of the parts that the cuts of one branch made on the map of one place."""

    columns: dict[str, Any]

    @classmethod
    def of(cls, boxes: NDArray[np.float64], cut: NDArray[np.int64], view: Viewport) -> PlaceBranch:
        """The legible parts: first cut in one colour, second in another, and so on in turn.

        Parameters
        ----------
        boxes : (m, 4) x0, y0, x1, y1 in grid units
        cut : (m,) which cut of this place made them, from 0
        view : Viewport
        """
        side = _sides(boxes.reshape(-1, 4), view)
        legible = np.flatnonzero(side >= _LEGIBLE)
        legible = np.sort(legible[np.argsort(-side[legible], kind="stable")[:_MOST_PARTS]])
        colours = np.array(palette.CUTS)[cut[legible] % len(palette.CUTS)]
        alpha = np.clip((side[legible] - _LEGIBLE) / 9, 0.15, 0.9).astype(np.float32)
        edges = edge_columns(boxes.reshape(-1, 4)[legible])
        return cls({**edges, "alpha": alpha, "colour": colours.tolist()})


class BranchLines:
    """The lines of a branch on one figure."""

    def __init__(self, fig: figure) -> None:
        self._none = {**edge_columns(_NO_BOXES), "alpha": np.zeros(0, np.float32), "colour": []}
        self.source = empty(*self._none)
        look: dict[str, Any] = {"line_color": "colour", "line_alpha": "alpha", "line_width": 1.5}
        self.lines = fig.quad(**EDGES, source=self.source, fill_color=None, **look)

    def show(self, drawn: PlaceBranch | None) -> None:
        """Draw another branch, or none."""
        _show(self.source, dict(self._none) if drawn is None else drawn.columns)


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
    side = _sides(boxes, view)
    x0, y0, x1, y1 = boxes.T
    in_view = (x1 > view.x0) & (x0 < view.x1) & (y1 > view.y0) & (y0 < view.y1)
    legible = np.flatnonzero((side >= _LEGIBLE) & in_view)
    return boxes[legible[np.argsort(-side[legible], kind="stable")[:_MOST_CELLS]]]


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
        self.grey = empty("image", "x", "y", "w", "h")
        self.split, self.gone = empty(*EDGES.values()), empty(*EDGES.values())
        before = list(fig.renderers)
        fig.image(
            "image",
            x="x",
            y="y",
            dw="w",
            dh="h",
            source=self.grey,
            color_mapper=LinearColorMapper(palette=list(_GREY_PALETTE), low=0, high=2),
        )
        fig.quad(**EDGES, source=self.split, fill_color=None, line_color=DIVIDED, line_width=2)
        fig.quad(
            **EDGES,
            source=self.gone,
            fill_color=None,
            line_color=GIVEN_UP,
            line_width=1,
            hatch_pattern="x",
            hatch_color=GIVEN_UP,
            hatch_alpha=0.8,
            hatch_scale=8,
        )
        added = fig.renderers[len(before) :]
        fig.renderers = before
        draw(fig, *added, above=above)

    def show(self, marked: Marked | None) -> None:
        """Show the marks of a round, or none."""
        _show(self.split, edge_columns(_NO_BOXES if marked is None else marked.split))
        _show(self.gone, edge_columns(_NO_BOXES if marked is None else marked.gone))
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
            self.grey.data = {name: [] for name in self.grey.data}
