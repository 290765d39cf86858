"""Files of exact counts: counted once, kept by the curator, released from as often as is paid for.

A file is Parquet with a row for each cell that is not empty and the grid in its metadata; where a
contribution bound left records out, a column has the counts without it. It says
EXACT in its name and inside, and nothing that reads releases takes it: release files have other
metadata, which this has not.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from explorer.errors import InputError
from explorer.grid import kinds
from explorer.grid.grid import Grid
from explorer.grid.parquet import has_metadata
from explorer.grid.whole_file import write_whole
from explorer.points.matrix import FrequencyMatrix
from explorer.points.populations import of_people, populations_of_files
from explorer.version import __version__

ENDING = ".exact.parquet"
FORMAT = 1
_KEY = b"dp-explorer-exact-counts"
# A column that files of counts with a contribution bound may have.
_UNCLIPPED = "EXACT_records_unclipped"
_WARNING = "EXACT counts of records: never publish this file; a release is made from it."


def counts_path(name: str | Path) -> Path:
    """The name that a file of counts gets.

    >>> counts_path("city").name, counts_path("city.parquet").name
    ('city.exact.parquet', 'city.exact.parquet')
    """
    path = Path(name)
    stem = path.name.removesuffix(".parquet").removesuffix(".exact")
    return path.with_name(stem + ENDING)


def save_counts(
    matrix: FrequencyMatrix, path: str | Path, population: str | Sequence[str] | None = None
) -> None:
    """Write exact counts; a file of that name is replaced without a question.

    Parameters
    ----------
    matrix : FrequencyMatrix
    path : path
    population : str or several, optional
        Whose records they are: all counts of one name share a budget. By default what the matrix
        knows of it.

    Raises
    ------
    InputError
        For a name that does not say that the counts are exact, and when it cannot be written.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not Path(path).name.endswith(ENDING):
        raise InputError(f"Exact counts say so in their name; call the file {counts_path(path)}.")
    names = [population] if isinstance(population, str) else list(population or matrix.populations)
    flat, unclipped = matrix.counts.ravel(), matrix.unclipped
    every = flat if unclipped is None else unclipped.counts.ravel()
    cell = np.flatnonzero(every)
    facts = {
        "EXACT": _WARNING,
        "format": FORMAT,
        "version": __version__,
        "domain": kinds.to_plain(matrix.grid),
        "unit": matrix.unit,
        "contribution_bound": matrix.contribution_bound,
        "key": matrix.key,
        "population": names[0] if names else None,
        "populations": names,
    }
    columns = {"cell": cell, "EXACT_records": flat[cell]}
    if unclipped is not None:
        columns[_UNCLIPPED] = every[cell]
    table = pa.table(columns)
    table = table.replace_schema_metadata({_KEY: json.dumps(facts)})
    write_whole(path, lambda part: pq.write_table(table, part))


def is_counts(path: str | Path) -> bool:
    """Whether a file holds exact counts: by what is in it, not by its name."""
    return has_metadata(path, _KEY)


def populations_of_counts(path: str | Path) -> tuple[str, ...]:
    """Whose records a file counts; () where it does not say so."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        facts = json.loads((pq.ParquetFile(path).schema_arrow.metadata or {})[_KEY])
        return _populations(facts)
    except (pa.ArrowException, OSError, ValueError, KeyError, AttributeError, TypeError):
        return ()


def _populations(facts: Any) -> tuple[str, ...]:
    """Files of before have one name, or none."""
    return tuple(map(str, facts.get("populations") or filter(None, [facts.get("population")])))


def load_counts(path: str | Path) -> FrequencyMatrix:
    """Read exact counts.

    Raises
    ------
    InputError
        For a file that is not one of counts, is damaged, or was changed since it was written.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    title = Path(path).name
    try:
        file = pq.ParquetFile(path)
        facts: Any = json.loads((file.schema_arrow.metadata or {})[_KEY])
        if facts["format"] != FORMAT:
            raise InputError(f"{title} is of another version; open it with that one.")
        grid = kinds.from_plain(facts["domain"])
        if not isinstance(grid, Grid) or file.metadata.num_rows > grid.shape[0] * grid.shape[1]:
            raise ValueError(title)
        table = file.read()
        cells = table["cell"].to_numpy()
        if cells.min(initial=0) < 0:
            raise ValueError(title)
        named = [name for name in ("EXACT_records", _UNCLIPPED) if name in table.column_names]
        counts = np.zeros((len(named), grid.shape[0] * grid.shape[1]), np.int64)
        for flat, name in zip(counts, named, strict=True):
            flat[cells] = table[name].to_numpy()
        whole, *unclipped = counts.reshape(-1, *grid.shape)
        bound, unit = facts["contribution_bound"], facts["unit"]
        matrix = FrequencyMatrix(whole, grid, bound, unit, unclipped=next(iter(unclipped), None))
        if matrix.key != facts["key"]:
            raise ValueError(title)
        return of_people(matrix, _populations(facts) or populations_of_files([str(path)]))
    except InputError:
        raise
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError, IndexError) as error:
        raise InputError(
            f"{title} is no file of counts, or was damaged; make it anew with `dp-explorer count`."
        ) from error
