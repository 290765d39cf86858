"""Replay: the partition built again step by step, and the tree cut at any height."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from explorer.app.boxes.rectangles import Chosen, chosen
from explorer.app.curator.panel import SteppedPanel, choice, follow
from explorer.app.curator.parts import PageParts
from explorer.app.curator.screen import Painted, Screen
from explorer.app.kit import ui
from explorer.app.kit.html import html_pane, put
from explorer.app.kit.numbers import percent
from explorer.app.kit.prose import column
from explorer.inspection.growth import Growth
from explorer.points.truth import exact
from explorer.releases.release import Release
from explorer.views.markup import amount, budget_bar
from explorer.views.tables import Cell, table

Floats = NDArray[np.float64]
#: Opacity of the lines: of pieces that are new, and of the others over a map or a difference.
NEW, OLD, FAINT = 0.85, 0.4, 0.2


@dataclass(frozen=True)
class Place:
    """Where the replay is.

    Attributes
    ----------
    kind : a "step" counts splits, a "height" counts levels; "end" is the release itself
    number : of the step or the height; one that does not exist gives way to the nearest
    since : pieces made after this step are highlighted; by default those of the last split
    """

    kind: Literal["step", "height", "end"] = "end"
    number: int = 0
    since: int | None = None

    def step(self, growth: Growth) -> int:
        """The step of ``growth`` that is meant."""
        if self.kind == "end":
            return growth.n_splits
        if self.kind == "height":
            return int(growth.level_ends[min(max(self.number, 0), growth.levels)])
        return int(min(max(self.number, 0), growth.n_splits))


@dataclass(frozen=True, eq=False)
class Frame:
    """One moment of the replay.

    Attributes
    ----------
    picture : the right map with its partition, None at the end, where the screen's own is right
    private : (n,) answers of the cut to the chosen boxes
    final, true : (n,) answers of the release, and true ones
    """

    screen: Screen
    growth: Growth
    place: Place
    step: int
    cut: Release | None
    picture: Painted | None
    boxes: Chosen
    private: Floats
    final: Floats
    true: Floats

    @property
    def at_end(self) -> bool:
        return self.step == self.growth.n_splits


def _compute(question: tuple[Screen, Place, Chosen, Frame | None]) -> Frame:
    """Cut the tree, draw the pieces at the size of the map, answer the boxes.

    The frame before lends whatever is still right in it.
    """
    screen, place, chosen, old = question
    release, boxes = screen.release, chosen.boxes
    if old is not None and old.screen.release is not release:
        old = None
    growth = Growth(release) if old is None else old.growth
    step = place.step(growth)
    final, true = release.answer(boxes).value, exact(screen.data.matrix, boxes)
    if step == growth.n_splits:
        return Frame(screen, growth, place, step, None, None, chosen, final, final, true)
    if old is None or old.cut is None or (old.step, old.place.since) != (step, place.since):
        old, cut = None, growth.at(step)
    else:
        cut = old.cut
    if old is not None and old.screen is screen:
        picture = old.picture
    else:
        others = FAINT if screen.look.right == "difference" else OLD
        picture = screen.paint(cut, np.where(growth.new(step, place.since), NEW, others))
    private = cut.answer(boxes).value
    return Frame(screen, growth, place, step, cut, picture, chosen, private, final, true)


def _pieces(n: int) -> str:
    return f"{n:,} {'piece' if n == 1 else 'pieces'}"


def about_step(growth: Growth, step: int) -> str:
    """One sentence about a step: where it is, the pieces, what is spent."""
    n, ended = growth.pieces(step), growth.ended(step)
    if step == growth.n_splits:
        stopped = "and none is cut any more" if n > 1 else "and it is not cut"
    else:
        stopped = f"{ended:,} stopped, {n - ended:,} still to be cut"
    spent = sum(part for _, part in growth.spent(step))
    budget = f"epsilon spent so far {amount(spent)} of {growth.release.epsilon:.4g}"
    return f"{_where(growth, step)}: {_pieces(n)}, {stopped}; {budget}."


def _where(growth: Growth, step: int) -> str:
    level = growth.level(step)
    if step == growth.level_ends[level]:
        return f"Level {level} of {growth.levels}"
    tree = growth.release.tree
    node = growth.split_node(step)
    rows, cols = tree.upper[node] - tree.lower[node]
    first, last = growth.level_ends[level], growth.level_ends[level + 1]
    # AG counts a piece that is empty enough a second time instead of dividing it.
    parts = int(tree.fan_out[node])
    became = f"became {_pieces(parts)}" if parts > 1 else "were counted again"
    return (
        f"Level {level + 1} of {growth.levels}, split {step - first:,} of {last - first:,}: "
        f"{rows:,} × {cols:,} cells {became}"
    )


def caption(growth: Growth, step: int) -> str:
    """What is above the map while it shows a step."""
    level = growth.level(step)
    whole = step == growth.level_ends[level]
    where = f"Height {level} of {growth.levels}" if whole else f"Split {step:,}"
    kind = "a preview, not private" if growth.release.preview else "the drawn release"
    return f"{where} of {kind}"


def answer_table(frame: Frame) -> str:
    """True answers, those of this cut and those of the release, box by box."""
    level = frame.growth.level(frame.step)
    whole = frame.step == frame.growth.level_ends[level]
    here = f"cut at height {level}" if whole else f"after {frame.step:,} splits"
    columns = [
        ("box", ""),
        ("true", "exact count of all records"),
        (here, "private answer of the pieces shown"),
        ("off by", "difference from the true answer, in percent of it"),
        ("whole tree", "private answer of the release"),
        ("off by", "difference from the true answer, in percent of it"),
    ]
    rows = [
        [Cell(name), _count(true), _count(cut), _off(cut, true), _count(end), _off(end, true)]
        for name, true, cut, end in zip(
            frame.boxes.names, frame.true, frame.private, frame.final, strict=True
        )
    ]
    title = f"What the boxes' answers would be with these pieces. {frame.boxes.sentence}"
    return table(title.strip(), columns, rows)


def _count(value: float) -> Cell:
    # A noise below one half must not read "-0".
    return Cell(f"{round(value):,}")


def _off(value: float, true: float) -> Cell:
    return Cell(percent(100 * abs(value - true) / true if true else np.nan))


#: At most so many boxes in the table of answers.
MOST_BOXES = 8
#: Split by split a level plays in about so many steps, however many splits it has.
PER_LEVEL = 24


class Replay(SteppedPanel[Frame]):
    """The panel; the right map shows its step while it is open and not at the end."""

    def __init__(self, parts: PageParts) -> None:
        super().__init__(_compute, parts)
        self.frame: Frame | None = None
        self._place = Place()
        self._by = "level"
        self.by = choice("A step is", {"Levels": "level", "Splits": "split"})
        ui.bind(self.by, self._choose, self._refused)
        self.height = self._slider("Show the tree up to level", self._slid_height)
        self.split = self._slider("Number of splits shown", self._slid_split)
        self._said, self._budget, self._table = (html_pane(margin=(4, 0)) for _ in range(3))
        self.view = column(
            ui.wrapping(*self.buttons.values(), self.by, self.pace, gap="6px 8px"),
            ui.wrapping(self.height, self.split, gap="4px 24px", margin=(8, 0, 0, 0)),
            self._said,
            self._budget,
            self._table,
            margin=(4, 0),
        )

    def show(self, screen: Screen) -> None:
        if self._screen is None or self._screen.release is not screen.release:
            self.player.stop()
            if self.frame is None or self.frame.at_end:
                self._place = Place()
            else:
                self._place = Place("height", self.frame.growth.level(self.frame.step))
        self._screen = screen
        self._draw()

    def hide(self) -> None:
        super().hide()
        self.frame, self._place = None, Place()

    def _rewind(self) -> None:
        if self.frame is not None and self.frame.at_end:
            self._place = Place("step", 0)
            self._draw()

    def _choose(self, by: str) -> None:
        self._by = by

    def _slid_height(self, height: int) -> None:
        frame = self.frame
        if frame is not None and height != frame.growth.level(self._wanted(frame)):
            self._to(_at_height(height, frame.growth.level_ends))

    def _slid_split(self, step: int) -> None:
        if self.frame is not None and step != self._wanted(self.frame):
            self._to(Place("step", step))

    def _wanted(self, frame: Frame) -> int:
        """The step asked for last; the frame on the map may be an earlier one."""
        return self._place.step(frame.growth)

    def _to_start(self) -> None:
        self._to(Place("step", 0))

    def _to_end(self) -> None:
        self._to(Place())

    def _step(self, direction: int) -> None:
        if self.frame is None:
            return
        growth, step = self.frame.growth, self._wanted(self.frame)
        if self._by == "split":
            self._to(Place("step", step + direction))
            return
        level = growth.level(step)
        back = level - 1 if step == growth.level_ends[level] else level
        self._to(_at_height(level + 1 if direction > 0 else back, growth.level_ends))

    def _to(self, place: Place) -> None:
        self.player.stop()
        self._place = place
        self._draw()

    def _next(self) -> bool:
        if self.frame is None:
            return False
        if self._drawing:
            return True
        growth, step = self.frame.growth, self._wanted(self.frame)
        level = growth.level(step)
        if level < growth.levels:
            if self._by == "level":
                self._place = _at_height(level + 1, growth.level_ends)
            else:
                first, last = map(int, growth.level_ends[level : level + 2])
                further = min(step + max(1, -(-(last - first) // PER_LEVEL)), last)
                self._place = Place("step", further, step)
            self._draw()
        return self._place.step(growth) < growth.n_splits

    def _question(self, screen: Screen) -> tuple[Screen, Place, Chosen, Frame | None]:
        return screen, self._place, chosen(self._rectangles, MOST_BOXES), self.frame

    def _show(self, frame: Frame) -> None:
        old, self.frame = self.frame, frame
        growth, step, maps = frame.growth, frame.step, self._maps()
        if maps is not None:
            if frame.picture is None:
                maps.uncover()
            elif old is None or old.picture is not frame.picture:
                maps.cover(*frame.picture, caption(growth, step))
        if frame.place == self._place:
            # An earlier frame would pull a slider back that a visitor still moves.
            follow(self.height, growth.level(step), growth.levels)
            follow(self.split, step, growth.n_splits)
        self._offer(step == 0, frame.at_end)
        sentence = html.escape(about_step(growth, step))
        put(self._said, f'<p class="summary" role="status">{sentence}</p>')
        put(self._budget, budget_bar(growth.spent(step), growth.release.epsilon))
        put(self._table, answer_table(frame))


def _at_height(height: int, level_ends: Any) -> Place:
    """The cut at a height; what its last level brought is highlighted."""
    return Place("height", height, int(level_ends[max(height - 1, 0)]))
