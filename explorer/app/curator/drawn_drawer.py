"""The left drawer of a page with one mechanism: what all of them have, in one order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import Any, ClassVar

from explorer.app.curator.drawer import Drawer, wide_button
from explorer.app.curator.drawing import Drawing
from explorer.app.curator.parts import PageParts
from explorer.app.curator.price import spent_of
from explorer.app.curator.release_button import ReleaseButton
from explorer.app.curator.waiting_releases import WaitingReleases
from explorer.app.kit import ui
from explorer.errors import InputError


class DrawnDrawer(Drawer, ABC):
    """In the open what is changed most; in sections, whose headings say what is chosen, the rest.

    Parameters
    ----------
    parts : of the page
    drawing : what the buttons of releases act on
    changed : called after a change of a mechanism's setting
    again : called to show the kept release again
    upload : makes the form for the visitor's own data
    """

    #: The file of words, and the heading of the section of the grid and of the visitor's own data.
    WORDS: ClassVar[str]
    OWN: ClassVar[str]
    #: Choices that the heading of the section "View" says.
    LOOKS: ClassVar[tuple[str, ...]] = ("scale", "palette", "partition")
    #: Buttons that save the release, each with the name of its file, whose ending is the format.
    FILES: ClassVar[Mapping[str, str]] = {"Save the release": "release.parquet"}

    def __init__(
        self,
        parts: PageParts,
        drawing: Drawing,
        changed: Callable[[], None],
        again: Callable[[], None],
        upload: Callable[[], Any],
    ) -> None:
        super().__init__(parts, self.WORDS, changed)
        self._drawing = drawing
        # The kept release and the data set whose budget the heading says.
        self._said_of: tuple[Any, str] = (None, "")
        self._show_again = again
        # Made when their section is first opened.
        self._kept: list[Any] = []
        self._preview = True
        (chosen,) = self.mechanisms
        self.releases = self.section("release", "Release", self._release)
        looks = self.section("view", "View", self.look)
        self.say(looks, "View", self.LOOKS)
        grid = self.section("grid", self.OWN, lambda: [*self.grid(), upload(), self.OWN])
        self.say(grid, self.OWN, ("side",))
        self.fill(
            [
                *self.data(),
                *(chosen.menu, chosen.about, "Mechanism"),
                *(self.epsilon.view, "Epsilon"),
                *(self.new_draw(), "Random noise"),
                *self.first(),
            ],
            [self.remember("settings", chosen.settings.section), self.releases, looks, grid],
        )

    def _release(self) -> list[Any]:
        """The button of a release; what saves the kept one, shows it, and what waits."""
        saves = [
            ui.FileDownload(
                label=label,
                filename=name,
                callback=partial(self._drawing.saved, name),
                refused=self._parts.refuse,
                variant="outlined",
                **ui.WIDE,
            )
            for label, name in self.FILES.items()
        ]
        self._kept = [*saves, wide_button("Show the release again", self._show_again)]
        self._offer()
        drawn = *self.agreed(), self.release.view, "Draw a release"
        return [*drawn, *self._kept, self.waiting.view]

    @cached_property
    def release(self) -> ReleaseButton:
        """The button that draws a release."""
        return ReleaseButton(self._drawing)

    @cached_property
    def waiting(self) -> WaitingReleases:
        """The releases that no one has saved."""
        waiting = WaitingReleases(self._drawing)
        waiting.show()
        return waiting

    @abstractmethod
    def data(self) -> list[Any]:
        """The controls of whose counts are shown, each followed by its words."""

    @abstractmethod
    def grid(self) -> list[Any]:
        """The controls of what exactly is counted."""

    def first(self) -> list[Any]:
        """What of the view is so important that it is in the open."""
        return []

    def agreed(self) -> list[Any]:
        """What is agreed to before a release, above its button."""
        return []

    @abstractmethod
    def look(self) -> list[Any]:
        """The other controls of how it is drawn."""

    def offer(self, screen: Any) -> None:
        """Offer to save the kept release, and to show it where a preview is on screen."""
        self._preview = screen.release.preview
        self._offer()
        now = self._drawing.drawn, screen.data.matrix.key
        if now != self._said_of:
            self._said_of = now
            self.spent()
            if self._kept:
                self.waiting.show()

    def _offer(self) -> None:
        """Offer what can be done with the kept release, where there is one."""
        has_release = self._drawing.drawn is not None
        for control in self._kept:
            control.visible = has_release
        if self._kept:
            self._kept[-1].visible = has_release and self._preview

    def spent(self) -> None:
        """Say in the heading what the people on screen have spent."""
        try:
            spent = spent_of(self._drawing.ledger(), self._said_of[1])
        except InputError:
            spent = ""
        self.releases.say("Release", spent)
