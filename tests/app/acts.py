"""Act on tables and maps as a browser does: through Bokeh models, their events and columns."""

from __future__ import annotations

from typing import Any

import panel as pn
from bokeh.events import SelectionGeometry
from panel.models.esm import DataEvent

from tests.helpers import happen


def drag(figure: Any, box: tuple[Any, ...]) -> None:
    """Drag a rectangle x0, y0, x1, y1 on a map."""
    geometry = {"type": "rect", **dict(zip(("x0", "y0", "x1", "y1"), box, strict=True))}
    happen(SelectionGeometry(figure, geometry=geometry, final=True))


def words(view: Any) -> str:
    """The HTML that is to be read below ``view``, a line for each pane that is not hidden."""
    if not view.visible:
        return ""
    if isinstance(view, pn.pane.HTML):
        return str(view.object)
    return "\n".join(filter(None, map(words, getattr(view, "objects", []))))


class Browser:
    """One browser's side of a table."""

    def __init__(self, widget: Any) -> None:
        self.model = widget.get_root()

    @property
    def shown(self) -> dict[str, list[Any]]:
        """What the browser has been sent, by column."""
        data = self.model.data
        return {
            column["name"]: values for column, values in zip(data.columns, data.rows, strict=True)
        }

    def send(self, message: Any) -> None:
        happen(DataEvent(self.model, message))

    def edit(self, row: Any, column: Any, value: Any) -> None:
        self.send({"kind": "edit", "row": row, "column": column, "value": value})

    def click(self, row: Any) -> None:
        self.send({"kind": "click", "row": row})

    def delete(self, row: Any) -> None:
        self.send({"kind": "delete", "row": row})

    def select(self, rows: list[Any]) -> None:
        self.send({"kind": "select", "rows": rows})
