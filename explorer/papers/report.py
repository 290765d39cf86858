"""Claims, and the report: each with its figure and verdict, to show, save and read again."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from explorer.errors import InputError
from explorer.evaluate.results import figure
from explorer.grid.whole_file import write_whole
from explorer.papers.verdicts import Outcome
from explorer.version import __version__

if TYPE_CHECKING:
    import pandas as pd

_DIGITS = 6  # of figures in the file; standard errors are far above that
Judge = Callable[[Any], Outcome]


@dataclass(frozen=True)
class Claim:
    """One claim of a paper, and what computes our figure for it.

    Attributes
    ----------
    key : short name
    paper : such as "htf-2022"
    where : section, figure or table
    sentence : what it says, in our words
    judge : computes our figure with a bench of the paper
    """

    key: str
    paper: str
    where: str
    sentence: str
    judge: Judge


class Table(NamedTuple):
    """A table or figure of a paper in form: texts, the first ``left`` columns to the left."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: int = 1


def claims_of(paper: str, table: list[Claim]) -> Callable[[str, str], Callable[[Judge], Judge]]:
    """A decorator of judges, whose docstring is what a paper claims; it adds them to a table."""

    def claim(key: str, where: str) -> Callable[[Judge], Judge]:
        def add(judge: Judge) -> Judge:
            sentence = " ".join((judge.__doc__ or "").split())
            table.append(Claim(key, paper, where, sentence, judge))
            return judge

        return add

    return claim


def with_error(value: float, error: float) -> str:
    """A figure and its standard error for people."""
    return f"{figure(value)} ± {figure(error, 1)}"


@dataclass(frozen=True)
class Row:
    """A claim that was checked, in plain values.

    Attributes
    ----------
    key, paper, where, sentence : of the claim
    verdict : "holds", "does not hold", "mixed" or "cannot be told"
    value, error, meaning : our figure, its standard error, and what it is
    aside : a remark that does not count
    cells : the comparisons as (what, value, error, says); says is 1 for, -1 against, 0 open
    """

    key: str
    paper: str
    where: str
    sentence: str
    verdict: str
    value: float
    error: float
    meaning: str
    aside: str
    cells: tuple[tuple[str, float, float, int], ...]

    @classmethod
    def of(cls, claim: Claim, finding: Outcome) -> Row:
        """The row of a claim and what was found."""
        return cls(
            claim.key,
            claim.paper,
            claim.where,
            claim.sentence,
            finding.verdict,
            _short(finding.value),
            _short(finding.error),
            finding.meaning,
            finding.aside,
            tuple((c.what, _short(c.value), _short(c.error), c.says) for c in finding.cells),
        )

    @property
    def figure(self) -> str:
        """Our figure with its standard error, and how many comparisons speak for the claim."""
        if not self.cells:
            return "no data here"
        spoken = [sum(cell[3] == says for cell in self.cells) for says in (1, -1, 0)]
        counts = f"{spoken[0]} for, {spoken[1]} against, {spoken[2]} open"
        return f"{with_error(self.value, self.error)} ({counts})"


@dataclass(frozen=True)
class Report:
    """All rows, and how they came about.

    Attributes
    ----------
    rows : tuple of Row
    maps : {key: what the map was}
    quick : whether on coarse maps
    seeds : repetitions
    version : of the software
    """

    rows: tuple[Row, ...]
    maps: Mapping[str, str]
    quick: bool
    seeds: int
    version: str = __version__

    def summary(self) -> str:
        """One sentence on what was checked and how it came out."""
        verdicts = [row.verdict for row in self.rows]
        counts = ", ".join(f"{verdicts.count(v)} {v}" for v in dict.fromkeys(verdicts))
        kind = "quick, on less data" if self.quick else "in full"
        return f"{len(self.rows)} claims checked {kind}, {self.seeds} seeds each: {counts}."

    def table(self) -> pd.DataFrame:
        """One line for each claim: paper, place, claim, figure, what it is, verdict."""
        import pandas as pd

        rows = [
            (row.key, row.paper, row.where, row.sentence, row.figure, row.meaning, row.verdict)
            for row in self.rows
        ]
        columns = ["claim", "paper", "where", "in our words", "our figure", "which is", "verdict"]
        return pd.DataFrame(rows, columns=columns).set_index("claim")

    def row(self, key: str) -> Row:
        """The row of a claim."""
        for row in self.rows:
            if row.key == key:
                return row
        keys = ", ".join(row.key for row in self.rows)
        raise InputError(f"There is no claim {key!r} in this report: it has {keys}.")

    def save(self, path: Path) -> None:
        """Write JSON."""
        text = json.dumps(asdict(self), indent=1, ensure_ascii=False)
        write_whole(path, lambda part: part.write_text(text + "\n", encoding="utf-8"))

    @classmethod
    def load(cls, path: str | Path) -> Report:
        """Read what `save` wrote.

        Raises
        ------
        InputError
            For a file that is missing or not such a report.
        """
        try:
            about: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
            rows = [
                Row(**{**row, "cells": tuple(tuple(cell) for cell in row["cells"])})
                for row in about.pop("rows")
            ]
            return cls(tuple(rows), **about)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"{path} could not be read as a report: make it with `dp-explorer papers -o FILE`."
            ) from error


def _short(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")
