"""Boxes in and out: add one by keyboard, save as CSV or GeoJSON, load them and polygons."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import panel as pn

from explorer.app.boxes.importing import take_file, take_rows
from explorer.app.boxes.naming import Naming
from explorer.app.boxes.rectangles import ONE_MAP, Rectangles
from explorer.app.kit import ui
from explorer.app.kit.attempts import Attempts
from explorer.app.kit.theme import SMALL_BUTTON
from explorer.app.work.foreign import Foreign
from explorer.app.work.job import Job
from explorer.errors import InputError
from explorer.grid.places import TripDomain
from explorer.queries.files import write_rectangles
from explorer.queries.foreign import foreign_ranges, foreign_trip_boxes
from explorer.queries.range_files import MOST_BYTES, SUFFIXES
from explorer.queries.trip_files import write_trip_boxes

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
        self.view = pn.Column(
            ui.wrapping(self.add, self.delete, *self.steps, *beside),
            self.files,
            sizing_mode="stretch_width",
            margin=0,
        )

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
