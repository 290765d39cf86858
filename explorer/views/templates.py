"""Templates of HTML whose texts are made safe and escaped, whoever wrote them."""

from __future__ import annotations

import html
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from explorer.views.markup import safe_text


def templates(folder: Path, longest: int) -> Environment:
    """The templates of a folder.

    Whatever a template prints is text, through `safe_text` with at most ``longest`` characters and
    escaped; HTML of ours is passed as `markupsafe.Markup`, or printed with ``|safe``. A name that a
    template does not get is an error.
    """

    def printed(value: Any) -> Markup:
        if isinstance(value, Markup):
            return value
        return Markup(html.escape(safe_text(value, longest)))

    return Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        finalize=printed,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
    )
