"""Why cells of one level are divided and those of another are not: thresholds of a round."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.app.curator.screen import Screen
from explorer.app.federated.screen import chosen, refines, released
from explorer.errors import InputError
from explorer.federated import calibration
from explorer.federated.refine import expected, unevenness
from explorer.federated.rounds import threshold_of
from explorer.releases.distributed import ONCE, DistributedRelease
from explorer.releases.quarters import level_of
from explorer.releases.rounds import Heard

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Level:
    """Cells of one level in one round, in people of that round's sums.

    Attributes
    ----------
    number : 0 is the whole map
    cells, divided : open cells, and how many of them were divided
    unevenness : H, measured; NaN where no four quarters were
    factor : threshold over the noise of the next sums, of what `sigma` says where it is printed
    threshold : a sum above it is divided
    largest, median : of the sums
    """

    number: int
    cells: int
    divided: int
    unevenness: float
    factor: float
    threshold: float
    largest: float
    median: float


@dataclass(frozen=True, eq=False)
class Judged:
    """One round's decisions, level by level.

    Attributes
    ----------
    number, last : the round, and how many there are
    noise, next_noise : of a sum of this round, and of the next one in people of this round
    printed : whether the threshold is that of the paper, the same for all levels
    fixed : whether someone chose that threshold, whatever the noise
    """

    screen: Screen
    number: int
    last: int
    noise: float
    next_noise: float
    printed: bool
    fixed: bool
    levels: tuple[Level, ...]


@dataclass(frozen=True, eq=False)
class LevelsJob:
    """Which round of a screen; 0 for the last one after which something was decided."""

    screen: Screen
    number: int


def judge(job: LevelsJob) -> Judged:
    """The thresholds of a round, as the server computed them from its sums.

    Raises
    ------
    InputError
        Where an algorithm refines nothing, or there was one round only.
    """
    release = released(job.screen)
    rounds = [entry for entry in release.heard if isinstance(entry, Heard)]
    if not refines(release):
        raise InputError("This algorithm divides nothing by a threshold: choose people or paper.")
    if len(rounds) < 2:
        raise InputError("There was one round only, so nothing was divided: ask more people.")
    last = len(rounds)
    number = min(job.number, last - 1) if job.number else last - 1
    received = rounds[number - 1]
    sd, scale, several = _next(release, number)
    mechanism = chosen(job.screen)
    if mechanism.algorithm != "paper":
        levels = _levels(received, sd, scale)
        return Judged(job.screen, number, last, received.noise, sd / scale, False, False, levels)
    fixed = mechanism.threshold is not None
    threshold, noise = threshold_of(received.noise, sd, several, **mechanism.options())
    levels = _levels(received, sd, scale, (threshold, threshold / noise))
    return Judged(job.screen, number, last, received.noise, noise, True, fixed, levels)


def _next(release: DistributedRelease, number: int) -> tuple[float, float, float]:
    """What a round's decisions look ahead to.

    Returns
    -------
    noise of the next sums, how much larger those are than these, noise of theirs over one shard's
    """
    rounds = release.heard
    parameters = release.parameters
    people = int(release.facts["asked"])
    size = min(parameters["shard"], people)
    spread = calibration.honest(size, parameters["dropped"], parameters["corrupt"]) / size
    if release.paying == ONCE:
        left = sum(row.people for row in rounds[number:])
        several = math.sqrt(calibration.shards(left, parameters["shard"]) / spread)
        return (
            calibration.sigma(release.epsilon) * several,
            left / max(rounds[number - 1].answered, 1),
            several,
        )
    remaining = sum(row.epsilon for row in rounds[number:])
    several = math.sqrt(calibration.shards(people, parameters["shard"]) / spread)
    return calibration.sigma(remaining) * several, 1.0, several


def _levels(
    received: Heard, sd: float, scale: float, printed: tuple[float, float] | None = None
) -> tuple[Level, ...]:
    """Every level that has open cells.

    A cell with sum y is divided if f = y scale has 4 H f^2 > 15 sd^2 + 3 f, and y > 2 noise; or
    above the printed threshold, given with its factor.
    """
    level = received.tree.level[received.tree.open]
    measured = unevenness(received.tree, received.sums, received.noise)
    ahead = expected(measured)
    split = np.bincount(level_of(received.split), minlength=received.tree.depth + 1)
    results = []
    for number in np.unique(level).tolist():
        sums = received.sums[level == number]
        h = float(ahead[number])
        if printed is not None:
            threshold, factor = printed
        else:
            factor = math.sqrt(15 / (4 * h))
            f = (3 + math.sqrt(9 + 240 * h * sd**2)) / (8 * h)
            threshold = max(f / scale, 2 * received.noise)
        results.append(
            Level(
                number=number,
                cells=len(sums),
                divided=int(split[number]),
                unevenness=h,
                factor=factor,
                threshold=threshold,
                largest=float(sums.max()),
                median=float(np.median(sums)),
            )
        )
    return tuple(results)
