"""Stories in the drawer: take the tour, open one, make one of the screens that one visits."""

from __future__ import annotations

import html
import io
from collections.abc import Callable
from typing import Any

import panel as pn

from explorer.app.curator.parameters import help_pane
from explorer.app.curator.story_bar import StoryBar
from explorer.app.curator.story_shelf import SHELF
from explorer.app.kit import ui
from explorer.app.kit.browser import MAKING, Browser
from explorer.app.kit.html import html_pane, put
from explorer.app.kit.words import words
from explorer.errors import InputError
from explorer.scenario import Scenario, Step, Story
from explorer.scenario.story import ASK, NOTES, TEXT
from explorer.teaching.stories import TOUR, stories
from explorer.views.markup import safe_text

_NONE = "Choose one"


class StoryControls:
    """What the section "Scenarios" has about stories.

    Parameters
    ----------
    bar : shows a story
    present : returns the screen, or raises `InputError`
    refused : shows a sentence
    what : what the page calls its screen
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
        self.tour = self._button("Take the tour", lambda: self._open(TOUR), variant="contained")
        self.choice = ui.Select(
            label="Story", options={_NONE: "", **story_keys}, value="", **ui.WIDE
        )
        ui.bind(self.choice, self._chosen, refused)
        self.text = _line(f"What this {what} shows", TEXT)
        self.ask = _line("What to ask", ASK)
        self.notes = _line("Notes for the presenter", NOTES)
        self.add = self._button(f"Add this {what} to the story", self._add)
        self.save = ui.FileDownload(
            label="Save story",
            filename="story.yaml",
            callback=self._written,
            variant="outlined",
            size="small",
            margin=(0, 8, 4, 0),
            visible=False,
        )
        self.play = self._button("Show the story", self._show)
        self.play.visible = False
        self.status = html_pane(margin=(0, 10))
        self._browser = Browser(lambda _text: None)
        self.view = pn.Column(
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
            sizing_mode="stretch_width",
            margin=0,
        )
        self._go_on()

    def take(self, story: Story) -> None:
        """Open a story that came as a file; further screens are added to it."""
        self._keep(story)
        self._bar.open(story)

    def _open(self, key: str) -> None:
        self._bar.open(stories()[key])

    def _chosen(self, key: str) -> None:
        if key:
            self.choice.value = ""
            self._open(key)

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

    @staticmethod
    def _button(label: str, pressed: Callable[[], None], **look: Any) -> Any:
        look = {"variant": "outlined", "size": "small", "margin": (0, 8, 4, 0), **look}
        return ui.Button(label=label, on_click=lambda _event: pressed(), **look)


def _line(label: str, longest: int) -> Any:
    return ui.TextInput(label=label, max_length=longest, **ui.WIDE)
