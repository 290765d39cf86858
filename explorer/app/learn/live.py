"""Experiments whose result follows their settings, as soon as one of them changes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

from explorer.app.kit.later import when_loaded
from explorer.app.learn.experiment import Experiment
from explorer.app.work.job import Job
from explorer.teaching.settings import Settings


class LiveExperiment(Experiment):
    """An experiment that looks anew, in a thread, whenever its city or a setting is another."""

    #: From what `asked` gives to a result that knows its ``data``; it must not touch the page.
    look: ClassVar[Callable[..., Any]]

    def __init__(
        self, settings: Settings, refused: Callable[[str], None], *, phone: bool = False
    ) -> None:
        self.worker: Job[Any] = Job(
            lambda request: self.look(*request), self._show, refused, take=self.asked
        )
        super().__init__(settings, refused, phone=phone)

    @abstractmethod
    def show(self, result: Any) -> None:
        """Show what `look` found."""

    def asked(self) -> tuple[Any, ...]:
        """What is to be looked at: the city, the settings as they are, and perhaps more."""
        return self.ready(), self.settings.copy()

    def begin(self) -> None:
        """Look anew."""
        when_loaded(self.worker.ask)

    def close(self) -> None:
        """Stop looking."""
        self.worker.close()

    def _show(self, result: Any) -> None:
        # Another city may have been chosen while this one was looked at.
        if result.data is self.data:
            self.show(result)
