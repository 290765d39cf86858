"""dp-explorer release: from points to a private map in a file."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from explorer.commands import drawing, flags, reading
from explorer.commands.files import add_output
from explorer.commands.terminal import progress
from explorer.errors import InputError

if TYPE_CHECKING:
    from explorer.cities.city import City
    from explorer.points.matrix import FrequencyMatrix

HELP = "draw a private map of points and save it"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare points, extent, budget and the parameters of all mechanisms."""
    parser.usage = (
        "dp-explorer release POINTS --around LON LAT --size 20km --mechanism htf --epsilon 0.1 "
        "-o map.parquet [options]"
    )
    parser.description = (
        "Draw a private map of points and save it. The extent is public and declared here, never "
        "taken from the points. Each release costs epsilon, which is booked in a ledger before it "
        "is drawn. No exact count of the points or the map is printed; a sentence about rows that "
        "cannot be used is for you, the curator."
    )
    parser.add_argument(
        "points",
        nargs="?",
        metavar="POINTS",
        help="CSV, Excel, GeoJSON, GeoPackage, Shapefile, KML, GPX; Parquet, also in "
        "a folder, a pattern or an address; or counts of `dp-explorer count`",
    )
    parser.add_argument("--city", metavar="KEY", help="a city of the catalogue in place of POINTS")
    add_output(parser, "GeoParquet file to write")
    drawing.add_privacy(parser, "htf")
    drawing.add_extent(parser)
    reading.add_columns(parser)
    flags.add_parameters(parser)


def run(arguments: argparse.Namespace) -> None:
    """Check everything that can be checked, then read, count, book, draw and save."""
    from explorer.mechanisms import mechanism

    instance, idle = flags.build(arguments, mechanism(arguments.mechanism))
    load = source_of(arguments)
    read = (arguments.points, arguments.boundary)
    path = drawing.release_path(arguments, arguments.output, read)
    drawing.draw_and_save(arguments, instance, load, path, idle)


def population_of(arguments: argparse.Namespace) -> str:
    """The population that the city, the file, or the points behind counts are taken to be.

    Of several it is the first.
    """
    from explorer.points.counts_file import is_counts, populations_of_counts
    from explorer.points.populations import population_of_file

    if arguments.city is not None:
        return str(arguments.city)
    behind = populations_of_counts(arguments.points) if is_counts(arguments.points) else ()
    return behind[0] if behind else population_of_file(arguments.points)


def source_of(arguments: argparse.Namespace) -> Callable[[], tuple[FrequencyMatrix, Iterable[str]]]:
    """What reads and counts, with the extent and the combination of flags checked now."""
    from explorer.points.counts_file import is_counts, load_counts

    bound, shape = drawing.bound_of(arguments), flags.shape(arguments.shape)
    if (arguments.points is None) == (arguments.city is None):
        raise InputError("Give either a file of points or --city KEY.")
    # Not a preview; what is published is always a release.
    draws = getattr(arguments, "preview", None) is None
    if arguments.city is not None:
        settled = (*drawing.EXTENT, *reading.COLUMNS)
        flags.refuse(arguments, settled, "--city, whose extent and columns are in the catalogue")
        chosen = city_here(arguments.city, shape)
        if chosen.has_users and draws:
            drawing.check_unit(arguments, bound, f"{chosen.title} knows")
        return load_city(chosen, shape, bound)
    reading.require_points([arguments.points])
    if is_counts(arguments.points):
        named = (*drawing.EXTENT, "shape", "contribution_bound", "per", *reading.COLUMNS)
        flags.refuse(arguments, named, "counts, which know their extent")
        return lambda: (load_counts(arguments.points), ())
    drawing.check_unit(arguments, bound)
    grid = drawing.declared_grid(arguments, 1024 if shape is None else shape)
    return lambda: reading.count_points([arguments.points], arguments, grid, bound, draws=draws)


def city_here(key: str, shape: Any) -> City:
    """A city of the catalogue whose points are here, and which takes the shape."""
    from explorer.cities.catalogue import find

    chosen = find(key)
    if not chosen.present:
        raise InputError(
            f"{chosen.title} is not here yet; run: dp-explorer cities --download {chosen.key}"
        )
    chosen.grid(shape)  # refuses a shape before anything is read
    return chosen


def load_city(
    city: City, shape: Any, bound: int | None
) -> Callable[[], tuple[FrequencyMatrix, Iterable[str]]]:
    """What reads and counts a city."""

    def load() -> tuple[FrequencyMatrix, Iterable[str]]:
        with progress(f"Reading {city.title}") as tell:
            return city.count(shape, bound, tell)

    return load
