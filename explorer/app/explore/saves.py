"""Buttons below the table of boxes: answers, maps and a report of the screen as files."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from explorer.app.curator.parts import PageParts
from explorer.app.curator.screen import Screen
from explorer.app.curator.workbook import workbook
from explorer.app.explore.report import about, maps_sheet, report
from explorer.app.kit import ui
from explorer.errors import InputError
from explorer.grid.range_queries import same_questions

if TYPE_CHECKING:
    import pandas as pd

#: What a file is, by its ending.
_WHAT = {"xlsx": "answers", "png": "maps", "svg": "maps", "html": "report"}
_SAID = {
    "xlsx": "Answers as Excel",
    "png": "Maps as PNG",
    "svg": "Maps as SVG",
    "html": "Report",
}


class Saves:
    """The buttons: each kind of file with the truth, and without it for stakeholders.

    Parameters
    ----------
    parts : of the page
    screen : what is on the maps, with the answers of its boxes; None before there is something
    answers : a table of them, for which a page without a screen has a refusal
    """

    def __init__(
        self,
        parts: PageParts,
        screen: Callable[[], Screen | None],
        answers: Callable[[], pd.DataFrame],
    ) -> None:
        self._parts, self._screen, self._answers = parts, screen, answers
        self.files = [
            ui.FileDownload(
                # Anyone who finds the file must see what is in it.
                filename=f"{what}{'.exact' if exact else ''}.{ending}",
                label=_SAID[ending] if exact else f"{_SAID[ending]}, no truth",
                callback=partial(self._saved, ending, exact),
                variant="outlined",
                size="small",
                margin=(0, 8, 4, 0),
            )
            for exact in (True, False)
            for ending, what in _WHAT.items()
        ]
        self.view = ui.wrapping(*self.files)

    def _saved(self, ending: str, exact: bool) -> io.BytesIO:
        try:
            return io.BytesIO(self._made(ending, exact))
        except InputError as error:
            self._parts.refuse(str(error))
            return io.BytesIO(b"")

    def _made(self, ending: str, exact: bool) -> bytes:
        answers, screen = self._answers(), self._screen()
        state, names = self._parts.state, list(self._parts.rectangles.names)
        queries = self._parts.rectangles.queries
        if screen is None or not same_questions(screen.boxes, queries):
            raise InputError("The answers are still being computed: press again in a moment.")
        if ending == "xlsx":
            return workbook(answers, about(screen), exact=exact)
        if ending == "html":
            return report(screen, state, names, exact=exact).encode()
        drawn: Any = maps_sheet(screen, state, names, exact=exact)
        return bytes(drawn.png() if ending == "png" else drawn.svg().encode())
