"""What the commands print, with times, folders and versions of Python taken out."""

from __future__ import annotations

import contextlib
import io
import math
import os
import re
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import numpy as np

from explorer.cli import main
from explorer.commands import COMMANDS
from explorer.scenario import Scenario
from tests.golden.cases import matrix, places
from tests.golden.screens import plain

_HERE = "--around -122.42 37.77 --size 20km --shape 64"
_BOXES = "--rectangle -2000 -1500 0 0.5 --rectangle 100 -50 4000 333.3 --rectangle 0 0 20000 20000"
#: Commands in the order in which they run, in a folder with points.csv, counts.npy, screen.yaml.
COMMAND_LINES = {
    "release": f"release points.csv {_HERE} --epsilon 1 --preview 7 -o map.parquet",
    "release-users": f"release points.csv {_HERE} --user who --contribution-bound 2 "
    "--mechanism kd-hybrid --order quad-first --epsilon 0.5 --preview 7",
    "answer": f"answer map.parquet {_BOXES}",
    "answer-csv": f"answer map.parquet {_BOXES} --format csv",
    "answer-geojson": f"answer map.parquet {_BOXES} --format geojson",
    "evaluate": "evaluate counts.npy --mechanisms ug,htf,privtree --epsilon 0.1 1 --seeds 2 "
    "--jobs 1 --workload random total --metric mre20 bias mae",
    "mechanisms": "mechanisms",
    "mechanisms-htf": "mechanisms htf",
    "scenario-link": "scenario screen.yaml --to link",
    "scenario-python": "scenario screen.yaml",
}
HELPS = ("", *COMMANDS)


def help_of(command: str) -> str:
    """The help of a command; of the program without one."""
    with _terminal() as out, contextlib.suppress(SystemExit):
        main([*([command] if command else []), "--help"])
    return out.getvalue()


def prepare(folder: Path) -> None:
    """Write the files that the command lines read."""
    place = np.round((places(5, 4_000) - 0.5) * 0.2, 6)
    rows = [f"{-122.42 + x:.6f},{37.77 + y:.6f},{k % 700}" for k, (y, x) in enumerate(place)]
    (folder / "points.csv").write_text("\n".join(["lon,lat,who", *rows, "0,0,1", ""]))
    np.save(folder / "counts.npy", matrix((48, 37)).counts)
    (folder / "screen.yaml").write_text(Scenario.from_dict(plain("boxes")).to_yaml(), "utf8")


def printed(name: str, folder: Path) -> str:
    """What a command line prints to standard output in a prepared folder."""
    with _terminal() as out, contextlib.chdir(folder):
        code = main(COMMAND_LINES[name].split())
    if code:
        raise AssertionError(f"{name} ended in code {code}")
    text = out.getvalue().replace(str(folder), "FOLDER")
    return re.sub(r"\d+\.\d s\b", "# s", text)


@contextlib.contextmanager
def _terminal() -> Iterator[io.StringIO]:
    """A terminal of 100 columns without colours, and a ledger that nobody knows."""
    settings = {"COLUMNS": "100", "LINES": "40", "NO_COLOR": "1", "EXPLORER_LEDGER": os.devnull}
    with (
        mock.patch.dict(os.environ, settings),
        contextlib.redirect_stdout(io.StringIO()) as out,
        contextlib.redirect_stderr(io.StringIO()),
    ):
        yield out


def same(before: str, now: str) -> bool:
    """Whether two texts have the same words, and numbers that two machines may print."""
    number = re.compile(r"-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?")
    if number.sub("#", before) != number.sub("#", now):
        return False
    pairs = zip(number.findall(before), number.findall(now), strict=True)
    return all(math.isclose(*(float(n.replace(",", "")) for n in two)) for two in pairs)


def words(text: str) -> str:
    """A help as every version of Python prints it: line ends and repeated names differ."""
    text = re.sub(r"(-\w) (\[?[A-Z]\S*), (--[\w-]+) \2", r"\1, \3 \2", text)
    return " ".join(text.split())
