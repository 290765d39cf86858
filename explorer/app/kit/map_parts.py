"""What maps side by side are made of and tell: places, boxes, tags, and what is dragged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.grid.grid import Grid

Box = tuple[float, float, float, float]
#: What is at a box on a map, and in which colour.
Tag = tuple[str, str]


@dataclass(frozen=True)
class MapSpec:
    """One map of several.

    Parameters
    ----------
    grid : Grid
        Maps of the same extent move together.
    label : str
        What the picture is, for a screen reader.
    place : int
        Which box of a row of the table is drawn here: 0 unless a row has a box for each map.
    partition : int
        Maps with the same number draw the same partition, which is sent once.
    """

    grid: Grid
    label: str
    place: int = 0
    partition: int = 0


@dataclass(frozen=True)
class Handles:
    """What of a selected polygon can be dragged.

    Parameters
    ----------
    outline : (m, 2) corners of its largest part, whose inside moves all of it
    corners : (k, 2) those that can be dragged one by one; none where there are too many
    """

    outline: NDArray[np.float64]
    corners: NDArray[np.float64]


def nothing(*_: Any) -> None:
    """No one asked."""


@dataclass(frozen=True)
class Editing:
    """What is called while boxes are dragged and clicked; places are those of maps.

    Parameters
    ----------
    drawing : with place and box (x0, y0, x1, y1) of a new one, again and again; None at its end
    edited : with place, box and whether that was the end, of the selected one
    clicked : with place, x, y of each click; all of it as the browser sent it
    """

    drawing: Callable[[int, Box | None], None] = nothing
    edited: Callable[[int, Box, bool], None] = nothing
    clicked: Callable[[int, Any, Any], None] = nothing
    #: With place, corners of a polygon that is being drawn, None once it is given up, and whether
    #: it is finished; with place, corners of the selected one that is dragged, and whether that
    #: was the end.
    sketched: Callable[[int, Any, bool], None] = nothing
    reshaped: Callable[[int, Any, bool], None] = nothing
