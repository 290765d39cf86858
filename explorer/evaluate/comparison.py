"""Mechanisms next to each other on one's own boxes or polygons: a table of every single answer."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from explorer.errors import InputError
from explorer.grid.pieces import OutsideWarning, Shapes
from explorer.inspection.errors import error_split
from explorer.mechanisms import Mechanism, mechanism
from explorer.points.truth import exact, of_all_records
from explorer.privacy.counts import Counts

if TYPE_CHECKING:
    import pandas as pd

#: More rows than so many are asked for by mistake.
_MOST_ROWS = 10_000_000


def compare(
    matrix: Counts,
    mechanisms: type[Mechanism] | Mechanism | str | Iterable[type[Mechanism] | Mechanism | str],
    epsilons: float | Iterable[float],
    where: Any,
    *,
    crs: Any = None,
    rng: int = 0,
    repeat: int = 1,
    level: float = 0.95,
    progress: bool = True,
) -> pd.DataFrame:
    """Ask previews of several mechanisms the same questions, for the curator: it holds the truth.

    Every preview is reproducible and costs nothing; none is private. The repetitions are paired:
    the k-th of every mechanism and epsilon has the same seed.

    Parameters
    ----------
    matrix : FrequencyMatrix
        Exact counts, see `Grid.count`.
    mechanisms : class, str or Mechanism, or an iterable of them
        Classes, names, or mechanisms with settings of their own; their epsilon is not looked at.
    epsilons : float, 1e-6 to 10, or an iterable of float
    where : (n, 4) array in metres of the grid, polygons, frame or path
        As of `Release.answer`.
    crs : int, str or CRS, optional
        Of numbers and geometries that have none of their own, such as 4326.
    rng : int, 0 or more
        Another one gives other noise.
    repeat : int, 1 or more
        Previews of every mechanism at every epsilon.
    level : float, above 0 and below 1
        Of the interval of the noise.
    progress : bool
        Whether a bar is shown.

    Returns
    -------
    DataFrame
        One row for each mechanism, epsilon, repeat and box: true, private, noise_sd, low, high,
        error (private - true), and its parts from_noise and from_spread (uneven spread of records
        inside leaves). Under a contribution bound ``true`` is of all records on the map;
        ``counted`` is of those that the bound keeps, and from_clipping (counted - true) is a third
        part of the error. ``box`` is the name, else the index, of the row that was asked.
        ``mechanism`` is the name; where several have it, with the settings that differ.

    Raises
    ------
    InputError
        For what `Release.answer` refuses, an unknown mechanism, or nothing to compare.

    Examples
    --------
    >>> from explorer import HTF, UG, FrequencyMatrix
    >>> matrix = FrequencyMatrix.from_array([[9, 0, 2], [8, 1, 0], [0, 0, 7]])
    >>> table = compare(matrix, [HTF, UG], [0.5, 1], [[0, 0, 2, 2]], repeat=3, progress=False)
    >>> len(table), bool((table.error - table.from_noise - table.from_spread).abs().max() < 1e-9)
    (12, True)
    """
    import pandas as pd

    one = isinstance(mechanisms, str | type | Mechanism)
    several: Any = [mechanisms] if one else mechanisms
    chosen = [_made(choice) for choice in several]
    budgets = [*map(float, epsilons if isinstance(epsilons, Iterable) else [epsilons])]
    if not chosen or not budgets:
        raise InputError("Give at least one mechanism and one epsilon to compare.")
    previews = len(chosen) * len(budgets) * _whole("The number of repeats", repeat, 1)
    shapes = Shapes.of(where, crs)
    questions = where if shapes is None else shapes
    true = exact(matrix, questions)
    bounded = of_all_records(matrix) is not matrix
    if previews * len(true) > _MOST_ROWS:
        raise InputError(f"That are {previews * len(true):,} rows: ask for fewer boxes or repeats.")
    labels = _labels([choice.with_(epsilon=budgets[0]) for choice in chosen])
    tasks = [
        (choice.with_(epsilon=e), k) for choice in chosen for e in budgets for k in range(repeat)
    ]
    names = _names(shapes, len(true))
    parts = []
    for choice, run in _with_bar(tasks, progress):
        seed = int(np.random.default_rng([_whole("rng", rng, 0), run]).integers(2**32, 2**62))
        release = choice.release(matrix, rng=seed)
        # The truth has told of polygons off the map.
        with warnings.catch_warnings(action="ignore", category=OutsideWarning):
            answers = release.answer(questions)
            split = error_split(matrix, release, questions)
        low, high = answers.interval(level)
        clipped = {"counted": true + split.clipping} if bounded else {}
        parts.append(
            pd.DataFrame(
                {
                    "mechanism": labels[choice.with_(epsilon=budgets[0])],
                    "epsilon": choice.epsilon,
                    "repeat": run,
                    "box": names,
                    "true": true,
                    **clipped,
                    "private": answers.value,
                    "noise_sd": answers.sd,
                    "low": low,
                    "high": high,
                    "error": answers.value - true,
                    "from_noise": split.noise,
                    "from_spread": split.uniformity,
                    **({"from_clipping": split.clipping} if bounded else {}),
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def _made(choice: type[Mechanism] | Mechanism | str) -> Mechanism:
    if isinstance(choice, str):
        choice = mechanism(choice)
    result = choice() if isinstance(choice, type) else choice
    if not isinstance(result, Mechanism):
        raise InputError(f"{choice!r} is no mechanism: give a class, such as HTF, or its name.")
    return result


def _labels(chosen: Sequence[Mechanism]) -> dict[Mechanism, str]:
    """The name of each; where several share it, with their settings that are not as declared.

    >>> [
    ...     *_labels(
    ...         [mechanism("htf")(), mechanism("htf")(T=5), mechanism("ug")(grid_size=3)]
    ...     ).values()
    ... ]
    ['htf', 'htf(T=5)', 'ug']
    """
    keys = [choice.key for choice in dict.fromkeys(chosen)]
    labels = {}
    for choice in chosen:
        changed = [
            f"{n}={v!r}" for n, v in choice.settings().items() if v != choice.param[n].default
        ]
        several = keys.count(choice.key) > 1 and changed
        labels[choice] = f"{choice.key}({', '.join(changed)})" if several else choice.key
    return labels


def _whole(what: str, value: Any, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InputError(f"{what} is {value!r}: give a whole number, {least} or more.")
    return int(value)


def _names(shapes: Shapes | None, n: int) -> list[Any]:
    rows = None if shapes is None else shapes.rows
    if rows is None:
        return list(range(n))
    named = rows["name"] if "name" in getattr(rows, "columns", ()) else rows.index
    return list(named)


def _with_bar(tasks: Sequence[Any], progress: bool) -> Iterable[Any]:
    if not progress:
        return tasks
    from tqdm.auto import tqdm

    bar: Iterable[Any] = tqdm(tasks, desc="previews", leave=False)
    return bar
