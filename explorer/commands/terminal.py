"""What the commands print: tables, notes and progress."""

from __future__ import annotations

import sys
import textwrap
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from shutil import get_terminal_size

from explorer.privacy.bars import Bar


def one_line(text: object) -> str:
    r"""A text in which nothing steers a terminal: names and columns come from files.

    >>> one_line("a\x1b[31mb\nc")
    'a [31mb c'
    """
    return "".join(sign if sign.isprintable() else " " for sign in str(text))


def note(text: object) -> None:
    """Tell the user something on standard error."""
    print(one_line(text), file=sys.stderr)


def table(header: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Lines of aligned columns: the first `left` to the left, the others to the right.

    >>> print(table(["name", "value"], [["Q1", "7.0"], ["Q2", "123.4"]]))
    name  value
    Q1      7.0
    Q2    123.4
    """
    lines = [[one_line(cell) for cell in row] for row in (header, *rows)]
    widths = [max(map(_width, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell + " " * gap if at < left else " " * gap + cell
            for at, cell in enumerate(line)
            for gap in [widths[at] - _width(cell)]
        ).rstrip()
        for line in lines
    )


def paragraph(text: str, indent: int = 0) -> str:
    """Text wrapped to the terminal, at most 100 characters wide."""
    width = min(get_terminal_size().columns, 100)
    margin = " " * indent
    return textwrap.fill(
        one_line(text), width=max(width, 40), initial_indent=margin, subsequent_indent=margin
    )


@contextmanager
def progress(label: str) -> Iterator[Callable[[float], None] | None]:
    """A bar on standard error while a step takes long; None where that is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    bar = Bar(label)
    try:
        yield bar
    finally:
        bar.close()


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text)
