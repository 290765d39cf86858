"""The registry of pages: one line each, and everything that lists pages agrees with it."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import weakref
from contextlib import nullcontext
from pathlib import Path

import pytest
from bokeh.document import Document
from panel.io.state import set_curdoc

import explorer.app
from explorer import scenario
from explorer.app.curator.page import CuratorPage
from explorer.app.kit.page import AppPage
from explorer.app.pages import PAGES, pages
from explorer.scenario import Scenario, to_notebook
from tests.app import press

ROOT = Path(__file__).resolve().parents[2]
# What may hold exact numbers, and the library that draws the noise of releases.
EXACT = ("points", "cities", "privacy", "mechanisms", "inspection", "evaluate")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.key)
def test_a_page_is_a_class_of_its_own_folder_with_its_key(page) -> None:
    kind = page.load()
    assert issubclass(kind, AppPage)
    assert page.key == kind.KEY
    assert page.make == f"explorer.app.{page.key}.page:{kind.__name__}"
    assert getattr(explorer.app, page.name) is kind
    assert page.name in explorer.app.__all__


@pytest.mark.parametrize("session", [False, True], ids=["notebook", "visit"])
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.key)
def test_a_page_that_nobody_looks_at_any_more_is_gone(page, session: bool) -> None:
    """Or every visit would stay in memory, and every cell of a notebook that was run again."""
    document = Document()
    with set_curdoc(document) if session else nullcontext():
        made = page.load()("nation" if page.key == "country" else "madeup")
        whole = made.page()
    for ended in list(document.session_destroyed_callbacks):
        ended(None)
    gone = weakref.ref(made)
    ended = None
    del made, whole, document
    gc.collect()
    assert gone() is None


def test_keys_addresses_and_titles_are_different() -> None:
    for names in zip(*((p.key, p.title, p.address) for p in PAGES), strict=True):
        assert len(set(names)) == len(PAGES)


def test_pages_with_exact_counts_are_the_curators_and_say_so() -> None:
    for page in pages("curator"):
        assert "exact counts" in page.load().BADGE, page.key
    for page in pages("audience"):
        assert not issubclass(page.load(), CuratorPage), page.key


def test_scenarios_are_of_pages_that_are_there() -> None:
    assert set(scenario.PAGES) <= {page.key for page in pages("curator")}
    for page in pages("curator"):
        if page.key in scenario.PAGES:
            source = json.loads(to_notebook(Scenario(page=page.key)))["cells"][-1]["source"]
            # A page whose name is a mechanism's, too, is called by its whole name.
            assert f"from explorer.app import {page.name}\n" in source or any(
                f"explorer.app.{page.name}(" in line for line in source
            )


def test_one_more_page_is_a_folder_and_a_line(monkeypatch) -> None:
    """The bar, the way there and the server know of it at once."""
    from explorer.app import pages as registry
    from explorer.app.pages import Page

    more = Page("trips", "Trips", "trips", "explorer.app.learn.page:Learn")
    monkeypatch.setattr(registry, "PAGES", (*PAGES, more))
    shown = explorer.app.Learn.served(pages("curator")).page()
    assert 'href="./trips"' in press.markup(shown.header[1])


AUDIENCE = """
import json, sys, threading, urllib.request
sys.path.insert(0, {folder!r})
from explorer.app import pages, server

toy = pages.Page("toy", "Toy", "toy", "toy_page:Toy", role="audience")
pages.PAGES = (*pages.PAGES, toy)
running = server.serve_audience(port=0, open=False, start=False, words="Nothing exact.")
running.start()
found = []

def ask():
    for path in ("", "toy", "explore"):
        try:
            url = f"http://127.0.0.1:{{running.port}}/{{path}}"
            with urllib.request.urlopen(url, timeout=60) as page:
                found.append(page.status)
        except urllib.error.HTTPError as error:
            found.append(error.code)
    running.io_loop.add_callback(running.io_loop.stop)

threading.Thread(target=ask, daemon=True).start()
running.io_loop.start()
print(json.dumps([found, sorted(sys.modules)]))
"""

TOY = """
import panel as pn
from explorer.app.kit.page import AppPage


class Toy(AppPage):
    KEY = "toy"
    TITLE = "A page for an audience"

    def __init__(self, words, links=()):
        super().__init__(links)
        self.body = pn.Column(self.message.view, pn.pane.HTML(words))
        self.live()
"""


def test_a_server_for_an_audience_loads_no_exact_room(tmp_path) -> None:
    (tmp_path / "toy_page.py").write_text(TOY)
    code = AUDIENCE.format(folder=str(tmp_path))
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert ran.returncode == 0, ran.stderr
    found, loaded = json.loads(ran.stdout.splitlines()[-1])
    assert found == [200, 200, 404], "the curator's pages are not there"
    exact = [f"explorer.{room}" for room in EXACT]
    bad = [name for name in loaded if name.split(".")[0] == "opendp"]
    bad += [name for name in loaded if any(f"{name}.".startswith(f"{room}.") for room in exact)]
    assert not bad
