"""Plans that run side by side, and the noise that they draw together.

OpenDP's cost is calls, not draws: a measurement takes a third of a millisecond to make and call, a
draw eight microseconds. A forest of areas asks for few numbers each, many of them at one budget.
So every plan runs until it needs noise; what all of them wait for is drawn in one call for each
budget; then all go on. One plan runs at a time.

What is drawn, and from which distribution, is as if they had run one after another: draws are
independent, and a plan sees its own alone. Each of them was paid for before the plan began to wait.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from explorer.privacy.noise import Ints, Keys, NoiseSource

T = TypeVar("T")
AT_ONCE = 512
"""Plans that run side by side; more run after them."""


class _Stopped(BaseException):
    """Ends a plan that waits when another has failed; no plan catches it by mistake."""


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
    """The source of noise of one plan: every call waits for the pool."""

    preview = True

    def __init__(self, run: Callable[[NoiseSource], Any]) -> None:
        self.asked: _Asked | None = None
        self.found: Any = None
        self.result: Any = None
        self.failure: BaseException | None = None
        self.is_done = False
        self._run = run
        self._is_stopped = False
        # Plain locks, held until the other side lets go: half the price of semaphores.
        self._go, self._back = threading.Lock(), threading.Lock()
        self._go.acquire()
        self._back.acquire()
        self._thread = threading.Thread(target=self._work, daemon=True)

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

    def advance(self) -> None:
        """Let the plan run until it needs noise or has ended."""
        if self._thread.ident is None:
            self._thread.start()
        self._go.release()
        self._back.acquire()

    def stop(self) -> None:
        """End a plan that waits; nothing is drawn for it."""
        if self._thread.ident is not None and not self.is_done:
            self._is_stopped = True
            self.advance()

    def _wait(self, asked: _Asked) -> Any:
        self.asked = asked
        self._back.release()
        self._go.acquire()
        if self._is_stopped:
            raise _Stopped
        return self.found

    def _work(self) -> None:
        self._go.acquire()
        try:
            self.result = self._run(self)
        except BaseException as failure:  # handed on to whoever runs the pool
            self.failure = failure
        self.asked, self.is_done = None, True
        self._back.release()


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
    found: list[T] = []
    for begin in range(0, len(plans), AT_ONCE):
        lanes = [_Lane(plan) for plan in plans[begin : begin + AT_ONCE]]
        try:
            going = lanes
            while going:
                for lane in going:
                    lane.advance()
                    if lane.failure is not None:
                        raise lane.failure
                going = [lane for lane in going if not lane.is_done]
                _draw(source, going)
        finally:
            for lane in lanes:
                lane.stop()
        found += [lane.result for lane in lanes]
    return found


def _draw(source: NoiseSource, lanes: Sequence[_Lane]) -> None:
    """Answer what lanes wait for, in one call for each kind of question."""
    groups: dict[tuple[Any, ...], list[_Lane]] = {}
    for lane in lanes:
        asked = lane.asked
        assert asked is not None
        # Only reproducible noise has names: OpenDP is asked for all stages at once.
        stage = asked.stage if source.preview else "areas"
        kind = asked.method, asked.sensitivity, asked.threshold, stage
        groups.setdefault(kind, []).append(lane)
    for (method, sensitivity, threshold, stage), group in groups.items():
        asked_by = [lane.asked for lane in group if lane.asked is not None]
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
        for lane, part in zip(group, np.split(drawn, ends), strict=True):
            lane.found = part.copy()
