"""One claim of a paper, and what computes our figure for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from explorer.papers.bench import Bench
from explorer.papers.verdicts import Outcome

Judge = Callable[[Bench], Outcome]


@dataclass(frozen=True)
class Claim:
    """One claim.

    Attributes
    ----------
    key : short name
    paper : "htf-2022", "grids-2013" or "trips-2022"
    where : section, figure or table
    sentence : what it says, in our words
    judge : computes our figure
    """

    key: str
    paper: str
    where: str
    sentence: str
    judge: Judge


def claims_of(paper: str) -> Callable[[str, str, str, Judge], Claim]:
    """What makes a claim of one paper of key, place, sentence and judge."""
    return lambda key, where, sentence, judge: Claim(key, paper, where, sentence, judge)
