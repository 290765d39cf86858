"""`dp-explorer answer` for releases of areas: areas by name, polygons, rectangles."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

from explorer.commands import trip_answers
from explorer.commands.questions import polygons, refuse_name_column
from explorer.errors import InputError

if TYPE_CHECKING:
    from geopandas import GeoSeries

    from explorer.releases.answers import Answers
    from explorer.releases.country import CountryRelease


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
    arguments: argparse.Namespace, release: CountryRelease
) -> tuple[Answers, list[str], Callable[[], GeoSeries]]:
    """Answers to areas and polygons, their names, and what makes their shapes.

    Raises
    ------
    InputError
        For several kinds of questions at once, or an area that is not there.
    """
    other = arguments.rectangles is not None or arguments.rectangle
    if other or trip_answers.asked(arguments):
        raise InputError("Areas and polygons are asked alone; leave the other questions out.")
    if arguments.polygons is not None and arguments.area:
        raise InputError("Give either --area or --polygons, not both.")
    if arguments.polygons is not None:
        shapes, names = polygons(arguments, release.windows.grid)
        return release.answer(shapes), names, lambda: shapes
    refuse_name_column(arguments)
    by_text = {"/".join(path): path for path in release.windows.areas.paths if path}
    paths = [by_text.get(name, name) for name in arguments.area]
    answers = release.answer(paths)

    def of_areas() -> GeoSeries:
        at = [release.windows.find(path) for path in paths]
        return release.areas().geometry.iloc[at].reset_index(drop=True)

    return answers, list(arguments.area), of_areas
