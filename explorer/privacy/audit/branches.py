"""Which branches of the code that draws, charges or decides an audit has been through.

A branch is one outcome of a conditional jump in Python's own instructions, finer than a line:
`a and b`, a comprehension that comes to its end and a loop that is never left count, too. Code is
watched until all of its branches were seen, so that most of an audit runs at full speed.

What compiled kernels do inside is not seen: they are held by comparing them with their Python
(`sources.check_kernels`). Not counted are functions that say something of a release or of settings
and neither draw, charge nor decide (`WORDS`), and which exception flies.
"""

from __future__ import annotations

import dis
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, ClassVar, NamedTuple

ROOT = Path(__file__).parents[2]
FILES = (
    *(f"privacy/{name}.py" for name in ("curator", "keyed", "noise", "reports", "allocation")),
    *(f"privacy/{name}.py" for name in ("partitions", "cuts")),
    "releases/units.py",
    *(
        f"mechanisms/{name}.py"
        for name in (
            *("baselines", "base", "daf", "gravity", "grids", "hierarchies", "htf", "kdtrees"),
            *("mosaic", "privlet", "privtree", "quadtree", "trip_grids"),
        )
    ),
)
"""The watched files."""
WORDS = re.compile(
    r"\b(decision|relevant|settings|tunables|with_|of|summarize|__eq__|__hash__|__str__|__repr__"
    r"|_repr_html_|shape_is_public|has_known_distribution|warm_up|require_release|_level_of"
    r"|_checked|_check_size|_check_dimensions|as_counts|facts)\b"
)
"""Functions that say something, or look at settings before a curator is there."""

NEVER = {
    ("privacy/curator.py", "Curator.privtree"): "it begins with a node",
    ("mechanisms/gravity.py", "Gravity._cut_where_trips_are"): "it begins with a node",
    ("mechanisms/htf.py", "HTF.plan"): "at height 0 every node ends",
    ("mechanisms/kdtrees.py", "KDCell.plan"): "at the last level every node ends",
    ("mechanisms/kdtrees.py", "_grow"): "at the last level every node ends",
}
"""Loops that are never left by the question at their head, and why."""

_OUTCOME = {False: "jumped", True: "passed"}

Seen = set[tuple[str, str, int, int, bool]]
"""File, function, its first line, an instruction in it, and whether it was passed through."""


@cache
def branches_of(file: str) -> frozenset[tuple[str, str, int, int, bool]]:
    """All branches of a watched file."""
    source = (ROOT / file).read_text(encoding="utf-8")
    compiled = _compiled(source)
    branches: Seen = set()
    for code in _codes(compile(source, str(ROOT / file), "exec")):
        if code.co_firstlineno in compiled or WORDS.search(
            code.co_qualname.split(".<")[0].split(".")[-1]
        ):
            continue
        for offset, loops in jumps(code).items():
            for passed in (False, True):
                if not (not passed and loops.is_loop and (file, code.co_qualname) in NEVER):
                    branches.add((file, code.co_qualname, code.co_firstlineno, offset, passed))
    return frozenset(branches)


@cache
def lines_of(file: str) -> dict[tuple[str, int, int], int]:
    """The line of each conditional jump, by function, its first line and the instruction."""
    source = (ROOT / file).read_text(encoding="utf-8")
    result = {}
    for code in _codes(compile(source, str(ROOT / file), "exec")):
        for begin, end, line in code.co_lines():
            for offset in range(begin, end, 2):
                result[code.co_qualname, code.co_firstlineno, offset] = line or code.co_firstlineno
    return result


def _codes(code: CodeType) -> Iterator[CodeType]:
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            if inner.co_flags & 0x2 or inner.co_name.startswith("<"):
                yield inner
            yield from _codes(inner)


def _compiled(source: str) -> set[int]:
    """First lines of functions that numba compiles, as code objects count them."""
    lines = source.splitlines()
    return {number for number, line in enumerate(lines, 1) if line.startswith("@njit")}


def _line(step: dis.Instruction) -> int | None:
    return step.positions.lineno if step.positions is not None else None


class Jump(NamedTuple):
    """A conditional jump: where it goes on if it does not jump, and whether a loop asks."""

    next: int
    is_loop: bool


@cache
def jumps(code: CodeType) -> dict[int, Jump]:
    """Where each conditional jump of a function is, and where it goes on if it does not jump.

    Which exception flies is no branch of the rule.
    """
    jumps, before, begin = {}, "", -1
    steps = list(dis.get_instructions(code))
    # The line of a `while` that is asked before it runs, and again behind its last line.
    asked_at = [_line(s) for s in steps if "_IF_" in s.opname]
    loops = {line for line in asked_at if asked_at.count(line) > 1}
    for step, after in zip(steps, [*steps[1:], None], strict=True):
        name = step.opname
        # No one is told between a prefix and the instruction that it belongs to.
        begin = step.offset if begin < 0 else begin
        if name == "EXTENDED_ARG":
            continue
        is_conditional = ("JUMP" in name and "_IF_" in name) or name == "FOR_ITER"
        if (
            is_conditional
            and after is not None
            and before not in ("CHECK_EXC_MATCH", "WITH_EXCEPT_START")
        ):
            jumps[begin] = Jump(after.offset, name == "FOR_ITER" or _line(step) in loops)
        before, begin = name, -1
    return jumps


@contextmanager
def watched() -> Iterator[None]:
    """What runs inside is watched, if anybody watches; all else goes at full speed."""
    if Watch.present is None:
        yield
        return
    Watch.present.look()
    try:
        yield
    finally:
        sys.settrace(None)


class Watch:
    """Notes the branches that are taken in what is `watched` while it is entered.

    Attributes
    ----------
    present : who watches in this process
    seen : what was taken so far
    """

    present: ClassVar[Watch | None] = None

    def __init__(self) -> None:
        self.seen: Seen = set()
        self._left: dict[CodeType, Any] = {}
        self._names = {str(ROOT / file): file for file in FILES}

    def __enter__(self) -> Watch:
        Watch.present = self
        return self

    def __exit__(self, *_: object) -> None:
        Watch.present = None

    def look(self) -> None:
        """Begin to note branches in this thread."""
        sys.settrace(self._called)

    def _called(self, frame: FrameType, _event: str, _about: Any) -> Any:
        code = frame.f_code
        left = self._left.get(code)
        if left is None:
            left = self._left[code] = self._open(code)
        if not left:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self._steps(code, left)

    def _open(self, code: CodeType) -> set[tuple[int, bool]]:
        if code.co_filename not in self._names:
            return set()
        return {(offset, passed) for offset in jumps(code) for passed in (False, True)}

    def _steps(self, code: CodeType, left: set[tuple[int, bool]]) -> Any:
        file, follows, before = self._names[code.co_filename], jumps(code), -1

        def step(frame: FrameType, event: str, _about: Any) -> Any:
            nonlocal before
            if event == "opcode":
                at = frame.f_lasti
                if before in follows:
                    branch = before, at == follows[before].next
                    if branch in left:
                        left.discard(branch)
                        name = code.co_qualname, code.co_firstlineno
                        self.seen.add((file, *name, *branch))
                before = at
            return step

        return step


def counted(covered: Seen) -> list[tuple[str, int, int, list[str]]]:
    """For each watched file: branches taken, branches there are, and where those missing are."""
    table = []
    for file in FILES:
        every = branches_of(file)
        missing = sorted(every - covered, key=lambda branch: (branch[2], branch[3]))
        where = [
            f"line {lines_of(file)[name, line, offset]}, in {name}, {_OUTCOME[passed]}"
            for _, name, line, offset, passed in missing
        ]
        table.append((file, len(every) - len(missing), len(every), where))
    return table
