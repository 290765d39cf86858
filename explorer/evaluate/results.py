"""Results: finished runs as a tidy table, one row for each workload and metric.

| column | meaning |
|---|---|
| city | what the map was called |
| mechanism | its name, such as "htf" |
| parameters | JSON of every parameter besides epsilon |
| epsilon, seed | budget, and seed of the preview |
| workload, metric, value | what was asked, how it was measured, the figure |
| leaves | leaves of the release |
| seconds | processor time from exact counts to a map that can be asked |
| version | of this software |
| data | beginning of the matrix's SHA-256: distinguishes two versions of a city |
| task | hash of everything the outcome depends on |

The figures compare with exact counts, and `data` and `task` carry hashes of them, by which a
reader who can guess all the counts can confirm the guess: such a table is the curator's, not for
publication.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from explorer.errors import InputError
from explorer.evaluate.tasks import Task
from explorer.grid.whole_file import write_whole

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = {
    "city": "str",
    "mechanism": "str",
    "parameters": "str",
    "epsilon": "float64",
    "seed": "int64",
    "workload": "str",
    "metric": "str",
    "value": "float64",
    "leaves": "int64",
    "seconds": "float64",
    "version": "str",
    "data": "str",
    "task": "str",
}
"""Columns of the table and their types, in order."""


@dataclass(frozen=True)
class Run:
    """A finished task.

    Attributes
    ----------
    task : Task
    key : str
        Hash of task, data and workloads.
    figures : {workload: {metric: value}}
    leaves, seconds, city, data, version : as in the table
    """

    task: Task
    key: str
    figures: dict[str, dict[str, float]]
    leaves: int
    seconds: float
    city: str
    data: str
    version: str

    def rows(self) -> list[tuple[object, ...]]:
        """Rows of the table, in the order of `COLUMNS`."""
        task = self.task
        before = (self.city, task.mechanism, task.parameters, task.epsilon, task.seed)
        after = (self.leaves, self.seconds, self.version, self.data, self.key)
        return [
            (*before, workload, metric, value, *after)
            for workload, figures in self.figures.items()
            for metric, value in figures.items()
        ]


def tidy(runs: Iterable[Run], tasks: Iterable[Task] = ()) -> pd.DataFrame:
    """The table of finished runs; without any it is empty and has its columns.

    Processes finish in any order: with ``tasks`` rows are in theirs, else in that of the runs.
    """
    import pandas as pd

    place = {task: number for number, task in enumerate(tasks)}
    if place:
        runs = sorted(runs, key=lambda run: place[run.task])
    rows = [row for run in runs for row in run.rows()]
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)


def runs_of(table: pd.DataFrame) -> list[Run]:
    """The runs that a table came from."""
    result = []
    for key, rows in table.groupby("task", sort=False):
        first = rows.iloc[0]
        figures: dict[str, dict[str, float]] = {}
        for name, metric, value in zip(rows.workload, rows.metric, rows.value, strict=True):
            figures.setdefault(name, {})[metric] = float(value)
        task = Task(first.mechanism, first.parameters, float(first.epsilon), int(first.seed))
        about = (int(first.leaves), float(first.seconds), first.city, first.data, first.version)
        result.append(Run(task, str(key), figures, *about))
    return result


def write(table: pd.DataFrame, path: Path) -> None:
    """Write a table as Parquet or CSV, by the path's ending.

    Raises
    ------
    InputError
        For another ending, and when it cannot be written.
    """
    if path.suffix == ".csv":
        write_whole(path, partial(table.to_csv, index=False))
    elif path.suffix == ".parquet":
        write_whole(path, partial(table.to_parquet, index=False))
    else:
        raise InputError(f"{path.name} has no ending .parquet or .csv: name it with one of them.")


def read(path: Path) -> pd.DataFrame:
    """Read a table that `write` wrote.

    Raises
    ------
    InputError
        For a file that is missing, damaged, or not such a table.
    """
    import pandas as pd

    try:
        if path.suffix == ".csv":
            table = pd.read_csv(
                path, dtype=COLUMNS, keep_default_na=False, na_values={"value": [""]}
            )
        else:
            table = pd.read_parquet(path)
        return table[list(COLUMNS)].astype(COLUMNS)
    except (OSError, ValueError, KeyError) as error:
        raise InputError(
            f"{path} could not be read as a table of results: give one that `evaluate` wrote."
        ) from error


def label(table: pd.DataFrame) -> pd.Series:
    """A short name for every row: the mechanism, and those parameters in which its rows differ.

    Examples
    --------
    "ag" where AG ran with one setting, "htf stop_count=50" in a sweep over the stop count.
    """
    import pandas as pd

    names: dict[tuple[str, str], str] = {}
    for key, texts in table.groupby("mechanism", sort=False).parameters.unique().items():
        settings = [json.loads(text) for text in texts]
        varied = [
            name
            for name in settings[0]
            if any(setting.get(name) != settings[0][name] for setting in settings[1:])
        ]
        for text, values in zip(texts, settings, strict=True):
            words = [f"{name}={_shown(values[name])}" for name in varied]
            names[str(key), text] = " ".join([str(key), *words])
    pairs = zip(table.mechanism, table.parameters, strict=True)
    return pd.Series([names[pair] for pair in pairs], index=table.index, name="label", dtype="str")


def parameter(table: pd.DataFrame, name: str) -> pd.Series:
    """The value of a parameter in every row; None where the mechanism has none of that name."""
    import pandas as pd

    by_text = {text: json.loads(text).get(name) for text in table.parameters.unique()}
    values = [by_text[text] for text in table.parameters]
    return pd.Series(values, index=table.index, name=name, dtype=object)


def figure(value: float, digits: int = 3) -> str:
    """A figure for people: so many digits that count, no powers of ten.

    >>> figure(0.0123456), figure(12345.6), figure(0.98765, 2), figure(0)
    ('0.0123', '12,346', '0.99', '0')
    """
    if not math.isfinite(value) or value == 0:
        return f"{value:g}"
    places = digits - 1 - math.floor(math.log10(abs(value)))
    return f"{value:,.{min(max(places, 0), 12)}f}"


def _shown(value: object) -> str:
    if value is None:
        return "auto"
    return f"{value:g}" if isinstance(value, float) else str(value)


class Store:
    """A folder with one Parquet file a run, named after the hash of its task.

    Each file is complete or not there, so that nothing is lost or taken twice when a process is
    killed, and several may share the folder.

    Parameters
    ----------
    folder : where the files are; made when it is not there

    Raises
    ------
    InputError
        When the folder cannot be made, or is a file.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(
                f"The folder {folder} cannot be made ({error.strerror}): choose another."
            ) from error

    def find(self, key: str) -> Run | None:
        """The run of a task's hash; None without a file, or with one that cannot be read."""
        path = self._path(key)
        if not path.exists():
            return None
        try:
            return runs_of(read(path))[0]
        except (InputError, IndexError):
            return None  # it is run again and its file replaced

    def add(self, run: Run) -> None:
        """Keep a run."""
        write(tidy([run]), self._path(run.key))

    def remove(self) -> None:
        """Delete the store's files, and the folder if nothing else is in it."""
        for path in [*self.folder.glob("*.parquet"), *self.folder.glob(".part.*")]:
            path.unlink()
        if not any(self.folder.iterdir()):
            self.folder.rmdir()

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.parquet"
