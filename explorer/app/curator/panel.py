"""What the panels below the maps have in common: a screen, a job, and a player where they move."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from explorer.app.curator.parts import PageParts
from explorer.app.kit import ui
from explorer.app.kit.theme import SPOKEN_LABEL
from explorer.app.work.job import Job
from explorer.app.work.timing import PACES, Player
from explorer.errors import InputError

Found = TypeVar("Found")


class ExplainPanel(ABC, Generic[Found]):
    """One panel: it asks about the screen on the maps, and shows what its job finds.

    Screens and maps are of the page's own kind.

    Everything public is called with the document's lock held.

    Parameters
    ----------
    find : from a question to what is shown, in a thread; what it finds has a ``screen``
    parts : of the page, whose maps are `CoveredMaps` as a rule
    """

    view: Any
    #: What is next to the maps while the panel is open, on a page that has space for it.
    beside: Any = None

    def __init__(
        self,
        find: Callable[[Any], Found],
        parts: PageParts,
    ) -> None:
        self._maps, self._refused = parts.shown_maps, parts.refuse
        self._rectangles = parts.rectangles
        self._screen: Any = None
        # Whether something has been asked that is not shown yet.
        self._drawing = False
        self.job = Job(find, self._publish, self._failed, take=self._take)

    @abstractmethod
    def show(self, screen: Any) -> None:
        """Look at ``screen``: called when the panel is opened, and after each new picture."""

    def selected(self) -> None:
        """The boxes, or the rows selected in their table, have changed."""
        if self._screen is not None:
            self._draw()

    def restyle(self) -> None:
        """Other colours have been chosen; figures of a panel's own take them."""

    @abstractmethod
    def hide(self) -> None:
        """Another panel is opened, or none: take everything off the maps again and stop work."""

    @abstractmethod
    def _question(self, screen: Any) -> Any:
        """What the job is to find now."""

    @abstractmethod
    def _show(self, result: Found) -> None:
        """Show what the job found."""

    def _fits(self, result: Any) -> bool:
        """Whether it is about what is on the maps; a newer screen has asked for its own."""
        return result.screen is self._screen

    def _draw(self) -> None:
        self._drawing = True
        self.job.ask()

    def _take(self) -> Any:
        if self._screen is None:
            raise InputError("There is no map to explain yet: wait a moment.")
        return self._question(self._screen)

    def _publish(self, result: Found) -> None:
        self._drawing = False
        if self._fits(result):
            self._show(result)

    def _failed(self, sentence: str) -> None:
        self._drawing = False
        self._refused(sentence)


class ReleasePanel(ExplainPanel[Found]):
    """A panel about a release, whatever is visible of it: a zoom or a box changes nothing.

    Parameters
    ----------
    find, parts : as for an `ExplainPanel`
    """

    found: Found | None = None

    def show(self, screen: Any) -> None:
        """Look at another screen."""
        is_known = self._known(screen)
        self._screen = screen
        if not is_known or self.found is None:
            self._draw()

    def selected(self) -> None:
        """Boxes do not matter here."""

    def hide(self) -> None:
        """Stop."""
        self._screen = None

    def _known(self, screen: Any) -> bool:
        return self._screen is not None and self._screen.release is screen.release

    def _fits(self, result: Any) -> bool:
        return self._known(result.screen)

    def _question(self, screen: Any) -> Any:
        return screen


class PlayedPanel(ExplainPanel[Found]):
    """A panel that shows one thing after the other on the maps.

    Parameters
    ----------
    find, parts : as for an `ExplainPanel`
    label : of the button that plays
    """

    def __init__(
        self,
        find: Callable[[Any], Found],
        parts: PageParts,
        label: str,
    ) -> None:
        super().__init__(find, parts)
        self.player = Player(self._next, self._playing)
        self._label = label
        self.play = panel_button(label, self._toggle)
        self.pace = choice("Speed", PACES)
        ui.bind(self.pace, self._hurry, self._refused)

    def hide(self) -> None:
        """Stop, and give the maps back."""
        self.player.stop()
        self._screen = None
        maps = self._maps()
        if maps is not None:
            maps.uncover()

    @abstractmethod
    def _next(self) -> bool:
        """One step of the player; returns whether there are more."""

    def _rewind(self) -> None:
        """About to play: at the end, begin anew."""

    def _toggle(self, _event: Any) -> None:
        if self.player.playing:
            self.player.stop()
        else:
            self._rewind()
            self.player.start()

    def _hurry(self, seconds: float) -> None:
        self.player.seconds = seconds

    def _playing(self, playing: bool) -> None:
        self.play.label = "Pause" if playing else self._label

    def _failed(self, sentence: str) -> None:
        self.player.stop()
        super()._failed(sentence)


def panel_button(label: str, do: Callable[[Any], None], variant: str = "outlined") -> Any:
    """A small button of a panel."""
    return ui.Button(label=label, variant=variant, size="small", margin=0, on_click=do)


def choice(label: str, options: dict[str, Any], **params: Any) -> Any:
    """One of a few, side by side."""
    return ui.RadioButtonGroup(
        label=label,
        options=options,
        value=next(iter(options.values())),
        size="small",
        margin=0,
        stylesheets=[SPOKEN_LABEL],
        **params,
    )
