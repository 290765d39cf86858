"""dp-explorer completion: what makes a shell complete commands, flags and files."""

from __future__ import annotations

import argparse

HELP = "print what completes commands and flags in bash, zsh or fish"

SHELLS = ("bash", "zsh", "fish")
#: Arguments that are names of files.
_FILES = (
    "points",
    "map",
    "file",
    "rectangles",
    "polygons",
    "output",
    "boundary",
    "boundaries",
    "auth",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the shell."""
    parser.description = (
        "Print a script that completes commands, flags, their values and files. For bash: "
        "dp-explorer completion bash > ~/.local/share/bash-completion/completions/dp-explorer. "
        "For fish: dp-explorer completion fish > ~/.config/fish/completions/dp-explorer.fish. "
        "For zsh: dp-explorer completion zsh > _dp-explorer, in a folder of $fpath."
    )
    parser.set_defaults(program=getattr(parser, "program", None))
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help=", ".join(SHELLS))


def run(arguments: argparse.Namespace) -> None:
    """Print the script of the whole program, with every command's flags."""
    import shtab

    from explorer.mechanisms import all_mechanisms, trip_mechanisms

    parser = arguments.program(True)
    every = {"trips": trip_mechanisms()}
    for name, command in _parsers(parser).items():
        for action in command._actions:
            if action.dest == "mechanism":
                action.choices = list(every.get(name, all_mechanisms()))
            if action.dest in _FILES and not action.choices:
                action.complete = shtab.FILE  # type: ignore[attr-defined]
    print(shtab.complete(parser, arguments.shell))


def _parsers(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    chooser = next(a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    return dict(chooser.choices)
