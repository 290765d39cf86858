"""Checking claims: plan all runs, do them together, then judge each claim by its figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from explorer.papers.bench import Bench
from explorer.papers.claim import Claim
from explorer.papers.report import Report, Row


def check(
    claims: Sequence[Claim],
    quick: bool = False,
    seeds: int | None = None,
    *,
    jobs: int | None = None,
    folder: str | Path | None = None,
    progress: Callable[[float], None] | None = None,
    bench: Bench | None = None,
) -> Report:
    """Check claims.

    Parameters
    ----------
    claims : as `claims.claims` gives them
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
    bench.plan([claim.judge for claim in claims])
    bench.run(jobs, folder, progress)
    rows = [Row.of(claim, claim.judge(bench)) for claim in claims]
    return Report(tuple(rows), bench.titles(), bench.quick, bench.seeds)


def one_by_one(
    claims: Sequence[Claim], bench: Any, progress: Callable[[float], None] | None
) -> tuple[Row, ...]:
    """Rows of a report on claims whose ``bench`` computes and keeps what it is asked for."""
    rows = []
    for done, claim in enumerate(claims, 1):
        rows.append(Row.of(claim, claim.judge(bench)))
        if progress is not None:
            progress(done / len(claims))
    return tuple(rows)
