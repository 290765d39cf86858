"""What a page leaves in a cell: a poster or the page with each script once, or one sentence."""

from __future__ import annotations

import html
import re
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import panel as pn
import pytest

from explorer import FrequencyMatrix
from explorer.app import ClassResult, Compare, Explore, Learn, Publish
from explorer.app.kit.page import AppPage
from explorer.app.kit.words import words
from explorer.app.pages import PAGES
from explorer.errors import InputError
from tests.app import press
from tests.app.country import land
from tests.app.federated import people
from tests.app.trips import town
from tests.helpers import bundle_of


def counts(seed: int = 1) -> FrequencyMatrix:
    """Counts whose sum is no likely number of a release."""
    return FrequencyMatrix.from_array(np.arange(1024).reshape(32, 32) * seed)


def shown(page: AppPage) -> str:
    """The HTML of a cell that shows a page, without the names of its models."""
    bundle, about = bundle_of(page)
    (root,) = about.values()
    assert bundle.keys() == {"text/html", *about}
    assert not any(bundle[kind] for kind in about)
    return str(bundle["text/html"]).replace(root["id"], "ID")


def test_a_page_that_is_kept_is_a_few_megabytes() -> None:
    kept = Explore(counts(), keep=True)
    html = shown(kept)
    assert "docs_json" in html
    # 1.4 MB for each of some forty components where the script is in each of them.
    assert len(html) < 4_000_000
    # No text in a script ends the element that holds it.
    scripts = re.findall(r"<script[^>]*>(.*?)</script>", html, re.S)
    assert all(script.strip().endswith(("})()", "})(window);")) for script in scripts)
    kept.state.put(epsilon=0.5)
    assert len(shown(kept)) < 4_000_000


#: Every page as a cell shows it, by its key.
MADE: dict[str, Callable[[], AppPage]] = {
    "explore": lambda: Explore(counts(), mechanism="ug"),
    "trips": town.page,
    "country": land.new_page,
    "federated": people.new_page,
    "compare": lambda: Compare(counts()),
    "learn": lambda: Learn(counts()),
    "publish": Publish,
    "classroom": lambda: ClassResult("madeup"),
}


@pytest.mark.parametrize("key", [page.key for page in PAGES])
def test_what_a_saved_notebook_holds_of_a_page_hangs_on_its_title_alone(key) -> None:
    page = MADE[key]()
    poster, saved = shown(page), words("notebook")["Saved"]

    class Empty(AppPage):
        TITLE = page.TITLE

        def __init__(self) -> None:
            super().__init__()
            self.body = pn.Row()

    assert shown(Empty()) == poster
    assert len(poster) < 3_500
    assert poster.count(saved) == 2  # as text, and for the script that waits for a kernel
    assert f"{page.TITLE}. The page was live here; what it showed is not kept" in poster


@pytest.mark.parametrize("key", ["explore", "trips", "country", "federated"])
def test_a_poster_shows_the_release_on_the_screen_and_nothing_of_a_preview(key) -> None:
    page = MADE[key]()
    assert "not kept in this file" in page.poster()
    press.draw_release(page)
    assert page.released()
    poster = page.poster()
    assert poster in shown(page)
    assert "RELEASE" in poster.upper()
    # Where there is one map, it is there to be seen.
    assert ("<img" in poster) is (key in ("explore", "federated"))
    for true in page.answers["true"]:
        assert true < 100 or f"{true:,.0f}" not in poster


@pytest.mark.parametrize("wrong", ["x", 1, None])
def test_keep_is_yes_or_no_and_nothing_that_counts_as_yes(wrong) -> None:
    with pytest.raises(InputError, match="keep is"):
        Learn(keep=wrong)


def one_sentence(of: Any) -> str:
    text = html.unescape(re.sub(r"<[^>]*>", "", of))
    assert text.endswith(".")
    assert ". " not in text
    return text


def test_marimo_shows_a_sentence_that_names_what_works() -> None:
    # What marimo asks of an object before all else; it is not needed for this.
    kind, shown_there = Learn(counts())._display_()._mime_()
    assert "marimo" not in sys.modules
    assert kind == "text/html"
    assert "dp-explorer serve" in one_sentence(shown_there)


@pytest.mark.parametrize("comms", ["ipywidgets", "vscode"])
def test_widgets_without_their_package_say_what_to_install(comms, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "jupyter_bokeh", None)
    with pn.config.set(comms=comms):
        bundle, about = bundle_of(Learn(counts()))
    assert about == {}
    assert bundle.keys() == {"text/html"}
    assert "pip install jupyter-bokeh" in one_sentence(bundle["text/html"])
