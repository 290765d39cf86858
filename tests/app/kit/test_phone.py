"""A page built for a window whose width only the browser knows."""

import panel as pn
from bokeh.document import Document
from panel.io.state import set_curdoc

from explorer.app.kit import ui
from explorer.app.kit.phone import BREAKPOINT, close_drawer_when_narrow


def scripts(document: Document) -> list[str]:
    """What runs in the browser once a page is ready."""
    found = document.callbacks._js_event_callbacks.get("document_ready", [])
    return [script.code for script in found if script.args.get("breakpoint") == BREAKPOINT]


def test_only_a_drawer_that_starts_open_is_closed_when_narrow() -> None:
    for settings, wanted in (
        ({"sidebar": ["text"], "sidebar_open": True}, 1),
        ({"sidebar": ["text"], "sidebar_open": False}, 0),  # a phone, that the visitor may open
        ({"sidebar": []}, 0),
    ):
        document = Document()
        with set_curdoc(document):
            ui.Page().fill([pn.Column()], **settings)
        assert len(scripts(document)) == wanted, settings


def test_a_notebook_has_no_page_to_watch() -> None:
    assert pn.state.curdoc is None
    close_drawer_when_narrow()
