"""How far a reader has come, lesson by lesson; the browser keeps it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from explorer.app.kit.browser import Storage
from explorer.teaching import Lesson

#: The step of a lesson whose answer was read.
DONE = -1
_MOST_STEPS = 100


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
