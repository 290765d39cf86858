"""The card of one node: its decision, its facts and its budget, as HTML from plain data."""

from __future__ import annotations

import html
from collections.abc import Iterable

from explorer.views.markup import ledger_bar

Fact = tuple[str, str, str]
"""What it is, its value, and a quieter remark."""


def node_card(
    title: str,
    verdict: str,
    reason: str,
    facts: Iterable[Fact],
    spent: Iterable[tuple[str, float]],
    budget: str,
) -> str:
    """Two columns: decision and facts, and the budget of the path as the ledger's bar."""
    rows = "".join(
        f'<tr><th scope="row">{html.escape(name)}</th><td>{html.escape(value)}'
        f"{f' <small>{html.escape(quiet)}</small>' if quiet else ''}</td></tr>"
        for name, value, quiet in facts
    )
    return (
        '<div class="beside node"><div>'
        f'<h3>{html.escape(title)}</h3><p class="verdict" role="status">{html.escape(verdict)}</p>'
        f"<p>{html.escape(reason)}</p></div><div><h3>Budget of its path</h3>"
        f"<p>{html.escape(budget)}</p>{ledger_bar(list(spent))}</div>"
        f'<div class="wide"><table class="facts">{rows}</table></div></div>'
    )


def swatches(entries: Iterable[tuple[str, str]], sentence: str) -> str:
    """A sentence, and below it what each colour of a chart means: pairs of colour and text."""
    items = "".join(
        f'<li><i style="background:{colour}"></i>{html.escape(text)}</li>'
        for colour, text in entries
    )
    return (
        f'<p class="summary">{html.escape(sentence)}</p><div class="ledger"><ul>{items}</ul></div>'
    )
