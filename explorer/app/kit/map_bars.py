"""The bars that explain the colours of maps: each is inside the frame of its map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from explorer.app.kit import static
from explorer.app.kit.html import html_pane, put
from explorer.app.kit.theme import SMALL

#: Pixels of a map's width below which it has no space for a bar, which then is below it, and
#: below which a bar has no space for its note.
LEAST, NOTED = 240, 330
_CSS = static.fill("map_bars.css", SMALL=SMALL, LEAST=LEAST, NOTED=NOTED)
#: Of the type of a bar: pixels in the narrowest window, pixels of a map's width there, and by how
#: much wider a map is whose type is a pixel larger; how much larger type is in a presentation.
_EM, _USUAL, _PER_PIXEL, _WIDE = 12.0, 450.0, 250.0, 1.35
#: Of the scale bar at the lower left: its part of the width, pixels next to it, pixels of height.
_SCALE = 0.3, 32.0, 46.0
Bounds = tuple[float, float, float, float]
#: Styles of what holds a map and its bar.
FRAME = {"position": "relative", "container-type": "inline-size"}


class MapBars:
    """A bar for each of ``k`` maps; those that say the same are spoken once."""

    def __init__(self, k: int) -> None:
        self.panes = [html_pane(sizing_mode=None, css=[_CSS]) for _ in range(k)]
        self._texts = [""] * k
        self._shown: Sequence[bool] = [True] * k
        self._swiped = False

    def explain(self, number: int, bar: str) -> None:
        """Put a bar of `views.markup` into the frame of a map."""
        self._texts[number] = bar
        self._show()

    def arrange(self, visible: Sequence[bool], swiped: bool) -> None:
        """Follow the maps: which of them are shown, and whether the second is over the first."""
        self._shown, self._swiped = visible, swiped
        self._show()

    @property
    def apart(self) -> bool:
        """Whether two different bars are in one frame: in one place neither could be read."""
        return self._swiped and len({*self._texts}) > 1

    def taken(self, width: float, wide: bool = False) -> list[Bounds]:
        """What bars cover of a map, x0, y0, x1, y1 in pixels from its lower left corner; or more.

        Names would run under them. A browser alone knows the size of its type, so that of a map's
        window is taken.

        Parameters
        ----------
        width : of the map, in pixels
        wide : whether its type is that of a presentation
        """
        part, more, high = _SCALE
        scale = (0.0, 0.0, part * width + more, high)
        if width <= LEAST:
            return [scale]
        em = _EM + min(max(width - _USUAL, 0) / _PER_PIXEL, 3)
        em *= _WIDE if wide else 1
        long = min(21 * em, 0.5 * width - 12 if self.apart else 0.7 * width - 36)
        # The note, where there is space for one, takes a second line, in a narrow bar a third.
        lines = 1 if width <= NOTED else 2 if long >= 18 * em else 3
        tall = 17 + 1.3 * em * (lines + 1)
        covered = [scale, (width - 6 - long, 0.0, width, 6 + tall)]
        if self.apart:
            covered.append((0.0, 50.0, 6 + long, 56 + tall))
        return covered

    def _show(self) -> None:
        texts, spoken = self._texts, set[str]()
        if self.apart:
            # The second map is over the bar of the first: both are in its frame.
            texts = ["", f'<div class="apart">{"".join(texts)}</div>']
        for number, (pane, text) in enumerate(zip(self.panes, texts, strict=True)):
            _dress(pane, ["apart"] * self.apart)
            again = text in spoken
            put(pane, f'<div aria-hidden="true">{text}</div>' if again else text)
            if self._shown[number]:
                spoken.add(text)


def _dress(pane: Any, classes: list[str]) -> None:
    if pane.css_classes != classes:
        pane.css_classes = classes
