"""dp-explorer count: points of any size to a file of exact counts, for the curator alone."""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING

from explorer.commands import drawing, flags, questions, reading
from explorer.commands.files import add_output, output_path
from explorer.commands.formats import add_format, as_text
from explorer.commands.terminal import note
from explorer.errors import InputError

if TYPE_CHECKING:
    from explorer.points.matrix import FrequencyMatrix

HELP = "count points of any size, for releases to be drawn from"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare points, extent, columns, workers and the output."""
    parser.usage = (
        "dp-explorer count POINTS [POINTS ...] --around LON LAT --size 20km -o counts [options]; "
        "dp-explorer count COUNTS --rectangles FILE"
    )
    parser.description = (
        "Count points on a public extent and keep the exact counts: a private file of the "
        "curator, named .exact.parquet, that `dp-explorer release` draws from. Parquet, CSV and "
        "TSV are counted while they are read and never held, so they may be of any size. An "
        "interrupted count of Parquet goes on when the same command is given again. With "
        "rectangles or polygons, their true counts are printed, of points or of counts that were "
        "kept: exact numbers, the curator's own."
    )
    reading.add_points(parser)
    add_output(parser, "counts to write", "replace them if they exist", metavar="NAME")
    parser.add_argument(
        "--population",
        metavar="NAME",
        help="whose records they are: all releases of one name share a cap (default the name of "
        "the file)",
    )
    reading.add_parts(parser)
    drawing.add_extent(parser)
    reading.add_columns(parser)
    group = parser.add_argument_group("true counts of boxes and polygons")
    questions.add_questions(group)
    add_format(group)


def run(arguments: argparse.Namespace) -> None:
    """Check everything that can be checked, then count and save."""
    from explorer.points.counts_file import counts_path, is_counts, load_counts, save_counts

    sources: list[str] = arguments.points
    asks = questions.any_question(arguments)
    if arguments.output is None and not asks:
        raise InputError(
            "Say where the counts go with -o NAME, or what to ask them with --rectangles FILE."
        )
    bound = drawing.bound_of(arguments)
    drawing.check_unit(arguments, bound)
    reading.require_points(sources)
    if any(is_counts(source) for source in sources):
        if not asks or arguments.output is not None or len(sources) > 1:
            raise InputError(
                "These are counts already; draw from them with `dp-explorer release`, or ask one "
                "file of them with --rectangles FILE."
            )
        _print_truth(arguments, load_counts(sources[0]))
        return
    where = reading.workers(arguments)
    grid = drawing.declared_grid(arguments, flags.shape(arguments.shape, 1024))
    read = (*sources, arguments.boundary)
    path = None
    if arguments.output is not None:
        path = output_path(str(counts_path(arguments.output)), arguments.overwrite, read)
    how: dict[str, object] = {}
    if reading.in_parts(sources):
        how = {"workers": where, "gaps": arguments.gaps}
        if path is not None:
            checkpoint = path.with_name(path.name.replace(".exact.parquet", ".exact.checkpoint"))
            how["checkpoint"] = checkpoint
            if checkpoint.exists():
                note(f"Going on from {checkpoint.name}.")
    started, draws = time.perf_counter(), path is not None
    matrix, notes = reading.count_points(sources, arguments, grid, bound, draws=draws, **how)
    drawing.note_reading(notes)
    if path is not None:
        save_counts(matrix, path, arguments.population)
        print(f"Saved as {path} after {time.perf_counter() - started:.1f} s.")
        print("These counts are exact: keep the file to yourself, and release from it.")
    if asks:
        _print_truth(arguments, matrix)


def _print_truth(arguments: argparse.Namespace, matrix: FrequencyMatrix) -> None:
    """The true count of every box or polygon that is asked."""
    from explorer.points.truth import exact

    queries = questions.asked_of_one_map(arguments, matrix.grid)
    columns = {"EXACT": exact(matrix, queries.where)}
    if arguments.format == "table":
        print(queries.table(columns))
    else:
        print(
            as_text({"name": queries.names, **queries.edges, **columns}, arguments.format), end=""
        )
    note("These counts are exact: the curator's own, not to be published.")
