"""What every experiment of a lesson has: settings, a city, something to see, an end."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import panel as pn

from explorer.app.curator.data import CityData
from explorer.app.curator.place_picker import Where
from explorer.app.curator.setting_fields import Controls, button
from explorer.app.kit import ui
from explorer.app.kit.html import put
from explorer.app.kit.prose import chart_pane, column, finding, pane
from explorer.errors import InputError
from explorer.teaching.settings import Settings
from explorer.views.teaching.frame import legend

PREVIEW = "Everything here is a preview: repeatable noise, not private, nothing is booked."


class Experiment(ABC):
    """The interactive part of a lesson.

    Parameters
    ----------
    settings : Settings
        What the lesson begins with; the widgets change it.
    refused : shows a sentence
    phone : whether the page is on a phone
    """

    #: Heading above it.
    title: ClassVar[str] = ""
    #: Settings that a result does not depend on.
    APART: ClassVar[Sequence[str]] = ()

    def __init__(
        self, settings: Settings, refused: Callable[[str], None], *, phone: bool = False
    ) -> None:
        self.settings, self.refused, self.phone = settings, refused, phone
        self.controls = Controls(settings, refused)
        self.data: CityData | None = None
        self.said = pane(margin=(4, 0, 6, 0))
        self.view = column()
        self._chosen_on: list[Where] = []
        self.build()
        others = [name for name in settings.settings() if name not in self.APART]
        settings.param.watch(lambda *_: self.changed(), others)

    @abstractmethod
    def build(self) -> None:
        """Make the widgets and fill `view`."""

    @abstractmethod
    def begin(self) -> None:
        """Begin anew: the city, or a setting that a result depends on, is another."""

    @abstractmethod
    def close(self) -> None:
        """Stop whatever runs: the lesson or the visit has ended."""

    def use(self, data: CityData) -> None:
        """Take a city; called once before anything else, and when another is chosen."""
        self.data = data
        for picker in self._chosen_on:
            picker.use(data)
        self.begin()

    def changed(self) -> None:
        """Begin anew once there is a city."""
        if self.data is not None:
            self.begin()

    def choose(self, *, box: bool = False, place: bool = False) -> Where:
        """A map to choose a box, a place or both on; it follows the city."""
        where = Where(self.settings, self.refused, box=box, place=place, phone=self.phone)
        self._chosen_on.append(where)
        return where

    def say(self, sentence: str) -> None:
        """Put the finding in words."""
        put(self.said, finding(sentence))

    def lay_out(self, left: Any, controls: Sequence[Sequence[Any]], right: Sequence[Any]) -> None:
        """A map at the left if there is one, rows of controls above, at the right what comes out.

        ``left`` is None where there is no map.
        """
        out = pn.Column(
            *right,
            sizing_mode="stretch_width",
            margin=0,
            styles={"flex": "3 1 360px", "min-width": "0"},
        )
        parts = [out] if left is None else [left, out]
        body = pn.Row(
            *parts,
            styles={"flex-wrap": "wrap", "gap": "0 8px", "align-items": "flex-start"},
            sizing_mode="stretch_width",
            margin=0,
        )
        head = pane(f"<h3>{self.title}</h3><p>{PREVIEW}</p>", margin=(0, 0, 4, 0))
        rows = [ui.wrapping(*row, margin=(0, 0, 6, 0)) for row in controls]
        self.view.objects = [head, *rows, body]

    def ready(self) -> CityData:
        """The city; an InputError while it is still being read."""
        if self.data is None:
            raise InputError("The city is still being read: try again in a moment.")
        return self.data

    def button(self, text: str, clicked: Callable[[], None], *, strong: bool = False) -> Any:
        """A button; what it cannot do is said."""

        def guarded() -> None:
            try:
                clicked()
            except InputError as error:
                self.refused(str(error))

        return button(text, guarded, strong=strong)


def explained(entries: Sequence[tuple[str, str, str]], *figures: Any, margin: Any = 0) -> Any:
    """Charts below what their colours represent: entries of a `legend`."""
    return column(pane(legend(entries), margin=margin), *map(chart_pane, figures))
