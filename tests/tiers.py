"""Which tests belong to which run, from the seconds that they took.

`bash tests/run quick` runs the tests of less than a tenth of a second. `bash tests/run` adds those
of up to half a second, and of every longer test function the quickest case, where that takes no
more than a second and a half. `bash tests/run all` leaves out nothing, and renews `durations.txt`,
which holds the seconds of each test of a tenth of a second or more.

What a test takes decides, unless a mark does: `journey` (a browser test of every run), `slow` (only
in `all`), `planted` (a planted bug: by default only after a change of what can hold one).
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
DURATIONS = Path(__file__).with_name("durations.txt")
PLANTED = Path(__file__).with_name("planted.txt")
#: What is in a run, from the smallest to the largest.
TIERS = ("quick", "default", "all")
#: Seconds of the longest test of a tier, of the longest quickest case of a function, and of the
#: shortest test that is kept.
LONGEST, LONGEST_ALONE, SHORTEST = {"quick": 0.1, "default": 0.5}, 1.5, 0.1
#: Packages below `explorer` whose bugs the audit has to find.
AUDITED = ("country", "federated", "mechanisms", "privacy", "releases", "trips")


def kept_durations() -> dict[str, float]:
    """Seconds by the name of a test, such as ``tests/grid/test_grid.py::test_edges[north]``."""
    if not DURATIONS.is_file():
        return {}
    lines = DURATIONS.read_text(encoding="utf-8").splitlines()
    return {name: float(seconds) for seconds, _, name in (line.partition(" ") for line in lines)}


def keep_durations(measured: Mapping[str, float]) -> None:
    """Renew what is kept of these tests; what is no longer in its file goes."""
    merged = kept_durations() | dict(measured)
    texts = {name.partition("::")[0]: "" for name in merged}
    for name in texts:
        if (ROOT / name).is_file():
            texts[name] = (ROOT / name).read_text(encoding="utf-8")

    def is_there(name: str) -> bool:
        file, _, test = name.partition("::")
        return f"def {test.partition('[')[0].rpartition('::')[2]}(" in texts[file]

    lines = [
        f"{seconds:.2f} {name}\n"
        for name, seconds in sorted(merged.items())
        if seconds >= SHORTEST and (name in measured or is_there(name))
    ]
    DURATIONS.write_text("".join(lines), encoding="utf-8")


def seconds_of_files(names: Iterable[str], durations: Mapping[str, float]) -> Counter[str]:
    """Seconds of each file of these tests; what is not known takes a hundredth of a second.

    >>> seconds_of_files(["a.py::x", "a.py::y[1]", "b.py::z"], {"a.py::y[1]": 3.0})["a.py"]
    3.01
    """
    files: Counter[str] = Counter()
    for name in names:
        files[name.partition("::")[0]] += durations.get(name, 0.01)  # type: ignore[assignment]
    return files


def tier_of(
    seconds: float, marks: Collection[str], audited_changed: bool = False, quickest: bool = False
) -> str:
    """The smallest tier that a test belongs to.

    Parameters
    ----------
    seconds : that it took
    marks : names of its marks
    audited_changed : whether what the planted bugs are planted in has changed
    quickest : whether no other case of its function takes less

    Examples
    --------
    >>> [tier_of(seconds, []) for seconds in (0.01, 0.3, 1.0, 60)]
    ['quick', 'default', 'all', 'all']
    >>> tier_of(1.0, [], quickest=True), tier_of(60, [], quickest=True)
    ('default', 'all')
    >>> tier_of(5, ["browser"]), tier_of(5, ["browser", "journey"])
    ('all', 'default')
    >>> tier_of(0.01, ["planted"]), tier_of(0.01, ["planted"], audited_changed=True)
    ('all', 'default')
    """
    if "slow" in marks:
        return "all"
    if "browser" in marks:
        return "default" if "journey" in marks else "all"
    if "planted" in marks:
        return "default" if audited_changed else "all"
    if seconds > (LONGEST_ALONE if quickest else LONGEST["default"]):
        return "all"
    return "default" if seconds > LONGEST["quick"] or "audit" in marks else "quick"


def audited_state() -> str:
    """A digest of all files that the audit looks for bugs in, and of the audit's own tests."""
    digest = hashlib.sha256()
    folders = [ROOT / "explorer" / name for name in (*AUDITED, "testing")] + [ROOT / "tests/audit"]
    for path in sorted(path for folder in folders for path in folder.rglob("*.py")):
        digest.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()


def audited_changed() -> bool:
    """Whether it has changed since `bash tests/run all` found every planted bug."""
    return not PLANTED.is_file() or PLANTED.read_text("ascii").strip() != audited_state()


def keep_audited() -> None:
    """Note that every planted bug was found."""
    PLANTED.write_text(audited_state() + "\n", encoding="ascii")


class Run:
    """What a run of pytest does with tiers: chooses, orders, and keeps what it has measured.

    Parameters
    ----------
    config : of the run, or of one of its two processes
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._tier: str | None = config.getoption("--tier")
        self._last_begin: float = config.getoption("--last-begin")
        self._begun: set[Path] = set()
        self._measured: dict[str, float] = {}
        self._not_begun: dict[str, None] = {}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave out what belongs to other tiers; the longest files first.

        Or a process that gets a long file last works on while the other has nothing to do. What an
        earlier run had no time for is before all.
        """
        durations, changed = kept_durations(), audited_changed()
        quickest: dict[str, pytest.Item] = {}
        for item in sorted(items, key=lambda item: durations.get(item.nodeid, 0.0)):
            quickest.setdefault(_function(item), item)

        def is_in(item: pytest.Item) -> bool:
            marks = {mark.name for mark in item.iter_markers()}
            if "browser" in item.path.parts:
                marks.add("browser")
            if self._tier is None:
                return "slow" not in marks
            alone = quickest[_function(item)] is item
            tier = tier_of(durations.get(item.nodeid, 0.0), marks, changed, alone)
            if self._tier == "rest":
                return tier == "all"
            return TIERS.index(tier) <= TIERS.index(self._tier)

        chosen = [item for item in items if is_in(item)]
        left_out = [item for item in items if not is_in(item)]
        if left_out:
            self._config.hook.pytest_deselected(items=left_out)
        if self._tier in ("default", "rest", "all"):
            files = seconds_of_files((item.nodeid for item in chosen), durations)
            late = self._late_before()

            def weight(item: pytest.Item) -> tuple[bool, float]:
                file = item.nodeid.partition("::")[0]
                return file in late, files[file]

            chosen.sort(key=weight, reverse=True)
        items[:] = chosen

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Begin no file, and none of its fixtures, when there is no time left."""
        if item.path not in self._begun and time.time() > self._last_begin:
            pytest.skip(_LATE)
        self._begun.add(item.path)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep what a test took, and which files were not begun."""
        if report.skipped and _LATE in str(report.longrepr):
            self._not_begun[report.nodeid.partition("::")[0]] = None
        elif report.when == "call":
            self._measured[report.nodeid] = report.duration

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Name the files that were not begun."""
        if self._not_begun:
            terminalreporter.section("not begun: no time left")
            terminalreporter.write_line("\n".join(self._not_begun))

    def pytest_sessionfinish(self) -> None:
        """Keep the durations, and what is to come first the next time."""
        if hasattr(self._config, "workerinput") or self._tier is None:
            return
        if self._cache is not None:
            ran = {name.partition("::")[0] for name in self._measured}
            late = [*(set(self._late_before()) - ran), *self._not_begun]
            self._cache.set(_CACHED, sorted({*late}))
        if self._config.getoption("--keep-durations"):
            keep_durations(self._measured)

    def _late_before(self) -> list[str]:
        """Files that earlier runs had no time for."""
        return [] if self._cache is None else self._cache.get(_CACHED, [])

    @property
    def _cache(self) -> pytest.Cache | None:
        # It is not there with "-p no:cacheprovider".
        return getattr(self._config, "cache", None)


def _function(item: pytest.Item) -> str:
    return item.nodeid.partition("[")[0]


_LATE = "there was no time left to begin this file"
_CACHED = "explorer/not_begun"

if __name__ == "__main__":
    keep_audited()
