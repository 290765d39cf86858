"""The pages as HTML: made once, the same for everybody."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import shapely
from markupsafe import Markup

from explorer.audience.answers import count, facts_of, length, same_plane, words
from explorer.audience.releases import ServedRelease, ServedReleases
from explorer.audience.statics import STATICS
from explorer.publish.names import FILES, MANIFEST, SIGNATURE
from explorer.releases.answers import Z95
from explorer.views.markup import count_bar, safe_text
from explorer.views.palette import PALETTES
from explorer.views.templates import templates

#: Pixels of the longer side of a small map.
_SMALL = 320
#: Areas of the publisher on a page, and corners of one.
_MOST_OWN, _MOST_CORNERS = 6, 60
#: Characters of one text on a page.
_LONGEST = 900


def listing(releases: ServedReleases) -> bytes:
    """All maps of this server."""
    cards = [(served, *_thumbnail(served)) for served in releases]
    return _page("listing.html", "Private maps", releases=releases, cards=cards)


def map_page(served: ServedRelease, releases: ServedReleases, embedded: bool = False) -> bytes:
    """One map."""
    facts, about_files = facts_of(served), {**FILES}
    about_files[MANIFEST] = "JSON: checksums of all files, and how they came to be"
    about_files[SIGNATURE] = "JSON: the publisher's signature of the manifest"
    return _page(
        "map.html",
        served.title,
        {"page": "map", "maps": [_setting(served)], "embedded": embedded},
        served=served,
        releases=releases,
        embedded=embedded,
        bars=_bars(served),
        lead=words("lead", **facts),
        meaning=_meaning(served, facts),
        files=[(n, about_files[n], _bytes(file.size)) for n, file in served.files.items()],
    )


def compare_page(releases: ServedReleases, chosen: Sequence[ServedRelease]) -> bytes:
    """Two maps, one over the other, and what all say of an area."""
    first, second = chosen
    apart = not same_plane(first, second)
    setting = {
        "page": "compare",
        "maps": [_setting(served) for served in chosen],
        "all": [_setting(served) for served in releases],
        "apart": apart,
    }
    return _page(
        "compare.html",
        "Compare maps",
        setting,
        releases=releases,
        first=first,
        second=second,
        apart=apart,
        bars=_bars(*([first] if apart else chosen)),
        rows=_compared(list(releases)),
    )


def sentence_page(title: str, sentence: str, again: int = 0) -> bytes:
    """A page of one sentence, which may try again by itself after so many seconds."""
    return _page("sentence.html", title, sentence=sentence, again=again)


def line(served: ServedRelease) -> str:
    """Whose map it is, of where and when."""
    about = served.published.about
    return f"{about.curator}, {about.region}, {served.published.booking.date}"


_TEMPLATES = templates(Path(__file__).parent / "templates", _LONGEST)
_TEMPLATES.globals.update(address=STATICS.address, words=words, line=line)


def _page(name: str, title: str, setting: dict[str, Any] | None = None, **values: Any) -> bytes:
    attributes = Markup()
    if setting is not None:
        text = json.dumps(setting, ensure_ascii=True, allow_nan=False)
        attributes = Markup(f' data-setting="{html.escape(text)}"')
    template = _TEMPLATES.get_template(name)
    return template.render(title=title, attributes=attributes, **values).encode()


def _setting(served: ServedRelease) -> dict[str, Any]:
    """What the scripts of a page know of a map."""
    grid = served.release.grid
    return {
        "key": served.key,
        "title": safe_text(served.title, 80),
        "date": served.published.booking.date,
        "bounds": list(grid.bounds),
        "cell": [grid.cell_width, grid.cell_height],
        "own": _own(served),
    }


def _own(served: ServedRelease) -> list[dict[str, Any]]:
    """The first areas that the publisher has asked about; the report has them all."""
    boxes = served.published.boxes
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


def _thumbnail(served: ServedRelease) -> tuple[str, int, int]:
    """The address of a small picture of a map, its width and its height."""
    grid = served.release.grid
    at = ",".join(f"{bound:.6g}" for bound in grid.bounds)
    width = round(_SMALL * min(1.0, grid.width / grid.height))
    height = round(width * grid.height / grid.width)
    query = f"at={at}&size={width},{height}&look=cividis&lines=0"
    return f"/picture/{served.key}.png?{query}", width, height


def _bars(*maps: ServedRelease) -> list[tuple[str, Markup]]:
    """What the colours mean, in each look; only one is seen."""
    grid, scale = maps[0].release.grid, ServedReleases.scale(maps)
    side = f"{length(grid.cell_width)} by {length(grid.cell_height)}"
    caption = f"Records, with noise, on a square of {side}"
    return [
        (look, Markup(count_bar(caption, scale, PALETTES[look]))) for look in ("cividis", "paper")
    ]


def _meaning(served: ServedRelease, facts: dict[str, Any]) -> Sequence[tuple[str, tuple[str, ...]]]:
    """What numbers mean, how far they are off, and what was promised: headings and texts."""
    release = served.release
    value, sd = served.total
    spread = "uniform" if release.is_uniform else "interpolated"
    whole = (
        f"The whole map: about {count(value)} records, between {count(value - Z95 * sd)} and "
        f"{count(value + Z95 * sd)}. It consists of {release.n_leaves:,} small areas."
    )
    return (
        ("What a number means", (words("number", **facts), whole)),
        ("How far it can be off", (words("off"), words(f"spread {spread}"))),
        ("What was promised, and to whom", (words(f"promise {release.unit}", **facts),)),
        ("What was not promised", (words("not promised"), words("server"))),
    )


def _compared(maps: Sequence[ServedRelease]) -> list[tuple[str, list[str]]]:
    """Facts of the maps side by side."""

    def total(served: ServedRelease) -> str:
        value, sd = served.total
        return f"{count(value)} ({count(value - Z95 * sd)} to {count(value + Z95 * sd)})"

    rows = {
        "Drawn on": lambda served: served.published.booking.date,
        "Published by": lambda served: served.published.about.curator,
        "Records in all": total,
        "Small areas": lambda served: f"{served.release.n_leaves:,}",
        "Noise of a small area": lambda served: f"± {Z95 * np.median(served.release.sd):,.3g}",
        "Protected is each": lambda served: facts_of(served)["one"],
        "Epsilon (smaller protects more)": lambda served: f"{served.release.epsilon:.6g}",
        "Method": lambda served: served.published.method.title,
    }
    return [(name, [text(served) for served in maps]) for name, text in rows.items()]


def _bytes(size: int) -> str:
    for unit, of in (("MB", 1e6), ("kB", 1e3)):
        if size >= of:
            return f"{size / of:,.3g} {unit}"
    return f"{size:,} bytes"
