"""Both screens of the two mechanisms, and the sentence that says why they differ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from explorer.app.curator.answers import BoxAnswers, median_error
from explorer.app.curator.screen import Job, Screen, compute
from explorer.app.kit.numbers import percent
from explorer.releases.release import Release
from explorer.views.pictures import private_map

Nearer = Literal["A", "B", "both", "–"]


@dataclass(frozen=True, eq=False)
class Pair:
    """The screens of A and B: same city, epsilon, view, colour scale and boxes."""

    a: Screen
    b: Screen

    @property
    def answers(self) -> tuple[BoxAnswers, BoxAnswers]:
        """Answers to the boxes by A and by B."""
        return self.a.answers, self.b.answers

    @cached_property
    def change(self) -> NDArray[np.uint8]:
        """Bytes (height, width) of B minus A in the colours of differences."""
        a, b = (private_map(part.release, part.leaves, part.view) for part in (self.a, self.b))
        return self.a.scale.encode_difference(b - a)


def compute_pair(jobs: tuple[Job, Job], progress: Callable[[float], None] | None = None) -> Pair:
    """Compute A, then B; whatever still holds in their last screens is used again."""
    a = compute(jobs[0], progress)
    return Pair(a, compute(replace(jobs[1], scale=a.scale), progress))


def nearer(a: BoxAnswers, b: BoxAnswers) -> list[Nearer]:
    """Who is nearer to the truth, box by box; a tenth of a point is a tie."""
    gap = np.abs(a.difference) - np.abs(b.difference)
    return ["both" if abs(margin) < 0.1 else "A" if margin < 0 else "B" for margin in gap]


def figures_of(screen: Screen, exact: bool = True) -> list[tuple[str, str]]:
    """Label and value of the strip above a map; without ``exact`` errors are left out."""
    released = [
        ("Leaves", f"{screen.release.n_leaves:,}"),
        ("Leaf noise", plus_minus(typical_noise(screen.release))),
    ]
    if not exact:
        return released
    return [
        *released,
        ("Box error", percent(median_error(screen.answers))),
        ("Map error", "–" if np.isnan(screen.error) else f"{screen.error:.2f}"),
    ]


def typical_noise(release: Release) -> float:
    """Median over the leaves of the standard deviation of their noise, in points."""
    return float(np.median(release.sd))


def plus_minus(value: float) -> str:
    """A standard deviation to read.

    >>> [plus_minus(v) for v in (0.0123, 3.456, 1234.5)]
    ['±0.012', '±3.5', '±1,234']
    """
    return f"±{value:,.0f}" if value >= 100 else f"±{value:.2g}"


def why(pair: Pair) -> str:
    """One sentence on why A and B differ: leaves, their noise, leaves touched, budget by stage."""
    a, b = pair.a, pair.b
    text = (
        f"Why they differ: A ({a.title}) cuts the map into {_leaves(a.release.n_leaves)} with "
        f"noise of about {plus_minus(typical_noise(a.release))} each, B ({b.title}) into "
        f"{_leaves(b.release.n_leaves)} with {plus_minus(typical_noise(b.release))}"
    )
    if len(a.boxes):
        touched = " and ".join(
            f"{_leaves(float(np.median(screen.answers.touched)))} of {letter} "
            f"({plus_minus(float(np.median(screen.answers.sd)))} of noise)"
            for letter, screen in (("A", a), ("B", b))
        )
        text += f"; a box touches {touched}, and the rest of its error is uneven spread in leaves"
    return (
        f"{text}; of epsilon {a.release.epsilon:.4g}, A gives {_budget(a.release)} and B "
        f"{_budget(b.release)}."
    )


def score(pair: Pair) -> str:
    """One sentence on who is nearer in how many boxes."""
    winners = nearer(*pair.answers)
    n = len(winners)
    if n == 0:
        return "No box has been drawn: drag one on either map."
    a, b = winners.count("A"), winners.count("B")
    return (
        f"A ({pair.a.title}) is nearer to the truth in {a} of {n} "
        f"{'box' if n == 1 else 'boxes'} and B ({pair.b.title}) in {b}; their median errors are "
        f"{percent(median_error(pair.a.answers))} and {percent(median_error(pair.b.answers))}."
    )


def _leaves(number: float) -> str:
    return f"{number:,.0f} {'leaf' if number == 1 else 'leaves'}"


def _budget(release: Release) -> str:
    """What the largest stages of a release got, at most three of them."""
    stages = sorted(release.stages(), key=lambda stage: -stage[1])
    parts = [f"{epsilon:.2g} to {name}" for name, epsilon in stages[:3] if epsilon > 0]
    more = sum(epsilon for _, epsilon in stages[3:])
    if more > 0:
        parts.append(f"{more:.2g} to the rest")
    return ", ".join(parts) or "nothing"
