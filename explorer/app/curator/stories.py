"""Stories: kept by the server, shown in a bar at the lower edge, made in the drawer."""

from __future__ import annotations

import html
import io
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import panel as pn

from explorer.app.curator.parameters import help_pane
from explorer.app.curator.start import ARGUMENT, LESSON_STEP, argument, of_lesson, way_to
from explorer.app.kit import ui
from explorer.app.kit.browser import MAKING, Browser
from explorer.app.kit.html import html_pane, put
from explorer.app.kit.later import when_loaded
from explorer.app.kit.message import MessageArea
from explorer.app.kit.navigation import Link
from explorer.app.kit.prose import column
from explorer.app.kit.words import words
from explorer.errors import InputError
from explorer.scenario import Scenario, Step, Story
from explorer.scenario.story import ASK, NOTES, TEXT
from explorer.teaching.lessons import TOUR, stories
from explorer.views.markup import safe_text

#: As many as are kept for all visitors; the one that no one asked for the longest goes first.
MOST = 60


class StoryShelf:
    """Stories of all visitors of a server by keys that cannot be guessed; for any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, Story] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def put(self, story: Story, instead: str = "") -> str:
        """Keep a story; returns its key. One that comes along has its name.

        ``instead`` is the key of what it was before its last step, whose place it takes.
        """
        for name, other in stories().items():
            if other == story:
                return name
        with self._lock:
            for key, other in self._kept.items():
                if other == story:
                    self._kept.move_to_end(key)
                    return key
            key = instead if instead in self._kept else secrets.token_urlsafe(16)
            self._kept[key] = story
            self._kept.move_to_end(key)
            while len(self._kept) > MOST:
                self._kept.popitem(last=False)
            return key

    def find(self, key: str) -> Story:
        """The story with this key; InputError when it is not here, or not any more."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            result = self._kept.get(key) or stories().get(key)
        if result is None:
            raise InputError("This story is not on the server any more: open its file again.")
        return result


#: The stories kept by this server.
SHELF = StoryShelf()


_STYLE = """
.story .kicker { opacity: .78; margin: 0 0 2px; font-variant-numeric: tabular-nums; }
.story .said { font-size: 16px; line-height: 23px; max-width: 110ch; }
.story .ask { font-size: 16px; line-height: 23px; font-weight: 600; max-width: 110ch; }
.notes { border-left: 4px solid #3aa58a; padding: 2px 0 2px 10px; margin: 4px 0; max-width: 110ch;
  font-size: 14px; line-height: 20px; }
"""
#: At the window's lower edge, where it moves no map; on paper it is where it is.
_BAR = """
:host { position: sticky; bottom: 0; z-index: 20; border-top: 2px solid #3b8fd6;
  background: var(--panel-background-color, Canvas); color: var(--panel-on-background-color); }
@media print { :host { display: none !important; } }
"""


class StoryBar:
    """A story on one page. There is nothing on the page until one is opened.

    Parameters
    ----------
    page : key of the page
    links : the server's pages; a page that is alone shows steps of its own kind only
    take : shows a screen of this page
    message : where sentences go
    """

    def __init__(
        self,
        page: str,
        links: Sequence[Link],
        take: Callable[[Scenario], None],
        message: MessageArea,
    ) -> None:
        self._page, self._links, self._take, self._message = page, links, take, message
        self.story: Story | None = None
        self.number = 0
        #: The key of the story that is being made; it goes along from page to page.
        self.making = argument(MAKING)
        self._built = False
        self.view = column(visible=False, stylesheets=[_BAR])

    def look_at_address(self) -> None:
        """Go on with the story of this session's address, ``?story=KEY&step=2``."""
        key, step = argument("story"), argument("step")
        if not key:
            return
        try:
            story = SHELF.find(key)
        except InputError as error:
            self._message.refuse(str(error))
            return
        number = int(step) - 1 if step.isdecimal() and len(step) < 4 else 0
        # The address of a step brings its screen along; of a lesson's it lacks city and grid.
        brought = bool(argument(ARGUMENT))
        self.open(story, min(max(number, 0), len(story.steps) - 1), show=not brought)

    def open(self, story: Story, number: int = 0, *, show: bool = True) -> None:
        """Open a story at a step, counted from 0; without ``show`` its screen is there already."""
        self.story = story
        if not self._built:
            self._build()
        if show:
            when_loaded(lambda: self.go(number))
        else:
            self._say(number)

    def go(self, number: int) -> None:
        """Show a step, on this page or by leading to the page of its screen."""
        if self.story is None or not 0 <= number < len(self.story.steps):
            return
        screen = self._screen(number)
        try:
            if screen is not None and screen.page != self._page:
                self._lead(screen, number)
                return
            if screen is not None:
                self._take(screen)
        except InputError as error:
            self._message.refuse(str(error))
            return
        self._say(number)
        query = {"story": SHELF.put(self.story), "step": str(number + 1)}
        if lesson := of_lesson(screen):
            query |= {LESSON_STEP: "", **lesson}
        self._browser.query(**query)

    def close(self) -> None:
        """End the story; the screen stays."""
        self.story = None
        self.view.visible = False
        self._browser.query(story="", step="")

    def _screen(self, number: int) -> Scenario | None:
        """The screen of a step, or of the last one before it that names one."""
        assert self.story is not None
        steps = self.story.steps
        if number == self.number + 1 and steps[number].screen is None:
            return None
        named = [step.screen for step in steps[: number + 1] if step.screen is not None]
        return named[-1] if named else None

    def _lead(self, screen: Scenario, number: int) -> None:
        assert self.story is not None
        query: dict[str, Any] = {"story": SHELF.put(self.story), "step": number + 1}
        if self.making:
            query[MAKING] = self.making
        self._browser.go(way_to(screen, self._links, **query))

    def _build(self) -> None:
        self.back = _button("Back", lambda: self.go(self.number - 1))
        self.next = _button("Next", lambda: self.go(self.number + 1), variant="contained")
        self.notes = ui.Switch(label="Notes", size="small", margin=(4, 12, 4, 4))
        self.notes.param.watch(lambda _event: self._note(), "value")
        self.end = _button("End the story", self.close, variant="text")
        self.text, self.noted = (html_pane(css=[_STYLE]) for _ in range(2))
        self.text.styles = {"flex": "1 1 420px", "min-width": "0"}
        self._browser = Browser(lambda _text: None)
        buttons = pn.Row(self.back, self.next, self.notes, self.end, margin=0)
        self.view.objects = [
            pn.Row(
                self.text,
                buttons,
                sizing_mode="stretch_width",
                styles={"flex-wrap": "wrap", "gap": "4px 24px", "align-items": "center"},
                margin=(8, 0, 4, 0),
            ),
            self.noted,
            self._browser.view,
        ]
        self._built = True

    def _say(self, number: int) -> None:
        assert self.story is not None
        self.number = number
        step, count = self.story.steps[number], len(self.story.steps)
        phrases = [safe_text(self.story.title, 80) or "Story", f"{number + 1} of {count}"]
        if step.minutes:
            before = sum(earlier.minutes for earlier in self.story.steps[:number])
            phrases.append(f"minute {before} to {before + step.minutes} of {self.story.minutes}")
        kicker = f'<p class="kicker">{html.escape(" · ".join(phrases))}</p>'
        text = f'<p class="said">{html.escape(safe_text(step.text, 400))}</p>'
        if step.ask:
            text += f'<p class="ask">{html.escape(safe_text(step.ask, 300))}</p>'
        put(self.text, f'<div class="story" role="status">{kicker}{text}</div>')
        self.back.disabled, self.next.disabled = number == 0, number == count - 1
        self._note()
        self.view.visible = True

    def _note(self) -> None:
        """The presenter's notes; until they are asked for they are not sent at all."""
        if self.story is None or self.notes.value is not True:
            put(self.noted, "")
            return
        text = safe_text(self.story.steps[self.number].notes, 1100) or "No notes for this step."
        put(self.noted, f'<p class="notes">{html.escape(text)}</p>')


_NONE = "Choose one"


class StoryControls:
    """What the section "Scenarios" has about stories; ``what`` is what the page calls its screen.

    ``present`` returns the screen, or raises `InputError`.
    """

    def __init__(
        self,
        bar: StoryBar,
        present: Callable[[], Scenario],
        refused: Callable[[str], None],
        what: str = "screen",
    ) -> None:
        self._bar, self._present, self._refused, self._what = bar, present, refused, what
        self.made: Story | None = None
        story_keys = {safe_text(story.title or key): key for key, story in stories().items()}
        self.tour = _button("Take the tour", lambda: self._chosen(TOUR), variant="contained")
        self.choice = ui.Select(
            label="Story", options={_NONE: "", **story_keys}, value="", **ui.WIDE
        )
        ui.bind(self.choice, self._chosen, refused)
        self.text = _line(f"What this {what} shows", TEXT)
        self.ask = _line("What to ask", ASK)
        self.notes = _line("Notes for the presenter", NOTES)
        self.add = _button(f"Add this {what} to the story", self._add)
        self.save = ui.FileDownload(
            label="Save story",
            filename="story.yaml",
            callback=self._written,
            variant="outlined",
            size="small",
            margin=(0, 8, 4, 0),
            visible=False,
        )
        self.play = _button("Show the story", self._show)
        self.play.visible = False
        self.status = html_pane(margin=(0, 10))
        self._browser = Browser(lambda _text: None)
        self.view = column(
            html_pane('<h2 class="section">Stories</h2>', margin=(0, 10)),
            help_pane(words("scenario")["Stories"]),
            ui.wrapping(self.tour, margin=(4, 10)),
            self.choice,
            self.text,
            self.ask,
            self.notes,
            ui.wrapping(self.add, self.play, self.save, margin=(4, 10)),
            self.status,
            self._browser.view,
        )
        self._go_on()

    def take(self, story: Story) -> None:
        """Open a story that came as a file; further screens are added to it."""
        self._keep(story)
        self._bar.open(story)

    def _chosen(self, key: str) -> None:
        if key:
            self.choice.value = ""
            self._bar.open(stories()[key])

    def _add(self) -> None:
        try:
            # What is being typed arrives letter by letter; `value` waits for the field to be left.
            text, ask, notes = (
                part.value_input or part.value or "" for part in (self.text, self.ask, self.notes)
            )
            if not text.strip():
                raise InputError(f"Say first what this {self._what} shows, in the field above.")
            step = Step(text, self._present(), ask, notes)
            story = self.made
            longer = Story((step,), "My story") if story is None else story.with_step(step)
            longer.to_yaml()
        except InputError as error:
            self._tell(str(error))
            return
        for field in (self.text, self.ask, self.notes):
            field.value = field.value_input = ""
        self._keep(longer)

    def _go_on(self) -> None:
        """Go on with the story that was begun on another page, if the server still has it."""
        try:
            self._offer(SHELF.find(self._bar.making))
        except InputError:
            self._bar.making = ""

    def _keep(self, story: Story) -> None:
        """Keep what is being made: the address takes it along, to other pages too."""
        self._bar.making = SHELF.put(story, self._bar.making)
        self._browser.query(**{MAKING: self._bar.making})
        self._offer(story)

    def _offer(self, story: Story) -> None:
        self.made = story
        self.save.visible = self.play.visible = True
        count = len(story.steps)
        steps = f"{count} step{'' if count == 1 else 's'}"
        self._tell(f"The story has {steps}: go on, on other pages too, or save it as a file.")

    def _show(self) -> None:
        if self.made is not None:
            self._bar.open(self.made)

    def _written(self) -> io.BytesIO:
        return io.BytesIO(b"" if self.made is None else self.made.to_yaml().encode())

    def _tell(self, sentence: str) -> None:
        put(self.status, f'<p class="help" role="status">{html.escape(sentence)}</p>')


def _button(label: str, pressed: Callable[[], None], **look: Any) -> Any:
    look = {"variant": "outlined", "size": "small", "margin": (0, 8, 4, 0), **look}
    return ui.Button(label=label, on_click=lambda _event: pressed(), **look)


def _line(label: str, longest: int) -> Any:
    return ui.TextInput(label=label, max_length=longest, **ui.WIDE)
