"""Replay: the partition built again step by step, and the tree cut at any height."""

from __future__ import annotations

import html
from typing import Any

import panel as pn

from explorer.app.curator.chosen import chosen
from explorer.app.curator.panel import choice
from explorer.app.curator.parts import PageParts
from explorer.app.curator.screen import Screen
from explorer.app.curator.stepped import SteppedPanel, follow
from explorer.app.explore.replay_frame import Frame, FrameJob, Place, compute_frame
from explorer.app.explore.replay_sentences import about_step, answer_table, caption
from explorer.app.kit import ui
from explorer.app.kit.html import html_pane, put
from explorer.views.budget import budget_bar

#: At most so many boxes in the table of answers.
MOST_BOXES = 8
#: Split by split a level plays in about so many steps, however many splits it has.
PER_LEVEL = 24


class Replay(SteppedPanel[Frame]):
    """The panel; the right map shows its step while it is open and not at the end."""

    def __init__(self, parts: PageParts) -> None:
        super().__init__(compute_frame, parts)
        self.frame: Frame | None = None
        self._place = Place()
        self._by = "level"
        self.by = choice("A step is", {"Levels": "level", "Splits": "split"})
        ui.bind(self.by, self._choose, self._refused)
        self.height = self._slider("Show the tree up to level", self._slid_height)
        self.split = self._slider("Number of splits shown", self._slid_split)
        self._said, self._budget, self._table = (html_pane(margin=(4, 0)) for _ in range(3))
        self.view = pn.Column(
            ui.wrapping(*self.buttons.values(), self.by, self.pace, gap="6px 8px"),
            ui.wrapping(self.height, self.split, gap="4px 24px", margin=(8, 0, 0, 0)),
            self._said,
            self._budget,
            self._table,
            sizing_mode="stretch_width",
            margin=(4, 0),
        )

    # What the strip asks for.

    def show(self, screen: Screen) -> None:
        """Look at another screen; of another release only the height of a cut is kept."""
        if self._screen is None or self._screen.release is not screen.release:
            self.player.stop()
            if self.frame is None or self.frame.at_end:
                self._place = Place()
            else:
                self._place = Place("height", self.frame.growth.level(self.frame.step))
        self._screen = screen
        self._draw()

    def hide(self) -> None:
        """Stop, and give the map back."""
        super().hide()
        self.frame, self._place = None, Place()

    # What a visitor does.

    def _rewind(self) -> None:
        if self.frame is not None and self.frame.at_end:
            self._place = Place("step", 0)
            self._draw()

    def _choose(self, by: str) -> None:
        self._by = by

    def _slid_height(self, height: int) -> None:
        if self.frame is None or height == self.frame.growth.level(self._wanted(self.frame)):
            return
        self._to(_at_height(height, self.frame.growth.level_ends))

    def _slid_split(self, step: int) -> None:
        if self.frame is None or step == self._wanted(self.frame):
            return
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

    # Playing.

    def _next(self) -> bool:
        """One step of the player; it waits for a picture that is still being drawn."""
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

    # From a step to a picture.

    def _question(self, screen: Screen) -> FrameJob:
        return FrameJob(screen, self._place, chosen(self._rectangles, MOST_BOXES), self.frame)

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
