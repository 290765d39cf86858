"""The pages as HTML: made once, the same for everybody."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from typing import Any

import shapely

from explorer.audience import sections
from explorer.audience.answers import same_plane
from explorer.audience.exhibits import Exhibit, Exhibition
from explorer.audience.said import words
from explorer.audience.statics import STATICS
from explorer.views.markup import safe_text

_PAGE = """<!doctype html>
<html lang="en"{attributes}><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>{title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="{css}">
<script src="{theme}"></script>
{script}</head><body class="{look}">
<a class="skip" href="#content">Skip to the content</a>
{bar}
<main id="content" tabindex="-1">{content}</main>
</body></html>
"""
#: Pixels of the longer side of a small map.
_SMALL = 320
#: Areas of the publisher on a page, and corners of one.
_MOST_OWN, _MOST_CORNERS = 6, 60


def listing(exhibition: Exhibition) -> bytes:
    """All maps of this server."""
    cards = "".join(_card(exhibit) for exhibit in exhibition)
    gone = f'<p class="notice">{_text(words("gone"))}</p>' if exhibition.gone else ""
    several = len(exhibition) > 1
    more = '<p><a class="button" href="/compare">Compare the maps</a></p>' if several else ""
    content = (
        f'<div class="page"><h1>Private maps</h1><p class="lead">{_text(words("server"))}</p>'
        f'{gone}{more}<ul class="cards">{cards}</ul></div>'
    )
    return _page("Private maps", content, bar=_bar("Private maps", exhibition))


def map_page(exhibit: Exhibit, exhibition: Exhibition, embedded: bool = False) -> bytes:
    """One map."""
    setting = {"page": "map", "maps": [_setting(exhibit)], "embedded": embedded}
    stage = sections.stage(exhibit, looks=not embedded)
    if embedded:
        title = f"<h1>{_text(exhibit.title)}</h1>"
        whole = f'<p><a href="/map/{exhibit.key}" target="_blank" rel="noopener">Whole page</a></p>'
        content = f'<div class="embedded">{title}{stage}{sections.answers()}{whole}</div>'
        return _page(exhibit.title, content, "map.js", setting, look="embed")
    about = exhibit.published.about
    line = f"{about.curator}, {about.region}, {exhibit.published.booking.date}"
    content = (
        f'<div class="page map"><header><h1>{_text(exhibit.title)}</h1>'
        f'<p class="quiet">{_text(line)}</p></header>'
        f'<div class="beside"><div class="left">{stage}</div><div class="right">'
        f"{sections.answers()}{sections.leaf()}</div></div>"
        f"{sections.meaning(exhibit)}{sections.downloads(exhibit)}</div>"
    )
    return _page(exhibit.title, content, "map.js", setting, bar=_bar("", exhibition, exhibit))


def compare_page(exhibition: Exhibition, chosen: Sequence[Exhibit]) -> bytes:
    """Two maps, one over the other, and what all say of an area."""
    first, second = chosen
    apart = not same_plane(first, second)
    setting = {
        "page": "compare",
        "maps": [_setting(choice) for choice in chosen],
        "all": [_setting(exhibit) for exhibit in exhibition],
        "apart": apart,
    }
    lead = words("compare apart" if apart else "compare")
    stage = sections.stage(first, None if apart else second, lines=False, looks=False)
    content = (
        '<div class="page map compare"><header><h1>Compare maps</h1>'
        f'<p class="lead">{_text(lead)}</p>'
        f"{sections.choice(exhibition, chosen)}</header>"
        f'<div class="beside"><div class="left">{stage}</div><div class="right">'
        f"{sections.compared(exhibition)}</div></div>"
        f"{sections.facts(exhibition)}</div>"
    )
    return _page("Compare maps", content, "compare.js", setting, bar=_bar("Compare", exhibition))


def sentence_page(title: str, sentence: str, again: int = 0) -> bytes:
    """A page of one sentence, which may try again by itself."""
    refresh = f'<meta http-equiv="refresh" content="{again}">' if again else ""
    content = (
        f'<div class="page"><h1>{_text(title)}</h1><p class="lead">{_text(sentence)}</p>'
        '<p><a href="/">All maps of this server</a></p></div>'
    )
    return _page(title, content, head=refresh)


def _page(
    title: str,
    content: str,
    module: str = "",
    setting: dict[str, Any] | None = None,
    *,
    bar: str = "",
    head: str = "",
    look: str = "",
) -> bytes:
    script, attributes = head, ""
    if module:
        script += f'<script type="module" src="{STATICS.address(module)}"></script>\n'
        text = json.dumps(setting, ensure_ascii=True, allow_nan=False)
        attributes = f' data-setting="{html.escape(text, quote=True)}"'
    return _PAGE.format(
        title=_text(title),
        css=STATICS.address("audience.css"),
        theme=STATICS.address("theme.js"),
        script=script,
        attributes=attributes,
        look=look,
        bar=bar,
        content=content,
    ).encode()


def _setting(exhibit: Exhibit) -> dict[str, Any]:
    """What the scripts of a page know of a map."""
    grid = exhibit.release.grid
    return {
        "key": exhibit.key,
        "title": safe_text(exhibit.title, 80),
        "date": exhibit.published.booking.date,
        "bounds": list(grid.bounds),
        "cell": [grid.cell_width, grid.cell_height],
        "own": _own(exhibit),
    }


def _own(exhibit: Exhibit) -> list[dict[str, Any]]:
    """The first areas that the publisher has asked about; the report has them all."""
    boxes = exhibit.published.boxes
    if boxes is None:
        return []
    results: list[dict[str, Any]] = []
    rows = zip(boxes.names, boxes.asked.boxes.tolist(), boxes.asked.shapes, strict=True)
    for name, box, shape in rows:
        area: dict[str, Any] = {"name": safe_text(name, 40), "box": box}
        if shape is not None:
            rings = shapely.get_rings(shape)
            corners = shapely.get_coordinates(rings[0])[:-1].round(2).tolist()
            # What has holes or parts, or more corners than a hand draws, is in the report.
            if len(rings) > 1 or len(corners) > _MOST_CORNERS:
                continue
            area = {"name": area["name"], "shape": corners}
        results.append(area)
    return results[:_MOST_OWN]


def _bar(title: str, exhibition: Exhibition, exhibit: Exhibit | None = None) -> str:
    links = [("/", "All maps", title == "Private maps")] if len(exhibition) > 1 else []
    if exhibit is not None:
        links.append((f"/map/{exhibit.key}", "Map", True))
        links.append((f"/report/{exhibit.key}", "Report", False))
    if len(exhibition) > 1:
        links.append(("/compare", "Compare", title == "Compare"))
    items = "".join(
        f'<a href="{address}"{" aria-current=page" if here else ""}>{_text(name)}</a>'
        for address, name, here in links
    )
    return (
        f'<nav class="bar" aria-label="Pages"><strong>Private maps</strong>{items}'
        '<button type="button" id="theme" class="quiet">Light or dark</button></nav>'
    )


def _card(exhibit: Exhibit) -> str:
    about, release = exhibit.published.about, exhibit.release
    line = f"{about.curator}, {about.region}, {exhibit.published.booking.date}"
    at = ",".join(f"{bound:.6g}" for bound in release.grid.bounds)
    grid = release.grid
    width = round(_SMALL * min(1.0, grid.width / grid.height))
    height = round(width * grid.height / grid.width)
    picture = (
        f"/picture/{exhibit.key}.png?at={at}&amp;size={width},{height}&amp;look=cividis&amp;lines=0"
    )
    return (
        f'<li><a href="/map/{exhibit.key}"><img src="{picture}" alt="" width="{width}" '
        f'height="{height}" loading="lazy"><strong>{_text(exhibit.title)}</strong></a>'
        f"<p>{_text(line)}</p></li>"
    )


def _text(text: str) -> str:
    return html.escape(safe_text(text, 600))
