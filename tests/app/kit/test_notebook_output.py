"""What an app leaves in a cell: every script once."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import panel as pn
import pytest
from panel.models.esm import ReactComponent

from explorer import FrequencyMatrix
from explorer.app import ClassResult, Compare, Explore, Learn, Publish
from explorer.app.kit import ui
from explorer.app.kit.notebook_output import _POSTER, SAVED, _in_html, take_scripts
from explorer.app.kit.page import AppPage
from explorer.app.pages import PAGES
from explorer.errors import InputError
from tests.app import press
from tests.app.country import land
from tests.app.federated import people
from tests.app.trips import town
from tests.helpers import bundle_of

_SIZES = """
import numpy as np
from bokeh.models import ImportedStyleSheet, UIElement
from panel.io import notebook
from explorer import FrequencyMatrix
from explorer.app import Explore
from tests.helpers import bundle_of

matrix = FrequencyMatrix.from_array(np.arange(64 * 64).reshape(64, 64))
kept, plain = Explore(matrix, keep=True), Explore(matrix)
poster = bundle_of(plain)[0]["text/html"]
print("docs_json" in poster, len(poster))
print(len(bundle_of(kept)[0]["text/html"]))
shown = []
plain = notebook.render_model.original
alone = lambda model, *how: shown.append(model) or plain(model, *how)
alone.original = plain
notebook.render_model = alone
print(len(bundle_of(kept)[0]["text/html"]))
kept.state.put(epsilon=0.5)
sheets = [s for each in shown[0].select({"type": UIElement}) for s in each.stylesheets]
print(sum(isinstance(sheet, ImportedStyleSheet) for sheet in sheets), len(sheets) > 100)
"""


def test_a_saved_app_is_a_poster_or_a_few_megabytes_and_panel_alone_makes_many() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _SIZES], capture_output=True, text=True, timeout=300, check=True
    )
    held, *figures, many = done.stdout.split()
    poster, ours, plain, from_the_net = map(int, figures)
    # What is saved unless one says otherwise: a sentence and how to ask the kernel.
    assert held == "False"
    assert poster < 3_000
    # After a change, too, the page asks the net for no style sheet.
    assert (from_the_net, many) == (0, "True")
    assert ours < 4_000_000
    # When this fails, Panel writes scripts once by itself, and the cure is needed no more.
    assert plain > 5 * ours


def test_components_of_one_library_share_one_script() -> None:
    row = pn.Row(*(ui.choice(f"Which {n}", ["a", "b"], "a") for n in range(3)))
    with pn.config.set(inline=True):
        model = row.get_root()
    ((name, source),) = take_scripts(model).items()
    assert len(source) > 1_000_000
    loaders = {each.esm for each in model.select({"type": ReactComponent}) if each.bundle}
    (loader,) = loaders
    assert name in loader
    assert len(loader) < 200


def test_a_script_cannot_end_the_element_that_holds_it() -> None:
    held = _in_html({"a": "let x = '</script><!-- '"})
    assert "</script" not in held
    assert "<!--" not in held
    assert json.loads(held.replace("<\\!", "<!")) == {"a": "let x = '</script><!-- '"}


def counts() -> FrequencyMatrix:
    """Counts whose sum is no likely number of a release."""
    return FrequencyMatrix.from_array(np.arange(1024).reshape(32, 32))


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


@pytest.mark.parametrize("key", [each.key for each in PAGES])
def test_what_a_saved_notebook_holds_of_a_page_hangs_on_its_title_alone(key) -> None:
    page = MADE[key]()
    bundle, about = bundle_of(page)
    (root,) = about.values()
    assert bundle.keys() - {"text/html"} == about.keys()
    assert not any(bundle[kind] for kind in about)
    sentence = (
        f"<p>{page.TITLE}. The page was live here; what it showed is not kept in this file.</p>"
    )
    names = json.dumps([root["id"], f"explorer-page-{root['id']}", "", SAVED])
    frame = {"id": root["id"], "poster": sentence, "saved": SAVED, "names": names}
    assert bundle["text/html"] == _POSTER % frame


@pytest.mark.parametrize("key", ["explore", "trips", "country", "federated"])
def test_a_poster_shows_the_release_on_the_screen_and_nothing_of_a_preview(key) -> None:
    page = MADE[key]()
    assert "not kept in this file" in page.poster()
    press.draw_release(page)
    assert page.released()
    shown = page.poster()
    assert "RELEASE" in shown.upper()
    # Where there is one map, it is there to be seen.
    assert ("<img" in shown) is (key in ("explore", "federated"))
    for true in page.answers["true"]:
        assert true < 100 or f"{true:,.0f}" not in shown


@pytest.mark.parametrize("wrong", ["x", 1, None])
def test_keep_is_yes_or_no_and_nothing_that_counts_as_yes(wrong) -> None:
    with pytest.raises(InputError, match="keep is"):
        Learn(keep=wrong)
