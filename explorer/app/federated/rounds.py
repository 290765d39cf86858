"""Round by round: the private map as it stood after each, played or chosen, and all in a table."""

from __future__ import annotations

import html

import panel as pn

from explorer.app.curator.parts import PageParts
from explorer.app.curator.screen import Screen
from explorer.app.curator.stepped import SteppedPanel
from explorer.app.federated.round_frame import Frame, FrameJob, compute_frame
from explorer.app.federated.round_sentences import about_round, caption, off_after, rounds_table
from explorer.app.federated.screen import released
from explorer.app.kit import ui
from explorer.app.kit.bound import Tied
from explorer.app.kit.html import html_pane, put
from explorer.app.kit.prose import pane
from explorer.views.rounds import DIVIDED, GIVEN_UP, GREY
from explorer.views.teaching.frame import legend

_LEGEND = (
    (DIVIDED, "line", "divided after this round"),
    (GIVEN_UP, "dash", "given up"),
    (GREY, "stripes", "noise exceeds the count"),
)


class RoundsPanel(SteppedPanel[Frame]):
    """The panel; the private map shows its round while it is open."""

    def __init__(self, parts: PageParts) -> None:
        super().__init__(compute_frame, parts)
        self._state = parts.state
        self.frame: Frame | None = None
        # 0 represents the last one, however many there are.
        self._wanted = 0
        self.round = self._slider("Round", self._slid)
        self.round.start = 1
        self.grey = Tied(self._state, self._refused).switch("grey", margin=(4, 0))
        self._state.param.watch(lambda _event: self._chose_grey(), "grey")
        marks = pane(legend(_LEGEND), styles={"flex": "0 1 auto"})
        self._said, self._table = (html_pane(margin=(4, 0)) for _ in range(2))
        summary = [self._said, ui.wrapping(marks, self.grey, gap="4px 24px")]
        if not parts.phone:
            self.beside = pn.Column(*summary, sizing_mode="stretch_width", margin=0)
        self.view = pn.Column(
            ui.wrapping(*self.buttons.values(), self.pace, self.round, gap="6px 8px"),
            *(summary if parts.phone else []),
            self._table,
            sizing_mode="stretch_width",
            margin=(4, 0),
        )

    # What the strip asks for.

    def show(self, screen: Screen) -> None:
        """Look at another screen; another release is shown as it ended."""
        if self._screen is None or self._screen.release is not screen.release:
            self.player.stop()
            self._wanted = 0
        self._screen = screen
        self._draw()

    def selected(self) -> None:
        """Boxes do not matter here."""

    def hide(self) -> None:
        """Stop, and give the maps back."""
        super().hide()
        self.frame, self._wanted = None, 0
        maps = self._maps()
        if maps is not None:
            maps.mark_round(None)

    # What a visitor does.

    @property
    def _last(self) -> int:
        return 1 if self.frame is None else self.frame.last

    @property
    def _at(self) -> int:
        """The round asked for last; the one on the map may be an earlier one."""
        return self._wanted or self._last

    def _slid(self, number: int) -> None:
        if self.frame is not None and number != self._at:
            self._to(number)

    def _chose_grey(self) -> None:
        if self._screen is not None:
            self._draw()

    def _to_start(self) -> None:
        self._to(1)

    def _to_end(self) -> None:
        self._to(0)

    def _step(self, direction: int) -> None:
        self._to(self._at + direction)

    def _to(self, number: int) -> None:
        self.player.stop()
        self._go(number)

    def _go(self, number: int) -> None:
        self._wanted = min(number, self._last) if number else 0
        self._draw()

    # Playing.

    def _rewind(self) -> None:
        if self._at == self._last:
            self._go(1)

    def _next(self) -> bool:
        """One round on; the player waits for a picture that is still being drawn."""
        if self.frame is None:
            return False
        if self._drawing or self.frame.number != self._at:
            return True
        if self._at < self._last:
            self._go(self._at + 1)
        return self._at < self._last

    # From a round to a picture.

    def _question(self, screen: Screen) -> FrameJob:
        return FrameJob(screen, self._wanted, self._state.grey, self.frame)

    def _show(self, frame: Frame) -> None:
        old, self.frame = self.frame, frame
        maps = self._maps()
        if maps is not None:
            if frame.picture is None:
                maps.uncover()
            elif old is None or old.picture is not frame.picture:
                maps.cover(*frame.picture, caption(frame))
            maps.mark_round(frame.marks)
        steps = frame.last if frame.replayed else 1
        if self._wanted in (0, frame.number):
            # An earlier frame would pull the slider back that a visitor still moves.
            self.round.param.update(end=max(frame.last, 2), value=frame.number, disabled=steps == 1)
        self._offer(steps == 1 or frame.number == 1, frame.number == frame.last)
        put(
            self._said,
            f'<p class="summary" role="status">{html.escape(about_round(frame))} '
            f"{html.escape(off_after(frame))}</p>",
        )
        put(self._table, rounds_table(released(frame.screen), frame.number))
