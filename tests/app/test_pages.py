"""The registry of pages: one line each, and everything that lists pages agrees with it."""

from __future__ import annotations

import gc
import weakref
from contextlib import nullcontext

import pytest
from bokeh.document import Document
from panel.io.state import set_curdoc

import explorer.app
from explorer.app.kit.page import AppPage
from explorer.app.pages import PAGES


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.key)
def test_a_page_is_what_the_registry_says(page) -> None:
    kind = page.load()
    assert issubclass(kind, AppPage)
    assert (page.key, page.heading) == (kind.KEY, kind.TITLE)
    assert (page.drawer, page.maps) == (kind.DRAWER, kind.SKETCHED)
    assert getattr(explorer.app, page.name) is kind
    assert "exact counts" in kind.BADGE


@pytest.mark.parametrize(
    ("page", "session"),
    [(PAGES[0], False), *((page, True) for page in PAGES)],
    ids=["notebook", *(page.key for page in PAGES)],
)
def test_a_page_that_is_not_looked_at_any_more_is_gone(page, session: bool) -> None:
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
