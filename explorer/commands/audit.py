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
from typing import TYPE_CHECKING, Any, NamedTuple

from explorer.commands.terminal import paragraph, progress, table
from explorer.errors import InputError

if TYPE_CHECKING:
    from explorer.privacy.audit.audit import Finding, NoiseFinding

HELP = "look for breaches of the privacy claim of the mechanisms"
SECONDS = 60.0
_CASES = 100  # of one task
_RUNS = 8  # the same of whole runs of people, a third of a second each
_LONGEST = 86_400.0
OF_PEOPLE = ("federated",)
"""Keys of what asks people and not a curator: replayed by itself, without a black box."""


class Task(NamedTuple):
    """A piece of work for a process; what must be done comes first and is done at any time."""

    what: str
    details: tuple[Any, ...]
    must: bool = False


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what is audited, and for how long."""
    parser.description = (
        "Run mechanisms on pairs of neighbouring data sets with the same noisy figures on both: "
        "the releases must be the same, and the figures at most e^epsilon times likelier on one. "
        "Mechanisms of trips alone run on trips of two places, federated maps on people one of "
        "whom has no places. Noise and a black box are tested too. Ends in exit code 1 if a claim "
        "does not hold."
    )
    parser.add_argument(
        "--mechanism", default="all", metavar="NAME", help="one of them, or all (default)"
    )
    parser.add_argument(
        "--seconds",
        type=float,
        metavar="S",
        help=f"about how long (default {SECONDS:g}, or with --pairs as long as it takes)",
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
    found, noise = audit_all(keys, seconds, pairs, arguments.seed)
    print(report(found, noise))
    if any(each.breach for each in found) or any(each.breach for each in noise):
        raise SystemExit(1)


def audit_all(
    keys: Sequence[str], seconds: float, pairs: int | None, seed: int
) -> tuple[list[Finding], list[NoiseFinding]]:
    """Audit mechanisms in as many processes as there are processors, cases taken in turn."""
    from explorer.privacy.audit.audit import Finding

    end, workers = time.monotonic() + seconds, os.cpu_count() or 1
    found = {key: Finding(key) for key in keys}
    noise: dict[str, list[NoiseFinding]] = {}

    def collect(answer: tuple[str, Any]) -> None:
        name, what = answer
        if name in found:
            found[name] += what
        else:
            noise[name] = what

    # Spawned: a fork would copy locks that threads of libraries hold.
    context = multiprocessing.get_context("spawn")
    with progress("Auditing") as tell, context.Pool(workers, _ignore_interrupts) as pool:
        waiting: deque[Any] = deque()
        share = min(seconds, SECONDS) / len(keys)
        for task in _tasks(keys, pairs, seed, share, lambda key: found[key].fault is None):
            if time.monotonic() > end and not task.must:
                break
            waiting.append(pool.apply_async(_work, (task.what, task.details)))
            # Ahead by more than the workers, or a long task would leave the others idle.
            while len(waiting) > 3 * workers:
                collect(waiting.popleft().get())
            if tell is not None:
                tell(_part_done(found, pairs, 1 - (end - time.monotonic()) / seconds))
        while waiting:
            collect(waiting.popleft().get())
    return list(found.values()), [*noise["preview"], *noise["release"]]


def report(found: Sequence[Finding], noise: Sequence[NoiseFinding]) -> str:
    """Tables of what was found, and every breach in words."""
    header = ["mechanism", "pairs", "pairs/s", "loss/eps", "black box/eps", "noise p", "verdict"]
    rows = [
        [
            each.key,
            f"{each.pairs:,}",
            f"{each.pairs / each.seconds:,.0f}" if each.seconds else "",
            f"{each.largest:.6f}",
            "" if each.black_box is None else f"{each.black_box:.2f}",
            f"{each.p_value:.3f}",
            "BREACH" if each.breach else "holds",
        ]
        for each in found
    ]
    lines = [table(header, rows), ""]
    header = ["noise", "draws of", "number", "chi-square p", "black box/eps", "verdict"]
    rows = [
        [
            each.source,
            each.kind,
            f"{each.draws:,}",
            f"{each.p_value:.3f}",
            f"{each.bound:.2f}",
            "BREACH" if each.breach else "holds",
        ]
        for each in noise
    ]
    lines.append(table(header, rows, left=2))
    for each in found:
        if each.breach:
            lines += ["", paragraph(f"{each.key}: {each.breach}")]
    return "\n".join(lines)


def _tasks(
    keys: Sequence[str],
    pairs: int | None,
    seed: int,
    share: float,
    holds: Callable[[str], bool],
) -> Iterator[Task]:
    """What there is to do: noise, a round of cases, canaries, further rounds up to the pairs."""
    from explorer.privacy.audit.cases import NEIGHBOURS

    yield Task("noise", ("release",), must=True)
    yield Task("noise", ("preview", seed), must=True)
    limit = math.inf if pairs is None else math.ceil(pairs / NEIGHBOURS)
    first = 0
    while first < limit and any(map(holds, keys)):
        numbers = range(first, int(min(first + _CASES, limit)))
        for key in filter(holds, keys):
            step = _RUNS if key in OF_PEOPLE else _CASES
            for start in range(0, len(numbers), step):
                part = numbers[start : start + step]
                yield Task("replay", (key, part, seed), must=first == start == 0)
        if first == 0:
            # About a sixth of the time on two processors; a minute for 14: 343 runs of each.
            runs = min(math.ceil(80 * share), 2000)
            for key in filter(holds, keys):
                if key not in OF_PEOPLE:
                    yield Task("black box", (key, runs, seed))
        first += _CASES


def _work(what: str, details: tuple[Any, ...]) -> tuple[str, Any]:
    """Do a task, in a process of its own."""
    from explorer.mechanisms import mechanism
    from explorer.privacy.audit import audit
    from explorer.testing.wide import by_kind

    name = details[0]
    if what == "noise":
        return name, audit.check_opendp() if name == "release" else audit.check_preview_noise(
            details[1]
        )
    if what == "black box":
        runs, seed = details[1:]
        return name, audit.black_box(mechanism(name), runs, seed, by_kind)
    numbers, seed = details[1:]
    if name in OF_PEOPLE:
        from explorer.federated.audit import replay_cases

        return name, replay_cases(numbers, seed)
    return name, audit.replay_cases(mechanism(name), numbers, seed, by_kind)


def _ignore_interrupts() -> None:
    # The parent alone answers Ctrl-C; leaving the pool ends its processes.
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _part_done(found: dict[str, Finding], pairs: int | None, time_gone: float) -> float:
    by_pairs = 0.0
    if pairs is not None:
        by_pairs = sum(min(each.pairs / pairs, 1.0) for each in found.values()) / len(found)
    return max(by_pairs, time_gone)
