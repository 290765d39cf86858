"""Boxes in and out: add one by keyboard, save as CSV or GeoJSON, load them and polygons."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

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
from explorer.queries.files import write_rectangles, write_trip_boxes
from explorer.queries.range_files import (
    MOST_BYTES,
    SUFFIXES,
    RangeFile,
    foreign_ranges,
    foreign_trip_boxes,
)
from explorer.views.markup import safe_text

FORMATS = {"csv": "CSV", "geojson": "GeoJSON"}
#: So many new names are listed; so many letters of a column's and of a file's name.
_MOST_LISTED, _COLUMN, _LABEL = 3, 40, 60
_LOOK: dict[str, Any] = {"variant": "outlined", "size": "small", "margin": (0, 8, 4, 0)}


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
        told: Callable[[str], None] = lambda _sentence: None,
        more: Callable[[], Sequence[Any]] = tuple,
        about: str = "boxes and answers",
    ) -> None:
        self._inform = told
        self._rectangles, self._changed, self._refused = rectangles, changed, refused
        self._attempts = Attempts()
        self._reading: Job[Any] = Job(lambda read: read(), self._taken, self._not_taken)
        self._answers, self._more = answers, more
        steps = []
        if step is not None:
            steps = [("Undo", partial(step, True)), ("Redo", partial(step, False))]
        buttons = [("Add box", partial(self._add, add)), ("Delete box", self._delete), *steps]
        self._columns = column(visible=False)
        self.files = ui.Section("Save and load", self._files, about)
        self.view = column(
            ui.wrapping(
                *(
                    ui.Button(label=label, on_click=lambda _event, do=do: do(), **_LOOK)
                    for label, do in buttons
                ),
                *beside,
            ),
            self.files,
        )

    def _files(self) -> list[Any]:
        return [ui.wrapping(*self.saves, self.file, self._columns), *self._more()]

    @cached_property
    def saves(self) -> list[Any]:
        """The buttons that save boxes, in the order of `FORMATS`, and their answers."""
        # The names are ours: an uploaded file's name never comes back as a file name.
        offered: list[tuple[str, str, Callable[[], str]]] = [
            (f"boxes.{ending}", f"Save as {title}", partial(self._written, ending))
            for ending, title in FORMATS.items()
        ]
        if self._answers is not None:
            # Anyone who finds the file must see what is in it.
            offered.append(("answers.exact.csv", "Save answers", self._answers))
        saves = [
            ui.FileDownload(
                filename=name,
                label=label,
                callback=partial(_bytes, text),
                refused=self._refused,
                **_LOOK,
            )
            for name, label, text in offered
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

    def _add(self, add: Callable[[], None]) -> None:
        try:
            add()
        except InputError as error:
            self._refused(str(error))

    def _delete(self) -> None:
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

    def _written(self, ending: str) -> str:
        chosen = self._rectangles
        if len(chosen.grids) > 1:
            return write_trip_boxes(chosen.boxes, chosen.names, self._domain())
        rows = chosen.boxes, chosen.names, chosen.grid
        return write_rectangles(*rows, ending, polygons=chosen.shapes)

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
        label = safe_text(name, _LABEL) or "the file"
        chosen = self._rectangles
        with self._attempts.during():
            try:
                if grids != chosen.grids:
                    raise InputError("The maps have changed meanwhile: load the file again.")
                if len(grids) > 1:
                    self._inform(_take_rows(chosen, content[0], content[1], label))
                else:
                    sentence, naming = _take_file(chosen, content, label)
                    self._offer(naming)
                    self._inform(sentence)
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

    def _offer(self, naming: _Naming | None) -> None:
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

    def _name_by(self, naming: _Naming, column: str) -> None:
        self._inform(naming.name_by(self._rectangles, column))
        self._changed()


def _bytes(text: Callable[[], str]) -> io.BytesIO:
    return io.BytesIO(text().encode())


class _Naming:
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
        self.column, boxes = file.column, chosen.boxes
        names = {name: [texts[row] for row, _ in rows] for name, texts in file.texts.items()}
        self._names = names
        self._questions = [(boxes[row], chosen.shapes[row]) for _, row in rows]
        #: The columns to choose from, by how they are written; none where there is one alone.
        self.columns: dict[str, str] = {}
        if len(names) > 1 and rows:
            columns = {safe_text(name, _COLUMN) or "no name": name for name in names}
            self.columns = columns if file.column else {"none": "", **columns}

    def name_by(self, chosen: Rectangles, column: str) -> str:
        """Name the rows that are still there by another column; returns a sentence about it."""
        if column not in self.columns.values():
            raise InputError("The file has no such column: choose one of the list.")
        names = self._names.get(column, [""] * len(self._questions))
        boxes, renamed = chosen.boxes, 0
        for row, shape in enumerate(chosen.shapes):
            for (box, other), name in zip(self._questions, names, strict=True):
                if _is_same(boxes[row], shape, box, other):
                    chosen.rename(row, name)
                    renamed += 1
                    break
        if not renamed:
            raise InputError("The rows of this file are not on the map any more: load it again.")
        rows = "1 row is" if renamed == 1 else f"{renamed:,} rows are"
        how = f"named by the column {safe_text(column, _COLUMN)}" if column else "numbered"
        return f"{rows} {how} now."


def _take_rows(chosen: Rectangles, boxes: Any, names: Sequence[str], label: str) -> str:
    """Add rows about several maps, all or none; returns a sentence about it."""
    first = len(chosen)
    chosen.add_many(boxes, names)
    renamed = _renamed(names, chosen.names[first:])
    return " ".join([f"{_count(len(boxes), 'box', 'boxes')} read from {label}.", *renamed])


def _take_file(chosen: Rectangles, file: RangeFile, label: str) -> tuple[str, _Naming]:
    """Add the boxes and polygons of a file that are on the map, all or none.

    Returns
    -------
    How many were read, which got other names, and what was left out; and by which columns the rows
    may be named instead.

    Raises
    ------
    InputError
        For more than a page holds, and where nothing is on the map.
    """
    rows: list[tuple[Any, str, Any]] = []
    # Rows of the file and of the page: those that are there can have other names, too.
    numbers, standing = [], []
    bounds, cut, outside = chosen.grid.bounds, 0, 0
    for number, (box, name, shape) in enumerate(
        zip(file.boxes, file.names, file.shapes, strict=True)
    ):
        x0, y0, x1, y1 = box
        if x0 >= bounds[2] or x1 <= bounds[0] or y0 >= bounds[3] or y1 <= bounds[1]:
            outside += 1
            continue
        beyond = x0 < bounds[0] or y0 < bounds[1] or x1 > bounds[2] or y1 > bounds[3]
        clipped = shape
        if shape is not None:
            try:
                clipped = kept(shape, bounds)
            except InputError:
                # It only bends around a corner of the map, or is smaller than a millimetre.
                outside += 1
                continue
            beyond = not within(shape, bounds)
        cut += bool(beyond)
        row = _row_of(chosen, box, name, clipped)
        if row is not None:
            standing.append((number, row))
        else:
            rows.append((box, name, clipped))
            numbers.append(number)
    if not rows and not standing:
        what = "The row" if outside == 1 else f"All {outside:,} rows"
        verb = "lies" if outside == 1 else "lie"
        raise InputError(f"{what} of {label} {verb} outside the map.")
    if len(chosen) + len(rows) > MOST_BOXES:
        there = f", and {len(chosen)} are there already" if len(chosen) else ""
        raise InputError(
            f"{label} holds {len(rows):,} rows on the map, but a page keeps {MOST_BOXES} "
            f"boxes at most{there}: give a file of fewer."
        )
    first = len(chosen)
    if rows:
        chosen.add_many(*zip(*rows, strict=True))
    polygons = sum(shape is not None for shape in chosen.shapes[first:])
    boxes = len(chosen) - first - polygons
    read = [_count(boxes, "box", "boxes")] if boxes else []
    read += [_count(polygons, "polygon", "polygons")] if polygons else []
    named = f", named by its column {safe_text(file.named, 40)}" if file.named else ""
    sentences = [f"{' and '.join(read) or 'Nothing new'} read from {label}{named}."]
    sentences += _renamed([name for _, name, _ in rows], chosen.names[first:])
    if standing:
        n = len(standing)
        verb = "stands" if n == 1 else "stand"
        sentences.append(f"{_count(n, 'row', 'rows')} {verb} here already.")
    if cut:
        reach, its = ("reaches", "its") if cut == 1 else ("reach", "their")
        beyond_map = f"{reach} beyond the map: {its} part on it is asked."
        sentences.append(f"{_count(cut, 'row', 'rows')} {beyond_map}")
    if outside:
        lies, was = ("lies", "was") if outside == 1 else ("lie", "were")
        left_out = f"{lies} outside the map and {was} left out."
        sentences.append(f"{_count(outside, 'row', 'rows')} {left_out}")
    standing += zip(numbers, range(first, len(chosen)), strict=True)
    return " ".join(sentences), _Naming(file, standing, chosen)


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def _renamed(names: Sequence[str], got: Sequence[str]) -> list[str]:
    """A sentence about rows whose names were taken; none where there are no such rows."""
    pairs = zip((safe_text(name, 40) for name in names), got, strict=True)
    changes = [f"{old} is called {new} here" for old, new in pairs if old and old != new]
    left = len(changes) - _MOST_LISTED
    more = f", and {left} more have other names" if left > 0 else ""
    listed = ", ".join(changes[:_MOST_LISTED])
    return [f"{listed}{more}: the names were taken."] if changes else []


def _is_same(box: Any, shape: Any, other_box: Any, other_shape: Any) -> bool:
    """Whether two rows ask the same, whatever they are called; boxes to a thousandth."""
    return bool(np.abs(box - other_box).max() < 1e-3) and same_shape(shape, other_shape)


def _row_of(chosen: Rectangles, box: Any, name: str, shape: Any) -> int | None:
    """The row that is the same question under the same name; None where there is none."""
    for row, called in enumerate(chosen.names):
        if name in ("", called) and _is_same(chosen.boxes[row], chosen.shapes[row], box, shape):
            return row
    return None
