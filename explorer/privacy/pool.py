"""Plans that run side by side, and the noise that they draw together.

OpenDP's cost is calls, not draws: a measurement takes a third of a millisecond to make and call, a
draw eight microseconds. A forest of areas asks for few numbers each, many of them at one budget.
So every plan runs until it needs noise; what all of them wait for is drawn in one call for each
budget; then all go on. One plan runs at a time; what each holds on to is held for all of them.

What is drawn, and from which distribution, is as if they had run one after another: draws are
independent, and a plan sees its own alone. Each of them was paid for before the plan began to wait.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from greenlet import getcurrent, greenlet
from numpy.typing import NDArray

from explorer.privacy.noise import Ints, Keys, NoiseSource

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

    def advance(self, found: Any) -> None:
        """Let the plan go on with what it waited for until it needs noise again or has ended."""
        self.asked = None
        given = self._run.switch(found)
        if self._run.dead:
            self.result = given
        else:
            self.asked = given

    def stop(self) -> None:
        """End a plan that waits; nothing is drawn for it, and what its end raises is not told."""
        with suppress(Exception):
            self._run.throw()

    def _wait(self, asked: _Asked) -> Any:
        """Hand a question to the pool; returns its answer."""
        if getcurrent() is not self._run:
            raise RuntimeError("a plan of a forest asks for noise itself, and until it ends")
        return self._run.parent.switch(asked)


def side_by_side(source: NoiseSource, plans: Sequence[Callable[[NoiseSource], T]]) -> list[T]:
    """Run plans that draw noise, drawing together what they need at the same time.

    Parameters
    ----------
    source : where all noise comes from
    plans : n functions of a source of noise; they share nothing that one of them changes

    Returns
    -------
    What each returned, (n,). If one raises, the others end where they wait and it is raised here.
    """
    lanes = [_Lane(plan) for plan in plans]
    with ExitStack() as ends:
        for lane in lanes:
            ends.callback(lane.stop)
        # What a plan begins with is its source of noise.
        going, found = lanes, list[Any](lanes)
        while going:
            for lane, one in zip(going, found, strict=True):
                lane.advance(one)
            going = [lane for lane in going if not lane.is_done]
            found = _draw(source, [lane.asked for lane in going if lane.asked is not None])
    return [lane.result for lane in lanes]


def _draw(source: NoiseSource, asked: Sequence[_Asked]) -> list[Any]:
    """Answer what is waited for, in one call for each kind of question."""
    groups: dict[tuple[Any, ...], list[int]] = {}
    for i, each in enumerate(asked):
        # Only reproducible noise has names: OpenDP is asked for all stages at once.
        stage = each.stage if source.preview else "areas"
        kind = each.method, each.sensitivity, each.threshold, stage
        groups.setdefault(kind, []).append(i)
    result: list[Any] = [None] * len(asked)
    for (method, sensitivity, threshold, stage), group in groups.items():
        asked_by = [asked[i] for i in group]
        values = np.concatenate([each.values for each in asked_by])
        rest = (
            sensitivity,
            np.concatenate([each.units for each in asked_by]),
            np.concatenate([each.keys for each in asked_by]),
            stage,
        )
        if method == "lowest":
            lengths = [np.diff(each.offsets) for each in asked_by if each.offsets is not None]
            offsets = np.concatenate([[0], np.cumsum(np.concatenate(lengths))])
            drawn: Any = source.lowest(values, offsets, *rest)
        elif method == "above":
            drawn = source.above(values, threshold, *rest)
        else:
            drawn = source.laplace(values, *rest)
        ends = np.cumsum([len(each.units) for each in asked_by])[:-1]
        for i, part in zip(group, np.split(drawn, ends), strict=True):
            result[i] = part.copy()
    return result
