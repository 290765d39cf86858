"""Where a page does not show, one sentence stands in its place; as a widget it asks no net."""

from __future__ import annotations

import html
import re
import sys

import numpy as np
import panel as pn
import pytest
from bokeh.document import Document
from bokeh.models import ImportedStyleSheet, UIElement

from explorer import FrequencyMatrix
from explorer.app import Explore
from explorer.app.kit import notebook_places
from explorer.app.kit.words import words
from tests.helpers import bundle_of


@pytest.fixture(scope="module")
def page() -> Explore:
    return Explore(FrequencyMatrix.from_array(np.arange(1024).reshape(32, 32)))


def is_one_sentence(shown: str) -> bool:
    text = html.unescape(re.sub(r"<[^>]*>", "", shown))
    return text.endswith(".") and ". " not in text


def test_marimo_shows_a_sentence_that_names_what_works(page) -> None:
    # What marimo asks of an object before all else; it is not needed for this.
    kind, shown = page._display_()._mime_()
    assert "marimo" not in sys.modules
    assert kind == "text/html"
    assert is_one_sentence(shown)
    assert "dp-explorer serve" in shown


@pytest.mark.parametrize("comms", ["ipywidgets", "vscode"])
def test_widgets_without_their_package_say_what_to_install(page, comms, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "jupyter_bokeh", None)
    with pn.config.set(comms=comms):
        bundle, about = bundle_of(page)
    assert bundle == {"text/html": f"<p><b>{words('notebook')['Widgets']}</b></p>"}
    assert about == {}
    assert is_one_sentence(bundle["text/html"])
    assert "pip install jupyter-bokeh" in bundle["text/html"]


def test_a_widget_has_its_style_sheets_with_it_also_those_that_come_later(page) -> None:
    def asked(root: UIElement) -> int:
        sheets = [s for each in root.select({"type": UIElement}) for s in each.stylesheets]
        assert len(sheets) > 100
        return sum(isinstance(sheet, ImportedStyleSheet) for sheet in sheets)

    with pn.config.set(comms="ipywidgets"):
        plain, mended = page._create_view(), page._create_view()
        notebook_places.write_styles(mended)
        assert asked(plain.get_root(Document())) > 0
        root = mended.get_root(Document())
        assert asked(root) == 0
        page.message.view.append(pn.widgets.IntSlider(label="Later"))
        assert asked(root) == 0
