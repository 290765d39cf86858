"""Lessons as files: a few settings in YAML, then the words in Markdown.

A lesson is a file NN_name.md: between two lines of three hyphens are its `title`, `goal`,
`minutes`, `experiment` and, if wanted, the `settings` that the experiment begins with; below them
the sections `## Steps`, `## Question` and `## Answer`. The experiment is a key of `EXPERIMENTS`, or
"scenario" with a `scenario` that opens the Explore page as it describes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from explorer.errors import InputError
from explorer.scenario import VERSION, Scenario
from explorer.scenario.encoding import read_yaml
from explorer.scenario.presets import readable
from explorer.scenario.story import Story, read_screens
from explorer.teaching.experiments import EXPERIMENTS

#: The lessons that come along.
FOLDER = Path(__file__).with_name("lessons")
#: Names a folder with lessons of one's own.
SETTING = "EXPLORER_LESSONS"

SCENARIO = "scenario"
SECTIONS = ("Steps", "Question", "Answer")
FIELDS = ("title", "goal", "minutes", "experiment", "settings", SCENARIO)
MOST_MINUTES = 240
_LONGEST = {"title": 80, "goal": 300}
_MOST_BYTES = 100_000
_MOST_FILES = 100
_FRONT = re.compile(r"\A---[ \t]*\n(.*?)\n---[ \t]*(?:\n|\Z)(.*)\Z", re.DOTALL)
_HEADING = re.compile(r"^## +(.+?) *$", re.MULTILINE)


@dataclass(frozen=True)
class Lesson:
    """One lesson.

    Attributes
    ----------
    key : the file's name without its ending
    title, goal : plain text
    minutes : 1 to 240
    experiment : a key of `EXPERIMENTS`, or "scenario"
    settings : what the experiment begins with, checked
    steps, question, answer : Markdown
    scenario : what Explore is to show, for the experiment "scenario"
    """

    key: str
    title: str
    goal: str
    minutes: int
    experiment: str
    steps: str
    question: str
    answer: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    scenario: Scenario | None = None


def lessons(folder: str | Path | None = None) -> tuple[list[Lesson], list[str]]:
    """The lessons that come along and those of a teacher's folder, in the order of their names.

    A file with the name of a lesson that comes along takes its place. A file that cannot be used
    is left out, and a sentence says why.

    Parameters
    ----------
    folder : optional
        The teacher's; without it the environment variable EXPLORER_LESSONS names one, or none.

    Returns
    -------
    lessons, sentences
    """
    by_key = {path.stem: lesson(path) for path in sorted(FOLDER.glob("*.md"))}
    source = folder if folder is not None else os.environ.get(SETTING, "")
    sentences = []
    if source:
        paths = sorted(Path(source).glob("*.md"))[:_MOST_FILES] if Path(source).is_dir() else []
        if not paths:
            sentences.append(
                f"{SETTING} names the folder {str(source)[:80]!r}, which has no lessons: put files "
                "NN_name.md there, or name another folder."
            )
        for path in paths:
            try:
                by_key[path.stem] = lesson(path)
            except InputError as error:
                sentences.append(str(error))
    return [by_key[key] for key in sorted(by_key)], sentences


def lesson(path: str | Path) -> Lesson:
    """Read a lesson.

    Raises
    ------
    InputError
        One sentence that names the file and the field that is wrong.
    """
    path = Path(path)
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise InputError(f"{path.name} is larger than {_MOST_BYTES // 1000} kB: shorten it.")
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise InputError(
            f"{path.name} could not be read as text: save it as UTF-8 where the server may read it."
        ) from error
    return parse(text, path.name)


def parse(text: str, name: str) -> Lesson:
    """A lesson from its text; ``name`` is the file's, for the sentences."""
    split = _FRONT.match(text.replace("\r\n", "\n").removeprefix("\ufeff"))
    if split is None:
        raise InputError(
            f"{name} does not begin with settings: put title, goal, minutes and experiment between "
            "two lines of three hyphens."
        )
    front = _front(split[1], name)
    words = _sections(split[2], name)
    experiment = _text(front, "experiment", name)
    if experiment not in (*EXPERIMENTS, SCENARIO):
        experiments = ", ".join((*EXPERIMENTS, SCENARIO))
        raise InputError(
            f"{name}: the field 'experiment' is {experiment[:40]!r}; choose one of {experiments}."
        )
    return Lesson(
        key=name.removesuffix(".md"),
        title=_text(front, "title", name),
        goal=_text(front, "goal", name),
        minutes=_minutes(front, name),
        experiment=experiment,
        steps=words["Steps"],
        question=words["Question"],
        answer=words["Answer"],
        settings=_settings(front, experiment, name),
        scenario=_scenario(front, experiment, name),
    )


def _front(text: str, name: str) -> dict[str, Any]:
    try:
        front = read_yaml(text)
    except InputError as error:
        mark = getattr(error.__cause__, "problem_mark", None)
        # The opening hyphens are line 1 of the file, the YAML begins at line 2.
        line = "" if mark is None else f" near line {mark.line + 2}"
        raise InputError(
            f"{name}: what stands between the hyphens is not plain YAML{line}; write one "
            "'field: value' a line, each field once."
        ) from error
    if not isinstance(front, dict):
        raise InputError(f"{name}: write one 'field: value' a line between the hyphens.")
    for key in front:
        if key not in FIELDS:
            raise InputError(
                f"{name}: there is no field {str(key)[:40]!r}; the fields are {', '.join(FIELDS)}."
            )
    return front


def _sections(body: str, name: str) -> dict[str, str]:
    parts = _HEADING.split(body)
    sections = dict(zip(parts[1::2], (part.strip() for part in parts[2::2]), strict=True))
    for section in SECTIONS:
        if not sections.get(section):
            raise InputError(
                f"{name}: the section '## {section}' is missing or empty; a lesson has the "
                f"sections {', '.join(SECTIONS)}."
            )
    for section in sections:
        if section not in SECTIONS:
            raise InputError(
                f"{name}: there is no section '## {section[:40]}'; a lesson has the sections "
                f"{', '.join(SECTIONS)}."
            )
    return sections


def _text(front: Mapping[str, Any], key: str, name: str) -> str:
    value = front.get(key)
    longest = _LONGEST.get(key, 80)
    if not isinstance(value, str) or not 0 < len(value.strip()) <= longest:
        raise InputError(
            f"{name}: the field {key!r} is missing or no text of 1 to {longest} characters; write "
            "it between the hyphens."
        )
    return " ".join(value.split())


def _minutes(front: Mapping[str, Any], name: str) -> int:
    value = front.get("minutes")
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST_MINUTES:
        raise InputError(
            f"{name}: the field 'minutes' is not a whole number from 1 to {MOST_MINUTES}; give one."
        )
    return value


def _settings(front: Mapping[str, Any], experiment: str, name: str) -> dict[str, Any]:
    entries = front.get("settings") or {}
    if not isinstance(entries, dict) or not all(isinstance(key, str) for key in entries):
        raise InputError(f"{name}: the field 'settings' is no list of names and values; mend it.")
    if experiment == SCENARIO:
        if entries:
            raise InputError(f"{name}: a scenario has no 'settings'; write them under 'scenario'.")
        return {}
    kind = EXPERIMENTS[experiment]
    settings = {}
    for key, value in entries.items():
        try:
            settings[key] = kind.checked(key, value)
        except InputError as error:
            raise InputError(f"{name}, field 'settings', {str(key)[:40]!r}: {error}") from error
    return settings


def _scenario(front: Mapping[str, Any], experiment: str, name: str) -> Scenario | None:
    entries = front.get(SCENARIO)
    if experiment != SCENARIO:
        if entries is not None:
            raise InputError(
                f"{name}: the field 'scenario' belongs to the experiment 'scenario' only; leave it "
                "out."
            )
        return None
    if not isinstance(entries, dict) or not entries:
        raise InputError(
            f"{name}: the field 'scenario' is missing; write below it what Explore is to show, as "
            "in a scenario file."
        )
    try:
        return Scenario.from_dict({"scenario": VERSION, **entries})
    except InputError as error:
        raise InputError(f"{name}, field 'scenario': {error}") from error


#: The story for newcomers, by its key.
TOUR = "tour"


def stories() -> dict[str, Story]:
    """The stories by the name of their file without its ending, those that come along first.

    They lie next to the lessons, ``NAME.yaml``, here and in the folder that EXPLORER_LESSONS names.
    A file that cannot be used is left out with a warning that says why.

    Examples
    --------
    >>> len(stories()["tour"].steps)
    5
    """
    return readable(FOLDER, SETTING, read_story)


def read_story(path: str | Path) -> Story:
    """The story of a YAML file.

    Raises
    ------
    InputError
        For a file that cannot be read, and for one screen that is no story.
    """
    result = read_screens(path)
    if not isinstance(result, Story):
        raise InputError("This is one screen and no story: its first entry is 'story: 1'.")
    return result
