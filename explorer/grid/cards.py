"""What an object says of itself in a notebook: a small table, in either theme, without a script."""

from __future__ import annotations

import base64
import html
from collections.abc import Mapping
from typing import Any

_LINE = "rgba(128, 140, 152, .5)"
_BADGES = {"release": "#1b7f4d", "preview": "#b35900", "exact": "#b3261e"}


def exact_card(kind: str, rows: Mapping[str, Any]) -> str:
    """The card of exact counts: none of them is in it, since notebooks are saved and sent."""
    return card(kind, rows, badge="exact", note="Exact counts, for the curator: none is shown.")


def card(
    title: str,
    rows: Mapping[str, Any],
    *,
    badge: str = "",
    picture: bytes = b"",
    seen: str = "",
    note: str = "",
) -> str:
    """HTML of a title, a badge, rows of facts and perhaps a picture.

    Parameters
    ----------
    title : in bold
    rows : facts by what they are called; empty ones are left out
    badge : "release", "preview" or "exact", next to the title
    picture : PNG, written into the page
    seen : what is seen on it, for those who do not see it
    note : a sentence below
    """
    body = "".join(
        f'<tr><th scope="row" style="text-align:left;font-weight:normal;opacity:.75;'
        f'padding:1px 10px 1px 0">{html.escape(name)}</th>'
        f'<td style="text-align:left;padding:1px 0">{html.escape(str(value))}</td></tr>'
        for name, value in rows.items()
        if value not in (None, "")
    )
    mark = ""
    if badge:
        mark = (
            f' <span style="background:{_BADGES[badge]};color:#fff;border-radius:3px;'
            f'padding:0 6px;font-size:85%">{badge.upper()}</span>'
        )
    image = ""
    if picture:
        data = base64.b64encode(picture).decode()
        image = (
            f'<img alt="{html.escape(seen, quote=True)}" src="data:image/png;base64,{data}" '
            'style="width:auto;height:auto;max-width:200px;max-height:200px;margin:0;flex:none;'
            'align-self:flex-start;image-rendering:pixelated">'
        )
    below = f'<div style="opacity:.75;margin-top:4px">{html.escape(note)}</div>' if note else ""
    return (
        f'<div style="display:inline-flex;gap:14px;flex-wrap:wrap;border:1px solid {_LINE};'
        f'border-radius:6px;padding:8px 12px">{image}<div><b>{html.escape(title)}</b>{mark}'
        f'<table style="margin:4px 0 0;border:0;background:none"><tbody>{body}</tbody></table>'
        f"{below}</div></div>"
    )
