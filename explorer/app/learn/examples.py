"""Live experiments on one of many examples, with one of many draws of noise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from explorer.app.curator.data import CityData
from explorer.app.learn.live import LiveExperiment
from explorer.teaching.settings import Settings


class ExamplesExperiment(LiveExperiment):
    """A live experiment at one of many examples, with one of many draws of noise."""

    #: What the button calls another example.
    ANOTHER: ClassVar[str] = ""
    #: What is said while a city is counted.
    COUNTING: ClassVar[str] = ""

    def __init__(
        self, settings: Settings, refused: Callable[[str], None], *, phone: bool = False
    ) -> None:
        self._example = self._seed = 0
        super().__init__(settings, refused, phone=phone)

    def buttons(self) -> tuple[Any, Any]:
        """For another example, and for other noise on the same."""
        return (
            self.button(self.ANOTHER, self.another, strong=True),
            self.button("New noise", self.again),
        )

    def asked(self) -> tuple[Any, ...]:
        """City, settings, number of the example, seed of the noise."""
        return *super().asked(), self._example, self._seed

    def use(self, data: CityData) -> None:
        """Count the city."""
        self.say(self.COUNTING)
        super().use(data)

    def another(self) -> None:
        """Look at another example."""
        self._example += 1
        self.changed()

    def again(self) -> None:
        """Draw other noise."""
        self._seed += 1
        self.changed()
