"""Which column of a file names the rows that came from it: chosen again after it was read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from explorer.app.boxes.rectangles import Rectangles
from explorer.errors import InputError
from explorer.grid.range_queries import same_shape
from explorer.queries.range_files import RangeFile
from explorer.views.markup import safe_text

#: So many letters of a column's name are shown.
SHOWN = 40


def same_question(box: Any, shape: Any, other_box: Any, other_shape: Any) -> bool:
    """Whether two rows ask the same, whatever they are called; boxes to a thousandth."""
    return bool(np.abs(box - other_box).max() < 1e-3) and same_shape(shape, other_shape)


class Naming:
    """The rows that a file put on a page, by what they ask, and their names by every column.

    Parameters
    ----------
    file : RangeFile
    rows : rows of the file, each with the row of the page that it has become
    chosen : the rows of the page
    """

    def __init__(
        self, file: RangeFile, rows: Sequence[tuple[int, int]], chosen: Rectangles
    ) -> None:
        self.column = file.column
        self._names = {
            column: [names[row] for row, _ in rows] for column, names in file.texts.items()
        }
        boxes = chosen.boxes
        self._asked = [(boxes[there], chosen.shapes[there]) for _, there in rows]

    @property
    def columns(self) -> dict[str, str]:
        """The columns to choose from, by how they are written; nothing where there is one alone."""
        if len(self._names) < 2 or not self._asked:
            return {}
        columns = {safe_text(name, SHOWN) or "no name": name for name in self._names}
        return columns if self.column else {"none": "", **columns}

    def name_by(self, chosen: Rectangles, column: str) -> str:
        """Name the rows that are still there by another column; returns what is to be said.

        Raises
        ------
        InputError
            For a column that was not offered, or where none of the rows is there any more.
        """
        if column not in self.columns.values():
            raise InputError("The file has no such column: choose one of the list.")
        names = self._names.get(column, [""] * len(self._asked))
        boxes, renamed = chosen.boxes, 0
        for row, shape in enumerate(chosen.shapes):
            for (box, other), name in zip(self._asked, names, strict=True):
                if same_question(boxes[row], shape, box, other):
                    chosen.rename(row, name)
                    renamed += 1
                    break
        if not renamed:
            raise InputError("The rows of this file are not on the map any more: load it again.")
        rows = "1 row is" if renamed == 1 else f"{renamed:,} rows are"
        how = f"named by the column {safe_text(column, SHOWN)}" if column else "numbered"
        return f"{rows} {how} now."
