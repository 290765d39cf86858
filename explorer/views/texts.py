"""Words for people, kept in Markdown files: what is below each heading."""

from __future__ import annotations

from functools import cache
from pathlib import Path


@cache
def texts_of(path: Path) -> dict[str, str]:
    """The texts of a file: what is below each ``## heading``, as one line.

    Returns
    -------
    dict from heading (as written) to text, in the file's order.
    """
    texts: dict[str, str] = {}
    heading = None
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            heading = line[3:].strip()
            texts[heading] = ""
        elif heading is not None:
            texts[heading] = f"{texts[heading]} {line.strip()}".strip()
    return texts
