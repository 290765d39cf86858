"""Experiments that a button starts: long work, whose result goes when a setting changes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

from explorer.app.kit.html import put
from explorer.app.kit.prose import pane
from explorer.app.learn.experiment import Experiment
from explorer.app.learn.running import Running
from explorer.teaching.settings import Settings


class StartedExperiment(Experiment):
    """An experiment that shows a sentence until it is started, and then what came out."""

    #: What is under way, for the progress bar.
    WORK: ClassVar[str]
    #: The chart with its legend, which `build` makes; not to be seen without a result.
    plot: Any

    def __init__(
        self, settings: Settings, refused: Callable[[str], None], *, phone: bool = False
    ) -> None:
        self.running = Running(self.show, refused, self.WORK)
        self.figures, self.twin = pane(), pane()
        super().__init__(settings, refused, phone=phone)
        self.plot.visible = False

    @abstractmethod
    def show(self, result: Any) -> None:
        """Show what the work found."""

    @abstractmethod
    def before(self) -> str:
        """The sentence while there is no result."""

    def begin(self) -> None:
        """Forget the result, and what is under way."""
        self.running.reset()
        self.plot.visible = False
        for part in (self.figures, self.twin):
            put(part, "")
        self.say(self.before())

    def close(self) -> None:
        """Stop what is under way."""
        self.running.close()

    def result(self, sentence: str, figures: str, twin: str) -> None:
        """Show the chart, the finding in words, a strip of figures and a table, as HTML."""
        self.say(sentence)
        self.plot.visible = True
        put(self.figures, figures)
        put(self.twin, twin)
