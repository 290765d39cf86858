"""The report: one HTML file that opens offline, without scripts, and prints on paper."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup

from explorer.publish.leaves import why_none
from explorer.publish.manifest import citation
from explorer.publish.names import FILES, MANIFEST
from explorer.publish.picture import drawn
from explorer.publish.published import Published
from explorer.views.markup import safe_text
from explorer.views.templates import templates
from explorer.views.texts import texts_of

_WORDS = Path(__file__).parent / "words" / "report.md"
_LONG = 2_000
#: What the file asks of the browser itself: nothing from elsewhere, no script.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
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


def report(published: Published) -> str:
    """The report of a release, as HTML."""
    release, facts = published.release, _facts(published)

    def text(heading: str) -> str:
        return texts_of(_WORDS)[heading].format(**facts)

    answers, exact = _answers(published)
    return _TEMPLATES.get_template("report.html").render(
        policy=Markup(html.escape(POLICY)),
        about=published.about,
        date=published.booking.date,
        release=release,
        text=text,
        map=_map(published),
        stages=[
            *((row.stage, f"{row.epsilon:.6g}") for row in release.ledger),
            ("in all", f"{release.epsilon:.12g}"),
        ],
        answers=answers,
        exact=exact,
        no_estimate=why_none(release),
        citation=citation(published),
        files=[*FILES.items(), (MANIFEST, text("verify"))],
        points=[(label, text(heading)) for label, heading in _POINTS],
    )


def _label(titles: Sequence[str]) -> Markup:
    return Markup(html.escape(safe_text(", ".join(titles))))


_TEMPLATES = templates(Path(__file__).parent / "templates", _LONG)
_TEMPLATES.globals["label"] = _label


def _map(published: Published) -> Markup:
    release = published.release
    spoken = (
        f"Map of {published.about.title}: private records per cell, {release.n_leaves:,} leaves, "
        f"about {release.total:,.0f} records in all"
    )
    label = html.escape(safe_text(spoken, 300))
    return Markup(
        drawn(published).svg().replace('role="img"', f'role="img" aria-label="{label}"', 1)
    )


def _answers(published: Published) -> tuple[list[tuple[str, ...]], bool]:
    """A row for each area that was asked about, and whether intervals are exact."""
    boxes = published.boxes
    if boxes is None or len(boxes.names) == 0:
        return [], True
    answers = published.release.answer(boxes.asked)
    about = "" if answers.sd_exact else "≈ "
    rows = zip(boxes.names, answers.value, *answers.interval(), answers.sd, strict=True)
    return [
        (name, f"{value:,.0f}", f"{about}{low:,.0f} to {high:,.0f}", f"{about}{sd:,.1f}")
        for name, value, low, high, sd in rows
    ], answers.sd_exact


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
