"""The work of `dp-explorer audit`: what is tried, in as many processes as there are processors."""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from explorer.commands.terminal import progress

if TYPE_CHECKING:
    from explorer.privacy.audit.audit import Finding
    from explorer.privacy.audit.sources import NoiseFinding

WHOLE_RUNS = {"federated": 10, "country": 20}
"""Keys of what is replayed by itself, as whole runs, and how many of those must be."""
CASES = 20  # of one task


class Task(NamedTuple):
    """A piece of work for a process; what must be done comes first and is done at any time."""

    what: str
    details: tuple[Any, ...]
    must: bool = False


class Answer(NamedTuple):
    """What a process found, the branches that it went through, and its processor time."""

    name: str
    what: Any
    seen: Any
    seconds: float


@dataclass
class Audited:
    """All that an audit found.

    Attributes
    ----------
    found, noise : of mechanisms, and of sources of noise
    seen : branches that were gone through, by the mechanism or source that did
    whole : whether all mechanisms were audited, which go through all branches together
    seconds : of processor time
    """

    found: list[Finding]
    noise: list[NoiseFinding]
    seen: dict[str, set[Any]] = field(default_factory=dict)
    whole: bool = False
    seconds: float = 0.0


def audit_all(
    keys: Sequence[str], seconds: float, pairs: int | None, seed: int, whole: bool = False
) -> Audited:
    """Audit mechanisms in as many processes as there are processors, cases taken in turn.

    Parameters
    ----------
    keys : of the mechanisms
    seconds : of processor time, after which nothing more is begun than what is promised
    pairs : at most so many of each, or None
    seed : names the pairs
    whole : whether these are all mechanisms, which go through all branches of the code together
    """
    from explorer.privacy.audit.audit import Finding

    workers, spent = os.cpu_count() or 1, 0.0
    findings = {key: Finding(key) for key in keys}
    noise: list[NoiseFinding] = []
    branches: dict[str, set[Any]] = {}

    def collect(answer: Answer) -> None:
        nonlocal spent
        if answer.name in findings:
            findings[answer.name] += answer.what
        else:
            noise.extend(answer.what)
        branches.setdefault(answer.name, set()).update(answer.seen)
        spent += answer.seconds

    # Spawned: a fork would copy locks that threads of libraries hold.
    context = multiprocessing.get_context("spawn")
    with progress("Auditing") as tell, context.Pool(workers, _begin) as pool:
        waiting: deque[Any] = deque()
        for task in _tasks(keys, pairs, seed, lambda key: findings[key].fault is None):
            if spent > seconds and not task.must:
                break
            waiting.append(pool.apply_async(_work, (task.what, task.details, task.must)))
            # Ahead by more than the workers, or a long task would leave the others idle.
            while len(waiting) > 3 * workers:
                collect(waiting.popleft().get())
            if tell is not None:
                tell(_part_done(findings, pairs, min(1.0, spent / seconds)))
        while waiting:
            collect(waiting.popleft().get())
    return Audited(list(findings.values()), noise, branches, whole, spent)


def _tasks(
    keys: Sequence[str], pairs: int | None, seed: int, holds: Callable[[str], bool]
) -> Iterator[Task]:
    """What there is to do: sources, corners, a round of cases, further rounds up to the pairs."""
    from explorer.privacy.audit.cases import NEIGHBOURS

    yield Task("noise", ("release",), must=True)
    yield Task("noise", ("preview", seed), must=True)
    yield Task("noise", ("curator",), must=True)
    for key in keys:
        if key not in WHOLE_RUNS:
            yield Task("longest", (key, seed), must=True)
            yield Task("corners", (key,), must=True)
    limit = math.inf if pairs is None else math.ceil(pairs / NEIGHBOURS)
    first = 0
    while first < limit and any(map(holds, keys)):
        for key in filter(holds, keys):
            number = WHOLE_RUNS.get(key, CASES)
            numbers = range(first // CASES * number, first // CASES * number + number)
            if limit < first + CASES:
                numbers = numbers[: max(1, math.ceil(number * (limit - first) / CASES))]
            yield Task("replay", (key, numbers, seed), must=first == 0)
        first += CASES


def _work(what: str, details: tuple[Any, ...], watches: bool = False) -> Answer:
    """Do a task, in a process of its own."""
    from explorer.privacy.audit.branches import Watch

    begin, name, watch = time.process_time(), details[0], Watch()
    with watch if watches else nullcontext():
        result = _found(what, details)
    # Imports are the audit's, too: a process's first answer has them in it.
    global _counted
    begin, _counted = (begin if _counted else 0.0), True
    return Answer(name, result, watch.seen, time.process_time() - begin)


_counted = False


def _found(what: str, details: tuple[Any, ...]) -> Any:
    from explorer.mechanisms import PrivTree, mechanism
    from explorer.privacy.audit import audit, proofs, sources
    from explorer.testing import corners, desk
    from explorer.testing.wide import by_kind

    name = details[0]
    if what == "noise":
        if name == "curator":
            return desk.check_desk()
        return (
            sources.check_opendp() if name == "release" else sources.check_preview_noise(details[1])
        )
    if what == "corners":
        finding = corners.try_corners(mechanism(name), by_kind)
        if name == PrivTree.key:
            finding += proofs.privtree_paths(PrivTree, by_kind)
        # Of one pair or so each: they are no part of what is promised.
        return replace(finding, pairs=0)
    if what == "longest":
        (seed,) = details[1:]
        kind = mechanism(name)
        # It is tried in addition to the pairs that are promised.
        return replace(audit.replay_cases(kind, [audit.LONGEST], seed, by_kind), pairs=0)
    numbers, seed = details[1:]
    if name in WHOLE_RUNS:
        room = import_module(f"explorer.{name}.audit")
        return room.replay_cases(numbers, seed)
    return audit.replay_cases(mechanism(name), numbers, seed, by_kind)


def _begin() -> None:
    # The parent alone answers Ctrl-C; leaving the pool ends its processes.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Pairs are chosen where mechanisms are slow or coarse: a user who audits need not be told.
    warnings.simplefilter("ignore", UserWarning)


def _part_done(findings: dict[str, Finding], pairs: int | None, time_gone: float) -> float:
    by_pairs = 0.0
    if pairs is not None:
        by_pairs = sum(min(entry.pairs / pairs, 1.0) for entry in findings.values()) / len(findings)
    return max(by_pairs, time_gone)
