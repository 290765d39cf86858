"""Stories that visitors opened, so that a step on another page finds its story again."""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict

from explorer.errors import InputError
from explorer.scenario import Story
from explorer.teaching.stories import stories

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

        Parameters
        ----------
        story : Story
        instead : the key of what it was before its last step, whose place it takes
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
        """The story with this key.

        Raises
        ------
        InputError
            When it is not here, or not any more.
        """
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        result = stories().get(key)
        if result is None:
            raise InputError("This story is not on the server any more: open its file again.")
        return result


#: The stories kept by this server.
SHELF = StoryShelf()
