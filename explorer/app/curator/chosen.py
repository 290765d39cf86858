"""Which of a visitor's boxes a panel tells about: the selected ones, or the first few."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.app.boxes.rectangles import Rectangles
from explorer.grid.range_queries import Queries


@dataclass(frozen=True, eq=False)
class Chosen:
    """Some of the boxes.

    Attributes
    ----------
    names : of the boxes
    boxes : (n, 4) x0, y0, x1, y1 in grid units, or some of them polygons; of k places (n, k, 4)
        with gaps NaN
    sentence : which they are, where that is not all
    """

    names: tuple[str, ...]
    boxes: Queries
    sentence: str

    def __len__(self) -> int:
        return len(self.names)


def chosen(rectangles: Rectangles, limit: int) -> Chosen:
    """The selected boxes, all when none is selected, at most ``limit`` of them."""
    picked = sorted(rectangles.selected)
    rows = picked or list(range(len(rectangles)))
    kind = "selected boxes" if picked else "boxes"
    sentence = ""
    if not rows:
        sentence = "No box has been drawn: drag one on a map."
    elif len(rows) > limit:
        sentence = f"The first {limit} of {len(rows)} {kind}; select rows of the table for others."
    elif picked and len(rows) < len(rectangles):
        sentence = f"Only the {len(rows)} selected of {len(rectangles)} boxes."
    rows = rows[:limit]
    return Chosen(tuple(rectangles.names[row] for row in rows), rectangles.queries[rows], sentence)
