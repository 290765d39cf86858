"""The registry of pages: one line each, and everything that lists pages agrees with it."""

from __future__ import annotations

import gc
import json
import weakref
from contextlib import nullcontext

import pytest
from bokeh.document import Document
from panel.io.state import set_curdoc

import explorer.app
from explorer import scenario
from explorer.app.kit.page import AppPage
from explorer.app.pages import PAGES
from explorer.scenario import Scenario, to_notebook
from tests.app import press


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.key)
def test_a_page_is_a_class_of_its_own_folder_with_its_key(page) -> None:
    kind = page.load()
    assert issubclass(kind, AppPage)
    assert (page.key, page.heading) == (kind.KEY, kind.TITLE)
    assert (page.drawer, page.maps) == (kind.DRAWER, kind.SKETCHED)
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


def test_pages_with_exact_counts_say_so() -> None:
    for page in PAGES:
        assert "exact counts" in page.load().BADGE, page.key


def test_scenarios_are_of_pages_that_are_there() -> None:
    assert set(scenario.PAGES) <= {page.key for page in PAGES}
    for page in PAGES:
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

    more = Page("trips", "Trips", "trips", "Trips", "explorer.app.learn.page:Learn")
    monkeypatch.setattr(registry, "PAGES", (*PAGES, more))
    shown = explorer.app.Learn.served(registry.PAGES).page()
    assert 'href="./trips"' in press.markup(shown.header[1])
