"""Columns of the table of rows: counts, or shares in percent where persons are protected."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from bokeh.models.widgets.tables import StringFormatter

from explorer.app.boxes.answers import PrivateAnswers
from explorer.app.boxes.table import LEAVES, RANGE, Column
from explorer.app.curator.answers import CAUSES, COLUMNS, ERROR, under_bound
from explorer.app.kit.number_columns import number_format

# A row of three places needs the room; how many leaves there are stands below the maps.
_WIDTHS = {"true": 62, "private": 64, "difference": 68, CAUSES.name: 116, "error %": 58}
_RANGE = "95 % range"
COUNTS = tuple(
    replace(column, name=_RANGE, width=118)
    if column is RANGE
    else replace(column, width=_WIDTHS.get(column.name, 124))
    for column in COLUMNS
    if column is not LEAVES
)

_PERCENT = partial(number_format, 2)


def _ranges(answers: PrivateAnswers) -> list[str]:
    about = "" if answers.exact or answers.half_width is not None else "≈ "
    ends = zip(*answers.interval, strict=True)
    return [f"{about}{low:.2f} to {high:.2f}".replace("-", "−") for low, high in ends]


SHARES = (
    Column("true %", lambda answers: answers.true.round(2), _PERCENT, 64, exact=True),
    Column("private %", lambda answers: answers.private.round(2), _PERCENT, 74),
    Column(
        "difference, points",
        lambda answers: answers.shown_difference(2),
        partial(number_format, 2, sign=True),
        80,
        "Private less true share, in percentage points.",
        exact=True,
    ),
    Column("error %", lambda answers: answers.relative.round(3), ERROR, 56, exact=True),
    Column(_RANGE, _ranges, StringFormatter, 130),
)
#: With the causes of errors, where it is known what the bound leaves out.
BOUNDED = under_bound((*SHARES[:3], replace(CAUSES, width=116), *SHARES[3:]))
