"""Words for newcomers, kept in Markdown files; those with values are jinja2 templates."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined, Template

from explorer.app.kit.numbers import edge, many, share, signed
from explorer.views.tables import number
from explorer.views.templates import templates
from explorer.views.texts import texts_of

FOLDER = Path(__file__).parents[1] / "words"
_MARKUP = templates(FOLDER / "templates", 400)
_TEMPLATES = Environment(undefined=StrictUndefined)
_TEMPLATES.filters |= {
    "whole": "{:,.0f}".format,
    "tenth": "{:,.1f}".format,
    "short": "{:g}".format,
    "edge": edge,
    "many": many,
    "share": share,
    "number": number,
    "signed": signed,
}


def words(page: str) -> dict[str, str]:
    """The texts of a page: what is below each ``## heading`` of ``words/<page>.md``.

    Returns
    -------
    dict from heading (as written) to text, in the file's order.
    """
    return texts_of(FOLDER / f"{page}.md")


@cache
def _template(page: str, heading: str) -> Template:
    return _TEMPLATES.from_string(texts_of(FOLDER / "templates" / f"{page}.md")[heading])


def sentence(page: str, heading: str, **values: Any) -> str:
    """A text of ``words/templates/<page>.md`` with its values; nothing is escaped.

    Filters: ``whole`` and ``tenth`` (thousands with commas, so many digits), ``short`` (``:g``),
    ``many("noun")``, ``number`` (three significant digits, or as many as given), ``signed``,
    ``share`` (of 1, in percents) and ``edge`` (of a box, in three digits).
    """
    return _template(page, heading).render(values)


def markup(name: str, **values: Any) -> str:
    """HTML of ``words/templates/<name>.html``, whose texts are escaped, see `views.templates`."""
    return _MARKUP.get_template(f"{name}.html").render(values)
