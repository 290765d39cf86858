"""After a failure nobody's page is the present one: not the one that failed, nor an error."""

from __future__ import annotations

import asyncio
import gc
from contextlib import contextmanager

import panel as pn
import pytest
from bokeh.document import Document
from bokeh.document.callbacks import invoke_with_curdoc
from bokeh.io import doc as pages

from explorer.app import explore  # noqa: F401 - the cures are there once an app is
from tests.app.test_server import Running
from tests.benchmarks.websocket_client import Client, model_with_label


def fail() -> None:
    """Handle a message, in vain."""
    raise ValueError("a wrong value")


def test_a_page_whose_handling_fails_is_taken_back() -> None:
    before = pages.curdoc()
    with pytest.raises(ValueError, match="a wrong value"):
        invoke_with_curdoc(Document(), fail)
    gc.collect()
    assert pages.curdoc() is before


def test_pages_that_are_handled_inside_each_other_are_taken_back_one_by_one() -> None:
    before, outer, seen = pages.curdoc(), Document(), []

    def handle() -> None:
        with pytest.raises(ValueError, match="a wrong value"):
            invoke_with_curdoc(Document(), fail)
        seen.append(pages.curdoc())

    invoke_with_curdoc(outer, handle)
    assert seen == [outer]
    assert pages.curdoc() is before


def test_without_the_cure_it_stays(monkeypatch) -> None:
    # When this fails, Bokeh takes it back by itself: remove `whose_page` and these tests.
    monkeypatch.setattr(pages, "patch_curdoc", pages.patch_curdoc.original)
    failed = Document()
    with pytest.raises(ValueError, match="a wrong value"):
        invoke_with_curdoc(failed, fail)
    assert pages.curdoc() is failed
    pages._PATCHED_CURDOCS.pop()


def test_a_wrong_value_of_a_visitor_leaves_no_page_behind(monkeypatch) -> None:
    running, usual, failed = Running(), pages.patch_curdoc, []

    @contextmanager
    def seen(doc):
        try:
            with usual(doc):
                yield
        except ValueError:
            failed.append(doc)
            raise

    async def visit() -> None:
        client = Client(running.server.port)
        slider = model_with_label(await client.open(), "Epsilon")
        assert slider is not None
        client.change(slider, "value", [1])
        while not failed:
            await asyncio.sleep(0.02)
        assert pn.state.curdoc is None
        client.close()

    monkeypatch.setattr(pages, "patch_curdoc", seen)
    running.do(visit)
    running.stop()
