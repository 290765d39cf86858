"""Stories that come along, next to the lessons: the tour, a workshop; and a teacher's own."""

from __future__ import annotations

from pathlib import Path

from explorer.errors import InputError
from explorer.scenario.presets import readable
from explorer.scenario.story import Story, read_screens
from explorer.teaching.lessons import FOLDER, SETTING

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
