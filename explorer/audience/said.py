"""What the pages say: words from a file, filled in with released numbers."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from explorer.audience.exhibits import Exhibit
from explorer.views.texts import texts_of

_WORDS = Path(__file__).parent / "words" / "audience.md"


def words(heading: str, **facts: Any) -> str:
    """The text below a heading."""
    return texts_of(_WORDS)[heading].format(**facts)


def facts_of(exhibit: Exhibit) -> dict[str, Any]:
    """What words about a release are filled in with."""
    release = exhibit.release
    factor = math.exp(release.epsilon)
    return {
        "one": "record" if release.unit == "point" else "person",
        "record": exhibit.published.about.record,
        "factor": f"{factor:,.3g}",
        "sure": f"{100 * factor / (1 + factor):.3g} %",
        "bound": f"{release.contribution_bound:,}",
    }
