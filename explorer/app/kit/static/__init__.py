"""Scripts, style sheets and HTML of the browser, in files next to this module."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from string import Template
from typing import Any

import panel as pn
from bokeh.models import CustomJS


@cache
def read(name: str) -> str:
    """The text of a file in this folder."""
    return (Path(__file__).parent / name).read_text("utf8")


def fill(name: str, **values: Any) -> str:
    """A file of this folder in which ``$name`` is replaced by the value of that name."""
    return Template(read(name)).substitute(values)


def when_ready(name: str, **args: Any) -> None:
    """Run a script in the page that is being built once it is in the browser; none in a notebook.

    Parameters
    ----------
    name : of a file in this folder
    **args : models and JSON values that the script knows by these names
    """
    if pn.state.curdoc is not None:
        script = CustomJS(args=args, code=read(name))
        pn.state.curdoc.js_on_event("document_ready", script)
