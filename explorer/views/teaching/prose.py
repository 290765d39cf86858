"""Markdown of a lesson as HTML that cannot do anything but be read."""

from __future__ import annotations

from functools import cache

from markdown_it import MarkdownIt


@cache
def _renderer() -> MarkdownIt:
    # Raw HTML is shown as text; a picture would make every visitor's browser ask elsewhere. The
    # library itself refuses links that are scripts.
    return MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")


def prose(text: str) -> str:
    """Markdown (CommonMark and tables) as HTML; it may come from any file.

    >>> prose("Epsilon is **0.1**. <img src=x onerror=alert(1)>")
    '<p>Epsilon is <strong>0.1</strong>. &lt;img src=x onerror=alert(1)&gt;</p>'
    """
    return str(_renderer().render(text)).strip()
