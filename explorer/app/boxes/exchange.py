"""Boxes in and out: add one by keyboard, save as CSV or GeoJSON, load them and polygons."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import panel as pn
from numpy.typing import NDArray

from explorer.app.boxes.rectangles import ONE_MAP, Rectangles, kept, within
from explorer.app.kit import ui
from explorer.app.kit.attempts import Attempts
from explorer.app.kit.prose import column
from explorer.app.kit.theme import SMALL_BUTTON
from explorer.app.work.foreign import Foreign
from explorer.app.work.job import Job
from explorer.errors import InputError
from explorer.grid.places import TripDomain
from explorer.grid.range_queries import same_shape
from explorer.queries.boxes import MOST_BOXES
from explorer.queries.files import write_rectangles
from explorer.queries.foreign import foreign_ranges, foreign_trip_boxes
from explorer.queries.range_files import MOST_BYTES, SUFFIXES, RangeFile
from explorer.queries.trip_files import write_trip_boxes
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
                clipped = kept(shape, bounds)
            except InputError:
                # It only bends around a corner of the map, or is smaller than a millimetre.
                report.outside += 1
                continue
            report.cut += not within(shape, bounds)
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


FORMATS = {"csv": "CSV", "geojson": "GeoJSON"}


_LOOK: dict[str, Any] = {"variant": "outlined", "size": "small", "margin": (0, 8, 4, 0)}


def _answers_file(answers: Callable[[], str]) -> io.BytesIO:
    return io.BytesIO(answers().encode())


def _nobody(_sentence: str) -> None:
    """There is no place for a sentence."""


class BoxExchange:
    """Buttons at the table of boxes, and a section of files, made when it is first opened.

    Parameters
    ----------
    rectangles : Rectangles
    add : called by "Add box"
    changed : called after boxes were read
    refused : shows a sentence
    step : undoes what was done last, or with False does it again; no buttons without it
    answers : a table of the answers as CSV, with exact counts in it; no button without it
    beside : what else is among the buttons
    told : shows a sentence about what was read
    more : makes what else is in the section of files, which are about ``about``
    """

    def __init__(
        self,
        rectangles: Rectangles,
        add: Callable[[], None],
        changed: Callable[[], None],
        refused: Callable[[str], None],
        *,
        step: Callable[[bool], None] | None = None,
        answers: Callable[[], str] | None = None,
        beside: Sequence[Any] = (),
        told: Callable[[str], None] = _nobody,
        more: Callable[[], Sequence[Any]] = tuple,
        about: str = "boxes and answers",
    ) -> None:
        self._told_of = told
        self._rectangles, self._changed, self._refused = rectangles, changed, refused
        self._attempts = Attempts()
        self._reading: Job[Any] = Job(lambda read: read(), self._taken, self._not_taken)
        self._answers, self._more = answers, more
        self.add = ui.Button(label="Add box", on_click=partial(self._add, add), **_LOOK)
        self.delete = ui.Button(label="Delete box", on_click=self._delete, **_LOOK)
        self.steps = []
        if step is not None:
            self.steps = [
                ui.Button(label=label, on_click=partial(self._step, step, back), **_LOOK)
                for label, back in (("Undo", True), ("Redo", False))
            ]
        self._columns = pn.Column(margin=0, visible=False)
        self.files = ui.Section("Save and load", self._files, about)
        self.view = column(ui.wrapping(self.add, self.delete, *self.steps, *beside), self.files)

    def _files(self) -> list[Any]:
        return [ui.wrapping(*self.saves, self.file, self._columns), *self._more()]

    @cached_property
    def saves(self) -> list[Any]:
        """The buttons that save boxes, in the order of `FORMATS`, and their answers."""
        # The names are ours: an uploaded file's name never comes back as a file name.
        offered = [
            (f"boxes.{ending}", f"Save as {title}", partial(self._written, ending))
            for ending, title in FORMATS.items()
        ]
        answers = self._answers
        if answers is not None:
            # Anyone who finds the file must see what is in it.
            written = partial(_answers_file, answers)
            offered.append(("answers.exact.csv", "Save answers", written))
        saves = [
            ui.FileDownload(
                filename=name, label=label, callback=write, refused=self._refused, **_LOOK
            )
            for name, label, write in offered
        ]
        saves[1].visible = self._is_geographic
        return saves

    @cached_property
    def file(self) -> Any:
        """The button that loads boxes."""
        file = ui.Upload(
            MOST_BYTES,
            label="Load boxes from a file",
            accept=",".join(SUFFIXES),
            uploaded_label="Load boxes from a file",
            stylesheets=[SMALL_BUTTON],
            **_LOOK,
        )
        file.refused = self._refused
        file.param.watch(self._read, "value")
        return file

    def reset(self) -> None:
        """Another grid: GeoJSON is for places on the Earth, and has one shape for a row."""
        if "saves" in self.__dict__:
            self.saves[1].visible = self._is_geographic
        self._offer(None)

    @property
    def _is_geographic(self) -> bool:
        chosen = self._rectangles
        return chosen.grid.crs is not None and len(chosen.grids) == 1

    def _add(self, add: Callable[[], None], _event: Any) -> None:
        try:
            add()
        except InputError as error:
            self._refused(str(error))

    def _step(self, step: Callable[[bool], None], back: bool, _event: Any) -> None:
        step(back)

    def _delete(self, _event: Any) -> None:
        """Delete the highlighted boxes, and nothing where none is."""
        chosen = self._rectangles
        with self._attempts.another():
            if not chosen.selected:
                self._refused("No box is selected: click one on a map, or its row in the table.")
                return
        for row in sorted(chosen.selected, reverse=True):
            chosen.remove(row)
        self._changed()

    def _domain(self) -> TripDomain:
        return TripDomain(self._rectangles.grids, self._rectangles.places)

    def _written(self, ending: str) -> io.BytesIO:
        chosen = self._rectangles
        if len(chosen.grids) > 1:
            text = write_trip_boxes(chosen.boxes, chosen.names, self._domain())
        else:
            rows = chosen.boxes, chosen.names, chosen.grid
            text = write_rectangles(*rows, ending, polygons=chosen.shapes)
        return io.BytesIO(text.encode())

    def _read(self, event: Any) -> None:
        """Read a file next to the page: it may be anything."""
        if not event.new:
            return
        data, name = event.new, str(self.file.filename)
        grids, domain = self._rectangles.grids, self._domain()

        def read(**how: Any) -> Any:
            if len(grids) == 1:
                return grids, name, foreign_ranges(data, grids[0], name, **how)
            if Path(name).suffix.lower() not in (".csv", ""):
                # Boxes about several maps, which polygons are not.
                raise InputError(f"{ONE_MAP} They are read from CSV.")
            return grids, name, foreign_trip_boxes(data, domain, name, **how)

        self._attempts.begin()
        self._reading.ask(Foreign(read))

    def _taken(self, read: Any) -> None:
        """Put what was read among the boxes, unless there are other maps by now."""
        grids, name, content = read
        chosen = self._rectangles
        with self._attempts.during():
            try:
                if grids != chosen.grids:
                    raise InputError("The maps have changed meanwhile: load the file again.")
                if len(grids) > 1:
                    self._told_of(take_rows(chosen, content[0], content[1], name))
                else:
                    report = take_file(chosen, content, name)
                    self._offer(report.naming)
                    self._told_of(report.sentence())
            except InputError as error:
                self._refused(str(error))
        self._over()

    def _not_taken(self, sentence: str) -> None:
        with self._attempts.during():
            self._refused(sentence)
        self._over()

    def _over(self) -> None:
        # The bytes have been read: no visitor's file stays in memory.
        self.file.clear()
        self._changed()

    def _offer(self, naming: Naming | None) -> None:
        """Let the column of names be chosen again where a file has several."""
        columns = {} if naming is None else naming.columns
        self._columns.visible = bool(columns)
        if naming is None or not columns:
            self._columns.objects = []
            return
        select = ui.Select(
            label="Names from the column",
            options=columns,
            value=naming.column,
            size="small",
            width=210,
            margin=(8, 8, 6, 0),
        )
        ui.bind(select, partial(self._name_by, naming), self._refused)
        self._columns.objects = [select]

    def _name_by(self, naming: Naming, column: str) -> None:
        self._told_of(naming.name_by(self._rectangles, column))
        self._changed()
