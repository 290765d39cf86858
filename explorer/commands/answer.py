"""dp-explorer answer: questions to a release file, without the points."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.commands import country_answers, trip_answers
from explorer.commands.answered import FORMATS, Answered, asked_form
from explorer.commands.questions import (
    add_questions,
    asked_of_one_map,
    lines_of_boxes,
    refuse_name_column,
    rows,
)
from explorer.commands.terminal import note, table
from explorer.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from geopandas import GeoSeries

    from explorer.grid.grid import Grid
    from explorer.grid.places import TripDomain
    from explorer.releases.answers import Answers
    from explorer.releases.country import CountryRelease
    from explorer.releases.release import Release

HELP = "answer rectangles from a release file"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the release, the rectangles and the form of the answers."""
    parser.usage = (
        "dp-explorer answer MAP [--rectangles FILE] [--polygons FILE] [--bounding-boxes] "
        "[--rectangle X0 Y0 X1 Y1 ...] [--from X0 Y0 X1 Y1 --to X0 Y0 X1 Y1] "
        "[--place NAME FILE ...] [--area NAME ...] [--lonlat] "
        "[--format table|csv|json|geojson] [-o FILE] [--overwrite]"
    )
    parser.description = (
        "Answer rectangles from a release file: the private count, the standard deviation of its "
        "noise, the 95 percent interval of the noise, and how many leaves are touched. It costs no "
        "budget, and the points are not needed. Of trips, a question is a box for each place; "
        "what is left out is anywhere. Of areas, it is an area by name, a polygon or a rectangle."
    )
    parser.add_argument(
        "map", metavar="MAP", help="a file that `release`, `trips` or `country` wrote"
    )
    add_questions(parser)
    parser.add_argument("--format", choices=FORMATS, help="default table")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="write here: .csv, .json (a list of records), .geojson, .txt, .parquet or .gpkg",
    )
    parser.add_argument("--overwrite", action="store_true", help="replace FILE if it exists")
    trip_answers.add_arguments(parser)
    country_answers.add_arguments(parser)


def run(arguments: argparse.Namespace) -> None:
    """Read, answer, print or write."""
    from explorer.grid.places import TripDomain
    from explorer.releases.country_file import is_country
    from explorer.releases.release import Release

    form, path = asked_form(arguments)
    if is_country(arguments.map):
        from explorer.releases.country import CountryRelease

        country = CountryRelease.load(arguments.map)
        _tell(country.summary(), _of_country(arguments, country), form, path)
        return
    if arguments.area:
        raise InputError("--area is for releases of areas; ask this one with --rectangle.")
    release = Release.load(arguments.map)
    if isinstance(release.domain, TripDomain):
        if arguments.polygons is not None:
            raise InputError("Polygons are questions to one map; ask trips with boxes of places.")
        refuse_name_column(arguments)
        if form == "geojson":
            raise InputError("Answers of trips are about several places; write them as CSV.")
        answered = _of_trips(arguments, release, release.domain)
    else:
        answered = _of_map(arguments, release)
    _tell(release.summary(), answered, form, path)


def _tell(summary: str, answered: Answered, form: str, path: Path | None) -> None:
    """Print or write what was found, and say what it is about."""
    if path is None:
        print(answered.written(form), end="")
    else:
        answered.write(path, form)
        number = len(answered.names)
        text = "1 answer was" if number == 1 else f"{number:,} answers were"
        print(f"{text} written to {path}.")
    note(summary)
    if form == "table":
        note(
            "low and high: 95 % interval of the noise; uneven spread inside leaves comes on top of "
            "it."
        )
    if not answered.answers.sd_exact:
        note("The standard deviations are estimates: this mechanism's inference is not linear.")


def _of_map(arguments: argparse.Namespace, release: Release) -> Answered:
    if trip_answers.asked(arguments):
        raise InputError(
            "This release is a map of one place; ask it with --rectangle or --rectangles."
        )
    return _of_asked(arguments, release.grid, release.answer, release.touched)


def _of_asked(
    arguments: argparse.Namespace,
    grid: Grid,
    answer: Callable[[Any], Answers],
    touched: Callable[[Any], np.ndarray] | None = None,
) -> Answered:
    """Answers to the rectangles or polygons that are asked on a grid."""
    questions, names, boxes = asked_of_one_map(arguments, grid)
    answers, leaves = answer(questions), None if touched is None else touched(questions)
    if boxes:
        return _of_boxes(questions, names, grid, answers, leaves)
    return _of_shapes(lambda: questions, names, answers, leaves)


def _of_boxes(
    boxes: np.ndarray,
    names: list[str],
    grid: Grid,
    answers: Answers,
    leaves: np.ndarray | None = None,
) -> Answered:
    from explorer.queries.files import write_rectangles
    from explorer.queries.geojson import EDGES

    columns = _figures(answers, leaves)
    return Answered(
        answers,
        names,
        columns,
        table=lambda: lines_of_boxes(boxes, names, columns, grid.unit),
        text=lambda form: write_rectangles(boxes, names, grid, form, columns),
        shapes=lambda: _as_shapes(boxes, grid),
        edges=dict(zip(EDGES, boxes.T, strict=True)),
    )


def _as_shapes(boxes: np.ndarray, grid: Grid) -> GeoSeries:
    import geopandas
    import shapely

    return geopandas.GeoSeries(shapely.box(*boxes.T), crs=grid.crs)


def _of_country(arguments: argparse.Namespace, release: CountryRelease) -> Answered:
    if arguments.area or arguments.polygons is not None:
        answers, names, shapes = country_answers.questions_of_areas(arguments, release)
        return _of_shapes(shapes, names, answers)
    if trip_answers.asked(arguments):
        raise InputError("This release is of areas; ask it with --area, --polygons, --rectangle.")
    return _of_asked(arguments, release.windows.grid, release.answer)


def _of_shapes(
    shapes: Callable[[], GeoSeries],
    names: list[str],
    answers: Answers,
    leaves: np.ndarray | None = None,
) -> Answered:
    from explorer.queries.polygons import write_polygons

    columns = _figures(answers, leaves)
    return Answered(
        answers,
        names,
        columns,
        table=lambda: table(["name", *columns], rows(names, columns)),
        text=lambda form: write_polygons(shapes(), names, form, columns),
        shapes=shapes,
    )


def _of_trips(arguments: argparse.Namespace, release: Release, domain: TripDomain) -> Answered:
    from explorer.queries.geojson import EDGES
    from explorer.queries.trip_files import write_trip_boxes

    boxes, names = trip_answers.questions(arguments, domain)
    answers = release.answer(boxes)
    columns = _figures(answers, release.touched(boxes))
    trip_answers.note_outside(boxes, domain)
    labels = [f"{place}_{edge}" for place in domain.names for edge in EDGES]
    return Answered(
        answers,
        names,
        columns,
        table=lambda: trip_answers.lines(boxes, names, columns, domain),
        text=lambda _: write_trip_boxes(boxes, names, domain, columns),
        edges=dict(zip(labels, boxes.reshape(len(boxes), -1).T, strict=True)),
    )


def _figures(answers: Answers, leaves: np.ndarray | None = None) -> dict[str, np.ndarray]:
    low, high = answers.interval()
    figures = {"value": answers.value, "noise_sd": answers.sd, "low": low, "high": high}
    return figures if leaves is None else {**figures, "leaves": leaves}
