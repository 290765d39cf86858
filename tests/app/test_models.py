"""A page that opens has no more models than it needs: what is closed or empty is made later."""

from types import SimpleNamespace

import panel as pn
import pytest
from bokeh.document import Document

import explorer.app
from explorer.app.pages import PAGES
from tests.app.press import open_sections

#: Of each page with maps, when it opens: a browser makes all of them before it shows anything.
MOST = {"Explore": 250, "Trips": 275, "Country": 315, "Federated": 305, "Compare": 725}


def opened(name: str):
    """A page as a visitor gets it, and its document."""
    page, doc = getattr(explorer.app, name).served(PAGES), Document()
    view = page.page()
    context = SimpleNamespace(
        id="a", server_context=object(), request=None, destroyed=False, session=None
    )
    doc._session_context = lambda: context
    view.server_doc(doc, location=False)
    return page, doc


@pytest.mark.parametrize("name", MOST)
def test_a_page_opens_with_few_models(name: str) -> None:
    page, doc = opened(name)
    try:
        assert len(doc.models) <= MOST[name]
    finally:
        page.close()


def test_what_is_closed_is_made_when_it_is_opened() -> None:
    page, _ = opened("Explore")
    try:
        drawer = pn.Column(*page.sidebar)
        assert "Draw a release" not in labels(drawer)
        open_sections(drawer)
        assert {"Draw a release", "Colours", "Stop count", "Grid"} <= labels(drawer)
    finally:
        page.close()


def labels(view: pn.Column) -> set[str]:
    """The names of all controls of a view."""
    return {str(getattr(part, "label", "")) for part in view.select()}
