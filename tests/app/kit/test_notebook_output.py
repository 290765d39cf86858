"""What an app leaves in a cell: every script once."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import panel as pn
from panel.models.esm import ReactComponent

from explorer import FrequencyMatrix
from explorer.app.explore.page import Explore
from explorer.app.kit import ui
from explorer.app.kit.notebook_output import _in_html, take_scripts
from tests.app import press

_SIZES = """
import numpy as np
from bokeh.models import ImportedStyleSheet, UIElement
from panel.io import notebook
from explorer import FrequencyMatrix
from explorer.app import Explore

matrix = FrequencyMatrix.from_array(np.arange(64 * 64).reshape(64, 64))
kept, plain = Explore(matrix, keep=True), Explore(matrix)
poster = plain._repr_mimebundle_()[0]["text/html"]
print("docs_json" in poster, len(poster))
print(len(kept._repr_mimebundle_()[0]["text/html"]))
shown = []
plain = notebook.render_model.original
notebook.render_model = lambda model, *how: shown.append(model) or plain(model, *how)
print(len(kept._repr_mimebundle_()[0]["text/html"]))
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


def test_a_poster_shows_the_release_on_the_screen_and_nothing_of_a_preview() -> None:
    page = Explore(FrequencyMatrix.from_array(np.arange(1024).reshape(32, 32)), mechanism="ug")
    assert "<img" not in page.poster()
    press.press(page, "Draw a release")
    assert page.released()
    shown = page.poster()
    assert "RELEASE" in shown
    assert "<img" in shown
