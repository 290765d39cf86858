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
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.privacy.audit.loss import Breach, Draw, Loss, Question
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
        asked = question.sensitivity, question.units, question.keys, question.stage
        outcome: NDArray[Any]
        if question.offsets is not None:
            outcome = self.source.lowest(question.values, question.offsets, *asked)
        elif question.threshold is not None:
            outcome = self.source.above(question.values, question.threshold, *asked)
        else:
            outcome = self.source.laplace(question.values, *asked)
        self.draws.append(Draw(question, outcome))
        # A plan may work in place on what it gets.
        return outcome.copy()


class Replayer(_Listener):
    """Hands out recorded outcomes and adds up how much likelier they were where they were drawn."""

    def __init__(self, draws: list[Draw]) -> None:
        self.draws = draws
        self.position = 0
        self.loss = Loss()

    def _answer(self, question: Question) -> Any:
        if self.position == len(self.draws):
            raise Breach(f"the neighbour draws once more, for {question.stage!r}")
        draw = self.draws[self.position]
        if not draw.question.is_like(question):
            raise Breach(f"draw {self.position}, for {draw.question.stage!r}, is another question")
        self.position += 1
        self.loss.add(draw, question.values)
        return draw.outcome.copy()

    def finish(self) -> None:
        """Refuse a run that asked for less than was recorded."""
        if self.position < len(self.draws):
            stage = self.draws[self.position].question.stage
            raise Breach(f"the neighbour leaves out draw {self.position}, for {stage!r}")


class Chosen(PreviewNoise):
    """Outcomes that are possible, though chance seldom deals them.

    Parameters
    ----------
    seed : whole number
    style : {"still", "up", "down", "wild"}
        Counts get no noise (then every figure that moves takes its full toll), noise above zero,
        below zero, or any; selections and decisions are tosses of a fair coin.
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

    @classmethod
    def of(cls, publish: Publish, data: Any, source: NoiseSource) -> Recording:
        """Run on D.

        Raises
        ------
        Breach
            If the run fails, which all can see, or if two draws of it share their name and so, in
            a preview, their noise.
        """
        recorder = Recorder(source)
        try:
            published = publish(data, recorder)
        except Exception as error:
            raise Breach(f"the run fails: {type(error).__name__}: {error}") from error
        twice = _named_twice(recorder.draws)
        if twice is not None:
            raise Breach(f"two draws for {twice!r} share their noise")
        return cls(publish, recorder.draws, published)

    def replay(self, neighbour: Any) -> Loss:
        """Run on D' with the recorded outcomes.

        Raises
        ------
        Breach
            If D' asks other questions, publishes something else, or moves a figure further than
            its sensitivity.
        """
        replayer = Replayer(self.draws)
        try:
            published = self.publish(neighbour, replayer)
        except Breach:
            raise
        except Exception as error:
            raise Breach(f"the neighbour fails: {type(error).__name__}: {error}") from error
        replayer.finish()
        where = difference(self.published, published)
        if where is not None:
            raise Breach(f"{where} differs")
        return replayer.loss


def difference(one: Any, other: Any, name: str = "the release") -> str | None:
    """Where two published things differ, or None if they are the same to the last bit."""
    if one is other:
        return None
    if type(one) is not type(other):
        return name
    if isinstance(one, np.ndarray):
        same = one.dtype == other.dtype and one.shape == other.shape
        return None if same and one.tobytes() == other.tobytes() else name
    parts = _parts(one)
    if parts is None:
        # The written form tells 0.0 from -0.0, and finds NaN equal to another NaN.
        return None if repr(one) == repr(other) else name
    others = _parts(other)
    if others is None or parts.keys() != others.keys():
        return name
    for key, part in parts.items():
        # Most parts are one and the same small thing: no call, no name.
        if part is not others[key]:
            where = difference(part, others[key], f"{name}.{key}")
            if where is not None:
                return where
    return None


def _parts(whole: Any) -> Mapping[Any, Any] | None:
    """What something consists of, by name or number; None if it has no parts."""
    kind: Any = type(whole)
    if kind in (str, int, float, bool):
        return None
    if isinstance(whole, tuple | list):
        return dict(enumerate(whole))
    names = _field_names(kind)
    if names is not None:
        return {name: getattr(whole, name) for name in names} | _hidden(whole, kind)
    return whole if isinstance(whole, Mapping) else _hidden(whole, kind) or None


def _hidden(whole: Any, kind: type) -> dict[str, Any]:
    """What an object holds beside its fields: it leaves with it, in a pickle.

    What it has computed from its own parts says nothing that they do not say.
    """
    held: dict[str, Any] = getattr(whole, "__dict__", None) or {}
    return {name: held[name] for name in held.keys() - _own_names(kind)}


@cache
def _field_names(kind: type) -> tuple[str, ...] | None:
    """The fields of a dataclass, or None of another class."""
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else None


@cache
def _own_names(kind: type) -> frozenset[str]:
    """Fields, and what a class computes once and keeps."""
    computed = {
        name
        for each in kind.__mro__
        for name, value in vars(each).items()
        if isinstance(value, cached_property)
    }
    return frozenset(computed.union(_field_names(kind) or ()))


def _named_twice(draws: list[Draw]) -> str | None:
    """The first stage in which two draws have the same key."""
    keys: dict[str, list[Keys]] = {}
    for draw in draws:
        keys.setdefault(draw.question.stage, []).append(draw.question.keys)
    for stage, lists in keys.items():
        together = np.concatenate(lists)
        if len(np.unique(together)) < len(together):
            return stage
    return None
