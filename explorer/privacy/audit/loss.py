"""Privacy loss: how much likelier recorded draws are on one data set than on its neighbour."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.privacy.audit import distributions
from explorer.privacy.noise import Ints, Keys

PER_EPSILON = distributions.PER_EPSILON


def budget(epsilon: float | str) -> int:
    """Epsilon in units of 10^-12, by decimals and fractions of the audit's own, rounded down.

    >>> budget(0.1), budget("0.3"), budget(1e-3)
    (100000000000, 300000000000, 1000000000)
    """
    return int(Fraction(Decimal(str(epsilon))) * PER_EPSILON)


class Breach(Exception):
    """The privacy claim does not hold for a pair of data sets; says where it fails."""


@dataclass(frozen=True, eq=False)
class Question:
    """One call to a source of noise."""

    kind: str  # "laplace", "lowest" or "above"
    # stage, keys: names of the draws
    stage: str
    keys: Keys
    values: Ints  # (m,) exact figures, whole numbers: all that may differ between neighbours
    # sensitivity, units, offsets, threshold: as the source was given them
    sensitivity: int
    units: Ints
    offsets: Ints | None = None
    threshold: int | None = None

    def is_like(self, other: Question) -> bool:
        """Whether all but the exact figures agree."""
        return (
            self.kind == other.kind
            and self.stage == other.stage
            and self.sensitivity == other.sensitivity
            and self.threshold == other.threshold
            and len(self.values) == len(other.values)
            and np.array_equal(self.keys, other.keys)
            and np.array_equal(self.units, other.units)
            # Of one kind, both have offsets or neither has.
            and (self.offsets is None or np.array_equal(self.offsets, np.asarray(other.offsets)))
        )


@dataclass(frozen=True, eq=False)
class Draw:
    """A question and what came out: noisy figures, indices or decisions, (n,)."""

    question: Question
    outcome: NDArray[Any]


class Loss:
    """log P(outcomes on D) - log P(outcomes on D'), an exact part and a rest.

    Attributes
    ----------
    parts : numerators by denominator, in units of 10^-12 epsilon
    rest : logarithms that are no fractions, in nats
    """

    def __init__(self) -> None:
        self.parts: dict[int, int] = {}
        self.rest = 0.0

    @property
    def exact(self) -> Fraction:
        """The part of the sum that is a fraction, in units of 10^-12 epsilon."""
        return sum((Fraction(n, d) for d, n in self.parts.items()), Fraction(0))

    @property
    def epsilon(self) -> float:
        """The size of the whole sum."""
        return abs(float(self.exact / PER_EPSILON) + self.rest)

    def exceeds(self, units: int) -> bool:
        """Whether the sum passes a budget: exactly, or where logarithms are in it by 10^-12."""
        if self.rest == 0.0:
            return abs(self.exact) > units
        return self.epsilon > units / PER_EPSILON * (1 + 1e-12)

    def add(self, draw: Draw, values: Ints) -> None:
        """Add a draw on D whose exact figures on D' are `values`."""
        question = draw.question
        moved = values - question.values
        if not moved.any():
            return
        limit = int(np.abs(moved).max())
        if limit > question.sensitivity:
            raise Breach(
                f"a figure of {question.stage!r} moves by {limit}, more than its sensitivity "
                f"of {question.sensitivity}"
            )
        if question.kind == "laplace":
            self._add_counts(draw, values, np.flatnonzero(moved))
        elif question.threshold is not None:
            self._add_decisions(draw, values, question.threshold, np.flatnonzero(moved))
        elif question.offsets is not None:
            self._add_selections(draw, values, question.offsets, moved)

    def _add_counts(self, draw: Draw, values: Ints, moved: Ints) -> None:
        question, noisy = draw.question, draw.outcome[moved]
        steps = np.abs(noisy - values[moved]) - np.abs(noisy - question.values[moved])
        # Python's whole numbers: steps times units may pass 64 bits.
        pairs = zip(steps.tolist(), question.units[moved].tolist(), strict=True)
        self._add_part(sum(k * u for k, u in pairs), question.sensitivity)

    def _add_decisions(self, draw: Draw, values: Ints, threshold: int, moved: Ints) -> None:
        question = draw.question
        for i in moved.tolist():
            units, passed = int(question.units[i]), bool(draw.outcome[i])
            a = distributions.decay(units, question.sensitivity)
            k, rest = distributions.decision(int(question.values[i]), threshold, a, passed)
            other_k, other_rest = distributions.decision(int(values[i]), threshold, a, passed)
            self._add_part((k - other_k) * units, question.sensitivity)
            self.rest += rest - other_rest

    def _add_selections(self, draw: Draw, values: Ints, offsets: Ints, moved: Ints) -> None:
        question = draw.question
        touched = np.add.reduceat(moved != 0, offsets[:-1])
        for i in np.flatnonzero(touched).tolist():
            group = slice(int(offsets[i]), int(offsets[i + 1]))
            units, index = int(question.units[i]), int(draw.outcome[i])
            a = distributions.decay(units, question.sensitivity)
            k, rest = distributions.selection(question.values[group], a)
            other_k, other_rest = distributions.selection(values[group], a)
            self._add_part(int(k[index] - other_k[index]) * units, 2 * question.sensitivity)
            self.rest += float(rest[index] - other_rest[index])

    def _add_part(self, numerator: int, denominator: int) -> None:
        self.parts[denominator] = self.parts.get(denominator, 0) + numerator
