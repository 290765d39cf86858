"""Another picture of a map comes over the old one in 150 ms, where no one moves a slider.

What the map shows is copied once and laid over it while the browser paints the new picture as it
would anyway; the copy fades out. Nothing is painted twice.
"""

from __future__ import annotations

from collections.abc import Sequence

from bokeh.models import ColumnDataSource, CustomJS
from bokeh.plotting import figure

from explorer.app.kit import static

#: ms a picture takes to fade; and within which others that come show at once.
LASTS, HURRY = 150, 300


def fade(figures: Sequence[figure], pictures: Sequence[ColumnDataSource]) -> None:
    """Let what each figure shows fade out whenever it is sent another of ``pictures``."""
    args = {"maps": [*figures], "pictures": [*pictures], "lasts": LASTS, "hurry": HURRY}
    script = CustomJS(args=args, code=static.read("fade.js"))
    for picture in pictures:
        picture.js_on_change("data", script)
