"""A story: screens in an order, each with what to say, what to ask and what to know about it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from explorer.errors import InputError
from explorer.scenario import checks
from explorer.scenario.encoding import MOST_STORY_BYTES, read_file, read_yaml, write_yaml
from explorer.scenario.model import Scenario

#: The version of the format; another one is refused by its number.
VERSION = 1
MOST_STEPS, MOST_MINUTES = 40, 240
#: Characters of a step's texts: text and question are in one bar, notes next to it.
TEXT, ASK, NOTES = 320, 240, 1000
_ENTRIES = ("story", "title", "about", "steps")
_SAYS_STORY = re.compile(r"^story[ \t]*:", re.MULTILINE)
_STEP = ("text", "ask", "notes", "minutes", "screen")


@dataclass(frozen=True)
class Step:
    """One step.

    Parameters
    ----------
    text : what the audience reads
    screen : what to show; without one the screen stays as it is
    ask : a question to the audience
    notes : for the presenter alone
    minutes : how long it takes, 0 where no one has said
    """

    text: str
    screen: Scenario | None = None
    ask: str = ""
    notes: str = ""
    minutes: int = 0

    def __post_init__(self) -> None:
        clean = {
            "text": checks.text(self.text, TEXT, "text of a step"),
            "ask": checks.text(self.ask, ASK, "question of a step"),
            "notes": checks.text(self.notes, NOTES, "notes of a step"),
            "minutes": checks.whole(self.minutes, 0, MOST_MINUTES, "minutes of a step"),
        }
        if not clean["text"]:
            raise InputError("A step says nothing: give it a text.")
        if self.screen is not None and not isinstance(self.screen, Scenario):
            clean["screen"] = Scenario.from_dict(self.screen)
        for name, value in clean.items():
            object.__setattr__(self, name, value)

    def plain(self) -> dict[str, Any]:
        """Plain values as a YAML file has them; what is empty is left out."""
        plain: dict[str, Any] = {"text": self.text}
        plain |= {n: getattr(self, n) for n in ("ask", "notes", "minutes") if getattr(self, n)}
        if self.screen is not None:
            plain["screen"] = self.screen.to_dict()
        return plain


@dataclass(frozen=True)
class Story:
    """Steps in an order.

    Parameters
    ----------
    steps : 1 to 40 `Step`, or mappings as a file has them
    title, about : a name and one sentence, for a menu

    Raises
    ------
    InputError
        One sentence that names the step and the entry that cannot be used.

    Examples
    --------
    >>> one = Story([Step("Look here.", Scenario(epsilon=0.5), ask="Why?")], title="Mine")
    >>> Story.from_yaml(one.to_yaml()) == one
    True
    """

    steps: tuple[Step, ...] = ()
    title: str = ""
    about: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.steps, list | tuple):
            raise InputError(
                f"The entry 'steps' of a story is {checks.shown(self.steps)}: give a list."
            )
        if not 1 <= len(self.steps) <= MOST_STEPS:
            number = f"{len(self.steps):,}" if self.steps else "no"
            limit = f"at most {MOST_STEPS}" if self.steps else "at least one"
            raise InputError(f"The story has {number} steps: give {limit}.")
        steps = tuple(_step(number, step) for number, step in enumerate(self.steps, 1))
        object.__setattr__(self, "steps", steps)
        object.__setattr__(self, "title", _line(self.title, 80, "title"))
        object.__setattr__(self, "about", _line(self.about, 300, "sentence 'about'"))

    @property
    def minutes(self) -> int:
        """How long it takes, as far as its steps say."""
        return sum(step.minutes for step in self.steps)

    @property
    def first(self) -> Scenario:
        """The screen that it begins with; the first that one of its steps names."""
        return next((step.screen for step in self.steps if step.screen is not None), Scenario())

    def with_step(self, step: Step) -> Self:
        """The same with one more step at its end."""
        return replace(self, steps=(*self.steps, step))

    def to_dict(self) -> dict[str, Any]:
        """Plain values as a YAML file has them."""
        plain: dict[str, Any] = {"story": VERSION}
        plain |= {name: getattr(self, name) for name in ("title", "about") if getattr(self, name)}
        return {**plain, "steps": [step.plain() for step in self.steps]}

    @classmethod
    def from_dict(cls, document: Any) -> Self:
        """The story of plain values; raises `InputError` as the constructor does."""
        return cls(**checks.of_version(document, "story", VERSION, _ENTRIES))

    def to_yaml(self) -> str:
        """A file for people to read and edit.

        Raises
        ------
        InputError
            For a story so long that no file of one would be read again.
        """
        text = write_yaml(self.to_dict())
        if len(text.encode()) > MOST_STORY_BYTES:
            raise InputError(
                f"The story is larger than {MOST_STORY_BYTES // 1000} kB: take steps or boxes out."
            )
        return text

    @classmethod
    def from_yaml(cls, text: str | bytes) -> Self:
        """The story of a YAML file; it may come from anywhere."""
        return cls.from_dict(read_yaml(text, story=True))


def screens(text: str | bytes) -> Scenario | Story:
    """The scenario or the story of a YAML text, whichever it says it is."""
    plain = text.decode("utf8", "replace") if isinstance(text, bytes) else text
    return Story.from_yaml(text) if _SAYS_STORY.search(plain) else Scenario.from_yaml(text)


def read_screens(path: str | Path) -> Scenario | Story:
    """The scenario or the story of a YAML file.

    Raises
    ------
    InputError
        For a file that is not there, too large, or neither of the two.
    """
    return screens(read_file(path, MOST_STORY_BYTES))


def _step(number: int, entry: Any) -> Step:
    if isinstance(entry, Step):
        return entry
    try:
        parts = checks.entries(entry, _STEP, "step")
        if "text" not in parts:
            raise InputError("It says nothing: give it a text.")
        return Step(**parts)
    except InputError as error:
        # The sentences of a screen are those of a scenario.
        said_so = str(error).replace("of a step of a scenario", "of the step")
        raise InputError(f"Step {number} of the story: {said_so}") from error


def _line(value: Any, longest: int, what: str) -> str:
    try:
        return checks.text(value, longest, what)
    except InputError as error:
        raise InputError(str(error).replace("of a scenario", "of a story")) from error
