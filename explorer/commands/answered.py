"""What `dp-explorer answer` found: printed, or written in the form that the file's name says."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.commands.files import output_path
from explorer.commands.formats import as_text
from explorer.errors import InputError
from explorer.grid.whole_file import write_whole

if TYPE_CHECKING:
    import numpy as np

    from explorer.releases.answers import Answers

#: Forms by the endings of files. Those of `_BINARY` are never printed.
ENDINGS = {
    ".csv": "csv",
    ".json": "json",
    ".geojson": "geojson",
    ".txt": "table",
    ".parquet": "parquet",
    ".gpkg": "gpkg",
}
FORMATS = ("table", "csv", "json", "geojson")
_BINARY = ("parquet", "gpkg")


@dataclass(frozen=True)
class Answered:
    """Answers of one release to questions of one kind.

    Attributes
    ----------
    answers : Answers
    names : n texts
    figures : columns (n,) by name, such as "value" and "noise_sd"
    table : the lines that people read
    text : from "csv" or "geojson" to the text of a file
    shapes : what was asked as a GeoSeries (n,), None where a question is no single shape
    edges : what was asked as columns (n,) by name
    """

    answers: Answers
    names: Sequence[str]
    figures: Mapping[str, np.ndarray]
    table: Callable[[], str]
    text: Callable[[str], str]
    shapes: Callable[[], Any] | None = None
    edges: Mapping[str, Any] = field(default_factory=dict)

    def written(self, form: str) -> str:
        """The text of one of `FORMATS`."""
        if form == "table":
            return self.table() + "\n"
        if form == "json":
            return as_text(self._columns(), "json")
        text = self.text(form)
        return text if text.endswith("\n") else f"{text}\n"

    def write(self, path: Path, form: str) -> None:
        """Write the file in a form of `ENDINGS`."""
        if form in _BINARY:
            write_whole(path, lambda part: self._write_table(part, form))
            return
        # Before a file is begun: some forms are refused.
        text = self.written(form)
        write_whole(path, lambda part: part.write_text(text, encoding="utf-8", newline=""))

    def _columns(self) -> dict[str, Any]:
        return {"name": list(self.names), **self.edges, **self.figures}

    def _write_table(self, path: Path, form: str) -> None:
        import geopandas
        import pandas as pd

        frame = pd.DataFrame(self._columns())
        if self.shapes is None and form == "gpkg":
            raise InputError("These answers have no single shape; name the file .parquet or .csv.")
        if self.shapes is not None:
            frame = geopandas.GeoDataFrame(frame, geometry=self.shapes())
        if form == "gpkg":
            frame.to_file(path, driver="GPKG", layer="answers")
        else:
            frame.to_parquet(path, index=False)


def asked_form(arguments: argparse.Namespace) -> tuple[str, Path | None]:
    """The form that was asked for, and the file to write; None where answers are printed.

    Raises
    ------
    InputError
        For an ending that is not known, or one that contradicts --format.
    """
    if arguments.output is None:
        return arguments.format or "table", None
    ending = Path(arguments.output).suffix.lower()
    by_ending = ENDINGS.get(ending)
    form = by_ending if arguments.format is None else arguments.format
    if form is None:
        raise InputError(
            f"The format of {arguments.output} is not recognised by its ending; name it "
            f"{', '.join(list(ENDINGS)[:-1])} or {list(ENDINGS)[-1]}, or give --format."
        )
    questions = (arguments.rectangles, arguments.polygons)
    read = (arguments.map, *questions, *(file for _, file in arguments.place))
    path = output_path(arguments.output, arguments.overwrite, read)
    if by_ending in _BINARY and form != by_ending:
        raise InputError(f"{ending} is not written as {form}; leave --format out, or rename it.")
    return form, path
