"""dp-explorer mechanisms: what there is and what can be set."""

from __future__ import annotations

import argparse

from explorer.commands.terminal import paragraph

HELP = "list the mechanisms, or the parameters of one"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the name of a mechanism."""
    parser.description = "List the mechanisms, or show the parameters of one as flags of `release`."
    parser.add_argument("name", nargs="?", metavar="MECHANISM", help="such as htf")


def run(arguments: argparse.Namespace) -> None:
    """Print one line each, or everything about one."""
    from explorer.commands.flags import described, flag
    from explorer.mechanisms import all_mechanisms, mechanism

    if arguments.name is None:
        width = max(map(len, all_mechanisms()))
        for key, each in all_mechanisms().items():
            print(f"{key:<{width}}  {each.summary} {each.paper}")
        return
    chosen = mechanism(arguments.name)
    print(f"{chosen.title}: {chosen.summary}\n{chosen.paper}")
    for name in ("epsilon", *chosen.tunables()):
        print(f"\n{flag(name)}")
        print(paragraph(described(chosen.param[name]), 4))
