"""Drawn releases of one visitor: asked for twice if need be, kept, saved, shown again."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from explorer.app.curator.drawing import Flow
from explorer.app.curator.screen import Screen
from explorer.app.kit.message import MessageArea
from explorer.app.state.explore import ExploreState
from explorer.errors import InputError


class Desk:
    """What a visitor does with release-grade draws. Each one costs its epsilon for good.

    Parameters
    ----------
    state : the visitor's choices
    flow : draws, and keeps the last drawn release
    message : where sentences go
    """

    def __init__(self, state: ExploreState, flow: Flow, message: MessageArea) -> None:
        self._state, self._flow, self._message = state, flow, message
        self._asked: tuple[Any, ...] = ()
        self._told: Screen | None = None

    def press(self) -> None:
        """The button "Draw a release": at once the first time, later on the second press."""
        drawn = self._flow.drawn
        wanted = repr(self._state.instance()), self._state.city, self._state.side, drawn
        if (drawn is None and not self._flow.drawing) or wanted == self._asked:
            self._asked = ()
            self._flow.draw()
            return
        self._asked = wanted
        self._message.inform(
            f"This spends epsilon {self._state.epsilon:g} once more: press again. The new release "
            "takes the place of the one that is kept, so save that one first if it matters."
        )

    def arrived(self, screen: Screen) -> None:
        """Say once what a drawn release has cost."""
        # A zoom makes another screen of the same release.
        if screen.booked and (self._told is None or self._told.release is not screen.release):
            self._told = screen
            self._message.inform(screen.booked)

    def show_again(self, use: Callable[[Any], None]) -> None:
        """Bring the kept release back with its settings; ``use`` shows its data."""
        made, drawn = self._flow.mechanism_drawn(), self._flow.drawn
        if made is None or drawn is None:
            raise InputError("No release has been drawn yet: draw one first.")
        use(drawn.data)
        self._state.take(made)
        self._flow.again()

    def saved(self) -> io.BytesIO:
        """The kept release as a GeoParquet file; a preview is not handed out.

        Raises
        ------
        InputError
            When none has been drawn.
        """
        drawn = self._flow.drawn
        if drawn is None:
            raise InputError("A preview is not private: draw a release first.")
        with tempfile.TemporaryDirectory(prefix="explorer-") as folder:
            path = Path(folder) / "release.parquet"
            drawn.release.save(path)
            return io.BytesIO(path.read_bytes())
