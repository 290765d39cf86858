"""After an update no compiled function goes on with the code of a file that has changed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from explorer.compiled_code import is_prepared, note_prepared, remove_outdated

SOURCES = {
    "__init__.py": "",
    "constants.py": "STEP = 1\n",
    "called.py": (
        "from numba import njit\nfrom package.constants import STEP\n\n"
        "@njit(cache=True)\ndef called(value):\n    return 10 * value + STEP\n"
    ),
    "caller.py": (
        "from numba import njit\nfrom package import (\n    called as inner,\n)\n\n"
        "called = inner.called\n\n"
        "@njit(cache=True)\ndef caller(value):\n    return called(value)\n"
    ),
    "apart.py": (
        "from numba import njit\n\n@njit(cache=True)\ndef apart(value):\n    return value\n"
    ),
}
RUN = """
import sys
from pathlib import Path
if sys.argv[1] == "check":
    from explorer.compiled_code import remove_outdated
    remove_outdated(Path("package"))
from package.apart import apart
from package.caller import caller
apart(1)
value = caller(1)
hits = [sum(kernel.stats.cache_hits.values()) for kernel in (caller, apart)]
print(value, "hits", *hits)
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "package"
    folder.mkdir()
    for name, text in SOURCES.items():
        (folder / name).write_text(text)
    return folder


def run(package: Path, check: bool = True) -> str:
    """What a fresh process computes: 10 + STEP, then how often compiled code was found."""
    command = [sys.executable, "-c", RUN, "check" if check else "leave"]
    return subprocess.run(
        command, cwd=package.parent, capture_output=True, text=True, check=True, timeout=120
    ).stdout.strip()


@pytest.mark.parametrize(
    ("file", "old", "new", "after"),
    [
        ("called.py", "10 * value", "20 * value", "21"),
        ("constants.py", "STEP = 1", "STEP = 7", "17"),
    ],
)
def test_a_changed_callee_or_constant_is_seen_by_its_callers(
    package, file, old, new, after
) -> None:
    assert run(package) == "11 hits 0 0"
    assert run(package) == "11 hits 1 1"
    source = package / file
    source.write_text(source.read_text().replace(old, new))
    assert run(package, check=False) == "11 hits 1 1", "numba alone goes on with the older code"
    assert run(package) == f"{after} hits 0 1", "what does not import the file stays compiled"


def test_nothing_is_read_or_deleted_where_nothing_changed(package) -> None:
    assert set(remove_outdated(package)) == {"apart.py", "called.py", "caller.py"}
    assert remove_outdated(package) == []
    # A new time alone is no new code.
    (package / "called.py").touch()
    assert remove_outdated(package) == []


@pytest.mark.parametrize("apart", [False, True], ids=["beside the sources", "in a folder apart"])
def test_a_part_is_prepared_until_code_that_it_may_hold_changes(
    package, tmp_path, monkeypatch, apart
) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    if apart:
        monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "numba"))
    remove_outdated(package)
    assert not is_prepared(package, "one")
    note_prepared(package, "one", "two")
    remove_outdated(package)
    assert is_prepared(package, "one")
    assert is_prepared(package, "two")
    assert not is_prepared(package, "three")
    source = package / "constants.py"
    source.write_text(source.read_text() + "OTHER = 3\n")
    remove_outdated(package)
    assert not is_prepared(package, "one")
