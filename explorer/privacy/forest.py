"""The curator of a forest: one plan in each of many areas, a release's noise in few calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from greenlet import getcurrent, greenlet
from numpy.typing import NDArray

from explorer.privacy.counts import Counts
from explorer.privacy.curator import Curator
from explorer.privacy.noise import Ints, Keys, NoiseSource, is_plain_preview
from explorer.privacy.regions import Regions

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class _Asked:
    """One call to a source: which method, and its arguments with the figures first."""

    method: str
    values: Ints
    units: Ints
    keys: Keys
    sensitivity: int
    stage: str
    offsets: Ints | None = None
    threshold: int = 0


class _Lane:
    """The source of noise of one plan: every call waits for the pool.

    A greenlet, no thread: forests wait tens of thousands of times, and what one wait of a thread
    costs is more than what a plan reckons between two.
    """

    preview = True

    def __init__(self, run: Callable[[NoiseSource], Any]) -> None:
        self.asked: _Asked | None = None
        self.result: Any = None
        self._run = greenlet(run)

    def laplace(self, values: Ints, sensitivity: int, units: Ints, keys: Keys, stage: str) -> Ints:
        """See `NoiseSource.laplace`."""
        return self._wait(_Asked("laplace", values, units, keys, sensitivity, stage))

    def lowest(
        self, costs: Ints, offsets: Ints, sensitivity: int, units: Ints, keys: Keys, stage: str
    ) -> Ints:
        """See `NoiseSource.lowest`."""
        return self._wait(_Asked("lowest", costs, units, keys, sensitivity, stage, offsets))

    def above(
        self, values: Ints, threshold: int, sensitivity: int, units: Ints, keys: Keys, stage: str
    ) -> NDArray[np.bool_]:
        """See `NoiseSource.above`."""
        return self._wait(_Asked("above", values, units, keys, sensitivity, stage, None, threshold))

    @property
    def is_done(self) -> bool:
        """Whether the plan has ended."""
        return bool(self._run.dead)

    def advance(self, answer: Any) -> None:
        """Let the plan go on with what it waited for until it needs noise again or has ended."""
        self.asked = None
        output = self._run.switch(answer)
        if self._run.dead:
            self.result = output
        else:
            self.asked = output

    def stop(self) -> None:
        """End a plan that waits; nothing is drawn for it, and what its end raises is not told."""
        with suppress(Exception):
            self._run.throw()

    def _wait(self, question: _Asked) -> Any:
        """Hand a question to the pool; returns its answer."""
        if getcurrent() is not self._run:
            raise RuntimeError("a plan of a forest asks for noise itself, and until it ends")
        return self._run.parent.switch(question)


def side_by_side(source: NoiseSource, plans: Sequence[Callable[[NoiseSource], T]]) -> list[T]:
    """Run n plans that draw noise, drawing together what they need at the same time.

    The plans are functions of a source of noise; they share nothing that one of them changes.
    Returns what each returned. If one raises, the others end where they wait and it is raised here.
    """
    lanes = [_Lane(plan) for plan in plans]
    with ExitStack() as ends:
        for lane in lanes:
            ends.callback(lane.stop)
        # What a plan begins with is its source of noise.
        going, answers = lanes, list[Any](lanes)
        while going:
            for lane, one in zip(going, answers, strict=True):
                lane.advance(one)
            going = [lane for lane in going if not lane.is_done]
            answers = _draw(source, [lane.asked for lane in going if lane.asked is not None])
    return [lane.result for lane in lanes]


def _draw(source: NoiseSource, questions: Sequence[_Asked]) -> list[Any]:
    """Answer what is waited for, in one call for each kind of question."""
    groups: dict[tuple[Any, ...], list[int]] = {}
    for i, question in enumerate(questions):
        # Only reproducible noise has names: OpenDP is asked for all stages at once.
        stage = question.stage if source.preview else "areas"
        kind = question.method, question.sensitivity, question.threshold, stage
        groups.setdefault(kind, []).append(i)
    result: list[Any] = [None] * len(questions)
    for (method, sensitivity, threshold, stage), group in groups.items():
        asked_by = [questions[i] for i in group]
        values = np.concatenate([question.values for question in asked_by])
        rest = (
            sensitivity,
            np.concatenate([question.units for question in asked_by]),
            np.concatenate([question.keys for question in asked_by]),
            stage,
        )
        if method == "lowest":
            lengths = [
                np.diff(question.offsets) for question in asked_by if question.offsets is not None
            ]
            offsets = np.concatenate([[0], np.cumsum(np.concatenate(lengths))])
            drawn: Any = source.lowest(values, offsets, *rest)
        elif method == "above":
            drawn = source.above(values, threshold, *rest)
        else:
            drawn = source.laplace(values, *rest)
        ends = np.cumsum([len(question.units) for question in asked_by])[:-1]
        for i, part in zip(group, np.split(drawn, ends), strict=True):
            result[i] = part.copy()
    return result


class ForestCurator(Curator):
    """A `Curator` that runs plans inside many regions at once."""

    def forest(
        self, regions: Regions, counts: Sequence[Counts], plan: Callable[[Curator], T]
    ) -> list[T]:
        """Run one plan in each of some regions as if `within` it, a release's draws taken together.

        The proof is that of `within`, region by region: what is drawn at one time (`side_by_side`)
        was charged to each region's own account before, and each plan sees its own draws alone.
        `counts` are the records of each region, and no others, over a domain of their own. Returns
        what the plan returned for each; what `within` refuses is raised before anything is drawn.
        """
        single_regions = [regions.select(np.array([i])) for i in range(len(regions))]
        inner = [self.within(*one) for one in zip(single_regions, counts, strict=True)]
        if is_plain_preview(self._noise):
            # Its draws have names, so that nothing is gained by waiting for others.
            return [plan(curator) for curator in inner]

        def run(curator: Curator) -> Callable[[NoiseSource], T]:
            def draw_from(source: NoiseSource) -> T:
                curator._noise = source
                return plan(curator)

            return draw_from

        return side_by_side(self._noise, [run(curator) for curator in inner])
