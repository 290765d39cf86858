"""Words for newcomers, kept in Markdown files next to this module."""

from __future__ import annotations

from pathlib import Path

from explorer.views.texts import texts_of

FOLDER = Path(__file__).parents[1] / "words"


def words(page: str) -> dict[str, str]:
    """The texts of a page: what is below each ``## heading`` of ``words/<page>.md``.

    Returns
    -------
    dict from heading (as written) to text, in the file's order.
    """
    return texts_of(FOLDER / f"{page}.md")
