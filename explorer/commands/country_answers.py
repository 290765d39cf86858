"""`dp-explorer answer` for releases of areas: areas by name, polygons, rectangles."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

from explorer.commands import trip_answers
from explorer.commands.terminal import table
from explorer.errors import InputError

if TYPE_CHECKING:
    import numpy as np

    from explorer.releases.answers import Answers
    from explorer.releases.country import CountryRelease

Figures = Callable[["Answers"], "dict[str, np.ndarray]"]
Rows = Callable[[list[str], "dict[str, np.ndarray]"], list[list[str]]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the question that only releases of areas answer."""
    group = parser.add_argument_group("releases of areas")
    group.add_argument(
        "--area",
        action="append",
        default=[],
        metavar="NAME",
        help="an area by its name, or by its path such as England/London; can be repeated",
    )


def questions_of_areas(
    arguments: argparse.Namespace, release: CountryRelease, form: str, figures: Figures, rows: Rows
) -> tuple[Answers, list[str], str]:
    """Answers to areas and polygons, their names, and the text to print or write.

    Raises
    ------
    InputError
        For several kinds of questions at once, or an area that is not there.
    """
    import geopandas

    from explorer.queries.polygons import read_polygons, write_polygons

    other = arguments.rectangles is not None or arguments.rectangle
    if other or trip_answers.asked(arguments):
        raise InputError("Areas and polygons are asked alone; leave the other questions out.")
    if arguments.polygons is not None and arguments.area:
        raise InputError("Give either --area or --polygons, not both.")
    if arguments.polygons is not None:
        shapes, names = read_polygons(arguments.polygons)
        answers = release.answer(shapes)
    else:
        names = list(arguments.area)
        by_text = {"/".join(path): path for path in release.windows.areas.paths if path}
        paths = [by_text.get(name, name) for name in names]
        answers = release.answer(paths)
        shapes = geopandas.GeoSeries()
        if form != "table":
            at = [release.windows.find(path) for path in paths]
            shapes = release.areas().geometry.iloc[at].reset_index(drop=True)
    columns = figures(answers)
    if form == "table":
        return answers, names, table(["name", *columns], rows(names, columns)) + "\n"
    return answers, names, write_polygons(shapes, names, form, columns)
