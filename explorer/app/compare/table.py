"""The table of boxes for two mechanisms: true, A, B, their errors, and who is nearer."""

from __future__ import annotations

from typing import Any

import pandas as pd
from bokeh.models.widgets.tables import NumberFormatter, StringFormatter

from explorer.app.boxes.answers import BoxAnswers
from explorer.app.boxes.rectangles import EDGES, Rectangles
from explorer.app.boxes.table import BoxTable, edge_unit
from explorer.app.compare.pair import nearer

Both = tuple[BoxAnswers, BoxAnswers]
ERROR_A, ERROR_B = "error of A %", "error of B %"


def both_frame(rectangles: Rectangles, answers: Both) -> pd.DataFrame:
    """Rows of the table; errors are private minus true in percent of the truth."""
    unit, size = edge_unit(rectangles.grid)
    edges = rectangles.boxes / size
    a, b = answers
    columns: dict[str, Any] = {"box": list(rectangles.names)}
    columns |= {f"{edge} {unit}": edges[:, i].round(4) for i, edge in enumerate(EDGES)}
    columns |= {
        "true": a.true.round(1),
        "A": a.private.round(1),
        "B": b.private.round(1),
        ERROR_A: a.relative.round(3),
        ERROR_B: b.relative.round(3),
        "nearer": [str(each) for each in nearer(a, b)],
    }
    return pd.DataFrame(columns)


class BothTable(BoxTable):
    """`BoxTable` with the answers of two mechanisms; boxes are typed and deleted as there."""

    answered = ("true", "A", "B", ERROR_A, ERROR_B, "nearer")

    def _frame(self, rectangles: Rectangles, answers: Any) -> pd.DataFrame:
        return both_frame(rectangles, answers)

    def _nothing(self) -> Any:
        return super()._nothing(), super()._nothing()

    def _formats(self) -> dict[str, Any]:
        whole = NumberFormatter(format="0,0", nan_format="–")
        share = NumberFormatter(format="+0,0.00", nan_format="–")
        return {
            **dict.fromkeys(("true", "A", "B"), whole),
            **dict.fromkeys((ERROR_A, ERROR_B), share),
            "nearer": StringFormatter(),
        }

    def _least(self, edges: list[str]) -> dict[str, int]:
        return {}

    def _widths(self, edges: list[str]) -> dict[str, int]:
        answers = {ERROR_A: 108, ERROR_B: 108, "nearer": 76}
        return {"box": 90, **dict.fromkeys(edges, 80), **answers}
