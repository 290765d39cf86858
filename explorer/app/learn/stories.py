"""Stories on Learn: a lesson, at one of its steps, as a step of a story."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import panel as pn

from explorer.app.curator.scenarios import screen_file
from explorer.app.curator.start import way_to
from explorer.app.curator.stories import StoryBar, StoryControls
from explorer.app.kit import ui
from explorer.app.kit.browser import Browser, Remembered
from explorer.app.kit.navigation import Link
from explorer.scenario import Scenario, Story


class LessonStories:
    """The section "Stories" of the drawer of Learn.

    Parameters
    ----------
    bar : shows a story
    present : returns the scenario of the lesson on the page, or raises `InputError`
    take : shows a scenario of this page
    links : the server's pages
    refused : shows a sentence
    remembered : whether the section was left open
    """

    def __init__(
        self,
        bar: StoryBar,
        present: Callable[[], Scenario],
        take: Callable[[Scenario], None],
        links: Sequence[Link],
        refused: Callable[[str], None],
        remembered: Remembered,
    ) -> None:
        self._bar, self._present, self._take = bar, present, take
        self._links, self._refused = links, refused
        self._browser = Browser(lambda _text: None)
        self._holder = pn.Column(sizing_mode="stretch_width", margin=0)
        self.section = ui.Section("Stories", self._holder)
        self.section.param.watch(lambda _event: self._fill(), "active")
        remembered.section("stories", self.section)
        self.view = pn.Column(
            self.section,
            self._browser.view,
            sizing_mode="stretch_width",
            margin=(8, 6, 24, 6),
        )

    def _fill(self) -> None:
        """Make the controls when the section is first opened; most visitors never need them."""
        if len(self._holder) or not self.section.active:
            return
        self.controls = StoryControls(self._bar, self._present, self._refused, "lesson")
        self.file = screen_file("Open story", self._opened, self._refused)
        self._holder.objects = [self.controls.view, ui.wrapping(self.file, margin=(4, 10))]

    def _opened(self, opened: Scenario | Story) -> None:
        if isinstance(opened, Story):
            self.controls.take(opened)
        elif opened.page == "learn":
            self._take(opened)
        else:
            self._browser.go(way_to(opened, self._links))
