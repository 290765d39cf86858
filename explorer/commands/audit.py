"""dp-explorer audit: look for breaches of the privacy claim."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from explorer.commands.auditing import WHOLE_RUNS, Audited, audit_all
from explorer.commands.terminal import paragraph, table
from explorer.errors import InputError

if TYPE_CHECKING:
    from explorer.privacy.audit.audit import Finding

HELP = "look for breaches of the privacy claim of the mechanisms"
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
    from explorer.privacy.audit.promises import missing

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
    from explorer.privacy.audit.promises import missing

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
