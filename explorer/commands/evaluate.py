"""dp-explorer evaluate: mechanisms measured on a map, ranked, and kept as a table."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.commands import drawing, flags, questions, reading
from explorer.commands.files import add_output, output_path
from explorer.commands.formats import add_format, as_text
from explorer.commands.terminal import note, paragraph, progress, table
from explorer.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from explorer.evaluate import Store
    from explorer.points.matrix import FrequencyMatrix

HELP = "compare mechanisms on a map"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare map, mechanisms, budgets, questions and where the results go."""
    parser.usage = (
        "dp-explorer evaluate CITY_OR_FILE --mechanisms htf,ag,privtree,mosaic --epsilon 0.1 0.5 "
        "[--seeds 5] [--workload random] [--sweep NAME VALUE ...] [-o FILE] [--resume] [--jobs 2]; "
        "dp-explorer evaluate POINTS --around LON LAT --size 20km --mechanisms htf,ag "
        "--epsilon 0.1 --rectangles boxes.geojson [--per-box]"
    )
    parser.description = (
        "Draw previews of mechanisms on a map again and again, ask them the questions of a "
        "workload, and rank them by their errors. It costs no budget and publishes nothing: the "
        "results compare with exact counts and are the data holder's own. Points of one's own need "
        "a public extent; with rectangles or polygons of one's own, these are asked instead."
    )
    parser.add_argument(
        "map",
        metavar="CITY_OR_FILE",
        help="a city of the catalogue, a .npy matrix of counts, counts of `dp-explorer count`, or "
        "points with a public extent",
    )
    parser.add_argument(
        "--mechanisms", required=True, metavar="NAMES", help="such as htf,ag,privtree; or all"
    )
    parser.add_argument(
        "--epsilon", nargs="+", required=True, metavar="EPSILON", help="privacy budgets"
    )
    parser.add_argument("--seeds", default="5", metavar="N", help="repetitions (default 5)")
    parser.add_argument(
        "--workload",
        nargs="+",
        metavar="NAME",
        help="random, sq2, sq6, sq10 (or htf), q1 to q6 (or ag), cells, total (default random)",
    )
    parser.add_argument(
        "--metric",
        nargs="+",
        metavar="NAME",
        help="what to rank by (default mre20 mreRho mae)",
    )
    parser.add_argument(
        "--sweep",
        nargs="+",
        action="append",
        default=[],
        metavar=("NAME", "VALUE"),
        help="values of a parameter, such as stop_count 10 50 100; can be repeated",
    )
    parser.add_argument("--shape", help="cells along each side, or rows x columns")
    parser.add_argument("--jobs", metavar="N", help="processes (default one for each processor)")
    add_output(parser, "write the table here: .parquet, .csv", "begin anew if FILE exists")
    parser.add_argument(
        "--resume", action="store_true", help="take finished runs from FILE, do and add the others"
    )
    drawing.add_extent(parser, shape=False)
    reading.add_columns(parser)
    add_format(parser)
    group = parser.add_argument_group("questions of one's own, in place of a workload")
    questions.add_questions(group)
    group.add_argument("--per-box", action="store_true", help="a row for every single answer")


def run(arguments: argparse.Namespace) -> None:
    """Plan, carry out, rank, write."""
    from explorer.evaluate import metrics, plan, runs, tidy, verdict, workloads
    from explorer.mechanisms import all_mechanisms, mechanism

    names = arguments.mechanisms.split(",")
    chosen = list(all_mechanisms()) if names == ["all"] else [name.strip() for name in names]
    kinds = [mechanism(name) for name in chosen]
    epsilons = [flags.value_of(kinds[0].param["epsilon"], text) for text in arguments.epsilon]
    seeds: Any = flags.number(arguments.seeds, "--seeds")
    if questions.any_question(arguments):
        _run_on_boxes(arguments, kinds, epsilons, seeds)
        return
    if arguments.per_box:
        raise InputError("--per-box needs boxes; give --rectangles FILE or --polygons FILE.")
    arguments.metric = arguments.metric or ["mre20", "mreRho", "mae"]
    for name in arguments.metric:
        metrics.check(name)
    tasks = plan(chosen, epsilons, seeds, _sweep(arguments, kinds))
    jobs = flags.number(arguments.jobs, "--jobs")
    path = _output(arguments)
    matrix, title = counted(arguments)
    chosen_workloads = workloads(arguments.workload or ["random"], matrix.shape)
    store, before = _store(arguments, path)
    done = []
    try:
        with progress(f"{len(tasks):,} runs on {title}") as tell:
            how: dict[str, Any] = {"jobs": jobs, "store": store, "progress": tell}
            for finished in runs(matrix, tasks, chosen_workloads, city=title, **how):
                done.append(finished)
    except KeyboardInterrupt:
        if store is not None:
            note(f"{len(done):,} of {len(tasks):,} runs are kept; go on with --resume.")
        raise
    results = tidy(done, tasks)
    if arguments.format == "table":
        for metric in arguments.metric:
            print((_biases(results) if metric == "bias" else _ranking(results, metric)) + "\n")
        ranked = tuple(metric for metric in arguments.metric if metric != "bias")
        if len(ranked) > 1:
            print(paragraph(verdict(results, ranked)))
    else:
        print(as_text(dict(results.items()), arguments.format), end="")
    if path is not None and store is not None:
        _write(path, results, before)
        store.remove()
        # Standard output holds nothing but the figures where programs read them.
        (print if arguments.format == "table" else note)(f"{len(done):,} runs are in {path}.")


def counted(arguments: argparse.Namespace) -> tuple[FrequencyMatrix, str]:
    """The counts that the map and the flags about it say, and their name."""
    from explorer.points.counts_file import is_counts, load_counts

    text: str = arguments.map
    if any(getattr(arguments, name) is not None for name in drawing.EXTENT) and not is_counts(text):
        bound = drawing.bound_of(arguments)
        drawing.check_unit(arguments, bound)
        reading.require_points([text])
        grid = drawing.declared_grid(arguments, flags.shape(arguments.shape, 1024))
        matrix, notes = reading.count_points([text], arguments, grid, bound)
        drawing.note_reading(notes)
        return matrix, Path(text).stem
    named = (*drawing.EXTENT, "contribution_bound", "per", *reading.COLUMNS)
    flags.refuse(arguments, named, "what is counted already")
    if is_counts(text):
        flags.refuse(arguments, ("shape",), "counts, which know their cells")
        return load_counts(text), Path(text).name.partition(".")[0]
    return load(text, arguments.shape)


def load(text: str, shape: str | None) -> tuple[FrequencyMatrix, str]:
    """The matrix of a city of the catalogue or of a .npy file, and its name."""
    from explorer.cities.catalogue import City, cities

    catalogue = cities()
    path = Path(text).expanduser()
    if text in catalogue:
        city = catalogue[text]
        if not city.present:
            raise InputError(
                f"{city.title} is not here yet; run: dp-explorer cities --download {city.key}"
            )
    elif path.suffix == ".npy" and path.is_file():
        city = City(key=path.stem, title=path.stem, file=path)
    elif path.exists():
        raise InputError(
            f"{text} is not a .npy matrix of counts; if these are points, give their public extent "
            "with --around LON LAT --size 20km."
        )
    else:
        raise InputError(
            f"There is no city or file {text!r}; choose one of {', '.join(catalogue)}, or a .npy "
            "file."
        )
    grid_shape = flags.shape(shape)
    city.grid(grid_shape)  # refuses a shape before anything is read
    with progress(f"Reading {city.title}") as tell:
        return city.load(grid_shape, progress=tell)[1], city.key


def _sweep(arguments: argparse.Namespace, kinds: list[Any]) -> dict[str, list[Any]]:
    axes: dict[str, list[Any]] = {}
    for name, *texts in arguments.sweep:
        name = name.removeprefix("--").replace("-", "_")
        owners = [kind for kind in kinds if name in kind.tunables()]
        if not owners:
            raise InputError(
                f"None of these mechanisms has a parameter {name!r}; see `dp-explorer mechanisms`."
            )
        if not texts:
            raise InputError(f"--sweep {name} has no values; give some.")
        axes[name] = [flags.value_of(owners[0].param[name], text) for text in texts]
    return axes


def _output(arguments: argparse.Namespace) -> Path | None:
    if arguments.output is None:
        if arguments.resume:
            raise InputError("--resume needs the file to go on with; give it with -o FILE.")
        return None
    path = _table_path(arguments, arguments.overwrite or arguments.resume)
    if _folder(path).exists() and not (arguments.overwrite or arguments.resume):
        raise InputError(
            f"{_folder(path)} holds the runs of an interrupted evaluation; go on with --resume, or "
            "begin anew with --overwrite."
        )
    return path


def _table_path(
    arguments: argparse.Namespace, overwrite: bool, reads: Iterable[str | None] = ()
) -> Path:
    if Path(arguments.output).suffix not in (".parquet", ".csv"):
        raise InputError(
            f"{arguments.output} is no table; name it with the ending .parquet or .csv."
        )
    return output_path(arguments.output, overwrite, reads)


def _store(
    arguments: argparse.Namespace, path: Path | None
) -> tuple[Store | None, pd.DataFrame | None]:
    """Where finished runs are kept meanwhile, and the table of an earlier evaluation."""
    from explorer.evaluate import Store, results

    if path is None:
        return None, None
    store = Store(_folder(path))
    if not arguments.resume:
        store.remove()
        return Store(_folder(path)), None
    if not path.exists():
        return store, None
    before = results.read(path)
    for run in results.runs_of(before):
        store.add(run)
    return store, before


def _folder(path: Path) -> Path:
    return path.with_name(f"{path.stem}.runs")


def _write(path: Path, new: pd.DataFrame, before: pd.DataFrame | None) -> None:
    """Write the new runs, and those of before that are not among them."""
    import pandas as pd

    from explorer.evaluate import results

    if before is not None:
        new = pd.concat([before[~before.task.isin(new.task)], new], ignore_index=True)
    results.write(new, path)


def _ranking(results: pd.DataFrame, metric: str) -> str:
    """Who comes first, by epsilon and over all."""
    from explorer.evaluate import ranking
    from explorer.evaluate.results import figure

    ranked = ranking(results, metric)
    epsilons = [column for column in ranked.columns if isinstance(column, float)]
    header = [metric, *(f"epsilon {epsilon:g}" for epsilon in epsilons), "all", "+-", "times best"]
    rows = [
        [str(name)]
        + [figure(row[epsilon], 4) for epsilon in epsilons]
        + [figure(row["score"], 4), figure(row["error"], 1), f"{row['times_best']:.2f}"]
        for name, row in ranked.iterrows()
    ]
    return table(header, rows)


def _biases(results: pd.DataFrame) -> str:
    """Mean signed errors with their standard errors."""
    from explorer.evaluate import biases
    from explorer.evaluate.results import figure

    header = ["bias", "workload", "epsilon", "mean", "+-", "in sd"]
    rows = [
        [
            *(row.label, row.workload, f"{row.epsilon:g}", f"{row.bias:,.1f}"),
            *(figure(row.error, 1), f"{row.bias_in_sd:.2f}"),
        ]
        for row in biases(results).itertuples()
    ]
    return table(header, rows, left=2)


def _run_on_boxes(
    arguments: argparse.Namespace, kinds: list[type[Any]], epsilons: list[float], repeat: int
) -> None:
    """Ask previews of all mechanisms one's own boxes, print their errors, or every row."""
    from explorer.evaluate import compare, results

    flags.refuse(arguments, ("workload", "metric", "jobs"), "boxes of one's own")
    if arguments.sweep or arguments.resume:
        raise InputError("--sweep and --resume do not go with boxes of one's own; leave them out.")
    path = None
    if arguments.output is not None:
        read = (arguments.map, arguments.rectangles, arguments.polygons)
        path = _table_path(arguments, arguments.overwrite, read)
    matrix, title = counted(arguments)
    queries = questions.asked_of_one_map(arguments, matrix.grid)
    how: dict[str, Any] = {"repeat": repeat, "progress": sys.stderr.isatty()}
    answers = compare(matrix, kinds, epsilons, queries.where, **how)
    answers["box"] = list(queries.names) * (len(answers) // len(queries.names))
    if arguments.format == "table":
        print(_per_box(answers) if arguments.per_box else _errors(answers, title))
    else:
        print(as_text(dict(answers.items()), arguments.format), end="")
    if path is not None:
        results.write(answers, path)
        (print if arguments.format == "table" else note)(f"{len(answers):,} answers are in {path}.")
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
