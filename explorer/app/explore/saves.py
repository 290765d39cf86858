"""Answers, maps and a report of the screen as files, and the buttons that save them."""

from __future__ import annotations

import datetime
import html
import io
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import shapely
from numpy.typing import NDArray

from explorer.app.boxes.answers import said
from explorer.app.curator.answers import EXACT_NAMES, BoxAnswers, chips
from explorer.app.curator.parts import PageParts
from explorer.app.curator.price import counted_of_all, of_truth
from explorer.app.curator.screen import Screen
from explorer.app.kit import ui
from explorer.app.kit.labels import DRAWN, PREVIEW
from explorer.app.kit.numbers import percent
from explorer.app.mappage.maps import colours_of
from explorer.errors import InputError
from explorer.grid.range_queries import Queries, RangeQueries, same_questions
from explorer.queries.files import no_formula
from explorer.views import palette
from explorer.views.markup import safe_text
from explorer.views.pictures import BY, private_map
from explorer.views.scale import ColourScale, top_value_of_leaves
from explorer.views.sheet import MapPicture, Sheet, sheet

if TYPE_CHECKING:
    import pandas as pd

#: What a release says of a box; all other columns are exact or follow from exact counts.
RELEASED = ("private", "noise_sd", "low", "high")
#: Width of a column of numbers, in characters.
_WIDE = 14


def workbook(answers: pd.DataFrame, about: Sequence[tuple[str, str]], *, exact: bool) -> bytes:
    """A table of answers, indexed by the names of boxes, and a second sheet that says whose.

    Parameters
    ----------
    answers : as `answers` of a page
    about : what and its value, a row each
    exact : whether true counts and errors are in it; the truth then says EXACT
    """
    import xlsxwriter

    frame = answers if exact else answers[list(RELEASED)]
    frame = frame.reset_index().rename(columns=EXACT_NAMES)
    file = io.BytesIO()
    options = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
    with xlsxwriter.Workbook(file, options) as book:
        bold = book.add_format({"bold": True})
        number = book.add_format({"num_format": "#,##0.0"})
        sheet = book.add_worksheet("answers")
        sheet.write_row(0, 0, list(frame.columns), bold)
        sheet.set_column(0, len(frame.columns) - 1, _WIDE)
        sheet.freeze_panes(1, 1)
        for row, values in enumerate(frame.itertuples(index=False), 1):
            sheet.write_string(row, 0, str(no_formula(str(values[0]))))
            for column, value in enumerate(values[1:], 1):
                if np.isfinite(value):  # what is not known stays empty
                    sheet.write_number(row, column, float(value), number)
        other = book.add_worksheet("about")
        other.set_column(0, 1, 2 * _WIDE)
        for row, pair in enumerate(about):
            for column, text in enumerate(pair):
                other.write_string(row, column, str(no_formula(text)))
    return file.getvalue()


EXACT = "EXACT counts: do not publish"
#: Rows of a table that fit on the page next to everything else.
MOST_ROWS = 12


def about(screen: Screen) -> list[tuple[str, str]]:
    """What a file is about: nothing of it is exact."""
    release = screen.release
    return [
        ("City", safe_text(screen.data.title)),
        ("Mechanism", screen.title),
        ("Epsilon", f"{release.epsilon:g} per {release.unit}"),
        ("Kind", PREVIEW if release.preview else DRAWN),
        ("Leaves", f"{release.n_leaves:,}"),
        ("Date", datetime.date.today().isoformat()),
    ]


def caption(screen: Screen, *, exact: bool) -> list[str]:
    """Two lines: what the maps are of, and what may be done with them."""
    facts = dict(about(screen))
    return [
        f"{facts['City']}, {facts['Mechanism']}, epsilon {facts['Epsilon']}, {facts['Date']}",
        f"{EXACT}. {facts['Kind']}" if exact else facts["Kind"],
    ]


def maps_sheet(screen: Screen, state: Any, names: Sequence[str], *, exact: bool) -> Sheet:
    """Both maps as they are on the screen; or the private one, of released numbers alone."""
    pictures = [_private(screen, state, names)]
    if exact:
        pictures = [_true(screen, state, names), _right(screen, state, names)]
    return sheet(pictures, caption(screen, exact=exact))


def _picture(screen: Screen, state: Any, title: str, **params: Any) -> MapPicture:
    leaves = screen.leaves.boxes if state.partition else np.zeros((0, 4))
    grid = screen.data.grid
    boxes, rings = outlines(screen.boxes)
    return MapPicture(
        title, view=screen.view, boxes=boxes, rings=rings, leaves=leaves, unit=grid.unit, **params
    )


def outlines(queries: Queries) -> tuple[NDArray[np.float64], list[list[NDArray[np.float64]]]]:
    """Boxes (n, 4), and of those that represent a polygon its rings, (k, 2) each."""
    if not isinstance(queries, RangeQueries):
        return queries, [[] for _ in queries]
    rings = [
        [shapely.get_coordinates(ring) for ring in shapely.get_rings(shape).tolist()]
        for shape in queries.shapes
    ]
    return queries.boxes, rings


def _cell(screen: Screen) -> str:
    grid = screen.data.grid
    return f"{grid.cell_width:,.0f} m cell" if grid.unit == "m" else "cell"


def _true(screen: Screen, state: Any, names: Sequence[str]) -> MapPicture:
    return _picture(
        screen,
        state,
        f"Truth{of_truth(screen.data.matrix)}",
        below=EXACT,
        alarming=True,
        levels=screen.left_bytes,
        colours=palette.PALETTES[state.palette],
        tags=chips("true", names, screen.answers),
        bar=(f"Points per {_cell(screen)}", screen.scale.ticks()),
    )


def _right(screen: Screen, state: Any, names: Sequence[str]) -> MapPicture:
    shows, preview = screen.look.right, screen.release.preview
    bar: Any = f"Points per {_cell(screen)}", screen.scale.ticks()
    if shows == "difference":
        ends = [tick for tick in screen.scale.ticks() if tick[1] != "0"]
        ticks = [(0.5 - at / 2, f"−{text}") for at, text in ends] + [(0.5, "0")]
        ticks += [(0.5 + at / 2, f"+{text}") for at, text in ends]
        bar = f"Private − true per {_cell(screen)}: blue too few, orange too many", ticks
    elif screen.leaf_scale is not None:
        bar = BY[screen.look.by][0], screen.leaf_scale.ticks()
    return _picture(
        screen,
        state,
        shows.capitalize(),
        below=PREVIEW if preview else DRAWN,
        alarming=preview,
        levels=screen.right_bytes,
        colours=colours_of(state),
        tags=chips(shows, names, screen.answers),
        bar=bar,
    )


def _private(screen: Screen, state: Any, names: Sequence[str]) -> MapPicture:
    """Released numbers alone: the screen's own scale may be of the exact data, its tags are."""
    release, leaves = screen.release, screen.leaves
    top = top_value_of_leaves(leaves.density, leaves.cells, screen.look.scale)
    scale = ColourScale(screen.look.scale, top, "release")
    pairs = zip(names, screen.answers.private, strict=True)
    return _picture(
        screen,
        state,
        "Private map",
        below=PREVIEW if release.preview else DRAWN,
        alarming=release.preview,
        levels=scale.encode(private_map(release, leaves, screen.view)),
        colours=palette.PALETTES[state.palette],
        tags=[(said(name, value), palette.PRIVATE) for name, value in pairs],
        bar=(f"Private points per {_cell(screen)}", scale.ticks()),
    )


_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>
@page {{ size: A4 portrait; margin: 12mm }}
body {{ font: 13px/1.45 Inter, system-ui, Helvetica, Arial, sans-serif; color: #12171e;
  background: #fff; max-width: 186mm; margin: 0 auto; padding: 4mm 0 }}
h1 {{ font-size: 20px; margin: 0 }} h2 {{ font-size: 14px; margin: 10px 0 2px }}
svg {{ display: block; width: auto; max-width: 100%; height: auto; max-height: 110mm;
  margin: 0 auto }}
table {{ border-collapse: collapse; width: 100%; font-size: 12px }}
td, th {{ text-align: right; padding: 1px 6px; border-bottom: 1px solid #d5dae0 }}
th:first-child, td:first-child {{ text-align: left }}
.two {{ display: grid; grid-template-columns: 1fr 1fr; gap: 0 24px }}
.warn {{ color: #b3261e; font-weight: 600; margin: 2px 0 }} p {{ margin: 2px 0 }}
@media print {{ body {{ padding: 0; print-color-adjust: exact;
  -webkit-print-color-adjust: exact }} }}
</style></head><body>
<h1>{title}</h1>{warning}
{maps}
<h2>Answers of the boxes</h2>{answers}
<div class="two"><div><h2>Settings</h2>{settings}</div><div><h2>Budget</h2>{budget}</div></div>
</body></html>
"""


def report(screen: Screen, state: Any, names: Sequence[str], *, exact: bool) -> str:
    """A page of HTML that prints on one side: maps, answers with intervals, settings, budget.

    ``exact`` says whether the truth is in it, marked EXACT; without it everything is released.
    """
    facts, release = about(screen), screen.release
    warnings = [EXACT] if exact else []
    warnings += [PREVIEW] if release.preview else []
    parameters = {
        name.replace("_", " "): "automatic" if value is None else value
        for name, value in release.parameters.items()
        if name != "epsilon"
    }
    lines = [", ".join(f"{name} {value}" for name, value in facts if name != "Kind")]
    lines.append(", ".join(f"{name} {value}" for name, value in parameters.items()))
    if exact:
        lines.append(counted_of_all(screen.data.matrix))
    settings = "".join(f"<p>{html.escape(safe_text(line, 600))}</p>" for line in lines if line)
    budget = [(stage, f"{part:.4g}") for stage, part in release.stages()]
    return _PAGE.format(
        title=html.escape(f"Private map of {facts[0][1]}"),
        warning="".join(f'<p class="warn">{html.escape(warning)}</p>' for warning in warnings),
        maps=maps_sheet(screen, state, names, exact=exact).svg(),
        answers=_answers(screen.answers, names, exact=exact),
        settings=settings,
        budget=_table(("stage", "epsilon"), [*budget, ("in all", f"{release.epsilon:g}")]),
    )


def _answers(answers: BoxAnswers, names: Sequence[str], *, exact: bool) -> str:
    titles = ["box", "private", "95 % of the noise"]
    bounded = exact and answers.counted is not None
    titles += ["EXACT", *(["counted"] if bounded else []), "difference", "error"] if exact else []
    about = "" if answers.exact or answers.half_width is not None else "≈ "
    rows = []
    for row, name in enumerate(names[:MOST_ROWS]):
        low, high = (bound[row] for bound in answers.interval)
        cells = [name, f"{answers.private[row]:,.0f}", f"{about}{low:,.0f} to {high:,.0f}"]
        if exact:
            counted = [] if answers.counted is None else [f"{answers.counted[row]:,.0f}"]
            cells += [f"{answers.true[row]:,.0f}", *counted, f"{answers.difference[row]:+,.0f}"]
            cells.append(percent(float(answers.relative[row])))
        rows.append(cells)
    more = len(names) - MOST_ROWS
    notes = f"<p>And {more:,} more boxes: save the answers for all of them.</p>" if more > 0 else ""
    notes += "<p>The interval is that of the noise alone, without uneven spread inside leaves.</p>"
    return _table(titles, rows) + notes


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{html.escape(title)}</th>" for title in titles)
    body = "".join(
        f"<tr>{''.join(f'<td>{html.escape(safe_text(cell))}</td>' for cell in row)}</tr>"
        for row in rows
    )
    return f"<table>{f'<tr>{head}</tr>' if head else ''}{body}</table>"


#: What a file is, by its ending.
_WHAT = {"xlsx": "answers", "png": "maps", "svg": "maps", "html": "report"}
_SAID = {"xlsx": "Answers as Excel", "png": "Maps as PNG", "svg": "Maps as SVG", "html": "Report"}


class Saves:
    """The buttons: each kind of file with the truth, and without it for stakeholders.

    ``screen`` returns what is on the maps, None before there is something; ``answers`` a table of
    its boxes, for which a page without a screen has a refusal.
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
            return io.BytesIO(self._content(ending, exact))
        except InputError as error:
            self._parts.refuse(str(error))
            return io.BytesIO(b"")

    def _content(self, ending: str, exact: bool) -> bytes:
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
