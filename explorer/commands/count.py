"""dp-explorer count: points of any size to a file of exact counts, for the curator alone."""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING

from explorer.commands import flags
from explorer.commands.drawing import (
    add_extent,
    check_unit,
    declared_grid,
    whole_or_none,
    without_counts,
)
from explorer.commands.files import output_path
from explorer.commands.formats import add_format, as_text
from explorer.commands.questions import (
    add_questions,
    any_question,
    asked_of_one_map,
    lines_of_boxes,
    rows,
)
from explorer.commands.reading import (
    add_columns,
    add_parts,
    add_points,
    count_points,
    in_parts,
    require_points,
    workers,
)
from explorer.commands.terminal import note, table
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
    add_points(parser)
    parser.add_argument("-o", "--output", metavar="NAME", help="counts to write")
    parser.add_argument("--overwrite", action="store_true", help="replace them if they exist")
    parser.add_argument(
        "--population",
        metavar="NAME",
        help="whose records they are: all releases of one name share a cap (default the name of "
        "the file)",
    )
    add_parts(parser)
    add_extent(parser).add_argument(
        "--shape", help="cells along each side, or rows x columns (default 1024)"
    )
    add_columns(parser)
    group = parser.add_argument_group("true counts of boxes and polygons")
    add_questions(group)
    add_format(group)


def run(arguments: argparse.Namespace) -> None:
    """Check everything that can be checked, then count and save."""
    from explorer.points.counts_file import counts_path, is_counts, load_counts, save_counts

    sources: list[str] = arguments.points
    asks = any_question(arguments)
    if arguments.output is None and not asks:
        raise InputError(
            "Say where the counts go with -o NAME, or what to ask them with --rectangles FILE."
        )
    bound = whole_or_none(arguments.contribution_bound, "--contribution-bound", 1)
    check_unit(arguments, bound)
    require_points(sources)
    if any(is_counts(source) for source in sources):
        if not asks or arguments.output is not None or len(sources) > 1:
            raise InputError(
                "These are counts already; draw from them with `dp-explorer release`, or ask one "
                "file of them with --rectangles FILE."
            )
        _print_truth(arguments, load_counts(sources[0]))
        return
    where = workers(arguments)
    grid = declared_grid(
        arguments, 1024 if arguments.shape is None else flags.shape(arguments.shape)
    )
    read = (*sources, arguments.boundary)
    path = None
    if arguments.output is not None:
        path = output_path(str(counts_path(arguments.output)), arguments.overwrite, read)
    how: dict[str, object] = {}
    if in_parts(sources) and path is None:
        how = {"workers": where, "gaps": arguments.gaps}
    elif in_parts(sources) and path is not None:
        checkpoint = path.with_name(path.name.replace(".exact.parquet", ".exact.checkpoint"))
        how = {"workers": where, "checkpoint": checkpoint, "gaps": arguments.gaps}
        if checkpoint.exists():
            note(f"Going on from {checkpoint.name}.")
    started = time.perf_counter()
    matrix, notes = count_points(sources, arguments, grid, bound, draws=path is not None, **how)
    for sentence in notes:
        note(without_counts(sentence))
    if path is not None:
        save_counts(matrix, path, arguments.population)
        print(f"Saved as {path} after {time.perf_counter() - started:.1f} s.")
        print("These counts are exact: keep the file to yourself, and release from it.")
    if asks:
        _print_truth(arguments, matrix)


def _print_truth(arguments: argparse.Namespace, matrix: FrequencyMatrix) -> None:
    """The true count of every box or polygon that is asked."""
    from explorer.points.truth import exact
    from explorer.queries.geojson import EDGES

    questions, names, boxes = asked_of_one_map(arguments, matrix.grid)
    columns = {"EXACT": exact(matrix, questions)}
    if arguments.format != "table":
        edges = dict(zip(EDGES, questions.T, strict=True)) if boxes else {}
        print(as_text({"name": names, **edges, **columns}, arguments.format), end="")
    elif boxes:
        print(lines_of_boxes(questions, names, columns, matrix.grid.unit))
    else:
        print(table(["name", *columns], rows(names, columns)))
    note("These counts are exact: the curator's own, not to be published.")
