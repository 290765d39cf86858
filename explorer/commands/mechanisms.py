"""dp-explorer mechanisms: what there is and what can be set."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from explorer.commands.formats import add_format, as_text
from explorer.commands.terminal import paragraph

if TYPE_CHECKING:
    from explorer.mechanisms import Mechanism

HELP = "list the mechanisms, or the parameters of one"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the name of a mechanism."""
    parser.description = (
        "List the mechanisms, or show the parameters of one as flags of `release` and `trips`."
    )
    parser.add_argument("name", nargs="?", metavar="MECHANISM", help="such as htf")
    add_format(parser)


def run(arguments: argparse.Namespace) -> None:
    """Print one line each, or everything about one."""
    from explorer.commands.flags import allowed, described, flag
    from explorer.mechanisms import all_mechanisms, mechanism, trip_mechanisms

    if arguments.name is None:
        every = {**all_mechanisms(), **trip_mechanisms()}
        if arguments.format != "table":
            about = ("key", "title", "summary", "paper", "for_maps")
            listed = {name: [getattr(kind, name) for kind in every.values()] for name in about}
            print(as_text(listed, arguments.format), end="")
            return
        width = max(map(len, every))
        for key, kind in every.items():
            print(f"{key:<{width}}  {kind.summary} {kind.paper}{_only(kind)}")
        return
    chosen = mechanism(arguments.name)
    if arguments.format != "table":
        declared = [chosen.param[name] for name in ("epsilon", *chosen.tunables())]
        settings = {
            "parameter": [parameter.name for parameter in declared],
            "default": [parameter.default for parameter in declared],
            "allowed": [allowed(parameter) for parameter in declared],
            "meaning": [parameter.doc for parameter in declared],
        }
        print(as_text(settings, arguments.format), end="")
        return
    print(f"{chosen.title}: {chosen.summary}\n{chosen.paper}{_only(chosen)}")
    for name in ("epsilon", *chosen.tunables()):
        print(f"\n{flag(name)}")
        print(paragraph(described(chosen.param[name]), 4))


def _only(kind: type[Mechanism]) -> str:
    return "" if kind.for_maps else " (trips only)"
