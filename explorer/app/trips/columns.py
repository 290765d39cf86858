"""Columns of the table of rows: counts, or shares in percent where persons are protected."""

from __future__ import annotations

from dataclasses import replace

from explorer.app.boxes.answers import LEAVES, RANGE, Column, PrivateAnswers
from explorer.app.curator.answers import CAUSES, COLUMNS, ERROR, under_bound

# A row of three places needs the space; how many leaves there are is below the maps.
_WIDTHS = {"true": 62, "private": 64, "difference": 68, CAUSES.name: 116, "error %": 58}
_RANGE = "95 % range"
COUNTS = tuple(
    replace(column, name=_RANGE, width=118)
    if column is RANGE
    else replace(column, width=_WIDTHS.get(column.name, 124))
    for column in COLUMNS
    if column is not LEAVES
)


def _ranges(answers: PrivateAnswers) -> list[str]:
    about = "" if answers.exact or answers.half_width is not None else "≈ "
    ends = zip(*answers.interval, strict=True)
    return [f"{about}{low:.2f} to {high:.2f}".replace("-", "−") for low, high in ends]


SHARES = (
    Column("true %", lambda answers: answers.true.round(2), 64, decimals=2, exact=True),
    Column("private %", lambda answers: answers.private.round(2), 74, decimals=2),
    Column(
        "difference, points",
        lambda answers: answers.shown_difference(2),
        80,
        decimals=2,
        sign=True,
        about="Private less true share, in percentage points.",
        exact=True,
    ),
    ERROR,
    Column(_RANGE, _ranges, 130, "text"),
)
#: With the causes of errors, where it is known what the bound leaves out.
BOUNDED = under_bound((*SHARES[:3], replace(CAUSES, width=116), *SHARES[3:]))
