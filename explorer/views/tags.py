"""Where the tags of many boxes are on a map, so that none covers another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

#: A tag above a box needs this part of the map's height; at its upper edge tags are inside.
TAG_HEIGHT = 0.045
#: A box that begins right of this part of the map's width has its tag at its right edge.
TAG_TURNS = 0.5
#: Pixels from one tag to that above it, of a letter and around a text, of a gap between two tags.
_ROW, _LETTER, _AROUND, _GAP = 24, 7.3, 10, 3
#: Pixels by which a tag is higher for each further line.
_LINE = 15
#: Letters of an answer that is not known yet, next to the name.
_ANSWER = 15
#: Pixels of a map whose size is not known yet: it is never much less wide.
SIDE = 480.0
# Where a tag goes whose place is taken: so many tags higher, or lower. Of many boxes a tag far
# from its own says nothing.
_LIFTS, _MANY, _FEW_LIFTS = (0, 1, 2, 3, -1, -2), 12, (0, -1)
#: The part of a map that tags may cover before further ones are left out.
_MOST_COVERED = 0.3


def highest_tag(bounds: tuple[float, float, float, float], lines: int = 1) -> float:
    """Where the highest tag of a map may begin, in grid units: above it would leave the map."""
    return bounds[3] - lines * TAG_HEIGHT * (bounds[3] - bounds[1])


@dataclass(frozen=True, eq=False)
class TagPlaces:
    """Where the tags of n boxes belong; all (n,), in grid units.

    Attributes
    ----------
    x, y : the lower corner of each, or its middle
    turned : whether that is its right corner
    middle : whether it is its middle
    first : whose tags are before others': selected ones
    """

    x: Floats
    y: Floats
    turned: Bools
    middle: Bools
    first: Bools

    @classmethod
    def nowhere(cls) -> TagPlaces:
        """Of no box."""
        none, no = np.zeros(0), np.zeros(0, dtype=bool)
        return cls(none, none, no, no, no)

    def columns(
        self,
        texts: Sequence[Sequence[str]],
        scale: float,
        bounds: tuple[float, float, float, float] | None,
    ) -> dict[str, Any]:
        """Columns of a source: the places of tags, NaN of those that are left out.

        Parameters
        ----------
        texts : of each map the n texts, "" for one that is not known yet
        scale : pixels of a grid unit
        bounds : x0, y0, x1, y1 of the map in grid units; None where it is not known
        """
        letters = np.max([[_letters(text) for text in of] for of in texts], axis=0, initial=0)
        lines = max((1 + text.count("\n") for of in texts for text in of), default=1)
        width, row = _LETTER * letters + _AROUND, _ROW + _LINE * (lines - 1)
        x, y, visible = self.x, self.y.copy(), np.isfinite(self.x)
        lift = np.zeros(len(x), dtype=np.int64)
        if bounds is not None:
            # A tag in the middle of what reaches the edge stays on the map.
            half, (x0, _, x1, _) = width / 2 / scale, bounds
            x = np.where(self.middle, np.clip(x, x0 + half, np.maximum(x1 - half, x0 + half)), x)
            # A higher tag begins lower at the upper edge of the map.
            y = np.where(self.middle, y, np.minimum(y, highest_tag(bounds, lines)))
            lift, visible = self._lifted(x, y, width, row, scale, bounds)
        along = np.where(self.turned, "right", np.where(self.middle, "center", "left"))
        shift = np.where(self.turned, -4, np.where(self.middle, 0, 4))
        return {
            "x": np.where(visible, x, np.nan),
            "y": y,
            "lift": np.where(self.middle, 10 + (row - _ROW) // 2, -4) - row * lift,
            "shift": shift,
            "align": along.tolist(),
        }

    def _lifted(
        self,
        x: Floats,
        y: Floats,
        width: Floats,
        row: int,
        scale: float,
        bounds: tuple[float, float, float, float],
    ) -> tuple[NDArray[np.int64], Bools]:
        """How many tags higher each is, and which are shown; a tag is ``row`` pixels high."""
        n, (x0, y0, x1, y1) = len(x), bounds
        lift, visible = np.zeros(n, dtype=np.int64), np.isfinite(x)
        area = (x1 - x0) * (y1 - y0) * scale**2
        highest = highest_tag(bounds, 1 + (row - _ROW) // _LINE) * scale
        left = x * scale - np.where(self.turned, width, np.where(self.middle, width / 2, 0))
        low = y * scale - np.where(self.middle, row / 2, 0)
        # What has just been drawn says what it holds, however many boxes there are.
        rank = np.where(self.first, 0, 2)
        if n > _MANY:
            rank[-1] = min(rank[-1], 1)
        boxes, covered = np.zeros((n, 3)), 0.0
        lifts = _LIFTS if visible.sum() <= _MANY else _FEW_LIFTS
        placed = 0
        for i in np.argsort(rank, kind="stable"):
            if not visible[i]:
                continue
            before = boxes[:placed]
            steps = next(
                (step for step in lifts if free(left[i], low[i] + step * row, width[i], before, row)
                 and (step <= 0 or low[i] + step * row <= highest)),
                None,
            )  # fmt: skip
            covered += (width[i] + _GAP) * row
            full = covered > _MOST_COVERED * area
            if rank[i] and (steps is None or full):
                visible[i] = False
                covered -= (width[i] + _GAP) * row
                continue
            lift[i] = steps or 0
            boxes[placed] = left[i], low[i] + lift[i] * row, width[i]
            placed += 1
        return lift, visible


def free(left: float, low: float, width: float, boxes: Floats, row: int = _ROW) -> bool:
    """Whether a tag covers none of ``boxes`` (k, 3), left, low and width in pixels.

    All are ``row`` pixels high.
    """
    beside = (boxes[:, 0] >= left + width + _GAP) | (left >= boxes[:, 0] + boxes[:, 2] + _GAP)
    return bool((beside | (np.abs(boxes[:, 1] - low) >= row * 0.95)).all())


def expected(name: str, answer: str | None) -> str:
    """The text of a tag, or one as long as it will be."""
    return f"{name}{' ' * _ANSWER}" if answer is None else answer


def _letters(text: str) -> int:
    """Letters of the longest line."""
    return max(map(len, text.split("\n")))
