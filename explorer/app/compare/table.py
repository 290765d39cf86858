"""What the table of boxes says with two mechanisms: true, A, B, their errors, who is nearer."""

from __future__ import annotations

from bokeh.models.widgets.tables import StringFormatter

from explorer.app.boxes.table import WHOLE, Column
from explorer.app.compare.pair import nearer
from explorer.app.curator.answers import ERROR, TRUE

#: Of the answers of A and of B; errors are private minus true in percent of the truth.
COLUMNS = (
    Column(TRUE.name, lambda both: TRUE.values(both[0]), WHOLE, TRUE.width, exact=True),
    Column("A", lambda both: both[0].private.round(), WHOLE, 78),
    Column("B", lambda both: both[1].private.round(), WHOLE, 78),
    Column("error of A %", lambda both: both[0].relative.round(3), ERROR, 108, exact=True),
    Column("error of B %", lambda both: both[1].relative.round(3), ERROR, 108, exact=True),
    Column(
        "nearer",
        lambda both: [str(each) for each in nearer(*both)],
        StringFormatter,
        76,
        exact=True,
    ),
)
