"""What the panels below the maps have in common: a screen, a job, and a player where they move."""

from __future__ import annotations

import html
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

import panel as pn

from explorer.app.curator.parts import PageParts
from explorer.app.kit import ui
from explorer.app.kit.html import html_pane, put
from explorer.app.kit.theme import SPOKEN_LABEL
from explorer.app.work.job import Job, Run
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
        is_known = self._known(screen)
        self._screen = screen
        if not is_known or self.found is None:
            self._draw()

    def selected(self) -> None:
        """Boxes do not matter here."""

    def hide(self) -> None:
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


class SteppedPanel(PlayedPanel[Found]):
    """A panel whose steps have an order, with five buttons to go through them.

    Parameters
    ----------
    find, parts : as for an `ExplainPanel`
    """

    def __init__(self, find: Callable[[Any], Found], parts: PageParts) -> None:
        super().__init__(find, parts, "Play")
        self.buttons = {
            "To the start": panel_button("To the start", lambda _event: self._to_start()),
            "Step back": panel_button("Step back", lambda _event: self._step(-1)),
            "Play": self.play,
            "Step forward": panel_button("Step forward", lambda _event: self._forward()),
            "To the end": panel_button("To the end", lambda _event: self._to_end()),
        }
        self._ended = False

    @abstractmethod
    def _to_start(self) -> None:
        """Go to the first step."""

    @abstractmethod
    def _step(self, direction: int) -> None:
        """Go one step on (1) or back (-1)."""

    @abstractmethod
    def _to_end(self) -> None:
        """Go to the last step."""

    def _forward(self) -> None:
        """One step on; from the end, where a panel opens, it begins anew, as playing does."""
        if self._ended:
            self._to_start()
        else:
            self._step(1)

    def _offer(self, at_start: bool, at_end: bool) -> None:
        self._ended = at_end
        self.buttons["To the start"].disabled = self.buttons["Step back"].disabled = at_start
        self.buttons["To the end"].disabled = at_end
        self.play.disabled = self.buttons["Step forward"].disabled = at_start and at_end

    def _slider(self, label: str, do: Callable[[int], None]) -> Any:
        """A slider over steps, from 0; ``do`` takes a step that exists."""
        slider = ui.IntSlider(
            label=label,
            start=0,
            end=1,
            value=0,
            size="small",
            margin=(0, 12),
            styles={"flex": "1 1 240px"},
            sizing_mode="stretch_width",
        )
        ui.bind(slider, partial(_within, slider, do), self._refused)
        return slider


def follow(slider: Any, value: int, end: int) -> None:
    """Let a slider follow; one without a choice cannot be moved."""
    slider.param.update(end=max(end, 1), value=value, disabled=end == 0)


def _within(slider: Any, do: Callable[[int], None], value: int) -> None:
    """Bounds that Panel does not enforce on the server."""
    if not slider.start <= value <= slider.end:
        raise InputError(f"{slider.label}: choose from {slider.start:,} to {slider.end:,}.")
    do(value)


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


@dataclass(frozen=True, kw_only=True)
class Comparing:
    """Several ways to release what is on the maps.

    Attributes
    ----------
    start, done : on the button, and what is counted while it works: "40 % ``done``"
    pool : where it works
    compare : finds a result with its ``order``; in a thread, so it touches no widget
    chosen : the mechanism of a screen, with its settings
    sentence, table : what was found, in plain text and as HTML
    """

    start: str
    done: str
    pool: ThreadPoolExecutor
    compare: Callable[[Order, Run], Any]
    chosen: Callable[[Any], Any]
    sentence: Callable[[Any], str]
    table: Callable[[Any], str]


class ComparingPanel(ExplainPanel[Any]):
    """A panel with a button, its progress, a sentence and a table.

    Nothing is computed before its button is pressed. What was found stays when settings change,
    and says so.
    """

    def __init__(self, parts: PageParts, comparison: Comparing) -> None:
        super().__init__(lambda question: question, parts)
        self._of = comparison
        self.found: Any = None
        self.work: Job[Any] = Job(
            *(comparison.compare, self._done, self._refused),
            changed=self._progressed,
            pool=comparison.pool,
        )
        self.go = panel_button(comparison.start, self._start, "contained")
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

    def show(self, screen: Any) -> None:
        self._screen = screen
        self._write()

    def selected(self) -> None:
        """Boxes do not matter here."""

    def hide(self) -> None:
        self.work.cancel()
        self._screen = None

    def _question(self, screen: Any) -> Any:
        return screen

    def _show(self, comparison: Any) -> None:
        """Nothing is found but by the button."""

    def _start(self, _event: Any = None) -> None:
        screen = self._screen
        if screen is not None:
            self.work.ask(Order(screen.data, self._of.chosen(screen), screen.key[:2]))

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
            text = f"{part:.0%} {self._of.done}{rest}."
        put(self._progress, f'<p class="quiet" role="status">{text}</p>' if text else "")

    def _write(self) -> None:
        self._progressed()
        comparison, screen = self.found, self._screen
        if comparison is None:
            return
        text = self._of.sentence(comparison)
        if screen is not None and comparison.order.key != screen.key[:2]:
            text = f"{text} The settings have changed since: compare again for the present ones."
        put(self._said, f'<p class="summary" role="status">{html.escape(text)}</p>')
        put(self._table, self._of.table(comparison))
        self.go.label = "Compare again"
