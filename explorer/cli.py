"""The command line: `dp-explorer COMMAND`, also as `python -m explorer COMMAND`.

What a person can repair ends in one sentence on standard error and exit code 2, an interrupt in
exit code 130. What takes time to load is imported where it is used: help loads the
words of the commands and no library.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

from explorer.commands import COMMANDS, command
from explorer.commands.files import standard_input
from explorer.commands.terminal import note, one_line
from explorer.errors import InputError
from explorer.grid.gdal import skip_drivers
from explorer.privacy.epsilon_range import check_settings
from explorer.privacy.exceeded import BudgetExceeded
from explorer.version import __version__

PROGRAM = "dp-explorer"
#: Seconds until an interrupt that came while numba compiled is tried again.
_RETRY = 0.05
#: Flags of other tools: the flag of a command that represents it, and a sentence's end.
_OF_OTHER_TOOLS = {
    "--delta": ("", "releases have delta 0 (pure differential privacy), so leave it out."),
    "--rho": ("--epsilon", "budgets are epsilon, not rho of zCDP: give --epsilon alone."),
    "--seed": ("--preview", "a draw that can be repeated is --preview SEED, no release."),
    "--sensitivity": ("--contribution-bound", "it follows from --contribution-bound."),
    "--sigma": ("--epsilon", "noise follows from --epsilon."),
}


class _Help(argparse.HelpFormatter):
    """Help with a wider left column."""

    def __init__(self, prog: str, **settings: Any) -> None:
        super().__init__(prog, max_help_position=32, **settings)


class _Parser(argparse.ArgumentParser):
    """A parser whose arguments are declared when it is used, and whose errors are sentences."""

    declare: Callable[[argparse.ArgumentParser], None] | None = None

    def __init__(self, **settings: Any) -> None:
        super().__init__(allow_abbrev=False, formatter_class=_Help, **settings)
        # Longitudes such as -1.2e2 and mistakes such as -inf are values, not flags.
        self._negative_number_matcher = re.compile(r"-(\d|\.\d|inf\b|nan\b)", re.IGNORECASE)

    #: What was typed behind the command, for help that depends on it.
    typed: Sequence[str] = ()

    #: What makes the parser of all commands, for a command that is about them.
    program: Callable[[bool], argparse.ArgumentParser] | None = None

    #: Whether the parameters of every mechanism are declared for all to see.
    whole = False

    def declared(self) -> bool:
        """Declare the arguments, once; returns whether that was now."""
        declare, self.declare = self.declare, None
        if declare is not None:
            declare(self)
        return declare is not None

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        self.typed = tuple(args or ())
        if not self.declared():
            return super().parse_known_args(args, namespace)
        parsed, others = super().parse_known_args(args, namespace)
        if others:
            self._refuse_unknown(others)
        return parsed, others

    def _refuse_unknown(self, others: Sequence[str]) -> None:
        """Raise `InputError` for words that belong to nothing, with the flag that was meant."""
        from explorer.grid.values import nearest

        typed = next((other.partition("=")[0] for other in others if other.startswith("--")), "")
        sentence = f"Unrecognized arguments: {' '.join(others)}"
        needed, advice = _OF_OTHER_TOOLS.get(typed, ("", ""))
        flags = {flag.lstrip("-"): flag for flag in self._option_string_actions}
        if not advice or needed.lstrip("-") not in ("", *flags):
            # Without the dashes, which all flags share.
            near = nearest(typed.lstrip("-"), flags)
            advice = f"did you mean {flags[near]}?" if near else f"see {self.prog} --help."
        raise InputError(f"{sentence}; {advice}")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            from explorer.grid.values import nearest

            near = nearest(str(value), map(str, action.choices))
            if near:
                what = "command" if action.dest == "command" else "value"
                raise InputError(f"Unknown {what} {value!r}; did you mean {near!r}?")
        super()._check_value(action, value)

    def error(self, message: str) -> NoReturn:
        sentence = message[:1].upper() + message[1:]
        raise InputError(f"{sentence}; see {self.prog} --help.")


def build_parser(whole: bool = False) -> argparse.ArgumentParser:
    """The parser of all commands; only the one that is used loads what its arguments need.

    Where it shall be ``whole`` all are declared now, with the parameters of every mechanism.
    """
    parser = _Parser(
        prog=PROGRAM,
        description="Differentially private maps: draw them, question them, see why they differ.",
    )
    parser.add_argument("--version", action="version", version=__version__)
    chooser = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for name in COMMANDS:
        module = command(name)
        subparser = chooser.add_parser(name, help=module.HELP)
        subparser.declare = module.add_arguments
        subparser.program = build_parser
        if whole:
            subparser.whole = True
            subparser.declared()
        subparser.set_defaults(run=module.run)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command.

    Parameters
    ----------
    argv : arguments, by default those of the process

    Returns
    -------
    int
        Exit code: 0, 2 for what a person can repair, 130 for an interrupt.
    """
    if argv is None:
        # The process is a command's own: no file that it opens has a choice of GDAL's drivers.
        skip_drivers()
    try:
        check_settings()
        parser = build_parser()
        with _plain_output():
            arguments = parser.parse_args(argv)
            if arguments.command is None:
                parser.print_help()
                return 0
            with standard_input(arguments) as settings, _interrupts_outside_numba():
                settings.run(settings)
            sys.stdout.flush()
        return 0
    except (InputError, BudgetExceeded) as error:
        return _refuse(error)
    except KeyboardInterrupt:
        note(f"{PROGRAM}: interrupted.")
        return 130
    except BrokenPipeError:
        # Anyone who read the output has seen enough; Python must not flush into the closed pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        what = f"{error.filename}: {error.strerror}" if error.filename else error
        return _refuse(f"A file could not be used ({what}); check its name and its rights.")
    except MemoryError:
        return _refuse("There is not enough memory for this; give a smaller grid or fewer points.")


@contextmanager
def _interrupts_outside_numba() -> Iterator[None]:
    """Raise an interrupt (Ctrl-C) only where no function of numba is running.

    Python drops an exception that is raised in a callback of LLVM, and numba makes a `SystemError`
    of one that is raised while a kernel hands its result back.
    """
    in_main_thread = threading.current_thread() is threading.main_thread()
    # A handler that the caller of `main` has set is left alone.
    if not in_main_thread or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    retries: list[threading.Timer] = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        while retries:
            retries.pop().cancel()
        while frame is not None:
            if frame.f_globals.get("__name__", "").partition(".")[0] in ("numba", "llvmlite"):
                retries.append(threading.Timer(_RETRY, signal.raise_signal, [number]))
                retries[0].daemon = True
                retries[0].start()
                return
            frame = frame.f_back
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        while retries:
            retries.pop().cancel()


def _refuse(reason: object) -> int:
    note(f"{PROGRAM}: {reason}")
    return 2


@contextmanager
def _plain_output() -> Iterator[None]:
    """Warnings as single lines; characters that the terminal lacks as question marks."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    with warnings.catch_warnings():

        def say(message: Warning | str, *_details: Any, **_more: Any) -> None:
            note(f"{PROGRAM}: {one_line(message)}")

        warnings.showwarning = say
        yield
