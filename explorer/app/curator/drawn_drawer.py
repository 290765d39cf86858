"""The left drawer of a page with one mechanism: what all of them have, in one order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar

from explorer.app.curator.drawer import Drawer, heading, wide_button
from explorer.app.curator.drawing import Drawing
from explorer.app.curator.parts import PageParts
from explorer.app.curator.release_button import ReleaseButton
from explorer.app.kit import ui


class DrawnDrawer(Drawer, ABC):
    """Data, mechanism and privacy, random noise, view; a page says what the first and last hold.

    Parameters
    ----------
    parts : of the page
    drawing : what the buttons of releases act on
    changed : called after a change of a mechanism's setting
    again : called to show the kept release again
    upload : the form for the visitor's own data
    """

    #: The file of words, and what the visitor's own data are called.
    WORDS: ClassVar[str]
    OWN: ClassVar[str]
    #: Buttons that save the release, each with the name of its file, whose ending is the format.
    FILES: ClassVar[Mapping[str, str]] = {"Save the release": "release.parquet"}

    def __init__(
        self,
        parts: PageParts,
        drawing: Drawing,
        changed: Callable[[], None],
        again: Callable[[], None],
        upload: Any,
    ) -> None:
        super().__init__(parts, self.WORDS, changed)
        self._drawing = drawing
        self.saves = [
            ui.FileDownload(
                label=label,
                filename=name,
                callback=partial(drawing.saved, name),
                variant="outlined",
                visible=False,
                **ui.WIDE,
            )
            for label, name in self.FILES.items()
        ]
        self.again = wide_button("Show the release again", again, visible=False)
        own = ui.Accordion((self.OWN, upload), dynamic=True, **ui.SECTION)
        parts.remembered.section("own", own)
        (chosen,) = self.mechanisms
        self.release = ReleaseButton(drawing)
        self.fill(
            *(*self.data(), own, self.OWN),
            heading("Mechanism and privacy"),
            *(chosen.menu, chosen.about, "Mechanism"),
            *(self.epsilon.view, "Epsilon", chosen.settings.view),
            heading("Random noise"),
            *(self.tied.switch("frozen"), self.new_draw(), "Random noise"),
            *(self.release.view, "Draw a release", *self.saves, self.again),
            heading("View"),
            *self.look(),
        )

    @abstractmethod
    def data(self) -> list[Any]:
        """The controls of what is counted, each followed by its words."""

    @abstractmethod
    def look(self) -> list[Any]:
        """The controls of how it is drawn."""

    def offer(self, screen: Any) -> None:
        """Offer to save the kept release, and to show it where a preview is on screen."""
        kept = self._drawing.drawn is not None
        for save in self.saves:
            save.visible = kept
        self.again.visible = kept and screen.release.preview
