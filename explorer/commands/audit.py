"""dp-explorer audit: look for breaches of the privacy claim."""

from __future__ import annotations

import argparse
import math
import multiprocessing
import os
import signal
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from explorer.commands.terminal import paragraph, progress, table
from explorer.errors import InputError

if TYPE_CHECKING:
    from explorer.privacy.audit.audit import Finding
    from explorer.privacy.audit.sources import NoiseFinding

HELP = "look for breaches of the privacy claim of the mechanisms"
SECONDS = 50.0
"""Of processor time; what is promised is tried in less."""
PROMISED = 80
"""Pairs of every mechanism, without which nothing is said to hold; a tenth on large grids."""
_CASES = 20  # of one task
_RUNS = 8  # the same of whole runs of people, a third of a second each
_LONGEST = 86_400.0
OF_PEOPLE = ("federated",)
"""Keys of what asks people and not a curator: replayed by itself, of fewer pairs."""
_PEOPLES_PAIRS = 32
UNSEEN = (
    "What it cannot see: time and memory; floats inside OpenDP; the inside of compiled kernels, "
    "which are compared with their Python; what a mechanism does only above 256 cells a side; what "
    "an app shows beside the release. Functions that only say something of a release are no "
    "branches here."
)


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


class Audited(NamedTuple):
    """All that an audit found."""

    found: list[Finding]
    noise: list[NoiseFinding]
    seen: Any = None
    """Branches that were taken; None where not all mechanisms were audited."""
    seconds: float = 0.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what is audited, and for how long."""
    parser.description = (
        "Run mechanisms on pairs of neighbouring data sets with the same noisy figures on both: "
        "the releases must be the same, and the figures at most e^epsilon times likelier on one. "
        "Mechanisms of trips alone run on trips of two places, federated maps on people one of "
        "whom has no places. Data sets that differ everywhere must publish the same to the last "
        "byte of every file, given the same outcomes. Noise, refusals of the curator and "
        "conversions of budgets are tested too, and with all mechanisms the branches of the code "
        "are counted that were gone through. Ends in exit code 1 if a claim does not hold."
    )
    parser.add_argument(
        "--mechanism", default="all", metavar="NAME", help="one of them, or all (default)"
    )
    parser.add_argument(
        "--seconds",
        type=float,
        metavar="S",
        help=f"about how much processor time (default {SECONDS:g}, or with --pairs what it takes)",
    )
    parser.add_argument("--pairs", type=int, metavar="N", help="at most so many per mechanism")
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help="names the pairs (default 0)"
    )


def run(arguments: argparse.Namespace) -> None:
    """Audit, print what was found, and exit with code 1 for a breach."""
    from explorer.mechanisms import all_mechanisms, mechanism, trip_mechanisms

    every = [*{**all_mechanisms(), **trip_mechanisms()}, *OF_PEOPLE]
    name = arguments.mechanism
    keys = every if name == "all" else [name if name in OF_PEOPLE else mechanism(name).key]
    seconds, pairs = arguments.seconds, arguments.pairs
    if pairs is not None and pairs < 1:
        raise InputError(f"--pairs is {pairs}; give a whole number, 1 or more.")
    if seconds is None:
        seconds = SECONDS if pairs is None else _LONGEST
    if not 0 < seconds <= _LONGEST:
        raise InputError(f"--seconds is {seconds:g}; give a number above 0, at most {_LONGEST:g}.")
    audited = audit_all(keys, seconds, pairs, arguments.seed, name == "all")
    print(report(audited))
    if any(each.breach for each in audited.found) or any(each.breach for each in audited.noise):
        raise SystemExit(1)


def audit_all(
    keys: Sequence[str], seconds: float, pairs: int | None, seed: int, branches: bool = False
) -> Audited:
    """Audit mechanisms in as many processes as there are processors, cases taken in turn.

    Parameters
    ----------
    keys : of the mechanisms
    seconds : of processor time, after which nothing more is begun than what is promised
    pairs : at most so many of each, or None
    seed : names the pairs
    branches : whether the branches of the code are watched that all together go through
    """
    from explorer.privacy.audit.audit import Finding

    workers, spent = os.cpu_count() or 1, 0.0
    found = {key: Finding(key) for key in keys}
    noise: list[NoiseFinding] = []
    seen: set[Any] = set()

    def collect(answer: Answer) -> None:
        nonlocal spent
        if answer.name in found:
            found[answer.name] += answer.what
        else:
            noise.extend(answer.what)
        seen.update(answer.seen)
        spent += answer.seconds

    # Spawned: a fork would copy locks that threads of libraries hold.
    context = multiprocessing.get_context("spawn")
    with progress("Auditing") as tell, context.Pool(workers, _ignore_interrupts) as pool:
        waiting: deque[Any] = deque()
        for task in _tasks(keys, pairs, seed, lambda key: found[key].fault is None):
            if spent > seconds and not task.must:
                break
            waiting.append(
                pool.apply_async(_work, (task.what, task.details, branches and task.must))
            )
            # Ahead by more than the workers, or a long task would leave the others idle.
            while len(waiting) > 3 * workers:
                collect(waiting.popleft().get())
            if tell is not None:
                tell(_part_done(found, pairs, min(1.0, spent / seconds)))
        while waiting:
            collect(waiting.popleft().get())
    return Audited(list(found.values()), noise, seen if branches else None, spent)


def verdict(found: Finding) -> str:
    """What may be said of a mechanism: that it holds only on as many pairs as are promised."""
    if found.breach:
        return "BREACH"
    people = found.key in OF_PEOPLE
    enough = found.pairs >= (_PEOPLES_PAIRS if people else PROMISED)
    large = people or found.large * 10 >= PROMISED
    return "holds" if enough and large else "too few"


def report(audited: Audited) -> str:
    """Tables of what was tried and found, and every breach in words."""
    header = ["mechanism", "pairs", "large", "strangers", "largest grid", "longest call"]
    header += ["loss/eps", "noise p", "verdict"]
    rows = [
        [
            each.key,
            f"{each.pairs:,}",
            f"{each.large:,}",
            f"{each.strangers:,}",
            f"{each.cells:,} cells" if each.cells else "",
            f"{each.call:,}" if each.call else "",
            f"{each.largest:.6f}",
            f"{each.p_value:.3f}",
            verdict(each),
        ]
        for each in audited.found
    ]
    lines = [table(header, rows), ""]
    header = ["source", "draws of", "number", "chi-square p", "bound/eps", "verdict"]
    rows = [
        [
            each.source,
            each.kind,
            f"{each.draws:,}",
            f"{each.p_value:.3f}",
            f"{each.bound:.2f}" if each.bound else "",
            "BREACH" if each.breach else "holds",
        ]
        for each in audited.noise
    ]
    lines.append(table(header, rows, left=2))
    if audited.seen is not None:
        lines += ["", *_branches(audited.seen)]
    for each in audited.found:
        if each.breach:
            lines += ["", paragraph(f"{each.key}: {each.breach}")]
    for one in audited.noise:
        if one.fault:
            lines += ["", paragraph(f"{one.source}, {one.kind}: {one.fault}")]
    few = [each.key for each in audited.found if verdict(each) == "too few"]
    if few:
        lines += [
            "",
            paragraph(
                f"Too few pairs to say that these hold: {', '.join(few)}. {PROMISED} are promised."
            ),
        ]
    lines += ["", paragraph(UNSEEN), "", f"{audited.seconds:.0f} seconds of processor time."]
    return "\n".join(lines)


def _branches(seen: Any) -> list[str]:
    """A row for each file: branches that were taken, and what they are of those that there are."""
    from explorer.privacy.audit.branches import counted

    rows, missing = [], []
    for file, taken, every, where in counted(seen):
        part = 100.0 * taken / every if every else 100.0
        rows.append([file, f"{taken} of {every}", f"{part:.0f} %"])
        missing += [f"{file}: {each}" for each in where]
    return [table(["file", "branches taken", "part"], rows), *missing]


def _tasks(
    keys: Sequence[str], pairs: int | None, seed: int, holds: Callable[[str], bool]
) -> Iterator[Task]:
    """What there is to do: sources, corners, a round of cases, further rounds up to the pairs."""
    from explorer.privacy.audit.cases import NEIGHBOURS

    yield Task("noise", ("release",), must=True)
    yield Task("noise", ("preview", seed), must=True)
    yield Task("noise", ("curator",), must=True)
    for key in keys:
        if key not in OF_PEOPLE:
            yield Task("corners", (key,), must=True)
    limit = math.inf if pairs is None else math.ceil(pairs / NEIGHBOURS)
    first = 0
    while first < limit and any(map(holds, keys)):
        numbers = range(first, int(min(first + _CASES, limit)))
        for key in filter(holds, keys):
            people = key in OF_PEOPLE
            step = _RUNS if people else _CASES
            for start in range(0, len(numbers), step):
                part = numbers[start : start + step]
                must = first == 0 and (start == 0 or not people)
                yield Task("replay", (key, part, seed), must=must)
        first += _CASES


def _work(what: str, details: tuple[Any, ...], branches: bool = False) -> Answer:
    """Do a task, in a process of its own."""
    from explorer.privacy.audit.branches import Watch

    begin, name, seen = time.process_time(), details[0], Watch()
    with seen if branches else nullcontext():
        found = _found(what, details)
    # Imports are the audit's, too: a process's first answer has them in it.
    global _counted
    begin, _counted = (begin if _counted else 0.0), True
    return Answer(name, found, seen.seen, time.process_time() - begin)


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
        found = corners.try_corners(mechanism(name), by_kind)
        if name == PrivTree.key:
            found += proofs.privtree_paths(PrivTree, by_kind)
        # Of one pair or so each: they are no part of what is promised.
        return replace(found, pairs=0)
    numbers, seed = details[1:]
    if name in OF_PEOPLE:
        from explorer.federated.audit import replay_cases

        return replay_cases(numbers, seed)
    return audit.replay_cases(mechanism(name), numbers, seed, by_kind)


def _ignore_interrupts() -> None:
    # The parent alone answers Ctrl-C; leaving the pool ends its processes.
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _part_done(found: dict[str, Finding], pairs: int | None, time_gone: float) -> float:
    by_pairs = 0.0
    if pairs is not None:
        by_pairs = sum(min(each.pairs / pairs, 1.0) for each in found.values()) / len(found)
    return max(by_pairs, time_gone)
