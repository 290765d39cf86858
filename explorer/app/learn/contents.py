"""The drawer of Learn: which city, and a list of lessons."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from explorer.app.kit import ui
from explorer.app.kit.prose import column, pane
from explorer.app.kit.words import words
from explorer.teaching import Lesson
from explorer.views.markup import safe_text

SIDES = (256, 512, 1024)


class Contents:
    """City, grid and one button for each lesson.

    Parameters
    ----------
    lessons : the lessons in their order
    catalogue : title of each city to its key
    city, side : what is chosen first
    chosen : called with the number of a lesson
    moved : called with (city, side)
    refused : shows a sentence
    """

    def __init__(
        self,
        lessons: Sequence[Lesson],
        catalogue: dict[str, str],
        city: str,
        side: int,
        chosen: Callable[[int], None],
        moved: Callable[[str, int], None],
        refused: Callable[[str], None],
    ) -> None:
        sides = {f"{each} × {each} cells": each for each in SIDES}
        self.city = ui.choice("City", catalogue, city)
        self.side = ui.Select(
            label="Grid",
            options=sides,
            value=side,
            size="small",
            sizing_mode="stretch_width",
            margin=ui.MARGIN,
        )
        ui.bind(self.city, lambda key: moved(key, self.side.value), refused)
        ui.bind(self.side, lambda each: moved(self.city.value, each), refused)
        self.buttons = [self._button(i, each, chosen) for i, each in enumerate(lessons)]
        self.view = column(
            pane('<h2 class="section">Lessons</h2>', margin=(0, 10)),
            *self.buttons,
            pane('<h2 class="section">Where</h2>', margin=(8, 10, 0, 10)),
            self.city,
            self.side,
            pane(f'<p class="help">{words("learn")["Where"]}</p>', margin=(4, 10)),
        )

    def mark(self, number: int) -> None:
        """Show which lesson is open."""
        for i, each in enumerate(self.buttons):
            each.variant = "contained" if i == number else "text"

    @staticmethod
    def _button(number: int, lesson: Lesson, chosen: Callable[[int], None]) -> Any:
        return ui.Button(
            label=f"{number + 1}. {safe_text(lesson.title)}",
            size="small",
            variant="text",
            color="primary",
            margin=(1, 10),
            sizing_mode="stretch_width",
            sx={"justifyContent": "flex-start", "textAlign": "left", "lineHeight": 1.35},
            on_click=lambda _event: chosen(number),
        )
