"""Parts of the pages, as HTML."""

from __future__ import annotations

import html
from collections.abc import Sequence

import numpy as np

from explorer.audience.answers import count
from explorer.audience.exhibits import Exhibit, Exhibition
from explorer.audience.leaf import length
from explorer.audience.said import facts_of, words
from explorer.publish.names import FILES, MANIFEST, SIGNATURE
from explorer.releases.answers import Z95
from explorer.views.markup import count_bar, safe_text
from explorer.views.palette import PALETTES
from explorer.views.scale import ColourScale

_TOOLS = (
    ("move", "Move", "Drag the map"),
    ("box", "Draw a box", "Drag from corner to corner"),
    ("shape", "Draw a shape", "A click for each corner, then press Close the shape"),
    ("look", "What is here?", "Click a small area of the map"),
)


def stage(
    exhibit: Exhibit, second: Exhibit | None = None, *, lines: bool = True, looks: bool = True
) -> str:
    """The map with its tools and its colours; of two the second over the first.

    It begins with ``lines`` of its leaves; it ``looks`` where there is a place to describe one.
    """
    tools = "".join(
        f'<button type="button" data-tool="{key}" aria-pressed="false" title="{tip}">'
        f"{name}</button>"
        for key, name, tip in _TOOLS
        if looks or key != "look"
    )
    grid = exhibit.release.grid
    named = exhibit.title if second is None else f"{exhibit.title} and {second.title}"
    label = f"Map of {named}. {words('keys')}"
    # Lines of two maps hide what differs.
    swipe, checked = "", " checked" if lines else ""
    if second is not None:
        swipe = (
            '<label class="swipe">'
            f"<span>{_text(exhibit.title)}, {exhibit.published.booking.date}</span>"
            '<input type="range" id="swipe" min="0" max="100" value="50" '
            'aria-label="How much of the second map is seen">'
            f"<span>{_text(second.title)}, {second.published.booking.date}</span></label>"
        )
    ratio = f"{grid.width / grid.height:.4f}"
    return (
        f'<section class="stage" aria-label="The map"><div class="tools" role="toolbar" '
        f'aria-label="What a pointer does on the map">{tools}'
        '<button type="button" id="finish" hidden>Close the shape</button>'
        '<span class="zooms"><button type="button" id="in" aria-label="Zoom in">+</button>'
        '<button type="button" id="out" aria-label="Zoom out">−</button>'
        '<button type="button" id="whole">Whole map</button>'
        f'<label><input type="checkbox" id="lines"{checked}> Lines</label></span></div>'
        f'{swipe}<div id="map" tabindex="0" role="application" aria-label="{_quoted(label)}" '
        f'style="--ratio: {ratio}"><div class="pictures"></div>'
        '<svg class="marks" aria-hidden="true"></svg><div class="length" aria-hidden="true"></div>'
        f"</div>{bar(exhibit, second)}"
        '<p id="status" role="status"></p></section>'
    )


def bar(exhibit: Exhibit, second: Exhibit | None = None) -> str:
    """What the colours mean, in each look; only one is seen."""
    grid = exhibit.release.grid
    scale = ColourScale("log", max(layer.top for layer in (exhibit, second) if layer), "release")
    caption = (
        f"Records, with noise, on a square of {length(grid.cell_width)} by "
        f"{length(grid.cell_height)}"
    )
    return "".join(
        f'<div class="colours" data-look="{look}">{count_bar(caption, scale, PALETTES[look])}</div>'
        for look in ("cividis", "paper")
    )


def answers() -> str:
    """The areas that a visitor has drawn."""
    return (
        '<section class="answers" aria-labelledby="answers">'
        '<h2 id="answers">Areas that you ask about</h2>'
        '<p class="empty">Draw a box or a shape on the map, or ask about what is shown: its number '
        "stands here.</p>"
        '<div class="scroll" tabindex="0" role="region" aria-labelledby="answers"><table>'
        '<thead><tr><th scope="col">Area</th><th scope="col" class="number">About</th>'
        '<th scope="col" class="number">Between</th><th scope="col"><span class="unseen">Take '
        "away</span></th></tr></thead><tbody></tbody></table></div>"
        '<p class="said" role="status"></p>'
        '<p class="buttons"><button type="button" id="shown">Ask about what is shown</button>'
        '<button type="button" id="link">Copy a link to this</button></p>'
        f"{_typed()}</section>"
    )


def _typed() -> str:
    fields = "".join(
        f'<label>{name} <input type="number" step="any" name="{key}" required></label>'
        for key, name in (
            *(("west", "West edge"), ("east", "East edge")),
            *(("south", "South edge"), ("north", "North edge")),
        )
    )
    return (
        "<details><summary>Type an area</summary>"
        '<form id="typed"><p class="quiet">In kilometres from the western and the southern edge of '
        f'the map.</p><div class="fields">{fields}</div>'
        '<button type="submit">Ask about it</button></form></details>'
    )


def leaf() -> str:
    """What is known of one small area of the map."""
    return (
        '<section class="leaf" aria-labelledby="leaf"><h2 id="leaf">One small area of the map</h2>'
        '<p class="said" role="status">Press “What is here?”, then click the map; or press I in '
        "the map for the area in its middle.</p>"
        '<table class="facts"><tbody></tbody></table></section>'
    )


def meaning(exhibit: Exhibit) -> str:
    """What numbers mean, how far they are off, and what was promised."""
    release, facts = exhibit.release, facts_of(exhibit)
    value, sd = exhibit.total
    spread = "uniform" if release.is_uniform else "interpolated"
    whole = (
        f"The whole map: about {count(value)} records, between {count(value - Z95 * sd)} and "
        f"{count(value + Z95 * sd)}. It consists of {release.n_leaves:,} small areas."
    )
    parts = (
        ("What a number means", words("number", **facts), whole),
        ("How far it can be off", words("off"), words(f"spread {spread}")),
        ("What was promised, and to whom", words(f"promise {release.unit}", **facts)),
        ("What was not promised", words("not promised"), words("server")),
    )
    columns = "".join(
        f"<div><h3>{heading}</h3>{''.join(f'<p>{_text(text)}</p>' for text in texts)}</div>"
        for heading, *texts in parts
    )
    lead = _text(words("lead", **facts))
    exact = f"{exhibit.published.about.record}; epsilon {release.epsilon:.12g}"
    return (
        f'<section class="meaning" aria-labelledby="meaning"><h2 id="meaning">How to read this map'
        f'</h2><p class="lead">{lead}</p><div class="columns">{columns}</div>'
        f'<p class="quiet">For those who know: {_text(exact)} per {_text(release.unit)}, '
        f"{_text(exhibit.published.method.title)}.</p></section>"
    )


def downloads(exhibit: Exhibit) -> str:
    """The report and all files."""
    kinds = {**FILES, MANIFEST: "JSON: checksums of all files, and how they came to be"}
    kinds[SIGNATURE] = "JSON: the publisher's signature of the manifest"
    rows = "".join(
        f'<tr><th scope="row"><a href="/files/{exhibit.key}/{name}" download>{name}</a></th>'
        f'<td>{_text(kinds[name])}</td><td class="number">{_bytes(file.size)}</td></tr>'
        for name, file in exhibit.files.items()
    )
    return (
        '<section class="files" aria-labelledby="files"><h2 id="files">Take it along</h2>'
        f'<p><a class="button" href="/report/{exhibit.key}">Read the report</a></p>'
        f'<p class="quiet">Licence: {_text(exhibit.published.about.licence)}. '
        "Whoever has all files can check them: dp-explorer verify.</p>"
        '<div class="scroll" tabindex="0" role="region" aria-labelledby="files">'
        f'<table class="facts"><tbody>{rows}</tbody></table></div></section>'
    )


def choice(exhibition: Exhibition, chosen: Sequence[Exhibit]) -> str:
    """Which two maps are laid over each other."""
    menus = ""
    for name, label, now in (
        ("first", "First map", chosen[0]),
        ("second", "Second map", chosen[1]),
    ):
        options = "".join(
            f'<option value="{exhibit.key}"{" selected" if exhibit is now else ""}>'
            f"{_text(exhibit.title)}, {exhibit.published.booking.date}</option>"
            for exhibit in exhibition
        )
        menus += f'<label>{label} <select name="{name}">{options}</select></label>'
    return f'<form class="choice" action="/compare">{menus}<button>Show them</button></form>'


def compared(exhibition: Exhibition) -> str:
    """What all maps say of the areas."""
    columns = "".join(
        f'<th scope="col" class="number">{_text(exhibit.title)}<br>'
        f"{exhibit.published.booking.date}</th>"
        for exhibit in exhibition
    )
    return answers().replace(
        '<th scope="col" class="number">About</th><th scope="col" class="number">Between</th>',
        columns,
    )


def facts(exhibition: Exhibition) -> str:
    """The maps of this server side by side."""
    exhibits = list(exhibition)
    titles = "".join(
        f'<th scope="col"><a href="/map/{exhibit.key}">{_text(exhibit.title)}</a></th>'
        for exhibit in exhibits
    )
    rows = [
        ("Drawn on", [exhibit.published.booking.date for exhibit in exhibits]),
        ("Published by", [exhibit.published.about.curator for exhibit in exhibits]),
        ("Records in all", [_total(exhibit) for exhibit in exhibits]),
        ("Small areas", [f"{exhibit.release.n_leaves:,}" for exhibit in exhibits]),
        (
            "Noise of a small area",
            [f"± {Z95 * np.median(exhibit.release.sd):,.3g}" for exhibit in exhibits],
        ),
        ("Protected is each", [facts_of(exhibit)["one"] for exhibit in exhibits]),
        (
            "Epsilon (smaller protects more)",
            [f"{exhibit.release.epsilon:.6g}" for exhibit in exhibits],
        ),
        ("Method", [exhibit.published.method.title for exhibit in exhibits]),
    ]
    body = "".join(
        f'<tr><th scope="row">{name}</th>{"".join(f"<td>{_text(cell)}</td>" for cell in row)}</tr>'
        for name, row in rows
    )
    return (
        '<section aria-labelledby="maps"><h2 id="maps">The maps side by side</h2>'
        '<div class="scroll" tabindex="0" role="region" aria-labelledby="maps">'
        f'<table class="facts"><thead><tr><th scope="col"><span class="unseen">What</span></th>'
        f"{titles}</tr></thead><tbody>{body}</tbody></table></div></section>"
    )


def _total(exhibit: Exhibit) -> str:
    value, sd = exhibit.total
    return f"{count(value)} ({count(value - Z95 * sd)} to {count(value + Z95 * sd)})"


def _bytes(size: int) -> str:
    for unit, of in (("MB", 1e6), ("kB", 1e3)):
        if size >= of:
            return f"{size / of:,.3g} {unit}"
    return f"{size:,} bytes"


def _text(text: str) -> str:
    return html.escape(safe_text(text, 900))


def _quoted(text: str) -> str:
    return html.escape(safe_text(text, 400), quote=True)
