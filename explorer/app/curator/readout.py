"""What is read next to the maps of a page with one mechanism: figures, answers, ledger."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from explorer.app.boxes.answers import named, together
from explorer.app.boxes.table import BoxTable
from explorer.app.curator.answers import BoxAnswers, chips
from explorer.app.curator.error_bars import ErrorBars
from explorer.app.curator.parts import PageParts
from explorer.app.kit.html import html_pane, put
from explorer.app.kit.map_parts import Tag
from explorer.app.kit.theme import CAUSES_CSS
from explorer.grid.range_queries import same_questions
from explorer.views.error_bar import error_key
from explorer.views.markup import figures_strip, ledger_bar

#: Figures that say nothing of exact counts.
_RELEASED = {
    *("Leaves", "Epsilon", "Computed in", "Private", "± (95 %)"),
    *("Rounds", "A person sends, at most"),
}


class Readout(ABC):
    """Numbers and sentences about the screen, as far as they are known by now.

    Parameters
    ----------
    parts : of the page
    table : of the boxes
    """

    def __init__(self, parts: PageParts, table: BoxTable) -> None:
        self._parts, self._table = parts, table
        self.screen: Any = None
        self.strip = html_pane(styles={"flex": "1 1 300px", "align-self": "center"})
        self.ledger = html_pane(margin=(4, 0, 0, 0))
        #: What the colours of the causes of errors represent.
        self.key = html_pane(css=[CAUSES_CSS])
        self.error_bars = ErrorBars(self.numbers)

    @abstractmethod
    def ask(self, screen: Any, boxes: Any) -> BoxAnswers:
        """What both sides answer to other boxes than those of the screen."""

    @abstractmethod
    def complete(self, screen: Any) -> Any:
        """The screen with both causes of its errors, where they are known."""

    @abstractmethod
    def want(self, screen: Any) -> None:
        """Ask for the causes where they are not."""

    @abstractmethod
    def figures(self, screen: Any) -> Sequence[tuple[str, str]]:
        """Label and value of the strip above the maps."""

    @abstractmethod
    def tell(self, screen: Any) -> None:
        """Write the sentences."""

    @abstractmethod
    def shows(self, screen: Any) -> Sequence[str]:
        """What each map shows: "true", "private" or "difference"."""

    def fits(self, screen: Any) -> bool:
        """Whether the rows of the table are about this screen."""
        return screen is not None

    @abstractmethod
    def selected(self) -> None:
        """Other rows have been selected."""

    def show(self, screen: Any) -> None:
        """Another picture is on the maps."""
        self.screen = screen
        put(self.ledger, ledger_bar(screen.release.stages()))
        self.numbers()

    def knows(self, screen: Any) -> bool:
        """Whether the answers of a screen are to the boxes that are on the page."""
        same = same_questions(screen.boxes, self._parts.rectangles.queries)
        return same and self.fits(screen)

    def meet(self) -> None:
        """Answer the boxes if they are other ones, at the boxes: all that is said at once."""
        screen, boxes = self.screen, self._parts.rectangles.queries
        if self.fits(screen) and not same_questions(screen.boxes, boxes):
            self.screen = replace(screen, answers=self.ask(screen, boxes), boxes=boxes)
        if self.fits(screen):
            self.tag(self.screen)

    def numbers(self) -> None:
        """The boxes may be other ones, or more is known of their errors."""
        if not self.fits(self.screen):
            return
        self.meet()
        self.screen = screen = self.error_bars.complete(self.complete(self.screen))
        # First: a browser takes what comes in the order in which it was changed.
        self._table.show(screen.answers)
        key = error_key(clipping=screen.answers.counted is not None)
        put(self.key, key if self.truth else "")
        self._strip(screen)
        self.tell(screen)
        self.want(screen)
        self.error_bars.want(screen)

    def covered(self) -> None:
        """A panel shows something else on the maps, or no more: what is the screen's says so."""
        if self.fits(self.screen):
            self.tag(self.screen)
            self._strip(self.screen)

    def _strip(self, screen: Any) -> None:
        of = [("Of the whole release:", "")] if self._covered() else []
        figures = [
            figure for figure in self.figures(screen) if self.truth or figure[0] in _RELEASED
        ]
        put(self.strip, figures_strip([*of, *figures], "line"))

    @property
    def truth(self) -> bool:
        """Whether exact counts may be sent."""
        return self._parts.truth

    def hide_truth(self) -> None:
        """Take away all that was sent with exact counts in it; other texts come with `numbers`."""
        for pane in self.quoting:
            put(pane, "")

    @property
    def quoting(self) -> Sequence[Any]:
        """The panes whose texts say something of exact counts."""
        return (self.strip,)

    def _covered(self) -> frozenset[int]:
        maps = self._parts.maps
        return frozenset() if maps is None else maps.covered

    def tag(self, screen: Any) -> None:
        """Write the answers at the boxes on the maps."""
        maps, names = self._parts.maps, self._parts.rectangles.names
        if maps is not None and len(names) == len(screen.answers):
            maps.say(self.chips(screen, screen.answers, names))

    def tags(self, boxes: Any, names: Sequence[str]) -> list[list[Tag]]:
        """Tags of other boxes than those of the screen, on each map in turn."""
        screen = self.screen
        return [] if not self.fits(screen) else self.chips(screen, self.ask(screen, boxes), names)

    def chips(self, screen: Any, answers: BoxAnswers, names: Sequence[str]) -> list[list[Tag]]:
        """Tags of answers, on each map in turn."""
        truth, covered, shows = self._parts.truth, self._covered(), self.shows(screen)
        tags = [
            named(names) if number in covered else chips(show, names, answers, truth)
            for number, show in enumerate(shows)
        ]
        maps = self._parts.maps
        return together(names, shows, tags) if maps is not None and maps.swiped else tags

    def close(self) -> None:
        """The session has ended."""
        self.error_bars.close()
