"""What an app leaves in a cell: every script once."""

from __future__ import annotations

import json
import subprocess
import sys

import panel as pn
from panel.models.esm import ReactComponent

from explorer.app.kit import ui
from explorer.app.work.notebook_output import _in_html, take_scripts

_SIZES = """
import numpy as np
from panel.io import notebook
from explorer import FrequencyMatrix
from explorer.app import Explore

app = Explore(FrequencyMatrix.from_array(np.arange(64 * 64).reshape(64, 64)))
app._repr_mimebundle_()
print(len(app._repr_mimebundle_()[0]["text/html"]))
notebook.render_model = notebook.render_model.original
print(len(app._repr_mimebundle_()[0]["text/html"]))
"""


def test_an_app_is_a_few_megabytes_and_panel_alone_makes_many() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _SIZES], capture_output=True, text=True, timeout=300, check=True
    )
    ours, plain = (int(line) for line in done.stdout.split()[-2:])
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
