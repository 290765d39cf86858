"""The commands of `dp-explorer`, one module each.

A new command is a module here and its name in `COMMANDS`. It has `HELP` (one line),
`add_arguments(parser)` and `run(arguments)`, which prints to standard output, raises `InputError`
for what a person can correct, and imports whatever takes time inside its functions.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

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


def command(name: str) -> ModuleType:
    """The module of a command."""
    return import_module(f"explorer.commands.{name}")
