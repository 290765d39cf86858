"""Learn: lessons about private maps, each with an experiment to play with."""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Sequence
from typing import Any, Self

import panel as pn
import param

from explorer.app.curator.data import CityData
from explorer.app.curator.parts import PageParts
from explorer.app.curator.scenarios import Workspace, screen_file
from explorer.app.curator.setting_fields import button
from explorer.app.curator.start import (
    LESSON,
    LESSON_STEP,
    Opening,
    argument,
    known_city,
    refuse_own,
    way_to,
)
from explorer.app.curator.stories import StoryControls
from explorer.app.kit import ui
from explorer.app.kit.bound import Tied
from explorer.app.kit.browser import Browser, Storage
from explorer.app.kit.html import put
from explorer.app.kit.later import when_loaded
from explorer.app.kit.navigation import Link
from explorer.app.kit.prose import column, pane
from explorer.app.kit.words import words
from explorer.app.learn.card import LessonCard
from explorer.app.mappage.city_page import CuratorPage
from explorer.app.state import PlaceState
from explorer.errors import InputError
from explorer.grid.values import as_number, shown
from explorer.scenario import Scenario, Story
from explorer.scenario.model import MOST_LESSON_STEPS
from explorer.teaching import EXPERIMENTS, Lesson, lessons
from explorer.views.markup import safe_text

#: The step of a lesson whose answer was read.
DONE = -1
_MOST_STEPS = 100


class LearnState(PlaceState):
    """Which city the experiments run on. Grids are coarse, so that experiments are quick."""

    side = param.Selector(default=256, objects={f"{n} × {n} cells": n for n in (256, 512, 1024)})


class Progress:
    """Steps reached, by lesson.

    Parameters
    ----------
    lessons : the lessons there are
    changed : called when the browser has brought what it kept
    """

    def __init__(self, lessons: Sequence[Lesson], changed: Callable[[], None]) -> None:
        self._known = {lesson.key for lesson in lessons}
        self._changed = changed
        self._steps: dict[str, int] = {}
        self.storage = Storage("dp-explorer-lessons", self.bring)

    def step(self, key: str) -> int:
        """The step to go on with, from 0."""
        return max(self._steps.get(key, 0), 0)

    def is_done(self, key: str) -> bool:
        """Whether the lesson's answer has been read."""
        return self._steps.get(key) == DONE

    def note(self, key: str, step: int, answered: bool) -> None:
        """A reader is at a step; a lesson that is done stays done."""
        if answered:
            self._steps[key] = DONE
        elif not self.is_done(key):
            self._steps[key] = step
        self.storage.keep(json.dumps(self._steps))

    def bring(self, stored: str) -> None:
        """Take what the browser kept; whatever is no step of a lesson is nothing."""
        try:
            steps = json.loads(stored)
        except (ValueError, RecursionError):
            return
        if not isinstance(steps, dict):
            return
        for key, step in steps.items():
            whole = isinstance(step, int) and not isinstance(step, bool)
            if key in self._known and whole and DONE <= step < _MOST_STEPS:
                self._steps.setdefault(key, step)
        self._changed()


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
            *(pane('<h2 class="section">Lessons</h2>', margin=(0, 10)), *self.buttons),
            *(pane('<h2 class="section">Where</h2>', margin=(8, 10, 0, 10)), self.city, self.side),
            pane(f'<p class="help">{words("learn")["Where"]}</p>', margin=(4, 10)),
        )

    def mark(self, number: int, is_done: Callable[[str], bool] = lambda _key: False) -> None:
        """Show which lesson is open, and which ones are done."""
        for i, (lesson, entry) in enumerate(zip(self._lessons, self.buttons, strict=True)):
            entry.variant = "contained" if i == number else "text"
            label = _label(i, lesson) + (" ✓" if is_done(lesson.key) else "")
            if entry.label != label:
                entry.label = label

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


class Learn(CuratorPage):
    """The Learn page, for a server or a notebook cell. Curator mode: it shows exact counts.

    Everything on it is a preview; nothing is booked or published.

    Parameters
    ----------
    city : optional
        A key of `explorer.cities.catalogue.cities()`; counts of your own, a `FrequencyMatrix` or an
        array; or points (file, frame, `read_points`) with an ``extent``.
    lesson : str or None
        The lesson to begin with: the name of its file without the ending, or its experiment.
    side : 256, 512 or 1024
        Cells along each side of the grid.
    folder : optional
        A folder with lessons of your own; without it EXPLORER_LESSONS may name one.
    links : sequence of Link
        The server's pages.
    lesson_step : int
        The step of that lesson to begin with, counted from 1; 0 is the one its reader has come to.
    **cell
        extent, user, keep, height and controls, see `CuratorPage`.

    Examples
    --------
    ``Learn(lesson="averaging")`` as the last line of a notebook cell shows itself; in a script for
    ``panel serve``, ``Learn().servable()`` makes it a page.
    """

    KEY = "learn"
    TITLE = "Learn with experiments"
    DRAWER = True
    State = LearnState

    def __init__(
        self,
        city: Any = None,
        lesson: str | None = None,
        side: int = 256,
        folder: str | None = None,
        links: Sequence[Link] = (),
        lesson_step: int = 0,
        **cell: Any,
    ) -> None:
        began: dict[str, Any] = {"lesson": lesson, "lesson_step": lesson_step}
        super().__init__(city, links=links, side=side, folder=folder, **began, **cell)

    @classmethod
    def served(
        cls, links: Sequence[Link], city: Any = None, scenario: Scenario | None = None, **_: Any
    ) -> Self:
        """The page of one visitor: the server's city, and the lesson of its scenario."""
        if scenario is None:
            return cls(city, links=links)
        return cls(city, lesson=scenario.lesson, lesson_step=scenario.lesson_step, links=links)

    @classmethod
    def warm(cls, **begin: Any) -> None:
        """Read the city's trips and compile what the lessons on trips run."""
        from explorer.app.learn.lottery import seen_in

        first: Any = EXPERIMENTS["lottery"]()
        seen_in(begin["city"], first.epsilon, first.q, first.p)

    def begin(self, opening: Opening, city: str, choices: dict[str, Any]) -> LearnState:
        """The grid of a scenario, and its lesson or that of the address before the one given."""
        self.lessons, self._notices = lessons(choices["folder"])
        lesson, key, side = choices["lesson"], "", choices["side"]
        step = as_number(choices["lesson_step"], 0, MOST_LESSON_STEPS, whole=True)
        if step is None:
            text = shown(choices["lesson_step"])
            raise InputError(
                f"lesson_step is {text}; give a whole number from 0 to {MOST_LESSON_STEPS}."
            )
        sent = opening.scenario
        if sent is not None and sent.page == "learn":
            key, step = sent.lesson, sent.lesson_step
            side = sent.side if sent.side in self.State.param.side.objects else side
        if not key and (key := argument(LESSON)):
            text = argument(LESSON_STEP)
            step = int(text) if text.isdecimal() and len(text) < 3 else 0
        self._first = self._number(lesson) if lesson else 0
        if key:
            try:
                self._first = self._number(key)
            except InputError:
                text = "There is no lesson of that name: choose one from the list."
                self._notices = [text, *self._notices]
                step = 0
        #: The step that was asked for, from 1, of the lesson that is open; 0 where none was.
        self._asked = int(step)
        return LearnState(city=city, side=side)

    def build(self, parts: PageParts) -> None:
        """Make the list of lessons and the place where one of them is shown."""
        self.workspace = Workspace(self.KEY, parts.opening, parts.tab)
        self.contents = Contents(parts, self.lessons, self.open)
        self.progress = Progress(self.lessons, self._recalled)
        self._stage, self.notices = column(), pane(margin=(0, 0, 8, 0))
        self.before = button("Lesson before", lambda: self.open(self.number - 1))
        self.next = button("Next lesson", lambda: self.open(self.number + 1))
        about = words("learn")["About"]
        self.stories = LessonStories(self)
        self.sidebar = [self.contents.view, self.stories.view]
        self.body = column(
            pane(f'<h1 class="visually-hidden">{self.TITLE}</h1><p class="about">{about}</p>'),
            self.message.view,
            self.notices,
            self._stage,
            pn.Row(self.before, self.next, margin=(14, 0, 0, 0)),
            self.progress.storage.view,
            margin=(10, 16, 24, 16),
        )
        if pn.state.curdoc is not None:
            when_loaded(self.progress.storage.recall)
        self.number = -1
        self.card: LessonCard | None = None
        self.open(self._first, self._asked)
        # Not among the messages, which what is being read would replace.
        notices = [notice for notice in (parts.opening.damaged, *self._notices) if notice]
        put(self.notices, "".join(map(_notice, notices)))

    def open(self, number: int, step: int = 0) -> None:
        """Open the lesson with this number, counted from 0; one lesson is there at a time.

        ``step`` is the one to show, counted from 1; 0 is the one that its reader has come to.
        """
        if not 0 <= number < len(self.lessons):
            return
        self._asked = step
        if number == self.number and self.card is not None:
            if step:
                self.card.guide.go(min(step, self.card.guide.count) - 1)
            return
        if self.card is not None:
            self.card.close()
        self.number = number
        self.card = LessonCard(
            self.lessons[number],
            (number + 1, len(self.lessons)),
            self.message.refuse,
            links=self.links,
            phone=self.phone,
            moved=self._moved,
            step=step - 1 if step else self.progress.step(self.lessons[number].key),
        )
        if self.parts.data is not None:
            self.card.use(self.parts.data)
        self._stage.objects = [self.card.view]
        self.contents.mark(number, self.progress.is_done)
        self.before.disabled = number == 0
        self.next.disabled = number == len(self.lessons) - 1

    def _moved(self, step: int, answered: bool) -> None:
        self.progress.note(self.lessons[self.number].key, step, answered)
        self.contents.mark(self.number, self.progress.is_done)

    def _recalled(self) -> None:
        """The browser knows how far this reader has come."""
        self.contents.mark(self.number, self.progress.is_done)
        if self.card is not None and self.card.guide.step == 0 and not self._asked:
            self.card.guide.go(self.progress.step(self.lessons[self.number].key))

    def show(self, data: CityData) -> None:
        """Do the experiment on a city."""
        self.workspace.place(*data.city[:2])
        # Counts without points have the cells they have.
        self.contents.side.visible = data.heat is not None
        if self.card is not None:
            self.card.use(data)

    def take_screen(self, screen: Scenario) -> None:
        """Open the lesson of a screen, a step of a story, on its city."""
        known_city(screen)
        number = self._number(screen.lesson) if screen.lesson else 0
        sides = self.State.param.side.objects
        self.state.put(
            city=screen.city, side=screen.side if screen.side in sides else self.state.side
        )
        self.open(number, screen.lesson_step)

    def present(self) -> Scenario:
        """The scenario of the lesson that is open, at the step that is shown.

        Raises
        ------
        InputError
            For a city that exists in this session only.
        """
        refuse_own(self.state.city, "learn")
        step = self.card.guide.step + 1 if self.card is not None and self.card.guide.count else 0
        return Scenario(
            page=self.KEY,
            lesson=self.lessons[self.number].key,
            lesson_step=step,
            city=self.state.city,
            side=self.state.side,
        )

    def close(self) -> None:
        """Stop whatever runs: the visit has ended."""
        if self.card is not None:
            self.card.close()

    def __panel__(self) -> Any:
        panel = super().__panel__()
        panel[0].insert(0, pane(f'<p class="quiet">{self.BADGE}</p>'))
        return panel

    def _number(self, lesson: str) -> int:
        """The number of a lesson by its key or its experiment."""
        for names in ([entry.key for entry in self.lessons], [e.experiment for e in self.lessons]):
            if lesson in names:
                return names.index(lesson)
        keys = ", ".join(entry.key for entry in self.lessons)
        raise InputError(f"There is no lesson {lesson[:60]!r}: choose one of {keys}.")


def _notice(sentence: str) -> str:
    """A sentence that stays; it may name a file."""
    text = html.escape(safe_text(sentence, 400))
    return f'<div class="notice" role="alert">{text}</div>'


class LessonStories:
    """The section "Stories" of the drawer: a lesson, at one of its steps, as a step of a story."""

    def __init__(self, page: Learn) -> None:
        self._page = page
        self._browser = Browser(lambda _text: None)
        # Made when it is first opened; most visitors never need it.
        self.section = ui.Section("Stories", self._make)
        page.parts.remembered.section("stories", self.section)
        self.view = column(self.section, self._browser.view, margin=(8, 6, 24, 6))

    def _make(self) -> list[Any]:
        page, refuse = self._page, self._page.parts.refuse
        self.controls = StoryControls(page.story, page.present, refuse, "lesson")
        self.file = screen_file("Open story", self._opened, refuse)
        return [self.controls.view, ui.wrapping(self.file, margin=(4, 10))]

    def _opened(self, opened: Scenario | Story) -> None:
        if isinstance(opened, Story):
            self.controls.take(opened)
        elif opened.page == self._page.KEY:
            self._page.take_screen(opened)
        else:
            self._browser.go(way_to(opened, self._page.links))
