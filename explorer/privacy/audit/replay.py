"""Replay: the same noisy figures on two neighbouring data sets.

A mechanism is run on D while a `Recorder` writes down every draw. It is then run on a neighbour D'
with a `Replayer` that hands out the recorded outcomes in place of new ones. Two things must hold:

1. D' asks the same questions in the same order and publishes the same release. Whatever differs
   has reached the output without noise.
2. The log-probability ratio of the recorded outcomes, added up over all draws, is at most epsilon
   on either side (`Loss`). Since 1 holds, it is the ratio of the probabilities of this output on D
   and on D', the quantity that epsilon-differential privacy bounds.

Parallel composition needs no rule of its own: draws that the record does not reach add 0. Pure
privacy is a promise about every possible outcome, so where the outcomes come from does not matter:
`Chosen` picks those that test the promise hardest.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.privacy.audit.branches import watched
from explorer.privacy.audit.loss import Breach, Draw, Loss, Question
from explorer.privacy.audit.surface import difference
from explorer.privacy.noise import Ints, Keys, NoiseSource, PreviewNoise

Publish = Callable[[Any, NoiseSource], Any]
"""Runs a mechanism on a data set with a source of noise; returns all that is published.

A data set is whatever it takes: a matrix, or the counts of areas and a matrix for each.
"""


class _Listener(ABC):
    """A source of noise that turns every call into a question."""

    preview = True

    def laplace(self, values: Ints, sensitivity: int, units: Ints, keys: Keys, stage: str) -> Ints:
        """See `NoiseSource.laplace`."""
        return self._answer(Question("laplace", stage, keys, values, sensitivity, units))

    def lowest(
        self, costs: Ints, offsets: Ints, sensitivity: int, units: Ints, keys: Keys, stage: str
    ) -> Ints:
        """See `NoiseSource.lowest`."""
        return self._answer(Question("lowest", stage, keys, costs, sensitivity, units, offsets))

    def above(
        self, values: Ints, threshold: int, sensitivity: int, units: Ints, keys: Keys, stage: str
    ) -> NDArray[np.bool_]:
        """See `NoiseSource.above`."""
        return self._answer(
            Question("above", stage, keys, values, sensitivity, units, None, threshold)
        )

    @abstractmethod
    def _answer(self, question: Question) -> Any:
        """The outcome, an array of the caller's own."""


class Recorder(_Listener):
    """Passes every question on to a source and writes down the answers, in `draws`."""

    def __init__(self, source: NoiseSource) -> None:
        self.source = source
        self.draws: list[Draw] = []

    def _answer(self, question: Question) -> Any:
        arguments = question.sensitivity, question.units, question.keys, question.stage
        outcome: NDArray[Any]
        if question.offsets is not None:
            outcome = self.source.lowest(question.values, question.offsets, *arguments)
        elif question.threshold is not None:
            outcome = self.source.above(question.values, question.threshold, *arguments)
        else:
            outcome = self.source.laplace(question.values, *arguments)
        self.draws.append(Draw(question, outcome))
        # A plan may work in place on what it gets.
        return outcome.copy()


class Replayer(_Listener):
    """Hands out recorded outcomes and adds up how much likelier they were where they were drawn.

    Of data sets that are no neighbours nothing is added up: any loss is theirs by right.
    """

    def __init__(self, draws: list[Draw], neighbours: bool = True) -> None:
        self.draws = draws
        self.position = 0
        self.neighbours = neighbours
        self.loss = Loss()

    def _answer(self, question: Question) -> Any:
        if self.position == len(self.draws):
            raise Breach(f"the neighbour draws once more, for {question.stage!r}")
        draw = self.draws[self.position]
        if not draw.question.is_like(question):
            raise Breach(f"draw {self.position}, for {draw.question.stage!r}, is another question")
        self.position += 1
        if self.neighbours:
            self.loss.add(draw, question.values)
        return draw.outcome.copy()

    def finish(self) -> None:
        """Refuse a run that asked for less than was recorded."""
        if self.position < len(self.draws):
            stage = self.draws[self.position].question.stage
            raise Breach(f"the neighbour leaves out draw {self.position}, for {stage!r}")


class Chosen(PreviewNoise):
    """Outcomes that are possible, though chance seldom deals them, of a style.

    Counts get no noise ("still": then every figure that moves costs the whole loss), noise above
    zero ("up"), below zero ("down"), or any ("wild"); selections and decisions are tosses of a fair
    coin.
    """

    def __init__(self, seed: int, style: str) -> None:
        super().__init__(seed)
        self.style = style
        self._rng = np.random.default_rng(seed)

    def laplace(self, values: Ints, sensitivity: int, units: Ints, keys: Keys, stage: str) -> Ints:
        """Noise of the wanted sign; "wild" noise is of any size, and often none."""
        if self.style == "still":
            return values.copy()
        noise = super().laplace(np.zeros_like(values), sensitivity, units, keys, stage)
        if self.style == "wild":
            return values + noise * self._rng.integers(0, 3, len(noise))
        return values + np.abs(noise) * (1 if self.style == "up" else -1)

    def lowest(
        self, costs: Ints, offsets: Ints, sensitivity: int, units: Ints, keys: Keys, stage: str
    ) -> Ints:
        """Any candidate of each group."""
        return self._rng.integers(0, np.diff(offsets))

    def above(
        self, values: Ints, threshold: int, sensitivity: int, units: Ints, keys: Keys, stage: str
    ) -> NDArray[np.bool_]:
        """Any decision; mostly to go on, since what follows is where proofs break."""
        return self._rng.random(len(values)) < 0.7


@dataclass(frozen=True)
class Recording:
    """A run on D: its draws and what it published."""

    publish: Publish
    draws: list[Draw]
    published: Any

    @property
    def longest(self) -> int:
        """Draws of the longest measurement: calls of one stage that follow each other are one."""
        longest, together, stage = 0, 0, ""
        for draw in self.draws:
            together = together if draw.question.stage == stage else 0
            stage, together = draw.question.stage, together + len(draw.question.keys)
            longest = max(longest, together)
        return longest

    @classmethod
    def of(cls, publish: Publish, data: Any, source: NoiseSource, named: bool = True) -> Recording:
        """Run on D; `named`: whether each draw must have a name of its own, as in previews.

        A run that fails, which all can see, is a Breach, and so are two draws that share their name
        and so, in a preview, their noise.
        """
        recorder = Recorder(source)
        try:
            with watched():
                published = publish(data, recorder)
        except Exception as error:
            raise Breach(f"the run fails: {type(error).__name__}: {error}") from error
        twice = _named_twice(recorder.draws) if named else None
        if twice is not None:
            raise Breach(f"two draws for {twice!r} share their noise")
        return cls(publish, recorder.draws, published)

    def replay(self, neighbour: Any, neighbours: bool = True) -> Loss:
        """Run on D' with the recorded outcomes.

        What is published depends on the data by the draws alone. So D' need not be a neighbour:
        with the same outcomes every data set at all must publish the same. One that differs in
        every cell (`neighbours` false) shows whatever gets out next to the draws, from any cell.
        Other questions, another publication, or a figure that moves further than its sensitivity
        are a Breach.
        """
        published, loss = self.again(neighbour, neighbours)
        where = difference(self.published, published)
        if where is not None:
            raise Breach(f"{where} differs")
        return loss

    def again(self, data: Any, neighbours: bool = True) -> tuple[Any, Loss]:
        """What another data set publishes given the recorded outcomes, and the loss."""
        replayer = Replayer(self.draws, neighbours)
        try:
            published = self.publish(data, replayer)
        except Breach:
            raise
        except Exception as error:
            raise Breach(f"the neighbour fails: {type(error).__name__}: {error}") from error
        replayer.finish()
        return published, replayer.loss


def _named_twice(draws: list[Draw]) -> str | None:
    """The first stage in which two draws have the same key."""
    keys: dict[str, list[Keys]] = {}
    for draw in draws:
        keys.setdefault(draw.question.stage, []).append(draw.question.keys)
    for stage, lists in keys.items():
        # Sorting is faster than a table of what was seen.
        together = np.sort(np.concatenate(lists))
        if (together[1:] == together[:-1]).any():
            return stage
    return None
