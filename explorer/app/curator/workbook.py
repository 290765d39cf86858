"""Answers as a workbook for Excel: numbers that are numbers, and texts that are never formulas."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from explorer.app.curator.answers import EXACT_NAMES
from explorer.queries.files import no_formula

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
