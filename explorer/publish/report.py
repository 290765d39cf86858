"""The report: one HTML file that opens offline, without scripts, and prints on paper."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from explorer.publish.leaves import why_none
from explorer.publish.manifest import citation
from explorer.publish.names import FILES, MANIFEST
from explorer.publish.picture import drawn
from explorer.publish.published import Published
from explorer.views.markup import safe_text
from explorer.views.texts import texts_of

_WORDS = Path(__file__).parent / "words" / "report.md"
_LONG = 2_000
#: What the file asks of the browser itself: nothing from elsewhere, no script.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_NOT = ("other releases", "groups", "several", "timing", "choice", "sums")
#: The points of SP 800-226, each with the heading of what is said of it.
_POINTS = (
    ("Privacy loss budget", "budget"),
    ("Unit of privacy", "unit"),
    ("Utility and bias", "utility"),
    ("Algorithm, its correctness and its noise", "algorithm"),
    ("Trust model", "model"),
    ("Composition of releases", "composition"),
    ("Processing before and after", "processing"),
    ("Security, access and collection", "exposure"),
)
_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><style>
@page {{ size: A4 portrait; margin: 14mm }}
body {{ font: 15px/1.5 Inter, system-ui, Helvetica, Arial, sans-serif; color: #12171e;
  background: #fff; margin: 0 }}
main {{ max-width: 760px; margin: 0 auto; padding: 16px }}
h1 {{ font-size: 26px; line-height: 1.25; margin: 0 0 4px }}
h2 {{ font-size: 18px; margin: 24px 0 4px }} p {{ margin: 6px 0 }}
svg {{ display: block; width: 100%; height: auto; margin: 8px 0 }}
.scroll {{ overflow-x: auto }}
table {{ border-collapse: collapse; width: 100%; font-size: 14px; margin: 6px 0 }}
td, th {{ text-align: left; padding: 3px 8px 3px 0; border-bottom: 1px solid #d5dae0;
  vertical-align: top; overflow-wrap: anywhere }}
td.number, th.number {{ text-align: right; white-space: nowrap; overflow-wrap: normal }}
td:first-child, th:first-child {{ min-width: 9.5em; overflow-wrap: normal }}
.quiet {{ color: #4a5562 }} li {{ margin: 4px 0 }}
@media print {{ body {{ font-size: 11px; print-color-adjust: exact;
  -webkit-print-color-adjust: exact }} main {{ max-width: none; padding: 0 }}
  svg {{ max-height: 150mm }} h2 {{ break-after: avoid }} tr, li {{ break-inside: avoid }}
  table {{ font-size: 10px }} .page {{ break-before: page }} }}
</style></head><body><main>
<h1>{title}</h1><p class="quiet">{line}</p>
{parts}
</main></body></html>
"""


def report(published: Published) -> str:
    """The report of a release, as HTML."""
    texts, facts = texts_of(_WORDS), _facts(published)

    def section_text(heading: str) -> str:
        return texts[heading].format(**facts)

    release, about = published.release, published.about
    parts = [
        *_section("What this is", section_text("what"), section_text("how")),
        _map(published),
        *_section("What is protected", section_text(f"protects {release.unit}")),
        *_section("Where the budget went", section_text("ledger")),
        _table(
            ("stage", "epsilon"),
            [
                *((row.stage, f"{row.epsilon:.6g}") for row in release.ledger),
                ("in all", f"{release.epsilon:.12g}"),
            ],
        ),
        *_answers(published, section_text),
        *_section("How far numbers may be off", section_text("accuracy")),
        f"<p>{_text(why_none(release) or section_text('estimate'))}</p>",
        "<h2>What this does not protect against</h2><ul>",
        *(f"<li>{_text(section_text(f'not {name}'))}</li>" for name in _NOT),
        "</ul>",
        *_section("Use", f"{about.use}"),
        *_section("Licence and citation", f"Licence: {about.licence}.", citation(published)),
        "<h2>Files of this folder</h2>",
        _table(("file", "what it is"), [*FILES.items(), (MANIFEST, section_text("verify"))], ()),
        '<h2 class="page">Points of SP 800-226</h2>',
        f"<p>{_text(section_text('guidelines'))}</p>",
        _table(
            ("point", "this release"),
            [(label, section_text(heading)) for label, heading in _POINTS],
            (),
        ),
    ]
    line = f"{about.curator}, {about.region}, {published.booking.date}"
    return _PAGE.format(
        policy=html.escape(POLICY, quote=True),
        title=_text(about.title),
        line=_text(line),
        parts="\n".join(parts),
    )


def _map(published: Published) -> str:
    release = published.release
    spoken = (
        f"Map of {published.about.title}: private records per cell, {release.n_leaves:,} leaves, "
        f"about {release.total:,.0f} records in all"
    )
    label = html.escape(safe_text(spoken, 300), quote=True)
    return drawn(published).svg().replace('role="img"', f'role="img" aria-label="{label}"', 1)


def _answers(published: Published, section_text: Any) -> list[str]:
    boxes = published.boxes
    if boxes is None or len(boxes.names) == 0:
        return []
    answers = published.release.answer(boxes.asked)
    low, high = answers.interval()
    about = "" if answers.sd_exact else "≈ "
    rows = [
        (name, f"{value:,.0f}", f"{about}{a:,.0f} to {b:,.0f}", f"{about}{sd:,.1f}")
        for name, value, a, b, sd in zip(
            boxes.names, answers.value, low, high, answers.sd, strict=True
        )
    ]
    heading = "answers" if answers.sd_exact else "answers simulated"
    return [
        *_section("Areas that were asked about", section_text(heading)),
        _table(
            ("area", "private records", "95 % of the noise", "standard deviation"), rows, (1, 2, 3)
        ),
    ]


def _facts(published: Published) -> dict[str, Any]:
    release, grid, about = published.release, published.release.grid, published.about
    texts, sd = texts_of(_WORDS), published.release.sd
    factor = math.exp(release.epsilon)
    facts: dict[str, Any] = {
        "one": "record" if release.unit == "point" else "user",
        "record": about.record,
        "cleaning": about.cleaning,
        "why": about.why,
        "method": published.method.title,
        "summary": published.method.summary.rstrip("."),
        "paper": published.method.paper,
        "leaves": f"{release.n_leaves:,}",
        "width": f"{grid.cell_width:,.4g}",
        "height": f"{grid.cell_height:,.4g}",
        "inside": texts[f"spread {'uniform' if release.is_uniform else 'interpolated'}"],
        "factor": f"{factor:,.3g}",
        "sure": f"{100 * factor / (1 + factor):.3g} %",
        "bound": release.contribution_bound,
        "epsilon": f"{release.epsilon:.12g}",
        "population": published.booking.population,
        "time": published.booking.time,
        "spent": f"{published.spent_after:.12g}",
        "least": f"{sd.min():,.4g}",
        "median": f"{np.median(sd):,.4g}",
        "most": f"{sd.max():,.4g}",
        "tuned": texts[f"tuned {about.tuned}"],
        "linear": texts["linear" if release.linear else "not linear"],
        "opendp": metadata.version("opendp"),
    }
    facts["protects"] = texts[f"protects {release.unit}"].format(**facts)
    facts["accuracy"] = texts["accuracy"].format(**facts)
    return facts


def _section(heading: str, *paragraphs: str) -> list[str]:
    return [f"<h2>{heading}</h2>", *(f"<p>{_text(paragraph)}</p>" for paragraph in paragraphs)]


def _text(text: str) -> str:
    return html.escape(safe_text(text, _LONG))


def _table(
    titles: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int] = (1,)
) -> str:
    def cell(tag: str, at: int, text: str) -> str:
        scope = ' scope="col"' if tag == "th" else ""
        look = ' class="number"' if at in numbers else ""
        return f"<{tag}{scope}{look}>{_text(text)}</{tag}>"

    head = "".join(cell("th", at, title) for at, title in enumerate(titles))
    body = "".join(
        f"<tr>{''.join(cell('td', at, value) for at, value in enumerate(row))}</tr>" for row in rows
    )
    whole = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    # What scrolls is reached by the keyboard, and has a name.
    label = html.escape(safe_text(", ".join(titles)), quote=True)
    return f'<div class="scroll" role="region" tabindex="0" aria-label="{label}">{whole}</div>'
