"""Who must be trusted with what, as a table."""

from __future__ import annotations

from explorer.app.kit.words import words

#: Rows, in the order of the table; their words are below headings of the same name.
ROWS = (
    "The server",
    "Other people",
    "Two aggregators",
    "Whoever gets the release",
    "This page",
)


def trust_table() -> str:
    """The table, as HTML."""
    text = words("federated")
    rows = "".join(f'<tr><th scope="row">{row}</th><td>{text[row]}</td></tr>' for row in ROWS)
    table = (
        '<table class="facts"><caption class="visually-hidden">Who must be trusted with what'
        f"</caption><tbody>{rows}</tbody></table>"
    )
    return f"<h3>Who must be trusted with what</h3><p>{text['Trust']}</p>{table}"
