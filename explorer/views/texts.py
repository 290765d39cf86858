"""Words for people, kept in Markdown: texts below headings, and Markdown as harmless HTML."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt


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


@cache
def _renderer() -> MarkdownIt:
    from markdown_it import MarkdownIt

    # Raw HTML is shown as text; a picture would make every visitor's browser ask elsewhere. The
    # library itself refuses links that are scripts.
    return MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")


def steps(text: str, now: int) -> tuple[str, int]:
    r"""Markdown of steps as HTML, and how many there are; a list's items are the steps.

    Items other than the one numbered ``now`` have the class "later". Words without a list are
    shown as they are, and are one step.

    >>> steps("1. Look.\n2. Think.", 1)[0].replace("\n", "")
    '<ol><li value="1" class="later">Look.</li><li value="2">Think.</li></ol>'
    """
    tokens = _renderer().parse(text)
    items = [token for token in tokens if token.type == "list_item_open" and token.level == 1]
    for number, item in enumerate(items):
        # What is hidden is not counted.
        item.attrSet("value", str(number + 1))
        if number != now:
            item.attrJoin("class", "later")
    return str(_renderer().renderer.render(tokens, _renderer().options, {})).strip(), len(items)


def prose(text: str) -> str:
    """Markdown (CommonMark and tables) as HTML; it may come from any file.

    >>> prose("Epsilon is **0.1**. <img src=x onerror=alert(1)>")
    '<p>Epsilon is <strong>0.1</strong>. &lt;img src=x onerror=alert(1)&gt;</p>'
    """
    return str(_renderer().render(text)).strip()
