"""dp-explorer trips: from a table of trips to a private origin-destination matrix in a file."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.commands import drawing, flags, reading
from explorer.commands.files import add_output
from explorer.commands.terminal import progress
from explorer.errors import InputError

if TYPE_CHECKING:
    from explorer.grid.grid import Grid
    from explorer.trips.matrix import TripMatrix

HELP = "draw private trips with stops and save them"

_DEFAULT_PLACES, _DEFAULT_SHAPE = "o,d", "64"
_FILE_ONLY = ("places", "grid", "around", "bounds", "boundary", "city", "size", "height_extent")
# Advice of the library as it is typed here.
_ADVICE = (
    (re.compile(r"places=\[\(lon, lat\), \.\.\.\]"), "--places lon:lat,lon:lat"),
    (re.compile(r"places=\('o', 'd'\)"), "--places o,d"),
    (re.compile(r"places=\[\('(.*?)', '(.*?)'\), \.\.\.\]"), r"--places '\1:\2,...'"),
    (re.compile(r"keep_zero=True"), "--keep-zero"),
    (re.compile(r"name the two columns in place of its name"), "name the two as lon:lat"),
    (re.compile(r"name the two in place of its name"), "name the two as lon:lat"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare trips, places, extents, budget and the parameters of the mechanisms of trips."""
    from explorer.mechanisms import trip_mechanisms

    parser.usage = (
        "dp-explorer trips TRIPS --places o,s2,d --around LON LAT --size 20km --grid 64 "
        "--mechanism gravity --epsilon 0.1 -o trips.parquet [options]"
    )
    parser.description = (
        "Draw private trips: how many go from here to there, with stops if they are named. A trip "
        "counts if all of the places lie inside; all others count nowhere. Extents are public and "
        "declared here, never taken from the trips. Each release costs epsilon, which is booked "
        "in a ledger before it is drawn. No exact count is printed."
    )
    parser.add_argument("trips", nargs="?", metavar="TRIPS", help="CSV, TSV, Parquet, Excel")
    parser.add_argument(
        "--made-up", metavar="NAME", help="invented trips, such as gauss:4:0.2 or zipf:6:2"
    )
    add_output(parser, "Parquet file to write (.parquet is added)")
    drawing.add_privacy(parser, "gravity")
    group = drawing.add_extent(parser, shape=False)
    group.add_argument("--city", metavar="KEY", help="the extent of a city of the catalogue")
    group.add_argument(
        "--grid",
        metavar="SHAPES",
        help="cells along each side of every place, or one for each, such as 64,32,64 or 64x32 "
        f"(default {_DEFAULT_SHAPE})",
    )
    group = parser.add_argument_group("columns of the trips (guessed and said otherwise)")
    group.add_argument(
        "--places",
        help="in order: o, s1, s2, .., d, what stands before lon and lat, or two "
        f"columns as lon:lat (default {_DEFAULT_PLACES})",
    )
    group.add_argument("--crs", help="CRS of the coordinates, such as EPSG:27700")
    group.add_argument("--weight", metavar="COLUMN", help="how many trips a row stands for")
    reading.add_keep_zero(group)
    group.add_argument("--user", metavar="COLUMN", help="whose trip it is")
    reading.add_layer(group)
    drawing.add_unit(group, "trips", "--bound")
    flags.add_parameters(parser, trip_mechanisms())


def run(arguments: argparse.Namespace) -> None:
    """Check everything that can be checked, then read, count, book, draw and save."""
    from explorer.mechanisms import mechanism, trip_mechanisms

    kinds, chosen = trip_mechanisms(), mechanism(arguments.mechanism)
    if chosen.key not in kinds:
        raise InputError(
            f"{chosen.title} takes maps, not trips; choose one of {', '.join(kinds)}, or use "
            "dp-explorer release."
        )
    instance, idle = flags.build(arguments, chosen, kinds)
    load = _source(arguments, chosen.dimensions, chosen.title)
    output = arguments.output
    if output is not None and not Path(output).suffix:
        output = f"{output}.parquet"
    path = drawing.release_path(arguments, output, (arguments.trips, arguments.boundary))
    drawing.draw_and_save(arguments, instance, load, path, idle)


def _source(
    arguments: argparse.Namespace, takes: Any, title: str
) -> Callable[[], tuple[TripMatrix, Iterable[str]]]:
    """What reads and counts, with the combination of flags checked now."""
    bound = drawing.bound_of(arguments)
    if (arguments.trips is None) == (arguments.made_up is None):
        raise InputError("Give either a file of trips or --made-up NAME, such as gauss:4:0.2.")
    if arguments.made_up is not None:
        return _made_up(arguments)
    drawing.check_unit(arguments, bound)
    reading.require_points([arguments.trips])
    places = _places(arguments.places or _DEFAULT_PLACES)
    if 2 * len(places) not in takes:
        raise InputError(
            f"{title} does not take trips of {len(places)} "
            f"{'place' if len(places) == 1 else 'places'}; choose another mechanism or other "
            "--places."
        )
    from explorer.grid.places import TripDomain
    from explorer.trips.trips import read_trips

    grids = TripDomain(_grids(arguments, len(places))).grids

    def load() -> tuple[TripMatrix, Iterable[str]]:
        with progress("Reading the trips"), drawing.as_typed(_as_flags):
            columns = {role: getattr(arguments, role) for role in ("user", "weight", "layer")}
            columns["keep_zero"] = bool(arguments.keep_zero)
            trips = read_trips(arguments.trips, places, crs=flags.crs(arguments.crs), **columns)
        if arguments.preview is None:
            drawing.check_unread_users(arguments, trips.notes)
        domain, per = TripDomain(grids, trips.places), "record" if bound is None else "user"
        with progress("Counting them") as tell:
            return domain.count(trips, bound, tell, per=per), map(_as_flags, trips.notes)

    return load


def _made_up(arguments: argparse.Namespace) -> Callable[[], tuple[TripMatrix, Iterable[str]]]:
    from explorer.points.populations import of_people
    from explorer.trips import synthetic

    columns = ("crs", "keep_zero", "user", "weight", "layer")
    named = (*_FILE_ONLY, *columns, "contribution_bound", "per")
    flags.refuse(arguments, named, "--made-up, whose cells lie nowhere on Earth")
    synthetic.named(arguments.made_up, draws=1)  # refuses a name before anything is made
    name = arguments.made_up
    return lambda: (of_people(synthetic.named(name), (name,)), ())


def _places(text: str) -> list[str | tuple[str, str]]:
    """Places as typed: names, or two columns joined by a colon.

    >>> _places("o,start_x:start_y")
    ['o', ('start_x', 'start_y')]
    """
    places: list[str | tuple[str, str]] = []
    for part in text.split(","):
        first, colon, second = part.strip().partition(":")
        if not first or (colon and not second):
            raise InputError(
                f"{text!r} are no places; give names such as o,s2,d, or two columns as lon:lat."
            )
        places.append((first, second) if colon else first)
    return places


def _grids(arguments: argparse.Namespace, places: int) -> list[Grid]:
    texts = (arguments.grid or _DEFAULT_SHAPE).split(",")
    shapes = [flags.shape(text) for text in texts]
    if len(shapes) not in (1, places):
        raise InputError(
            f"--grid {arguments.grid} names {len(shapes)} shapes for {places} places; give one for "
            "all, or one for each."
        )
    shapes = shapes * places if len(shapes) == 1 else shapes
    if arguments.city is None:
        return [drawing.declared_grid(arguments, shape) for shape in shapes]
    flags.refuse(arguments, drawing.EXTENT, "--city, whose extent is in the catalogue")
    from explorer.cities.catalogue import find

    chosen = find(arguments.city)
    if chosen.is_matrix:
        raise InputError(
            f"{chosen.title} is a matrix without a place on Earth; declare the extent with "
            "--around LON LAT --size 20km."
        )
    return [chosen.grid(shape) for shape in shapes]


def _as_flags(sentence: str) -> str:
    for pattern, typed in _ADVICE:
        sentence = pattern.sub(typed, sentence)
    return reading.as_flags(sentence)
