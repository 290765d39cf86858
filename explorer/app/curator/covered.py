"""Maps of a screen, where a panel below them can show other pictures for a while."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

from explorer.app.kit.map_parts import nothing
from explorer.app.kit.maps import Maps


class CoveredMaps(Maps):
    """Maps with a screen on them, which a panel may cover with a release that its `paint` painted.

    Those of a page add `draw`, `caption` and `cover`, which takes what `paint` returns, in its
    order, and what is to be read next to the pictures.
    """

    # The last screen, and what is said of the pictures that are in place of its own.
    _shown: Any = None
    _cover: str = ""
    #: The map that nothing covers, if there is one.
    ALWAYS: int | None = None
    #: Called when they are covered or uncovered: what was said of the screen is not said of them.
    on_cover: Callable[[], None] = staticmethod(nothing)

    @property
    def covered(self) -> frozenset[int]:
        """Which maps show something else than the screen."""
        return frozenset(range(len(self.views)) if self._cover else ()) - {self.ALWAYS}

    @abstractmethod
    def seen(self) -> Any:
        """What the browser shows now, as a job for a screen takes it."""

    @abstractmethod
    def draw(self, *painted: Any) -> None:
        """Put pictures on the maps."""

    @abstractmethod
    def caption(self, screen: Any) -> None:
        """Titles, colour bar and the spoken names of the maps."""

    def uncover(self) -> None:
        """Show the screen again after `cover`."""
        if self._cover:
            painted = () if self._shown is None else self._shown.painted
            self._cover_by("", *painted)

    def _cover_by(self, heading: str, *painted: Any) -> None:
        before, self._cover = bool(self._cover), heading
        if painted:
            self.draw(*painted)
        if self._shown is not None:
            self.caption(self._shown)
        if before != bool(heading):
            self.on_cover()
        self.push()
