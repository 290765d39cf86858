"""A run that has no time left names what it did not begin, and begins there the next time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
#: A test whose fixture says that it was set up.
FILE = """
import pytest

@pytest.fixture(scope="module")
def server():
    print("the fixture of {name} was set up")

def test_{name}(server):
    print("{name} was run")
    assert {holds}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Tests of their own: "a" passes and "b" fails."""
    (tmp_path / "conftest.py").write_text(
        "from tests.conftest import pytest_addoption, pytest_configure\n"
    )
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    for name, holds in (("a", True), ("b", False)):
        (tmp_path / f"test_{name}.py").write_text(FILE.format(name=name, holds=holds))
    return tmp_path


def run(folder: Path, *arguments: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "pytest", "-s", "--rootdir", str(folder), str(folder)]
    done = subprocess.run(
        [*command, "-c", str(folder / "pytest.ini"), "--tier", "all", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def test_what_was_not_begun_is_named_and_comes_first_the_next_time(folder: Path) -> None:
    code, out = run(folder, "--last-begin", "0")
    assert code == 0
    assert "was set up" not in out
    assert "was run" not in out
    named = out.partition("not begun: no time left")[2].split()
    assert {"test_a.py", "test_b.py"} <= {*named}
    # What was begun counts: a failure is one, and nothing of it is left for later.
    code, out = run(folder, "-k", "test_a")
    assert (code, "a was run" in out) == (0, True)
    code, out = run(folder)
    assert code == 1
    assert out.index("b was run") < out.index("a was run")
    assert "no time left" not in out
    code, out = run(folder)
    assert out.index("a was run") < out.index("b was run")
