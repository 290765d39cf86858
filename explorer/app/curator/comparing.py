"""Panels that compare several ways to release what is on the maps, in the background."""

from __future__ import annotations

import html
from abc import abstractmethod
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, ClassVar

import panel as pn

from explorer.app.curator.panel import ExplainPanel, panel_button
from explorer.app.curator.parts import PageParts
from explorer.app.kit import ui
from explorer.app.kit.html import html_pane, put
from explorer.app.work.job import Job, Run


@dataclass(frozen=True, eq=False)
class Order:
    """What to compare: the mechanism on screen with its settings, and others of its epsilon.

    Parameters
    ----------
    data : the exact data of the page
    chosen : the mechanism on screen
    key : of the screen, by which a comparison of other settings is told
    """

    data: Any
    chosen: Any
    key: tuple[Any, ...]


class ComparingPanel(ExplainPanel[Any]):
    """A panel with a button, its progress, a sentence and a table.

    Nothing is computed before its button is pressed. What was found stays when settings change,
    and says so.
    """

    #: On the button, and what is counted while it works: "40 % `DONE`".
    START: ClassVar[str]
    DONE: ClassVar[str]
    #: Where it works.
    POOL: ClassVar[ThreadPoolExecutor]

    def __init__(self, parts: PageParts) -> None:
        super().__init__(lambda question: question, parts)
        self.found: Any = None
        self.work: Job[Any] = Job(
            self.compare, self._done, self._refused, changed=self._progressed, pool=self.POOL
        )
        self.go = panel_button(self.START, self._start, "contained")
        self.stop = panel_button("Stop", lambda _event: self.work.cancel())
        self.stop.disabled = True
        self._progress, self._said, self._table = (html_pane(margin=(4, 0)) for _ in range(3))
        self.view = pn.Column(
            ui.wrapping(self.go, self.stop, gap="6px 8px"),
            self._progress,
            self._said,
            self._table,
            sizing_mode="stretch_width",
            margin=(4, 0),
        )

    @abstractmethod
    def compare(self, order: Order, run: Run) -> Any:
        """What is found, with its ``order``. In a thread: touches no widget."""

    @abstractmethod
    def chosen(self, screen: Any) -> Any:
        """The mechanism of a screen, with its settings."""

    @abstractmethod
    def sentence(self, comparison: Any) -> str:
        """What was found, in words: plain text."""

    @abstractmethod
    def table(self, comparison: Any) -> str:
        """What was found, as HTML."""

    def show(self, screen: Any) -> None:
        """Look at another screen; what was found of other settings stays, marked as such."""
        self._screen = screen
        self._write()

    def selected(self) -> None:
        """Boxes do not matter here."""

    def hide(self) -> None:
        """Stop work; what has been found stays for the next look."""
        self.work.cancel()
        self._screen = None

    def _question(self, screen: Any) -> Any:
        return screen

    def _show(self, comparison: Any) -> None:
        """Nothing is found but by the button."""

    def _start(self, _event: Any = None) -> None:
        screen = self._screen
        if screen is not None:
            self.work.ask(Order(screen.data, self.chosen(screen), screen.key[:2]))

    def _done(self, comparison: Any) -> None:
        self.found = comparison
        self._write()

    def _progressed(self) -> None:
        running = self.work.busy
        self.go.disabled, self.stop.disabled = running, not running
        text = ""
        if running:
            part, left = self.work.progress
            rest = "" if left is None else f", about {left:.0f} s left"
            text = f"{part:.0%} {self.DONE}{rest}."
        put(self._progress, f'<p class="quiet" role="status">{text}</p>' if text else "")

    def _write(self) -> None:
        self._progressed()
        comparison, screen = self.found, self._screen
        if comparison is None:
            return
        text = self.sentence(comparison)
        if screen is not None and comparison.order.key != screen.key[:2]:
            text = f"{text} The settings have changed since: compare again for the present ones."
        put(self._said, f'<p class="summary" role="status">{html.escape(text)}</p>')
        put(self._table, self.table(comparison))
        self.go.label = "Compare again"
