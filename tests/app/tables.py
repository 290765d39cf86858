"""Act on a table as a browser does: through its Bokeh model, events and columns."""

from __future__ import annotations

from typing import Any

from panel.models.tabulator import CellClickEvent, TableEditEvent

from tests.helpers import happen


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
