"""The right end of the bar: the way between pages, and what this screen shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any


@dataclass(frozen=True)
class Link:
    """A page that the server has: its key, its title in the bar, and its address."""

    key: str
    title: str
    address: str


def header(
    current: str, links: Sequence[Link], phone: bool, badge: str = "", signed_in: str = ""
) -> list[Any]:
    """What is in the bar of the page with the key ``current``.

    A page that is served alone, or is in a notebook, has no others to lead to: ``links`` is
    empty. A phone's bar has no space for the badge, which the page repeats, nor for the page
    itself. A visitor who has ``signed_in`` gets a link to log out.
    """
    # The registry of pages loads no Panel.
    from explorer.app.kit.html import html_pane

    panes = []
    if badge and not phone:
        panes.append(html_pane(f'<span class="badge">{badge}</span>', (0, 8), sizing_mode=None))
    if links or signed_in:
        here = ' aria-current="page"'
        items = "".join(
            f'<a href="./{link.address}"{here if link.key == current else ""}>{link.title}</a>'
            for link in links
            if not (phone and link.key == current)
        )
        if signed_in:
            whom = escape(f"You are logged in as {signed_in}", quote=True)
            items += f'<a class="leave" href="./logout" title="{whom}">Log out</a>'
        nav = f'<nav class="pages" aria-label="Pages">{items}</nav>'
        panes.append(html_pane(nav, (0, 2 if phone else 8), sizing_mode=None))
    return panes
