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
from explorer.commands.reading import (
    add_columns,
    add_parts,
    add_points,
    count_points,
    in_parts,
    require_points,
    workers,
)
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
    add_points(parser)
    parser.add_argument("-o", "--output", required=True, metavar="NAME", help="counts to write")
    parser.add_argument("--overwrite", action="store_true", help="replace them if they exist")
    add_parts(parser)
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
    where = workers(arguments)
    grid = declared_grid(
        arguments, 1024 if arguments.shape is None else flags.shape(arguments.shape)
    )
    read = (*sources, arguments.boundary)
    path = output_path(str(counts_path(arguments.output)), arguments.overwrite, read)
    how: dict[str, object] = {}
    if in_parts(sources):
        kept = path.with_name(path.name.replace(".exact.parquet", ".exact.checkpoint"))
        how = {"workers": where, "checkpoint": kept, "gaps": arguments.gaps}
        if kept.exists():
            note(f"Going on from {kept.name}.")
    started = time.perf_counter()
    matrix, notes = count_points(sources, arguments, grid, bound, **how)
    for sentence in notes:
        note(without_counts(sentence))
    write_whole(path, lambda part: save_counts(matrix, part))
    print(f"Saved as {path} after {time.perf_counter() - started:.1f} s.")
    print("These counts are exact: keep the file to yourself, and release from it.")
