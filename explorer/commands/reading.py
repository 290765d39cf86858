"""What the commands that count points share: columns, one file or parts, sentences as typed."""

from __future__ import annotations

import argparse
import shlex
import warnings
from glob import has_magic
from typing import TYPE_CHECKING, Any

from explorer.commands import flags
from explorer.commands.drawing import add_unit, as_typed, check_unread_users
from explorer.commands.files import require_file
from explorer.commands.terminal import progress
from explorer.errors import InputError, reworded

if TYPE_CHECKING:
    from explorer.grid.grid import Grid
    from explorer.points.matrix import FrequencyMatrix
    from explorer.points.partitions import PointFiles
    from explorer.points.points import Points
    from explorer.points.reading import TextPoints

COLUMNS = ("lon", "lat", "crs", "user", "weight", "layer", "keep_zero")


def add_columns(parser: argparse.ArgumentParser) -> None:
    """Declare the columns of the points and the contribution bound."""
    group = parser.add_argument_group("columns of the points (guessed and said otherwise)")
    group.add_argument("--lon", metavar="COLUMN", help="longitude, or x")
    group.add_argument("--lat", metavar="COLUMN", help="latitude, or y")
    group.add_argument("--crs", help="CRS of the coordinates, such as EPSG:27700")
    add_keep_zero(group)
    group.add_argument("--weight", metavar="COLUMN", help="how many records a row stands for")
    group.add_argument("--user", metavar="COLUMN", help="whose record it is")
    add_layer(group)
    add_unit(group, "records")


def add_layer(group: argparse._ArgumentGroup) -> None:
    """Declare which part of a file is meant."""
    group.add_argument(
        "--layer", metavar="NAME", help="layer, table, sheet or file of an archive, of several"
    )


def add_keep_zero(group: argparse._ArgumentGroup) -> None:
    """Declare that coordinates 0 0 are a place."""
    group.add_argument(
        "--keep-zero",
        action="store_const",
        const=True,
        help="count records at 0 0 too, which stands for a missing place otherwise",
    )


def add_points(parser: argparse.ArgumentParser) -> None:
    """Declare points of any size as the arguments without a flag."""
    parser.add_argument(
        "points",
        nargs="+",
        metavar="POINTS",
        help="a file, or Parquet in a folder, a pattern, an address of fsspec, or several of them",
    )


def add_parts(parser: argparse._ActionsContainer) -> None:
    """Declare how points in parts are counted; see `workers`."""
    parser.add_argument(
        "--dask",
        metavar="WHERE",
        help="count by Dask: auto (processes here), threads, or tcp://... of a scheduler",
    )
    parser.add_argument(
        "--gaps", action="store_true", help="numbered files may lack some numbers in between"
    )


def workers(arguments: argparse.Namespace) -> str | None:
    """Where Dask is to count, as typed; None for one thread."""
    text: str | None = arguments.dask
    if not in_parts(arguments.points) and (text is not None or arguments.gaps):
        raise InputError("--dask and --gaps are for Parquet; leave them out, or write Parquet.")
    if text is None or text in ("auto", "threads") or "://" in text:
        return text
    raise InputError(
        f"--dask is {text!r}; give auto, threads, or the address of a scheduler such as "
        "tcp://10.0.0.1:8786."
    )


def require_points(sources: list[str]) -> None:
    """Raise `InputError` for a missing file; patterns and addresses are looked at later."""
    for source in sources:
        if "://" not in source and not has_magic(source):
            require_file(source)


def in_parts(sources: list[str]) -> bool:
    """Whether the points are Parquet, which is counted part by part and never held."""
    from explorer.points import reading

    return len(sources) != 1 or reading.in_parts(sources[0])


def count_points(
    sources: list[str],
    arguments: argparse.Namespace,
    grid: Grid,
    bound: int | None,
    *,
    draws: bool = False,
    **how: Any,
) -> tuple[FrequencyMatrix, tuple[str, ...]]:
    """The counts of points, and sentences about their reading with exact numbers in them.

    ``draws`` where a release is drawn from them, so that a column of users must not be left out;
    ``how`` is passed to `PointFiles.count` for points in parts, and ``gaps`` to `scan_points`.
    """
    from explorer.points.counting import ExtentWarning

    gaps = how.pop("gaps", False)
    points = look_at_points(sources, arguments, gaps, draws=draws)
    from explorer.points.partitions import PointFiles
    from explorer.points.reading import TextPoints

    if isinstance(points, PointFiles | TextPoints):
        with as_typed(as_flags), progress("Counting the points") as tell:
            counted, notes = points.count(grid, bound, tell, **how)
        return counted, tuple(map(as_flags, notes))
    with progress("Counting them") as tell, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ExtentWarning)
        matrix: FrequencyMatrix = grid.count(
            points, bound, tell, per="record" if bound is None else "user"
        )
    few = [str(warning.message) for warning in caught if warning.category is ExtentWarning]
    return matrix, tuple(map(as_flags, (*points.notes, *few)))


def look_at_points(
    sources: list[str], arguments: argparse.Namespace, gaps: bool, *, draws: bool = False
) -> Points | PointFiles | TextPoints:
    """Points with the columns as typed: read, or of Parquet and text looked at."""
    typed = {name: getattr(arguments, name) for name in COLUMNS}
    typed["crs"] = flags.crs(typed["crs"])
    typed["keep_zero"] = bool(typed["keep_zero"])
    points: Points | PointFiles | TextPoints
    if in_parts(sources):
        from explorer.points.partitions import scan_points

        if typed.pop("layer"):
            raise InputError("Points in parts have no layers; leave out --layer.")
        with as_typed(as_flags):
            points = scan_points(sources[0] if len(sources) == 1 else sources, gaps=gaps, **typed)
    else:
        from explorer.points.reading import as_points

        with progress("Reading the points"), as_typed(as_flags):
            points = as_points(sources[0], typed)
    if draws:
        check_unread_users(arguments, points.notes)
    return points


def as_flags(sentence: str) -> str:
    """An advice such as lon='x' as it is typed here: --lon x.

    >>> as_flags("choose lon='start lon', lat=... or crs='EPSG:27700'")
    "choose --lon 'start lon', --lat or --crs EPSG:27700"
    """

    def flag(name: str, value: str) -> str:
        return f"--{name} {shlex.quote(value)}" if value else f"--{name}"

    return reworded(sentence, flag)
