"""Which tests `bash tests/run quick` leaves out: those that took longer than half a second.

`python -m tests.slower REPORT.xml` renews the list (slower.txt) from a report of the whole run,
written by `pytest --slow --junitxml=REPORT.xml`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree

KEPT = Path(__file__).with_name("slower.txt")
SECONDS = 0.5


def slower() -> frozenset[str]:
    """Test functions as `tests/file.py::name`, without their parameters."""
    return frozenset(KEPT.read_text(encoding="utf-8").split())


def function_of(node: str) -> str:
    """A test without its parameters.

    >>> function_of("tests/grid/test_grid.py::test_edges[north]")
    'tests/grid/test_grid.py::test_edges'
    """
    return node.partition("[")[0]


def main(report: str) -> None:
    """Write the list anew."""
    found = set()
    for case in ElementTree.parse(report).iter("testcase"):
        file = case.attrib["classname"].replace(".", "/") + ".py"
        if float(case.attrib["time"]) > SECONDS:
            found.add(function_of(f"{file}::{case.attrib['name']}"))
    KEPT.write_text("".join(f"{name}\n" for name in sorted(found)), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
