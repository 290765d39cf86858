"""dp-explorer answer: questions to a release file, without the points."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from explorer.commands import country_answers, trip_answers
from explorer.commands.files import output_path, write_whole
from explorer.commands.questions import (
    add_questions,
    lines_of_boxes,
    note_outside,
    rectangles,
    rows,
)
from explorer.commands.terminal import note, table
from explorer.errors import InputError

if TYPE_CHECKING:
    import numpy as np

    from explorer.grid.places import TripDomain
    from explorer.releases.answers import Answers
    from explorer.releases.country import CountryRelease
    from explorer.releases.release import Release

HELP = "answer rectangles from a release file"

_SUFFIXES = {".csv": "csv", ".geojson": "geojson", ".json": "geojson", ".txt": "table"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the release, the rectangles and the form of the answers."""
    parser.usage = (
        "dp-explorer answer MAP [--rectangles FILE] [--polygons FILE] [--bounding-boxes] "
        "[--rectangle X0 Y0 X1 Y1 ...] [--from X0 Y0 X1 Y1 --to X0 Y0 X1 Y1] "
        "[--place NAME FILE ...] [--area NAME ...] [--lonlat] "
        "[--format table|csv|geojson] [-o FILE] [--overwrite]"
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
    parser.add_argument("--format", choices=("table", "csv", "geojson"), help="default table")
    parser.add_argument("-o", "--output", metavar="FILE", help="write here (.csv, .geojson, .txt)")
    parser.add_argument("--overwrite", action="store_true", help="replace FILE if it exists")
    trip_answers.add_arguments(parser)
    country_answers.add_arguments(parser)


def run(arguments: argparse.Namespace) -> None:
    """Read, answer, print or write."""
    from explorer.grid.places import TripDomain
    from explorer.releases.country_file import is_country
    from explorer.releases.release import Release

    form, path = _form(arguments)
    if is_country(arguments.map):
        from explorer.releases.country import CountryRelease

        country = CountryRelease.load(arguments.map)
        answers, names, text = _of_country(arguments, country, form)
        _tell(country.summary(), answers, names, text, form, path)
        return
    if arguments.area:
        raise InputError("--area is for releases of areas; ask this one with --rectangle.")
    release = Release.load(arguments.map)
    if isinstance(release.domain, TripDomain):
        if arguments.polygons is not None:
            raise InputError("Polygons are questions to one map; ask trips with boxes of places.")
        answers, names, text = _of_trips(arguments, release, release.domain, form)
    elif arguments.polygons is not None:
        answers, names, text = _of_polygons(arguments, release, form)
    else:
        answers, names, text = _of_map(arguments, release, form)
    _tell(release.summary(), answers, names, text, form, path)


def _tell(
    summary: str, answers: Answers, names: list[str], text: str, form: str, path: Path | None
) -> None:
    """Print or write the text, and say what it is about."""
    if path is None:
        print(text, end="" if text.endswith("\n") else "\n")
    else:
        write_whole(path, lambda part: part.write_text(text, encoding="utf-8", newline=""))
        said = "1 answer was" if len(names) == 1 else f"{len(names):,} answers were"
        print(f"{said} written to {path}.")
    note(summary)
    if form == "table":
        note(
            "low and high: 95 % interval of the noise; uneven spread inside leaves comes on top of "
            "it."
        )
    if not answers.sd_exact:
        note("The standard deviations are estimates: this mechanism's inference is not linear.")


def _of_map(
    arguments: argparse.Namespace, release: Release, form: str
) -> tuple[Answers, list[str], str]:
    from explorer.queries.files import write_rectangles

    if trip_answers.asked(arguments):
        raise InputError(
            "This release is a map of one place; ask it with --rectangle or --rectangles."
        )
    boxes, names = rectangles(arguments, release.grid)
    answers = release.answer(boxes)
    columns = _figures(answers, release.touched(boxes))
    note_outside(boxes, release.grid)
    if form == "table":
        return answers, names, lines_of_boxes(boxes, names, columns, release.grid.unit) + "\n"
    return answers, names, write_rectangles(boxes, names, release.grid, form, columns)


def _of_country(
    arguments: argparse.Namespace, release: CountryRelease, form: str
) -> tuple[Answers, list[str], str]:
    from explorer.queries.files import write_rectangles

    if arguments.area or arguments.polygons is not None:
        return country_answers.questions_of_areas(arguments, release, form, _figures, rows)
    if trip_answers.asked(arguments):
        raise InputError("This release is of areas; ask it with --area, --polygons, --rectangle.")
    grid = release.windows.grid
    boxes, names = rectangles(arguments, grid)
    answers = release.answer(boxes)
    columns = _figures(answers)
    note_outside(boxes, grid)
    if form == "table":
        return answers, names, lines_of_boxes(boxes, names, columns, grid.unit) + "\n"
    return answers, names, write_rectangles(boxes, names, grid, form, columns)


def _of_polygons(
    arguments: argparse.Namespace, release: Release, form: str
) -> tuple[Answers, list[str], str]:
    from explorer.queries.polygons import read_polygons, write_polygons

    if arguments.rectangles is not None or arguments.rectangle or trip_answers.asked(arguments):
        raise InputError("Polygons are asked alone; leave the other questions out.")
    shapes, names = read_polygons(arguments.polygons)
    answers = release.answer(shapes)
    columns = _figures(answers, release.touched(shapes))
    if form == "table":
        return answers, names, table(["name", *columns], rows(names, columns)) + "\n"
    return answers, names, write_polygons(shapes, names, form, columns)


def _of_trips(
    arguments: argparse.Namespace, release: Release, domain: TripDomain, form: str
) -> tuple[Answers, list[str], str]:
    from explorer.queries.trip_files import write_trip_boxes

    if form == "geojson":
        raise InputError("Answers of trips are about several places; write them as CSV.")
    boxes, names = trip_answers.questions(arguments, domain)
    answers = release.answer(boxes)
    columns = _figures(answers, release.touched(boxes))
    trip_answers.note_outside(boxes, domain)
    if form == "table":
        return answers, names, trip_answers.lines(boxes, names, columns, domain) + "\n"
    return answers, names, write_trip_boxes(boxes, names, domain, columns)


def _figures(answers: Answers, leaves: np.ndarray | None = None) -> dict[str, np.ndarray]:
    low, high = answers.interval()
    found = {"value": answers.value, "noise_sd": answers.sd, "low": low, "high": high}
    return found if leaves is None else {**found, "leaves": leaves}


def _form(arguments: argparse.Namespace) -> tuple[str, Path | None]:
    if arguments.output is None:
        return arguments.format or "table", None
    known = _SUFFIXES.get(Path(arguments.output).suffix.lower())
    form = arguments.format or known
    if form is None:
        raise InputError(
            f"The format of {arguments.output} is not recognised by its ending; name it .csv, "
            ".geojson or .txt, or give --format."
        )
    asked = (arguments.rectangles, arguments.polygons)
    read = (arguments.map, *asked, *(file for _, file in arguments.place))
    return form, output_path(arguments.output, arguments.overwrite, read)
