"""One question to a class: every participant's preview answers it, and the answers are pooled.

Noise has mean 0, so theory puts the mean of the answers at the true count plus what uneven spread
inside leaves adds, and their standard deviation at the one that each release states of itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import param
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.mechanisms import all_mechanisms, mechanism
from explorer.mechanisms.limits import Epsilon
from explorer.points import truth as queries
from explorer.points.matrix import FrequencyMatrix
from explorer.releases.release import Release
from explorer.teaching.places import on_map
from explorer.teaching.previews import taught
from explorer.teaching.settings import BoxSetting, Settings

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Seeds are whole numbers below this, so that they can be typed on other pages too.
SEEDS = 2**31
#: A histogram has at most so many bars; answers beyond this size are none.
MOST_BARS, MOST_VALUE = 40, 1e15


class QuestionSettings(Settings):
    """What a teacher chooses for a question."""

    # Its answers vary as much as it states and around the truth: theory fits the first histogram.
    mechanism = param.Selector(default="ag", objects=list(all_mechanisms()), label="Mechanism")
    epsilon = Epsilon(0.1)
    box = BoxSetting(default=(0.45, 0.4, 0.55, 0.5), label="Box")


@dataclass(frozen=True)
class Answer:
    """What one preview says: a count, and the standard deviation that it states of its noise."""

    value: float
    sd: float

    def __post_init__(self) -> None:
        sizes = abs(self.value), self.sd
        if not all(math.isfinite(size) and size <= MOST_VALUE for size in sizes) or self.sd < 0:
            raise InputError("This answer is not a finite number: draw another one.")


@dataclass(frozen=True, eq=False)
class Question:
    """A box on a city, to be answered by previews of one mechanism. It knows the true count.

    Attributes
    ----------
    matrix : FrequencyMatrix
    city : the city's title, safe to show
    mechanism, epsilon : what each participant draws with, see `previews.taught`
    rectangle : (4,) x0, y0, x1, y1 in the grid's unit, whole cells
    true : exact count
    """

    matrix: FrequencyMatrix
    city: str
    mechanism: str
    epsilon: float
    rectangle: Floats
    true: float

    @classmethod
    def of(cls, matrix: FrequencyMatrix, city: str, settings: QuestionSettings) -> Question:
        """The question that a teacher's settings ask about a city."""
        rectangle = on_map(settings.box, matrix.grid)
        true = float(queries.exact(matrix, [rectangle])[0])
        return cls(matrix, city, settings.mechanism, settings.epsilon, rectangle, true)

    @property
    def grid(self) -> Grid:
        """The public grid."""
        return self.matrix.grid

    @property
    def title(self) -> str:
        """The mechanism's title."""
        return mechanism(self.mechanism).title

    def preview(self, seed: int) -> tuple[Answer, Release]:
        """One preview with this seed and its answer; books nothing, for any thread."""
        release = taught(self.mechanism, self.epsilon).release(self.matrix, rng=int(seed))
        answer = release.answer([self.rectangle])
        return Answer(float(answer.value[0]), float(answer.sd[0])), release


@dataclass(frozen=True, eq=False)
class Summary:
    """Answers of a class to one question, as a histogram and a few numbers.

    Attributes
    ----------
    answers, people : how many there are, and of how many participants
    true : the exact count
    mean, sd : of the answers; sd NaN for fewer than two
    theory : standard deviation that the releases state: root of their mean variance
    within_5, within_10 : part of the answers, 0 to 1, off by at most 5 or 10 % of the truth; NaN
        where that is 0
    edges : (k + 1,) edges of the bars
    counts : (k,) answers in each
    width : of a bar
    """

    answers: int
    people: int
    true: float
    mean: float
    sd: float
    theory: float
    within_5: float
    within_10: float
    edges: Floats
    counts: Ints
    width: float

    @property
    def is_wider(self) -> bool:
        """Whether the answers vary more than the noise can: by four standard errors of an sd."""
        few = self.answers < 10
        return not few and self.sd > self.theory * (1 + 4 / math.sqrt(2 * (self.answers - 1)))

    @property
    def is_off(self) -> bool:
        """Whether the mean misses the truth by more than chance: by four standard errors."""
        if self.answers < 10:
            return False
        error = max(self.sd, self.theory) / math.sqrt(self.answers)
        return abs(self.mean - self.true) > 4 * error

    def bar(self, value: float) -> int:
        """The number of the bar that holds one of the answers."""
        # As the bars are made: any other arithmetic rounds an answer on an edge elsewhere.
        at = math.floor(value / self.width) - round(float(self.edges[0]) / self.width)
        return min(max(at, 0), len(self.counts) - 1)


class Pool:
    """Collects answers to one question. Not for several threads: `ClassRoom` locks it."""

    def __init__(self, true: float) -> None:
        self.true = true
        self._values: list[float] = []
        self._people: list[int] = []
        self._variances: list[float] = []
        self._own: dict[int, list[float]] = {}
        self._width = 0.0

    def __len__(self) -> int:
        return len(self._values)

    def add(self, who: int, answer: Answer) -> None:
        """Take an answer of a participant."""
        self._values.append(answer.value)
        self._people.append(who)
        self._variances.append(answer.sd**2)
        self._own.setdefault(who, []).append(answer.value)
        if not self._width:
            # A third of the noise's sd, or a hundredth of the answer where there is no noise.
            self._width = nice(answer.sd / 3 or max(abs(answer.value) / 100, 1.0))

    def own(self, who: int) -> tuple[float, ...]:
        """The answers of one participant in their order."""
        return tuple(self._own.get(who, ()))

    def rows(self) -> list[tuple[int, float, float]]:
        """All answers in their order: whose, the count, the sd that it states of its noise."""
        sds = [math.sqrt(variance) for variance in self._variances]
        return list(zip(self._people, self._values, sds, strict=True))

    def summary(self) -> Summary | None:
        """All answers so far; None when there is none."""
        if not self._values:
            return None
        values = np.array(self._values)
        edges, counts = self._histogram(values)
        n = len(values)
        return Summary(
            answers=n,
            people=len(self._own),
            true=self.true,
            mean=float(values.mean()),
            sd=float(values.std(ddof=1)) if n > 1 else math.nan,
            theory=math.sqrt(float(np.mean(self._variances))),
            within_5=_within(values, self.true, 0.05),
            within_10=_within(values, self.true, 0.10),
            edges=edges,
            counts=counts,
            width=self._width,
        )

    def _histogram(self, values: Floats) -> tuple[Floats, Ints]:
        """Bars at whole multiples of a width that only grows: on screen they keep their place."""
        low, high = float(values.min()), float(values.max())
        while math.floor(high / self._width) - math.floor(low / self._width) >= MOST_BARS:
            self._width = nice(1.5 * self._width)
        at = np.floor(values / self._width).astype(np.int64)
        first, last = int(at.min()), int(at.max())
        edges = np.arange(first, last + 2, dtype=np.float64) * self._width
        return edges, np.bincount(at - first)


def nice(size: float) -> float:
    """The next of ..., 0.5, 1, 2, 5, 10, 20, ... that is at least ``size``, above 0.

    >>> [nice(x) for x in (0.3, 1.0, 1.1, 37, 501)]
    [0.5, 1.0, 2.0, 50.0, 1000.0]
    """
    power = 10.0 ** math.floor(math.log10(size))
    steps: Sequence[float] = (1, 2, 5, 10)
    return next((step * power for step in steps if step * power >= size), 10 * power)


def _within(values: Floats, true: float, share: float) -> float:
    return float(np.mean(np.abs(values - true) <= share * true)) if true > 0 else math.nan
