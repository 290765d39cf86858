"""dp-explorer answer: questions to a release file, without the points."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.commands import questions
from explorer.commands.files import add_output, output_path
from explorer.commands.formats import as_text
from explorer.commands.terminal import note
from explorer.errors import InputError
from explorer.grid.whole_file import write_whole

if TYPE_CHECKING:
    import numpy as np

    from explorer.commands.questions import Queries
    from explorer.releases.answers import Answers

HELP = "answer rectangles from a release file"

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
    questions.add_questions(parser)
    parser.add_argument("--format", choices=FORMATS, help="default table")
    add_output(
        parser,
        "write here: .csv, .json (a list of records), .geojson, .txt, .parquet or .gpkg",
    )
    questions.add_trip_questions(parser)
    questions.add_area_questions(parser)


def run(arguments: argparse.Namespace) -> None:
    """Read, answer, print or write."""
    from explorer.releases.country import is_country
    from explorer.releases.release import Release

    form, path = _asked_form(arguments)
    release: Any
    if is_country(arguments.map):
        from explorer.releases.country import CountryRelease

        release = CountryRelease.load(arguments.map)
        queries = questions.asked_of_areas(arguments, release)
        answers, leaves = release.answer(queries.where), None
    else:
        if arguments.area:
            raise InputError("--area is for releases of areas; ask this one with --rectangle.")
        release = Release.load(arguments.map)
        queries = _asked(arguments, release, form)
        answers, leaves = release.answer(queries.where), release.touched(queries.where)
    figures = _figures(answers, leaves)
    if path is None:
        print(_text(queries, figures, form), end="")
    else:
        _write(queries, figures, path, form)
        number = len(queries.names)
        text = "1 answer was" if number == 1 else f"{number:,} answers were"
        print(f"{text} written to {path}.")
    note(release.summary())
    if form == "table":
        note(
            "low and high: 95 % interval of the noise; uneven spread inside leaves comes on top of "
            "it."
        )
    if not answers.sd_exact:
        note("The standard deviations are estimates: this mechanism's inference is not linear.")


def _asked(arguments: argparse.Namespace, release: Any, form: str) -> Queries:
    from explorer.grid.places import TripDomain

    if not isinstance(release.domain, TripDomain):
        if questions.asks_trips(arguments):
            raise InputError(
                "This release is a map of one place; ask it with --rectangle or --rectangles."
            )
        return questions.asked_of_one_map(arguments, release.grid)
    if arguments.polygons is not None:
        raise InputError("Polygons are questions to one map; ask trips with boxes of places.")
    questions.refuse_name_column(arguments)
    if form == "geojson":
        raise InputError("Answers of trips are about several places; write them as CSV.")
    return questions.asked_of_trips(arguments, release.domain)


def _figures(answers: Answers, leaves: np.ndarray | None) -> dict[str, np.ndarray]:
    low, high = answers.interval()
    figures = {"value": answers.value, "noise_sd": answers.sd, "low": low, "high": high}
    return figures if leaves is None else {**figures, "leaves": leaves}


def _text(queries: Queries, figures: Mapping[str, np.ndarray], form: str) -> str:
    if form == "table":
        return queries.table(figures) + "\n"
    if form == "json":
        return as_text({"name": list(queries.names), **queries.edges, **figures}, "json")
    text = queries.text(form, figures)
    return text if text.endswith("\n") else f"{text}\n"


def _write(queries: Queries, figures: Mapping[str, np.ndarray], path: Path, form: str) -> None:
    if form not in _BINARY:
        # Before a file is begun: some forms are refused.
        text = _text(queries, figures, form)
        write_whole(path, lambda part: part.write_text(text, encoding="utf-8", newline=""))
        return
    import geopandas
    import pandas as pd

    frame = pd.DataFrame({"name": list(queries.names), **queries.edges, **figures})
    if queries.shapes is not None:
        frame = geopandas.GeoDataFrame(frame, geometry=queries.shapes())
    elif form == "gpkg":
        raise InputError("These answers have no single shape; name the file .parquet or .csv.")
    if form == "gpkg":
        write_whole(path, lambda part: frame.to_file(part, driver="GPKG", layer="answers"))
    else:
        write_whole(path, lambda part: frame.to_parquet(part, index=False))


def _asked_form(arguments: argparse.Namespace) -> tuple[str, Path | None]:
    """The form that was asked for, and the file to write; None where answers are printed."""
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
    typed = (arguments.map, arguments.rectangles, arguments.polygons)
    read = (*typed, *(file for _, file in arguments.place))
    path = output_path(arguments.output, arguments.overwrite, read)
    if by_ending in _BINARY and form != by_ending:
        raise InputError(f"{ending} is not written as {form}; leave --format out, or rename it.")
    return form, path
