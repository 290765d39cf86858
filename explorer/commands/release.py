"""dp-explorer release: from points to a private map in a file."""

from __future__ import annotations

import argparse
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.commands import flags
from explorer.commands.files import output_path, write_whole
from explorer.commands.terminal import note, progress
from explorer.errors import InputError

if TYPE_CHECKING:
    from explorer.commands.paying import Payment
    from explorer.grid.grid import Grid
    from explorer.mechanisms import Mechanism
    from explorer.points.matrix import FrequencyMatrix
    from explorer.points.points import Points
    from explorer.privacy.ledger import Ledger

HELP = "draw a private map of points and save it"

_LEFT_OUT = re.compile(r"(?:1 row|[\d,]+ rows) (.*) (?:was|were) left out\.")
_KEYWORD = re.compile(r"\b(lon|lat|crs|user|weight)='?([^',;. ]*)'?(?:\.\.\.)?")
_COLUMNS = ("lon", "lat", "crs", "user", "weight")


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
        "points", nargs="?", metavar="POINTS", help="CSV, Parquet, GeoJSON, GeoPackage, Shapefile"
    )
    parser.add_argument("--city", metavar="KEY", help="a city of the catalogue in place of POINTS")
    parser.add_argument("-o", "--output", metavar="FILE", help="GeoParquet file to write")
    parser.add_argument("--overwrite", action="store_true", help="replace FILE if it exists")

    group = parser.add_argument_group("privacy")
    group.add_argument("--mechanism", default="htf", metavar="NAME", help="default htf")
    group.add_argument("--epsilon", required=True, help="privacy budget of the whole release")
    group.add_argument(
        "--preview",
        metavar="SEED",
        help="draw reproducible noise that is not private: free, fast, not to be published",
    )
    group.add_argument("--no-ledger", action="store_true", help="book nothing")

    group = parser.add_argument_group("public extent (one of the first three)")
    group.add_argument(
        "--around", nargs=2, type=float, metavar=("LON", "LAT"), help="centre in degrees"
    )
    group.add_argument(
        "--bounds", nargs=4, type=float, metavar=("X0", "Y0", "X1", "Y1"), help="in metres"
    )
    group.add_argument("--boundary", metavar="FILE", help="polygons, such as a city's limits")
    group.add_argument("--size", metavar="LENGTH", help="width for --around, such as 20km or 500m")
    group.add_argument(
        "--height-extent", metavar="LENGTH", help="from south to north (default as wide as high)"
    )
    group.add_argument(
        "--crs-grid", metavar="CRS", help="projected CRS of --bounds, such as EPSG:27700"
    )
    group.add_argument("--shape", help="cells along each side, or rows x columns (default 1024)")

    group = parser.add_argument_group("columns of the points (guessed and said otherwise)")
    group.add_argument("--lon", metavar="COLUMN", help="longitude, or x")
    group.add_argument("--lat", metavar="COLUMN", help="latitude, or y")
    group.add_argument("--crs", help="CRS of the coordinates, such as EPSG:27700")
    group.add_argument("--weight", metavar="COLUMN", help="how many records a row stands for")
    group.add_argument("--user", metavar="COLUMN", help="whose record it is")
    group.add_argument(
        "--contribution-bound",
        metavar="K",
        help="protect users, not records: at most K records of each user are counted",
    )
    flags.add_parameters(parser)


def run(arguments: argparse.Namespace) -> None:
    """Check everything that can be checked, then read, count, book, draw and save."""
    from explorer.commands.paying import Payment, saved_first
    from explorer.mechanisms import mechanism

    made, idle = flags.build(arguments, mechanism(arguments.mechanism))
    seed = _whole(arguments.preview, "--preview", 0)
    bound = _whole(arguments.contribution_bound, "--contribution-bound", 1)
    shape = None if arguments.shape is None else flags.shape(arguments.shape)
    load = _source(arguments, shape, bound)
    path = _output(arguments)
    ledger = None if arguments.no_ledger or seed is not None else Payment()
    for name in idle:
        note(f"{name} has no effect with these settings.")
    started = time.perf_counter()
    points, matrix = load()
    for sentence in () if points is None else points.notes:
        note(without_counts(sentence))
    with saved_first(ledger):
        release = _draw(made, matrix, seed, ledger)
        if path is not None:
            write_whole(path, release.save)
        print(release.summary())
        print(_spent(matrix, ledger, seed))
        took = time.perf_counter() - started
        print(f"Saved as {path} after {took:.1f} s." if path else f"Not saved ({took:.1f} s).")


def _draw(
    made: Mechanism, matrix: FrequencyMatrix, seed: int | None, ledger: Payment | None
) -> Any:
    try:
        with progress(f"Drawing {made.title}") as tell:
            return made.release(matrix, rng=seed, progress=tell, ledger=ledger)
    except KeyboardInterrupt:
        if ledger is not None and ledger.booked:
            note("What the interrupted release would have cost stays booked.")
        raise


def _spent(matrix: FrequencyMatrix, ledger: Ledger | None, seed: int | None) -> str:
    from explorer.releases.units import to_epsilon

    if seed is not None:
        return "Ledger: a preview spends nothing and must not be published."
    if ledger is None:
        return "Ledger: not booked, because of --no-ledger."
    spent, left = ledger.spent(matrix.key), ledger.left(matrix.key)
    rest = "no cap is set" if left is None else f"{to_epsilon(left):.12g} left of the cap"
    return f"Ledger: epsilon {to_epsilon(spent):.12g} spent on this data set so far, {rest}."


def _source(arguments: argparse.Namespace, shape: Any, bound: int | None) -> Any:
    """What reads and counts, with the extent and the combination of flags checked now."""
    if (arguments.points is None) == (arguments.city is None):
        raise InputError("Give either a file of points or --city KEY.")
    if arguments.city is not None:
        return _catalogue(arguments, shape, bound)
    if (arguments.user is None) != (bound is None):
        raise InputError(
            "--user and --contribution-bound belong together; give both to protect users, or "
            "neither to protect single records."
        )
    if not Path(arguments.points).expanduser().exists():
        raise InputError(f"There is no file {arguments.points}; check its name.")
    grid = declared_grid(arguments, 1024 if shape is None else shape)

    def load() -> tuple[Points, FrequencyMatrix]:
        from explorer.points.points import read_points

        told = {name: getattr(arguments, name) for name in _COLUMNS}
        if told["crs"] is not None:
            told["crs"] = flags.crs(told["crs"])
        with progress("Reading the points"):
            try:
                points = read_points(arguments.points, **told)
            except InputError as error:
                raise InputError(_as_flags(str(error))) from error
        with progress("Counting them") as tell:
            return points, grid.count(points, bound, tell)

    return load


def _catalogue(arguments: argparse.Namespace, shape: Any, bound: int | None) -> Any:
    from explorer.cities.catalogue import find

    named = ("around", "bounds", "boundary", "size", "height_extent", "crs_grid", *_COLUMNS)
    for name in named:
        if getattr(arguments, name) is not None:
            raise InputError(
                f"{flags.flag(name)} is not needed with --city, whose extent and columns are in "
                "the catalogue; leave it out."
            )
    chosen = find(arguments.city)
    if not chosen.present:
        raise InputError(
            f"{chosen.title} is not here yet; run: dp-explorer cities --download {chosen.key}"
        )
    chosen.grid(shape)  # refuses a shape before anything is read

    def load() -> tuple[Points | None, FrequencyMatrix]:
        with progress(f"Reading {chosen.title}") as tell:
            return chosen.load(shape, bound, tell)

    return load


def declared_grid(arguments: argparse.Namespace, shape: Any) -> Grid:
    """The public grid that the flags declare.

    Raises
    ------
    InputError
        Unless it is declared in exactly one way, completely.
    """
    from explorer.grid.grid import Grid

    ways = ("around", "bounds", "boundary")
    given = [name for name in ways if getattr(arguments, name) is not None]
    if len(given) != 1:
        what = "is missing" if not given else "is declared twice"
        raise InputError(
            f"The public extent {what}; give one of --around LON LAT --size 20km, --bounds X0 Y0 "
            "X1 Y1 --crs-grid EPSG:27700, or --boundary FILE."
        )
    needed = {"size": ("around",), "height_extent": ("around",), "crs_grid": ("bounds", "boundary")}
    for name, whose in needed.items():
        if getattr(arguments, name) is not None and given[0] not in whose:
            raise InputError(f"{flags.flag(name)} does not go with --{given[0]}; leave it out.")
    crs = None if arguments.crs_grid is None else flags.crs(arguments.crs_grid)
    if given[0] == "boundary":
        return Grid.from_boundary(arguments.boundary, shape, crs)
    if given[0] == "bounds":
        if crs is None:
            raise InputError("--bounds are metres of a CRS; say which with --crs-grid EPSG:27700.")
        west, south, east, north = arguments.bounds
        return Grid.from_bounds(west, south, east, north, crs, shape)
    if arguments.size is None:
        raise InputError("--around needs the width of the map; give it with --size 20km.")
    height = None if arguments.height_extent is None else flags.metres(arguments.height_extent)
    lon, lat = arguments.around
    return Grid.around(lon, lat, flags.metres(arguments.size), height, shape)


def without_counts(sentence: str) -> str:
    """A note of reading without its exact count: what a command prints ends up in logs.

    >>> without_counts("1,204 rows at longitude 0, latitude 0 were left out.")
    'Some rows at longitude 0, latitude 0 were left out.'
    """
    return _LEFT_OUT.sub(r"Some rows \1 were left out.", sentence)


def _as_flags(sentence: str) -> str:
    """An advice such as lon='x' as it is typed here: --lon x."""
    return _KEYWORD.sub(lambda found: f"--{found[1]}{' ' if found[2] else ''}{found[2]}", sentence)


def _output(arguments: argparse.Namespace) -> Path | None:
    if arguments.output is None:
        if arguments.preview is not None:
            return None
        raise InputError("A release is drawn once and kept; say where with -o map.parquet.")
    if Path(arguments.output).suffix.lower() not in (".parquet", ".geoparquet"):
        raise InputError(
            f"A release is saved as GeoParquet; name it {Path(arguments.output).stem}.parquet."
        )
    read = (arguments.points, arguments.boundary)
    return output_path(arguments.output, arguments.overwrite, read)


def _whole(text: str | None, name: str, least: int) -> int | None:
    if text is None:
        return None
    if not re.fullmatch(r"[0-9]{1,18}", text) or int(text) < least:
        raise InputError(f"{name} is {text!r}; give a whole number of {least} or more.")
    return int(text)
