"""Act on tables and maps as a browser does: through Bokeh models, their events and columns."""

from __future__ import annotations

from typing import Any

import panel as pn
from bokeh.events import SelectionGeometry
from panel.models.tabulator import CellClickEvent, TableEditEvent

from tests.helpers import happen


def drag(figure: Any, box: tuple[Any, ...]) -> None:
    """Drag a rectangle x0, y0, x1, y1 on a map."""
    geometry = {"type": "rect", **dict(zip(("x0", "y0", "x1", "y1"), box, strict=True))}
    happen(SelectionGeometry(figure, geometry=geometry, final=True))


def control(view: Any, label: str) -> Any:
    """The control below ``view`` that is called ``label``."""
    (found,) = view.select(lambda each: getattr(each, "label", None) == label)
    return found


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

    def send(self, column: str, values: list[Any]) -> None:
        """Send a whole column, as a browser does before it tells of an edit."""
        self.model.source.data = {**self.model.source.data, column: values}

    def edit(self, row: int, column: str, value: Any) -> None:
        """Type ``value`` into a cell."""
        if column in self.model.source.data:
            values = list(self.model.source.data[column])
            values[row : row + 1] = [value]
            self.send(column, values)
        happen(TableEditEvent(self.model, column, row))

    def click(self, row: Any, column: str) -> None:
        """Click on a cell."""
        happen(CellClickEvent(self.model, column, row))

    def select(self, rows: list[Any]) -> None:
        """Select rows."""
        self.model.source.selected.indices = rows
