"""What test files share: where real data lies, which Chromium drives the pages, slow tests."""

from __future__ import annotations

import gc
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

from tests.helpers import Clock
from tests.tiers import TIERS, Run

ROOT = Path(__file__).resolve().parent.parent

# The same examples on every run, and no deadline: the first call of a kernel compiles it.
settings.register_profile("explorer", derandomize=True, deadline=None)
settings.load_profile("explorer")


def data_folders() -> list[Path]:
    """Return the folders that may hold real data, in the order of the catalogue of cities."""
    named = os.environ.get("EXPLORER_DATA")
    folders = [Path(named)] if named else []
    return [*folders, ROOT / "data", ROOT.parent / "shared" / "data"]


def find_or_skip(folders: list[Path], name: str) -> Path:
    for folder in folders:
        if (folder / name).exists():
            return folder / name
    pytest.skip(f"needs the file {name}: put it into data/ or point EXPLORER_DATA to its folder")


@pytest.fixture(scope="session", autouse=True)
def own_ledger(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keep what the tests release out of the ledger of the person who runs them."""
    folder = tmp_path_factory.mktemp("ledger")
    os.environ["EXPLORER_LEDGER"] = str(folder / "spends.sqlite3")
    os.environ["EXPLORER_STATE"] = str(folder / "state")


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keep what an earlier state of the code built of areas out of the tests.

    The processes of one run share a folder: files come into it whole.
    """
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    os.environ["EXPLORER_CACHE"] = str(shared / "cache")


@pytest.fixture(scope="session")
def real_data() -> Callable[[str], Path]:
    """Return a function from a file's name to its path; without the file the test is skipped."""
    return lambda name: find_or_skip(data_folders(), name)


@pytest.fixture(scope="session")
def reference_data() -> Callable[[str], Path]:
    """Like `real_data`, for the fixed workloads in the folder `reference` beside the data."""
    folders = [folder.parent / "reference" for folder in data_folders()]
    return lambda name: find_or_skip(folders, name)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="session")
def chromium() -> str:
    """Return the path of a Chromium. Without one a browser test fails: it is never skipped."""
    named = os.environ.get("EXPLORER_CHROMIUM")
    found = [named] if named else []
    found += filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome")))
    if not found:
        from playwright.sync_api import sync_playwright

        with sync_playwright() as playwright:
            found = [playwright.chromium.executable_path]
    if not Path(found[0]).exists():
        pytest.fail("no Chromium: run `bash tests/run` once, it installs one", pytrace=False)
    return found[0]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--tier",
        choices=[*TIERS, "rest"],
        help='the tests of this run, see tests/tiers.py; "rest" is all but the default; without it '
        "whatever is named, but what is marked slow",
    )
    parser.addoption(
        "--last-begin",
        type=float,
        default=float("inf"),
        help="seconds of Unix time after which no more file is begun",
    )
    parser.addoption("--keep-durations", action="store_true", help="renew tests/durations.txt")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Run(config), "run of a tier")


def pytest_collection_finish() -> None:
    """Search for garbage seldom, and not among the million objects imported until now.

    Both took a fifth of the time of tests of pages, each of which is a hundred thousand objects.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(5_000, 10, 20)
