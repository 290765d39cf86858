"""The commands of `dp-explorer`, one module each.

A new command is a module here and its name in `COMMANDS`. It has `HELP` (one line),
`add_arguments(parser)` and `run(arguments)`, which prints to standard output, raises `InputError`
for what a person can correct, and imports whatever takes time inside its functions.
"""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import Protocol, cast

COMMANDS = (
    "serve",
    "password",
    "release",
    "count",
    "trips",
    "country",
    "federated",
    "publish",
    "verify",
    "ledger",
    "answer",
    "info",
    "evaluate",
    "papers",
    "audit",
    "cities",
    "mechanisms",
    "scenario",
    "completion",
)


class Command(Protocol):
    """What a module of this package has."""

    HELP: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the command's arguments; called only when the command is used."""

    def run(self, arguments: argparse.Namespace) -> None:
        """Do what was asked for."""


def command(name: str) -> Command:
    """The module of a command."""
    return cast(Command, import_module(f"explorer.commands.{name}"))
