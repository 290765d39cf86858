"""Epsilon on a logarithmic slider, with a box to type it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import panel as pn
from bokeh.models import CustomJSTickFormatter
from panel.util import edit_readonly

from explorer.app.kit import ui
from explorer.app.kit.html import html_pane
from explorer.app.kit.theme import SPOKEN_LABEL
from explorer.app.state import EPSILON_EXPONENTS, MechanismState, epsilon_of
from explorer.errors import InputError

# The slider's place is a power of ten; a person reads epsilon, on screen and through a reader: what
# was typed as it is, and what the slider chose rounded as it counts (`epsilon_of`).
_EPSILON_FORMAT = """
const exact = Math.pow(10, tick)
const rounded = digits => Number(exact.toPrecision(digits))
const typed = [2, 3, 4, 5, 6, 7, 8].find(each => Math.abs(rounded(each) / exact - 1) < 1e-12)
return String(rounded(typed ?? 2))
"""


class EpsilonControl:
    """Epsilon on a logarithmic slider with a box to type it exactly; both follow the state."""

    def __init__(self, state: MechanismState, refused: Callable[[str], None]) -> None:
        self._state = state
        self._quiet = False
        start, end = EPSILON_EXPONENTS
        self.slider = ui.FloatSlider(
            label="Epsilon",
            start=start,
            end=end,
            step=0.05,
            value=self._place(),
            format=CustomJSTickFormatter(code=_EPSILON_FORMAT),
            marks=[
                {"value": k, "label": f"{10.0**k:g}"}
                for k in range(math.ceil(start), math.floor(end) + 1)
            ],
            **{**ui.WIDE, "margin": (8, 10, 0, 10)},
        )
        self.box = ui.TextInput(
            label="Exact epsilon",
            value=f"{state.epsilon:g}",
            width=84,
            size="small",
            margin=0,
            # At the right end of the slider's own line, and behind it for a keyboard.
            styles={"position": "absolute", "top": "0", "right": "10px"},
            stylesheets=[SPOKEN_LABEL, "legend { max-width: 0 !important; }"],
        )
        ui.bind(self.slider, lambda place: self._put(epsilon_of(place)), refused)
        ui.bind(self.box, lambda text: self._put(_number(text)), refused)
        state.param.watch(self._follow, "epsilon")
        ends = html_pane(
            '<p class="quiet ends"><span>more private</span><span>more accurate</span></p>',
            margin=(0, 10, 4, 10),
        )
        self.view = pn.Column(
            *(self.slider, self.box, ends),
            sizing_mode="stretch_width",
            margin=0,
            styles={"position": "relative"},
        )

    def _put(self, epsilon: Any) -> None:
        if not self._quiet:
            self._state.put(epsilon=epsilon)

    def _follow(self, _event: Any) -> None:
        self._quiet, text = True, f"{self._state.epsilon:g}"
        # Both at once are one message; otherwise Panel sends the one, and then the other.
        with edit_readonly(self.box):
            self.box.param.update(value=text, value_input=text)
        # A slider that already is at this value is not nudged while it is being dragged.
        if epsilon_of(self.slider.value) != self._state.epsilon:
            self.slider.value = self._place()
        self._quiet = False

    def _place(self) -> float:
        start, end = EPSILON_EXPONENTS
        return min(max(math.log10(self._state.epsilon), start), end)


def _number(text: str) -> float:
    try:
        return float(text.strip().replace(",", "."))
    except ValueError as error:
        raise InputError("Epsilon is not a number: type one such as 0.1.") from error
