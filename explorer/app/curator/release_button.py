"""The button that draws a release: it states its price and what is left, and asks once."""

from __future__ import annotations

import html

import panel as pn

from explorer.app.curator.drawer import wide_button
from explorer.app.curator.drawing import Drawing, Price
from explorer.app.kit.html import html_pane, put
from explorer.app.kit.later import after

LABEL = "Draw a release"
#: Seconds for which a second press is awaited.
PATIENT = 20.0


class ReleaseButton:
    """The button and, while it waits for the second press, a sentence that is read out.

    Parameters
    ----------
    drawing : what is drawn, and knows what that costs
    """

    def __init__(self, drawing: Drawing) -> None:
        self._drawing, self._asked = drawing, 0
        self.button = wide_button(LABEL, drawing.press)
        # There before it speaks: screen readers announce what changes in a region they know.
        self._about = html_pane('<div role="status"></div>', margin=(0, 10))
        self.view = pn.Column(self.button, self._about, sizing_mode="stretch_width", margin=0)
        drawing.on_price(self._show)

    def _show(self, price: Price | None) -> None:
        text = "" if price is None else f'<p class="help">{html.escape(price.about)}</p>'
        put(self._about, f'<div role="status">{text}</div>')
        label, look = (LABEL, "outlined") if price is None else (price.button, "contained")
        if self.button.label != label:
            self.button.label = label
            self.button.variant = look
        if price is not None:
            self._asked += 1
            asked = self._asked
            after(PATIENT, lambda: self._drawing.forget() if asked == self._asked else None)
