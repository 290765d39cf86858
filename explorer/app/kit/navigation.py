"""The right end of the bar: the way between pages, and what this screen shows."""

from __future__ import annotations

from typing import Any

import panel as pn

from explorer.app.kit.labels import CURATOR
from explorer.app.kit.theme import CSS

#: Title of each page to its address on the server.
PAGES = {"Explore": "explore", "Compare": "compare", "Learn": "learn", "Class": "class"}


def header(current: str, links: bool, phone: bool) -> list[Any]:
    """What stands in the bar of the page ``current``.

    A page that is served alone, or stands in a notebook, has no others to lead to: ``links`` is
    False. A phone's bar has no room for the badge, which the page repeats, nor for the page itself.
    """
    found = []
    if not phone:
        found.append(_html(f'<span class="badge">{CURATOR.capitalize()}</span>'))
    if links:
        here = ' aria-current="page"'
        items = "".join(
            f'<a href="./{address}"{here if title == current else ""}>{title}</a>'
            for title, address in PAGES.items()
            if not (phone and title == current)
        )
        found.append(
            _html(f'<nav class="pages" aria-label="Pages">{items}</nav>', 2 if phone else 8)
        )
    return found


def _html(text: str, margin: int = 8) -> Any:
    return pn.pane.HTML(text, stylesheets=[CSS], margin=(0, margin))
