"""dp-explorer password: a line for the file of ``serve --auth``, without the password in it."""

from __future__ import annotations

import argparse
import getpass
import sys

from explorer.errors import InputError

HELP = "print a name and the hash of a password, for serve --auth"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the name."""
    parser.description = (
        "Ask for a password and print a line for the file of `serve --auth`, from which nobody "
        "reads it. From a pipe the first line is the password."
    )
    parser.add_argument("name", metavar="NAME", help="who logs in with it")


def run(arguments: argparse.Namespace) -> None:
    """Ask, and print the line."""
    from explorer.app.work.passwords import checked_name, hashed

    if not checked_name(arguments.name):
        raise InputError("This is not a name: leave out spaces and colons.")
    if sys.stdin.isatty():
        password = getpass.getpass("Password: ")
        if getpass.getpass("The same again: ") != password:
            raise InputError("These are two passwords: type the same twice.")
    else:
        password = sys.stdin.readline().rstrip("\r\n")
    print(f"{arguments.name}:{hashed(password)}")
