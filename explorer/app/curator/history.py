"""What was on a page before: boxes and settings, to go back to and forward again."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.app.boxes.rectangles import Rectangles
from explorer.grid.range_queries import same_shape
from explorer.mechanisms import Mechanism

#: How many steps are kept, and the seconds within which moves of one slider are one step.
MOST, ONE_MOVE = 100, 1.5
#: Looks of the moment and what is counted are no steps: another city begins anew.
_NOT_KEPT = ("name", "city", "side", "bound", "explain", "drag")


@dataclass(frozen=True, eq=False)
class Moment:
    """Boxes, mechanisms and choices at one time."""

    boxes: NDArray[np.float64]
    shapes: tuple[Any, ...]
    names: tuple[str, ...]
    mechanisms: tuple[Mechanism, ...]
    choices: dict[str, Any]

    def changed(self, other: Moment) -> tuple[str, ...]:
        """What is different: "boxes", "mechanisms", names of choices."""
        shapes = zip(self.shapes, other.shapes, strict=False)
        same = {
            "boxes": self.names == other.names
            and np.array_equal(self.boxes, other.boxes, equal_nan=True)
            and all(same_shape(one, another) for one, another in shapes),
            "mechanisms": _settings(self.mechanisms) == _settings(other.mechanisms),
            **{name: other.choices.get(name) == value for name, value in self.choices.items()},
        }
        return tuple(name for name, is_same in same.items() if not is_same)


def _settings(mechanisms: Sequence[Mechanism]) -> list[tuple[str, float, dict[str, Any]]]:
    """Mechanisms as they compare: 10 and 10.0 are one value."""
    return [(mechanism.key, mechanism.epsilon, mechanism.settings()) for mechanism in mechanisms]


class History:
    """Steps of one page, of its choices and boxes, in its present place."""

    def __init__(self, state: Any, rectangles: Rectangles) -> None:
        self._state, self._rectangles = state, rectangles
        self._going = False
        self.reset()

    def reset(self) -> None:
        """Begin anew with what is there now."""
        self._past: list[Moment] = []
        self._future: list[Moment] = []
        self._now = self._look()
        self._last: tuple[tuple[str, ...], float] = ((), 0.0)

    def note(self) -> None:
        """Something may have changed: it is a step if it has."""
        if self._going:
            return
        new = self._look()
        what = new.changed(self._now)
        if not what:
            return
        kind, when = self._last
        moment = time.monotonic()
        # A slider on its way is one step; each act on boxes is one of its own. Noise that is not
        # kept the same is drawn anew by whatever was set before.
        moving = what == kind and "boxes" not in what and moment - when < ONE_MOVE
        if not moving and (what != ("seed",) or self._state.frozen):
            self._past = [*self._past[1 - MOST :], self._now]
        self._now, self._last, self._future = new, (what, moment), []

    def undo(self) -> tuple[str, ...]:
        """Go one step back; returns what changed, nothing at the beginning."""
        return self._go(self._past, self._future)

    def redo(self) -> tuple[str, ...]:
        """Go one step forward again; returns what changed, nothing at the end."""
        return self._go(self._future, self._past)

    def _go(self, source: list[Moment], target: list[Moment]) -> tuple[str, ...]:
        if not source:
            return ()
        target.append(self._now)
        self._now, before = source.pop(), self._now
        self._last = ((), 0.0)
        what = self._now.changed(before)
        self._going = True
        try:
            self._show(what)
        finally:
            self._going = False
        return what

    def _show(self, what: Sequence[str]) -> None:
        self._rectangles.put(self._now.boxes, self._now.names, self._now.shapes)
        if "mechanisms" in what:
            for side, mechanism in zip(self._state.sides, self._now.mechanisms, strict=True):
                side.take(mechanism)
        choices = {name: self._now.choices[name] for name in what if name in self._now.choices}
        # The seed comes last: where noise is not kept the same, each change has taken another.
        self._state.put(**{**choices, "seed": self._now.choices["seed"]})

    def _look(self) -> Moment:
        state, boxes = self._state, self._rectangles
        choices = {n: v for n, v in state.param.values().items() if n not in _NOT_KEPT}
        mechanisms = tuple(side.instance() for side in state.sides)
        return Moment(boxes.boxes, boxes.shapes, tuple(boxes.names), mechanisms, choices)
