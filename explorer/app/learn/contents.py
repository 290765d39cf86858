"""The drawer of Learn: which city, and a list of lessons."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from explorer.app.curator.parts import PageParts
from explorer.app.kit import ui
from explorer.app.kit.bound import Tied
from explorer.app.kit.prose import column, pane
from explorer.app.kit.words import words
from explorer.teaching import Lesson
from explorer.views.markup import safe_text


class Contents:
    """City, grid and one button for each lesson.

    Parameters
    ----------
    parts : of the page
    lessons : the lessons in their order
    chosen : called with the number of a lesson
    """

    def __init__(
        self, parts: PageParts, lessons: Sequence[Lesson], chosen: Callable[[int], None]
    ) -> None:
        tied = Tied(parts.state, parts.refuse)
        self.city, self.side = tied.choose("city", parts.catalogue), tied.choose("side")
        self._lessons = lessons
        self.buttons = [self._button(i, lesson, chosen) for i, lesson in enumerate(lessons)]
        self.view = column(
            pane('<h2 class="section">Lessons</h2>', margin=(0, 10)),
            *self.buttons,
            pane('<h2 class="section">Where</h2>', margin=(8, 10, 0, 10)),
            self.city,
            self.side,
            pane(f'<p class="help">{words("learn")["Where"]}</p>', margin=(4, 10)),
        )

    def mark(self, number: int, is_done: Callable[[str], bool] = lambda _key: False) -> None:
        """Show which lesson is open, and which ones are done."""
        for i, (lesson, button) in enumerate(zip(self._lessons, self.buttons, strict=True)):
            button.variant = "contained" if i == number else "text"
            label = _label(i, lesson) + (" ✓" if is_done(lesson.key) else "")
            if button.label != label:
                button.label = label

    @staticmethod
    def _button(number: int, lesson: Lesson, chosen: Callable[[int], None]) -> Any:
        return ui.Button(
            label=_label(number, lesson),
            size="small",
            variant="text",
            color="primary",
            margin=(1, 10),
            sizing_mode="stretch_width",
            sx={"justifyContent": "flex-start", "textAlign": "left", "lineHeight": 1.35},
            on_click=lambda _event: chosen(number),
        )


def _label(number: int, lesson: Lesson) -> str:
    return f"{number + 1}. {safe_text(lesson.title)}"
