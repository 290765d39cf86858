"""dp-explorer release: from points to a private map in a file."""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Any

from explorer.commands import flags
from explorer.commands.drawing import (
    EXTENT,
    add_extent,
    add_privacy,
    check_unit,
    declared_grid,
    draw_and_save,
    payment,
    release_path,
    say_unit,
    whole_or_none,
    without_counts,
)
from explorer.commands.reading import COLUMNS, add_columns, count_points, require_points
from explorer.commands.terminal import note, progress
from explorer.errors import InputError

if TYPE_CHECKING:
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
    parser.add_argument("-o", "--output", metavar="FILE", help="GeoParquet file to write")
    parser.add_argument("--overwrite", action="store_true", help="replace FILE if it exists")

    add_privacy(parser, "htf")
    add_extent(parser).add_argument(
        "--shape", help="cells along each side, or rows x columns (default 1024)"
    )
    add_columns(parser)
    flags.add_parameters(parser)


def run(arguments: argparse.Namespace) -> None:
    """Check everything that can be checked, then read, count, book, draw and save."""
    from explorer.mechanisms import mechanism

    instance, idle = flags.build(arguments, mechanism(arguments.mechanism))
    seed = whole_or_none(arguments.preview, "--preview", 0)
    bound = whole_or_none(arguments.contribution_bound, "--contribution-bound", 1)
    shape = None if arguments.shape is None else flags.shape(arguments.shape)
    load = source_of(arguments, shape, bound)
    read = (arguments.points, arguments.boundary)
    path = release_path(arguments.output, arguments.preview, arguments.overwrite, read)
    ledger = payment(arguments, seed)
    for name in idle:
        note(f"{name} has no effect with these settings.")
    started = time.perf_counter()
    matrix, notes = load()
    for sentence in notes:
        note(without_counts(sentence))
    say_unit(arguments)
    draw_and_save(instance, matrix, seed, ledger, path, started)


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


def source_of(arguments: argparse.Namespace, shape: Any, bound: int | None) -> Any:
    """What reads and counts, with the extent and the combination of flags checked now."""
    from explorer.points.counts_file import is_counts, load_counts

    if (arguments.points is None) == (arguments.city is None):
        raise InputError("Give either a file of points or --city KEY.")
    if arguments.city is not None:
        return _catalogue(arguments, shape, bound)
    require_points([arguments.points])
    if is_counts(arguments.points):
        named = (*EXTENT, "shape", "contribution_bound", "per", *COLUMNS)
        flags.refuse(arguments, named, "counts, which know their extent")
        return lambda: (load_counts(arguments.points), ())
    check_unit(arguments, bound)
    grid = declared_grid(arguments, 1024 if shape is None else shape)
    return lambda: count_points([arguments.points], arguments, grid, bound, draws=_draws(arguments))


def _draws(arguments: argparse.Namespace) -> bool:
    """Whether a release is drawn, not a preview; what is published is always one."""
    return getattr(arguments, "preview", None) is None


def _catalogue(arguments: argparse.Namespace, shape: Any, bound: int | None) -> Any:
    from explorer.cities.catalogue import find

    flags.refuse(
        arguments, (*EXTENT, *COLUMNS), "--city, whose extent and columns are in the catalogue"
    )
    chosen = find(arguments.city)
    if not chosen.present:
        raise InputError(
            f"{chosen.title} is not here yet; run: dp-explorer cities --download {chosen.key}"
        )
    chosen.grid(shape)  # refuses a shape before anything is read
    if chosen.has_users and _draws(arguments):
        check_unit(arguments, bound, f"{chosen.title} knows")

    def load() -> tuple[FrequencyMatrix, tuple[str, ...]]:
        with progress(f"Reading {chosen.title}") as tell:
            return chosen.count(shape, bound, tell)

    return load
