"""dp-explorer count: points of any size to a file of exact counts, for the curator alone."""

from __future__ import annotations

import argparse
import time

from explorer.commands import flags
from explorer.commands.drawing import (
    add_extent,
    declared_grid,
    refuse_user_alone,
    whole_or_none,
    without_counts,
)
from explorer.commands.files import output_path, write_whole
from explorer.commands.reading import add_columns, count_points, in_parts, require_points
from explorer.commands.terminal import note
from explorer.errors import InputError

HELP = "count points of any size, for releases to be drawn from"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare points, extent, columns, workers and the output."""
    parser.usage = (
        "dp-explorer count POINTS [POINTS ...] --around LON LAT --size 20km -o counts [options]"
    )
    parser.description = (
        "Count points on a public extent and keep the exact counts: a private file of the curator, "
        "named .exact.parquet, that `dp-explorer release` draws from. Parquet is counted part by "
        "part and never held, so it may be of any size. An interrupted count goes on when the same "
        "command is given again."
    )
    parser.add_argument(
        "points",
        nargs="+",
        metavar="POINTS",
        help="a file, or Parquet in a folder, a pattern, an address of fsspec, or several of them",
    )
    parser.add_argument("-o", "--output", required=True, metavar="NAME", help="counts to write")
    parser.add_argument("--overwrite", action="store_true", help="replace them if they exist")
    parser.add_argument(
        "--dask",
        metavar="WHERE",
        help="count by Dask: auto (processes here), threads, or tcp://... of a scheduler",
    )
    parser.add_argument(
        "--gaps", action="store_true", help="numbered files may lack some numbers in between"
    )
    add_extent(parser).add_argument(
        "--shape", help="cells along each side, or rows x columns (default 1024)"
    )
    add_columns(parser)


def run(arguments: argparse.Namespace) -> None:
    """Check everything that can be checked, then count and save."""
    from explorer.points.counts_file import counts_path, is_counts, save_counts

    sources: list[str] = arguments.points
    bound = whole_or_none(arguments.contribution_bound, "--contribution-bound", 1)
    refuse_user_alone(arguments, bound, "users", "records")
    require_points(sources)
    if any(is_counts(each) for each in sources):
        raise InputError("These are counts already; draw from them with `dp-explorer release`.")
    grid = declared_grid(
        arguments, 1024 if arguments.shape is None else flags.shape(arguments.shape)
    )
    read = (*sources, arguments.boundary)
    path = output_path(str(counts_path(arguments.output)), arguments.overwrite, read)
    how: dict[str, object] = {}
    if in_parts(sources):
        kept = path.with_name(path.name.replace(".exact.parquet", ".exact.checkpoint"))
        how = {"workers": workers(arguments.dask), "checkpoint": kept, "gaps": arguments.gaps}
        if kept.exists():
            note(f"Going on from {kept.name}.")
    elif arguments.dask is not None:
        raise InputError("Only Parquet is counted by Dask; leave out --dask, or write Parquet.")
    started = time.perf_counter()
    matrix, notes = count_points(sources, arguments, grid, bound, **how)
    for sentence in notes:
        note(without_counts(sentence))
    write_whole(path, lambda part: save_counts(matrix, part))
    print(f"Saved as {path} after {time.perf_counter() - started:.1f} s.")
    print("These counts are exact: keep the file to yourself, and release from it.")


def workers(text: str | None) -> str | None:
    """Where Dask is to count, as typed.

    Raises
    ------
    InputError
        For what is none of auto, threads and an address.
    """
    if text is None or text in ("auto", "threads") or "://" in text:
        return text
    raise InputError(
        f"--dask is {text!r}; give auto, threads, or the address of a scheduler such as "
        "tcp://10.0.0.1:8786."
    )
