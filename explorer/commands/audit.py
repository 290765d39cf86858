"""dp-explorer audit: look for breaches of the privacy claim."""

from __future__ import annotations

import argparse
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

from explorer.commands.terminal import paragraph, progress, table
from explorer.errors import InputError

if TYPE_CHECKING:
    from explorer.privacy.audit.audit import Finding
    from explorer.privacy.audit.sources import NoiseFinding

HELP = "look for breaches of the privacy claim of the mechanisms"
WHOLE_RUNS = {"federated": 10, "country": 20}
"""Keys of what is replayed by itself, as whole runs, and how many of those must be."""
CASES = 20  # of one task
HOLDS = "holds"
SECONDS = 40.0
"""Of processor time; what is promised is tried in less."""
_LONGEST = 86_400.0
UNSEEN = (
    "What it cannot see: time and memory; floats inside OpenDP; the inside of compiled kernels, "
    "which are compared with their Python; what a mechanism does only above 512 cells a side; what "
    "an app shows beside the release. Functions that only say something of a release are no "
    "branches here."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what is audited, and for how long."""
    parser.description = (
        "Run mechanisms on pairs of neighbouring data sets with the same noisy figures on both: "
        "the releases must be the same, and the figures at most e^epsilon times likelier on one. "
        "Mechanisms of trips alone run on trips of two places, countries on areas with maps "
        "inside, federated maps on people one of whom has no places. Data sets that differ "
        "everywhere must publish the same to the last "
        "byte of every file, given the same outcomes. Noise, refusals of the curator and "
        "conversions of budgets are tested too, and with all mechanisms the branches of the code "
        "are counted that were gone through. Ends in exit code 1 if a claim does not "
        "hold, or if less was tried or gone through than is promised."
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

    every = [*{**all_mechanisms(), **trip_mechanisms()}, *WHOLE_RUNS]
    name = arguments.mechanism
    keys = every if name == "all" else [name if name in WHOLE_RUNS else mechanism(name).key]
    seconds, pairs = arguments.seconds, arguments.pairs
    if pairs is not None and pairs < 1:
        raise InputError(f"--pairs is {pairs}; give a whole number, 1 or more.")
    if seconds is None:
        seconds = SECONDS if pairs is None else _LONGEST
    if not 0 < seconds <= _LONGEST:
        raise InputError(f"--seconds is {seconds:g}; give a number above 0, at most {_LONGEST:g}.")
    audited = audit_all(keys, seconds, pairs, arguments.seed, name == "all")
    print(report(audited))
    if any(verdict(entry, audited) != HOLDS for entry in audited.found):
        raise SystemExit(1)
    if any(check.breach for check in audited.noise):
        raise SystemExit(1)


def verdict(finding: Finding, audited: Audited) -> str:
    """What may be said of a mechanism: that it holds only where all that is promised was tried."""
    from explorer.privacy.audit.audit import missing

    if finding.breach:
        return "BREACH"
    if missing(finding):
        return "too few"
    return "not shown" if _left_out(audited) else HOLDS


def _left_out(audited: Audited) -> list[str]:
    """The lines of the branches that no mechanism went through."""
    from explorer.privacy.audit.branches import counted

    if not audited.whole:
        return []
    reached = set().union(*audited.seen.values())
    return [f"{file}: {place}" for file, _, _, where in counted(reached) for place in where]


def report(audited: Audited) -> str:
    """Tables of what was tried and found, and every breach in words."""
    from explorer.privacy.audit.audit import missing

    header = ["mechanism", "pairs", "large", "strangers", "largest grid", "longest call"]
    header += ["branches", "loss/eps", "noise p", "verdict"]
    rows = [
        [
            entry.key,
            f"{entry.pairs:,}",
            f"{entry.large:,}",
            f"{entry.strangers:,}",
            f"{entry.cells:,} cells" if entry.cells else "",
            f"{entry.call:,}" if entry.call else "",
            f"{len(audited.seen.get(entry.key, ())):,}",
            f"{entry.largest:.6f}",
            f"{entry.p_value:.3f}",
            verdict(entry, audited),
        ]
        for entry in audited.found
    ]
    lines = [table(header, rows), ""]
    header = ["source", "draws of", "number", "chi-square p", "bound/eps", "verdict"]
    rows = [
        [
            check.source,
            check.kind,
            f"{check.draws:,}",
            f"{check.p_value:.3f}",
            f"{check.bound:.2f}" if check.bound else "",
            "BREACH" if check.breach else "holds",
        ]
        for check in audited.noise
    ]
    lines.append(table(header, rows, left=2))
    if audited.whole:
        lines += ["", *_branches(audited)]
    for finding in audited.found:
        if finding.breach:
            lines += ["", paragraph(f"{finding.key}: {finding.breach}")]
    for one in audited.noise:
        if one.fault:
            lines += ["", paragraph(f"{one.source}, {one.kind}: {one.fault}")]
    for finding in audited.found:
        if not finding.breach and missing(finding):
            tried = ", ".join(missing(finding))
            why = f"{finding.key} is not shown to hold: only {tried} were tried."
            lines += ["", paragraph(why)]
    left_out = _left_out(audited)
    if left_out:
        why = (
            "Nothing is shown to hold: branches that draw, charge or decide were not gone through."
        )
        lines += ["", paragraph(why), *left_out]
    lines += ["", paragraph(UNSEEN), "", f"{audited.seconds:.0f} seconds of processor time."]
    return "\n".join(lines)


def _branches(audited: Audited) -> list[str]:
    """A row for each file: branches that were taken, and what they are of those that there are."""
    from explorer.privacy.audit.branches import counted

    rows = []
    for file, covered, every, _ in counted(set().union(*audited.seen.values())):
        part = 100.0 * covered / every if every else 100.0
        # 99.9 % is not 100.
        rows.append([file, f"{covered} of {every}", f"{int(part)} %"])
    return [table(["file", "branches taken", "part"], rows)]


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
        result = _result(what, details)
    # Imports are the audit's, too: a process's first answer has them in it.
    global _counted
    begin, _counted = (begin if _counted else 0.0), True
    return Answer(name, result, watch.seen, time.process_time() - begin)


_counted = False


def _result(what: str, details: tuple[Any, ...]) -> Any:
    from explorer.mechanisms import PrivTree, mechanism
    from explorer.privacy.audit import audit, proofs, sources
    from explorer.testing import corners, refusals
    from explorer.testing.counts import by_kind

    name = details[0]
    if what == "noise":
        if name == "curator":
            return refusals.check_curator()
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
        whole_runs = import_module(f"explorer.{name}.audit")
        return whole_runs.replay_cases(numbers, seed)
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
