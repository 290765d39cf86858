"""Words for newcomers, kept in Markdown files beside this module."""

from __future__ import annotations

from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "words"


@cache
def words(page: str) -> dict[str, str]:
    """The texts of a page: what stands below each ``## heading`` of ``words/<page>.md``.

    Returns
    -------
    dict from heading (as written) to text, in the file's order.
    """
    texts: dict[str, str] = {}
    heading = None
    for line in (FOLDER / f"{page}.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            heading = line[3:].strip()
            texts[heading] = ""
        elif heading is not None:
            texts[heading] = f"{texts[heading]} {line.strip()}".strip()
    return texts
