"""The ledger on the page: what was spent on whom, for which file, and what is left."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

from explorer.views.markup import safe_text

#: So many bookings of a population, and populations, are on the page.
MOST, MOST_POPULATIONS = 20, 50


def as_html(statement: Sequence[dict[str, Any]]) -> str:
    """A statement of the ledger as a table, the newest booking of each population first."""
    if not statement:
        return '<p class="quiet">Nothing has been booked.</p>'
    rows = []
    for account in statement[-MOST_POPULATIONS:][::-1]:
        left = "no cap is set" if account["left"] is None else f"{account['left']:.12g} left"
        rows.append(
            f'<tr><th scope="rowgroup" colspan="5">{_text(account["population"])}: epsilon '
            f"{account['spent']:.12g} spent, {left}</th></tr>"
        )
        for row in account["bookings"][-MOST:][::-1]:
            cells = (
                row["time"][:16].replace("T", " "),
                row["mechanism"],
                f"{row['epsilon']:.12g}",
                row["state"],
                f"{row['file']} {row['sha256'][:12]}".strip(),
            )
            rows.append(f"<tr>{''.join(f'<td>{_text(cell)}</td>' for cell in cells)}</tr>")
    more = len(statement) > MOST_POPULATIONS or any(
        len(account["bookings"]) > MOST for account in statement
    )
    text = "<p>Older ones are said by dp-explorer ledger.</p>" if more else ""
    titles = ("time (UTC)", "mechanism", "epsilon", "state", "file and checksum")
    head = "".join(f'<th scope="col">{title}</th>' for title in titles)
    return (
        '<div class="prose" style="overflow:auto;max-width:none;white-space:nowrap;'
        'overflow-wrap:normal" tabindex="0" role="region" '
        f'aria-label="Ledger"><table><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody>'
        f"</table></div>{text}"
    )


def _text(text: Any) -> str:
    return html.escape(safe_text(text, 120))
