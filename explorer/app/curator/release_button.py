"""The button that asks for a release, and the one that confirms its price."""

from __future__ import annotations

import html
from functools import partial

import panel as pn

from explorer.app.curator.drawer import wide_button
from explorer.app.curator.drawing import Drawing
from explorer.app.curator.price import Price
from explorer.app.curator.underway import Underway
from explorer.app.kit.html import html_pane, put
from explorer.app.kit.later import after

LABEL = "Draw a release"
CANCEL = "Do not draw"
STOP = "Cancel this draw"
#: Seconds for which a price holds.
PATIENCE = 60.0


class ReleaseButton:
    """The button; while a price is asked about, a sentence that is read out and two buttons.

    The one that spends is in another place, and is made anew with the token of its price: however
    often and quickly the first one is pressed, nothing is drawn, and a press of an older one that
    arrives late confirms nothing.

    Parameters
    ----------
    drawing : what is drawn, and knows what that costs
    """

    def __init__(self, drawing: Drawing) -> None:
        self._drawing, self._asked = drawing, 0
        self._price: Price | None = None
        self.button = wide_button(LABEL, drawing.press)
        # There before it speaks: screen readers announce what changes in a region they know.
        self._about = html_pane('<div role="status"></div>', margin=(0, 10))
        self.choice = pn.Column(sizing_mode="stretch_width", margin=0)
        # How far a draw is; not read out, since it is another sentence every moment.
        self.progress = html_pane(margin=(0, 10))
        self.stop = wide_button(STOP, drawing.cancel, variant="text")
        self.stop.visible = False
        self.view = pn.Column(
            *(self.button, self._about, self.choice, self.progress, self.stop),
            sizing_mode="stretch_width",
            margin=0,
        )
        drawing.on_price(self._show)
        drawing.on_progress(self._follow)

    def _follow(self, underway: Underway | None) -> None:
        """Say how far a draw is; what is not booked yet can be cancelled."""
        text = "" if underway is None else f'<p class="help">{underway.sentence}</p>'
        put(self.progress, text)
        self.stop.visible = underway is not None and not underway.booked

    def _show(self, price: Price | None) -> None:
        text = "" if price is None else f'<p class="help">{html.escape(price.about)}</p>'
        put(self._about, f'<div role="status">{text}</div>')
        before, self._price = self._price, price
        if price is None:
            if self.choice.objects:
                self.choice.objects = []
            return
        if price == before:
            # The same button stays under the pointer of anyone who asked twice.
            return
        confirm = partial(self._drawing.confirm, price.token)
        self.choice.objects = [
            wide_button(price.button, confirm, variant="contained"),
            wide_button(CANCEL, self._drawing.forget, variant="text"),
        ]
        self._asked += 1
        number = self._asked
        after(PATIENCE, lambda: self._drawing.forget() if number == self._asked else None)
