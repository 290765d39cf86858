"""What is read after a picture waits while choices change quickly, as a slider's do in a drag."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import partial

from explorer.app.work.document import Visit, soon

#: Seconds between two changes of choices that are one movement.
HURRIED = 0.25
#: Seconds without another picture after which choices that changed quickly have come to rest.
RESTED = 0.15


class Movement:
    """Whether choices change quickly, as while a slider is dragged or a key held down."""

    def __init__(self) -> None:
        self.hurried = False
        self._changed = -math.inf
        self._pictures = 0

    def changed(self) -> None:
        """A choice has changed."""
        before, self._changed = self._changed, time.monotonic()
        self.hurried = self._changed - before < HURRIED

    def shown(self, rest: Callable[[], None]) -> None:
        """A picture is shown: do ``rest`` in the next turn, in a movement after its last picture.

        Called with the document's lock held, as ``rest`` will be.
        """
        self._pictures += 1
        visit = Visit()
        if self.hurried and visit.loop is not None:
            late = partial(self._unless_newer, self._pictures, rest)
            visit.later(RESTED, partial(visit.show, late))
        else:
            soon(rest)

    def _unless_newer(self, picture: int, rest: Callable[[], None]) -> None:
        if picture == self._pictures:
            rest()
