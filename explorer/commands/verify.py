"""dp-explorer verify: whether a published folder is what it says it is."""

from __future__ import annotations

import argparse
from pathlib import Path

from explorer.commands.formats import as_json
from explorer.commands.terminal import one_line, table

HELP = "check a published folder, whoever made it"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the folder and the key."""
    parser.description = (
        "Check a folder that `dp-explorer publish` made: every file against the manifest, the "
        "signature, the partition, what was paid, the formats against each other, the registry's "
        "entry. It is read in a process with limits, since it may come from anywhere. The exit "
        "code is 0 where it holds, 1 where it does not, 2 where it cannot be read."
    )
    parser.add_argument("folder", metavar="DIR", help="the folder")
    parser.add_argument(
        "--key", metavar="FILE", help="the public key of the publisher: no other signature holds"
    )
    parser.add_argument("--json", action="store_true", help="print what was found as JSON")


def run(arguments: argparse.Namespace) -> None:
    """Look at the folder and print what was found; exit code 1 where it does not hold."""
    from explorer.publish.checks import verify
    from explorer.publish.signing import public_key

    key = b"" if arguments.key is None else public_key(Path(arguments.key).expanduser())
    verdict = verify(arguments.folder, key)
    if arguments.json:
        print(as_json(verdict.facts()), end="")
    else:
        rows = [
            [check.name, "holds" if check.holds else "DOES NOT HOLD", check.said]
            for check in verdict.checks
            if check.name != "signature"
        ]
        print(table(("what", "verdict", "found"), rows, left=3))
        print()
        print(one_line(verdict.signature))
        if verdict.warning:
            print(one_line(verdict.warning))
        print("The folder holds." if verdict.holds else "The folder does NOT hold.")
    if not verdict.holds:
        raise SystemExit(1)
