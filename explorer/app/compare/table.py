"""What the table of boxes says with two mechanisms: true, A, B, their errors, who is nearer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from explorer.app.boxes.answers import Column
from explorer.app.compare.pair import nearer
from explorer.app.curator.answers import ERROR, TRUE


def _error(side: str, place: int) -> Column:
    def values(both: Any) -> Any:
        return ERROR.values(both[place])

    return replace(ERROR, name=f"error of {side} %", width=108, values=values)


#: Of the answers of A and of B; errors are private minus true in percent of the truth.
COLUMNS = (
    replace(TRUE, values=lambda both: TRUE.values(both[0])),
    Column("A", lambda both: both[0].private.round(), 78),
    Column("B", lambda both: both[1].private.round(), 78),
    _error("A", 0),
    _error("B", 1),
    Column(
        "nearer",
        lambda both: [str(side) for side in nearer(*both)],
        76,
        "text",
        exact=True,
    ),
)
