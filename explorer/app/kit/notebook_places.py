"""Where a page does not show in a notebook: why, and what to do, in one sentence."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import panel as pn
from bokeh.models import UIElement
from panel.io import notebook

from explorer.app.kit.words import words

#: Comms of Panel under which a page is a widget of ipywidgets.
_WIDGETS = ("ipywidgets", "vscode")


class Said:
    """HTML in the form in which marimo asks for an output; it is not imported for this."""

    def __init__(self, html: str) -> None:
        self.html = html

    def _mime_(self) -> tuple[str, str]:
        return "text/html", self.html


def sentence(heading: str) -> str:
    """What stands in place of a page, as HTML."""
    return f"<p><b>{words('notebook')[heading]}</b></p>"


def why_not() -> str:
    """The heading of the sentence that says why a page cannot be shown here; empty if it can."""
    lacks = pn.config.comms in _WIDGETS and find_spec("jupyter_bokeh") is None
    return "Widgets" if lacks else ""


def write_styles(view: Any) -> None:
    """Let a page that is shown as a widget ask the net for no style sheet.

    Panel writes them into what is shown over its own comm, and not into widgets.
    """
    if pn.config.comms in _WIDGETS and pn.config.inline:
        view._preprocessing_hooks = [*view._preprocessing_hooks, _inline]


def _inline(_view: Any, root: Any, changed: Any, _old: Any) -> None:
    shown = changed._models.get(root.ref["id"], (root,))[0]
    for each in shown.select({"type": UIElement}):
        notebook.patch_inline_stylesheets(each)
