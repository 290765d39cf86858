"""A table whose columns share the width that is there, or leave one after the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import param

from explorer.app.kit import ui

#: Of a table's configuration. Beside wide maps and on a phone there is no room for all columns: the
#: first ones stay.
NARROW: dict[str, Any] = {"responsiveLayout": "hide"}


class GrowingTable(ui.Table):
    """A table whose columns share the width of the window in proportion to their least widths.

    Panel offers fixed widths or equal ones, and none at all for a column of buttons.
    """

    least = param.Dict(default={}, doc="Least pixels of a column, by its name.")
    ranks = param.Dict(default={}, doc="Columns that leave first where there is no room: the last.")
    _rename: ClassVar[Mapping[str, str | None]] = {"least": None, "ranks": None}

    def _config_columns(self, column_objs: Any) -> Any:
        specs = super()._config_columns(column_objs)
        for spec in specs:
            least = self.least.get(spec.get("field"))
            if least:
                # Widths grow by whole pixels a part; the remainder widens the button's column.
                spec.update(minWidth=least, widthGrow=round(least / 20))
            spec["responsive"] = self.ranks.get(spec.get("field"), 0)
        return specs
