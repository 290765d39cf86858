"""Boxes that a person draws or types on a map: how many, how they are named, how finely kept."""

from __future__ import annotations

from collections.abc import Sequence

from explorer.grid.grid import Grid

Box = tuple[float, float, float, float]

MOST_BOXES = 200
#: The longest name, in characters.
NAME_LENGTH = 40
#: Edges are kept to a thousandth of the grid's unit (a millimetre), so that links stay short.
DECIMALS = 3
#: The two boxes that a page begins with, as parts of the map: a district and a fringe.
_EXAMPLES: tuple[Box, ...] = ((0.40, 0.45, 0.575, 0.575), (0.625, 0.60, 0.725, 0.70))


def rounded(edge: float) -> float:
    """An edge of a box as it is kept.

    >>> rounded(1234.56789), rounded(-0.0001)
    (1234.568, 0.0)
    """
    return round(float(edge), DECIMALS) + 0.0


def examples(grid: Grid) -> list[Box]:
    """The two boxes that a page begins with, x0, y0, x1, y1 on ``grid``."""
    x0, y0 = grid.bounds[:2]
    w, h = grid.width, grid.height
    return [(x0 + a * w, y0 + b * h, x0 + c * w, y0 + d * h) for a, b, c, d in _EXAMPLES]


def example_rows(grids: Sequence[Grid]) -> list[tuple[Box | None, ...]]:
    """The two rows that a page begins with, each with a box for every grid, None for anywhere.

    One grid has its two examples. Of the places of trips the first row asks how many stay in the
    district, the second how many go from there to the fringe, both wherever they stop on the way.
    """
    if len(grids) == 1:
        return [(box,) for box in examples(grids[0])]
    stops = (None,) * (len(grids) - 2)
    district, (there, fringe) = examples(grids[0])[0], examples(grids[-1])
    return [(district, *stops, there), (district, *stops, fringe)]
