"""Checking claims: plan all runs, do them together, then judge each claim by its figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from explorer.errors import InputError
from explorer.papers import grids, htf
from explorer.papers.bench import Bench
from explorer.papers.report import Claim, Report, Row

#: Those on maps.
CLAIMS: tuple[Claim, ...] = (*htf.CLAIMS, *grids.CLAIMS)


def claims(keys: Iterable[str] | None = None, table: Iterable[Claim] = CLAIMS) -> list[Claim]:
    """The claims of these keys, or all of a table; an InputError lists the keys there are."""
    by_key = {claim.key: claim for claim in table}
    if keys is None:
        return list(by_key.values())
    chosen = list(keys)
    for key in chosen:
        if key not in by_key:
            raise InputError(f"There is no claim {key!r}: choose some of {', '.join(by_key)}.")
    return [by_key[key] for key in dict.fromkeys(chosen)]


def check(
    claims: Sequence[Claim],
    quick: bool = False,
    seeds: int | None = None,
    *,
    jobs: int | None = None,
    folder: str | Path | None = None,
    progress: Callable[[float], None] | None = None,
    bench: Any = None,
) -> Report:
    """Check claims.

    Parameters
    ----------
    claims : as `claims` gives them
    quick : coarse maps and few seeds: a minute, and figures to learn from rather than to quote
    seeds : repetitions, by default 10, quick 3
    jobs : processes, by default one for each processor; quick, by default this one
    folder : where finished runs are kept and found again
    progress : called with the finished part (0 to 1)
    bench : where errors come from, by default one of maps; `quick` and `seeds` are its own then

    Returns
    -------
    Report
    """
    bench = Bench(quick, seeds) if bench is None else bench
    if isinstance(bench, Bench):
        bench.plan([claim.judge for claim in claims])
        bench.run(jobs, folder, progress)
        progress = None
    rows = []
    for done, claim in enumerate(claims, 1):
        rows.append(Row.of(claim, claim.judge(bench)))
        if progress is not None:
            progress(done / len(claims))
    return Report(tuple(rows), bench.titles(), bench.quick, bench.seeds)
