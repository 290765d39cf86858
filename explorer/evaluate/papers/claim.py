"""One claim of a paper, and what computes our figure for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from explorer.evaluate.papers.bench import Bench
from explorer.evaluate.papers.verdicts import Outcome


@dataclass(frozen=True)
class Claim:
    """One claim.

    Attributes
    ----------
    key : short name
    paper : "htf-2022" or "grids-2013"
    where : section, figure or table
    sentence : what it says, in our words
    judge : computes our figure
    """

    key: str
    paper: str
    where: str
    sentence: str
    judge: Callable[[Bench], Outcome]
