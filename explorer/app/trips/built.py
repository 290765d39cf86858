"""How it was cut: the branch of the chosen row, cut by cut, on all maps and in words."""

from __future__ import annotations

import html
from typing import Any

import panel as pn

from explorer.app.curator.parts import PageParts
from explorer.app.curator.stepped import SteppedPanel, follow
from explorer.app.kit import ui
from explorer.app.kit.html import html_pane, put
from explorer.app.trips import built_sentences as say
from explorer.app.trips.built_frame import Cut, CutJob, compute_cut
from explorer.app.trips.screen import TripScreen
from explorer.views.budget import budget_bar


class Built(SteppedPanel[Cut]):
    """The panel; the maps show its level while it is open and not at the end."""

    def __init__(self, parts: PageParts) -> None:
        super().__init__(compute_cut, parts)
        self.cut: Cut | None = None
        # So many cuts were asked for; None is the end, of whatever release.
        self._asked: int | None = None
        self.level = self._slider("Number of cuts shown", self._slid)
        self._said, self._answer, self._about_budget, self._budget, self._table = (
            html_pane(margin=(4, 0)) for _ in range(5)
        )
        self.view = pn.Column(
            ui.wrapping(*self.buttons.values(), self.pace, self.level, gap="6px 8px"),
            self._said,
            self._answer,
            self._about_budget,
            self._budget,
            self._table,
            sizing_mode="stretch_width",
            margin=(4, 0),
        )

    # What the strip asks for.

    def show(self, screen: TripScreen) -> None:
        """Look at another screen; of another release or row the number of cuts is kept."""
        old, self._screen = self._screen, screen
        if old is None or old.release is not screen.release:
            self.player.stop()
        self._draw()

    def hide(self) -> None:
        """Stop, and give the maps back."""
        super().hide()
        self.cut, self._asked = None, None
        maps = self._maps()
        if maps is not None:
            maps.enclose([None] * len(maps.views))

    # What a visitor does.

    def _slid(self, cuts: int) -> None:
        if self.cut is not None and cuts != self._wanted(self.cut):
            self._to(cuts)

    def _wanted(self, cut: Cut) -> int:
        """The cuts asked for last; those on the maps may be earlier ones."""
        return cut.depth if self._asked is None else min(self._asked, cut.depth)

    def _to_start(self) -> None:
        self._to(0)

    def _to_end(self) -> None:
        self._to(None)

    def _step(self, direction: int) -> None:
        if self.cut is not None:
            self._to(max(self._wanted(self.cut) + direction, 0))

    def _to(self, cuts: int | None) -> None:
        self.player.stop()
        self._ask(cuts)

    def _ask(self, cuts: int | None) -> None:
        at_end = cuts is not None and self.cut is not None and cuts >= self.cut.depth
        self._asked = None if at_end else cuts
        self._draw()

    # Playing.

    def _rewind(self) -> None:
        if self.cut is not None and self.cut.at_end:
            self._ask(0)

    def _next(self) -> bool:
        """One step of the player; it waits for pictures that are still being drawn."""
        if self.cut is None:
            return False
        if self._drawing:
            return True
        self._ask(self._wanted(self.cut) + 1)
        return self._asked is not None

    # From a number of cuts to pictures.

    def _question(self, screen: Any) -> CutJob:
        row, names = screen.look.row, self._rectangles.names
        name = names[row] if row is not None and row < len(names) else ""
        return CutJob(screen, self._asked, name, self.cut)

    def _show(self, cut: Cut) -> None:
        self.cut, maps = cut, self._maps()
        if maps is not None:
            if cut.painted is None:
                maps.uncover()
            else:
                maps.cover(*cut.painted, say.caption(cut))
            maps.enclose(cut.boxes())
        if cut.asked == self._asked:
            # An earlier one would pull a slider back that a visitor still moves.
            follow(self.level, cut.cuts, cut.depth)
        self._offer(cut.cuts == 0, cut.at_end)
        text = html.escape(say.about_piece(cut))
        put(self._said, f'<p class="summary" role="status">{text}</p>')
        put(self._answer, f"<p>{html.escape(say.about_answer(cut))}</p>")
        put(self._about_budget, f"<p>{html.escape(say.about_budget(cut))}</p>")
        put(self._budget, budget_bar(cut.spent(), cut.screen.release.epsilon))
        put(self._table, say.levels_table(cut))
