"""What a file asks, put among a visitor's boxes, and in a sentence what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from explorer.app.boxes import polygons
from explorer.app.boxes.naming import Naming, same_question
from explorer.app.boxes.rectangles import Rectangles
from explorer.errors import InputError
from explorer.queries.boxes import MOST_BOXES
from explorer.queries.range_files import RangeFile
from explorer.views.markup import safe_text

#: So many names are said, and of a file's name so many letters.
_MOST_SAID, _LABEL = 3, 60


@dataclass
class Taken:
    """What became of the rows of a file."""

    label: str
    named: str = ""
    boxes: int = 0
    polygons: int = 0
    cut: int = 0
    outside: int = 0
    already: int = 0
    renamed: list[tuple[str, str]] = field(default_factory=list)
    naming: Naming | None = None

    def sentence(self) -> str:
        """All of it, to be read out."""
        what = [count(self.boxes, "box", "boxes")] if self.boxes else []
        what += [count(self.polygons, "polygon", "polygons")] if self.polygons else []
        named = f", named by its column {safe_text(self.named, 40)}" if self.named else ""
        sentences = [f"{' and '.join(what) or 'Nothing new'} read from {self.label}{named}."]
        if self.renamed:
            pairs = [f"{old} is called {new} here" for old, new in self.renamed[:_MOST_SAID]]
            left = len(self.renamed) - len(pairs)
            more = f", and {left} more have other names" if left else ""
            sentences.append(f"{', '.join(pairs)}{more}: the names were taken.")
        if self.already:
            stands = "stands" if self.already == 1 else "stand"
            sentences.append(f"{count(self.already, 'row', 'rows')} {stands} here already.")
        if self.cut:
            reach = "reaches" if self.cut == 1 else "reach"
            its = "its" if self.cut == 1 else "their"
            sentences.append(
                f"{count(self.cut, 'row', 'rows')} {reach} beyond the map: {its} part on it is "
                "asked."
            )
        if self.outside:
            lies, was = ("lies", "was") if self.outside == 1 else ("lie", "were")
            sentences.append(
                f"{count(self.outside, 'row', 'rows')} {lies} outside the map and {was} left out."
            )
        return " ".join(sentences)


def count(number: int, one: str, many: str) -> str:
    """A number with its noun.

    >>> count(1, "box", "boxes"), count(3, "box", "boxes")
    ('1 box', '3 boxes')
    """
    return f"{number:,} {one if number == 1 else many}"


def take_rows(
    chosen: Rectangles, boxes: Sequence[Any] | NDArray[Any], names: Sequence[str], label: str
) -> str:
    """Add rows about several maps, all or none; returns what is to be said."""
    report = Taken(safe_text(label, _LABEL) or "the file", boxes=len(boxes))
    first = len(chosen)
    chosen.add_many(boxes, names)
    report.renamed = _renamed(names, chosen.names[first:])
    return report.sentence()


def take_file(chosen: Rectangles, file: RangeFile, label: str) -> Taken:
    """Add the boxes and polygons of a file that are on the map, all or none.

    Returns
    -------
    What is to be said: how many were read, which got other names, and what was left out; and by
    which columns the rows may be named instead.

    Raises
    ------
    InputError
        For more than a page holds, and where nothing is on the map.
    """
    report = Taken(safe_text(label, _LABEL) or "the file", file.named)
    rows: list[tuple[Any, str, Any]] = []
    # Rows of the file and of the page: those that are there can have other names, too.
    numbers, standing = [], []
    bounds = chosen.grid.bounds
    for number, (box, name, shape) in enumerate(
        zip(file.boxes, file.names, file.shapes, strict=True)
    ):
        x0, y0, x1, y1 = box
        if x0 >= bounds[2] or x1 <= bounds[0] or y0 >= bounds[3] or y1 <= bounds[1]:
            report.outside += 1
            continue
        if shape is not None:
            try:
                clipped = polygons.kept(shape, bounds)
            except InputError:
                # It only bends around a corner of the map, or is smaller than a millimetre.
                report.outside += 1
                continue
            report.cut += not polygons.within(shape, bounds)
            shape = clipped
        else:
            beyond = x0 < bounds[0] or y0 < bounds[1] or x1 > bounds[2] or y1 > bounds[3]
            report.cut += bool(beyond)
        stands = _stands(chosen, box, name, shape)
        if stands is not None:
            report.already += 1
            standing.append((number, stands))
            continue
        rows.append((box, name, shape))
        numbers.append(number)
    if not rows and not report.already:
        what = "The row" if report.outside == 1 else f"All {report.outside:,} rows"
        verb = "lies" if report.outside == 1 else "lie"
        raise InputError(f"{what} of {report.label} {verb} outside the map.")
    if len(chosen) + len(rows) > MOST_BOXES:
        there = f", and {len(chosen)} are there already" if len(chosen) else ""
        raise InputError(
            f"{report.label} holds {len(rows):,} rows on the map, but a page keeps {MOST_BOXES} "
            f"boxes at most{there}: give a file of fewer."
        )
    first = len(chosen)
    if rows:
        chosen.add_many(*zip(*rows, strict=True))
    report.polygons = sum(shape is not None for shape in chosen.shapes[first:])
    report.boxes = len(chosen) - first - report.polygons
    report.renamed = _renamed([name for _, name, _ in rows], chosen.names[first:])
    standing += zip(numbers, range(first, len(chosen)), strict=True)
    report.naming = Naming(file, standing, chosen)
    return report


def _renamed(names: Sequence[str], got: Sequence[str]) -> list[tuple[str, str]]:
    pairs = zip((safe_text(name, 40) for name in names), got, strict=True)
    return [(old, new) for old, new in pairs if old and old != new]


def _stands(chosen: Rectangles, box: Any, name: str, shape: Any) -> int | None:
    """The row that is the same question under the same name; None where there is none."""
    for row, called in enumerate(chosen.names):
        if name in ("", called) and same_question(
            chosen.boxes[row], chosen.shapes[row], box, shape
        ):
            return row
    return None
