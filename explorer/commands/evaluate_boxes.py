"""dp-explorer evaluate, on rectangles and polygons of one's own: errors of every single answer."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.commands import flags
from explorer.commands.files import output_path
from explorer.commands.formats import as_text
from explorer.commands.questions import asked_of_one_map
from explorer.commands.terminal import note, table
from explorer.errors import InputError
from explorer.grid.whole_file import write_whole

if TYPE_CHECKING:
    import pandas as pd

    from explorer.points.matrix import FrequencyMatrix


def run(
    arguments: argparse.Namespace,
    kinds: list[type[Any]],
    epsilons: list[float],
    repeat: int,
    load: Callable[[argparse.Namespace], tuple[FrequencyMatrix, str]],
) -> None:
    """Ask previews of all mechanisms the same boxes, print their errors, or every row.

    Raises
    ------
    InputError
        For flags about workloads and their runs, which boxes of one's own replace.
    """
    from explorer.evaluate.comparison import compare

    flags.refuse(arguments, ("workload", "metric", "jobs"), "boxes of one's own")
    if arguments.sweep or arguments.resume:
        raise InputError("--sweep and --resume do not go with boxes of one's own; leave them out.")
    path = None
    if arguments.output is not None:
        if Path(arguments.output).suffix not in (".parquet", ".csv"):
            raise InputError(
                f"{arguments.output} is no table; name it with the ending .parquet or .csv."
            )
        read = (arguments.map, arguments.rectangles, arguments.polygons)
        path = output_path(arguments.output, arguments.overwrite, read)
    matrix, title = load(arguments)
    questions, names, _ = asked_of_one_map(arguments, matrix.grid)
    results = compare(
        matrix, kinds, epsilons, questions, repeat=repeat, progress=sys.stderr.isatty()
    )
    results["box"] = names * (len(results) // len(names))
    if arguments.format == "table":
        print(_per_box(results) if arguments.per_box else _errors(results, title))
    else:
        print(as_text(dict(results.items()), arguments.format), end="")
    if path is not None:
        write_whole(path, lambda part: _write(results, part, path.suffix))
        (print if arguments.format == "table" else note)(f"{len(results):,} answers are in {path}.")
    note("Previews compared with exact counts: the curator's own, not to be published.")


def _errors(results: pd.DataFrame, title: str) -> str:
    """Mean absolute errors by mechanism and epsilon, the smallest first."""
    sized = results.assign(size=results.error.abs())
    means = sized.pivot_table(index="mechanism", columns="epsilon", values="size", aggfunc="mean")
    means = means.loc[means.mean(axis=1).sort_values().index]
    header = [f"mean |error| on {title}", *(f"epsilon {column:g}" for column in means.columns)]
    return table(
        header, [[str(name), *(f"{error:,.1f}" for error in row)] for name, row in means.iterrows()]
    )


def _per_box(results: pd.DataFrame) -> str:
    keys = ("mechanism", "epsilon", "repeat", "box")
    figures = [name for name in results.columns if name not in keys]
    header = [*keys, *figures]
    lines = [
        [str(row["mechanism"]), f"{row['epsilon']:g}", str(row["repeat"]), str(row["box"])]
        + [f"{row[name]:,.1f}" for name in figures]
        for _, row in results.iterrows()
    ]
    return table(header, lines)


def _write(results: pd.DataFrame, path: Path, suffix: str) -> None:
    if suffix == ".csv":
        results.to_csv(path, index=False)
    else:
        results.to_parquet(path, index=False)
