"""What the ledger says of its bookings: single rows, and a statement of all of them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from explorer.privacy.bookings import lowered, spent_most, title_of, together
from explorer.privacy.drawn import DrawnReleases
from explorer.privacy.ledger import Counted, Ledger, known_as
from explorer.privacy.ledger_file import Book, Row, opened
from explorer.releases.units import to_epsilon

#: What became of a booking, as a statement says it.
SAVED, WAITING, GIVEN_UP = "saved", "drawn, not saved", "given up"
UNFINISHED, UNKNOWN = "unfinished", "not noted"


@dataclass(frozen=True)
class Receipt:
    """One booking as the file has it."""

    # population, time, mechanism, units, token: as of `Spend`
    population: str
    time: str
    mechanism: str
    units: int
    token: str
    row: str  # what a published release calls its row, see `Row.public`
    spent_before: int  # what was booked on the same people before, in units of 10^-12 epsilon
    noted: bool = True  # whether it is noted what became of it; versions before did not


def receipts(ledger: Ledger, tokens: Collection[str]) -> list[Receipt]:
    """The receipts of draws with these tokens that still cost something, in their order.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = Ledger(f"{folder}/ledger.sqlite3", population="riders", token="0" * 32)
    ...     _ = ledger.book("a key", 10**11, "htf")
    ...     [receipt] = receipts(ledger, ["0" * 32])
    ...     print(receipt.population, receipt.units, receipt.spent_before, len(receipt.row))
    riders 100000000000 0 64
    """
    with opened(ledger.path) as book:
        rows = [row for row, units in lowered(book.rows) if units > 0 and row.token in tokens]
        return [_receipt(book, row) for row in rows]


def receipt_of_row(ledger: Ledger, name: str) -> Receipt | None:
    """The receipt of the row that the manifest of a folder names; None for none.

    Folders of an older format name it by the hash that chained it in a ledger of that format.
    """
    with opened(ledger.path) as book:
        rows = [row for row in book.rows if name in (row.public, row.former) and row.token]
        return _receipt(book, rows[0]) if rows else None


def numbers(ledger: Ledger, counts: Counted) -> list[int]:
    """The numbers of all rows of the populations of counts, also of those that lower others."""
    with opened(ledger.path) as book:
        return [row.number for row in together(book.rows, *known_as(ledger, book, counts))]


def statement(ledger: Ledger) -> list[dict[str, Any]]:
    """All populations of a ledger: what they spent, when, by what, for which file, what is left.

    What was booked on several names is listed by itself, with all of them.
    No count of records is in it; populations without a name are called by keyed hashes.
    """
    drawn = DrawnReleases(ledger.path)
    with opened(ledger.path) as book:
        rows, first = lowered(book.rows), book.noted
        people_of = {row.population: (row.names, row.dataset) for row, _ in rows}
        spent = {name: spent_most(book.rows, *people) for name, people in people_of.items()}
    populations = []
    for population, units in spent.items():
        cap, (names, _) = ledger.cap_units, people_of[population]
        populations.append(
            {
                "population": title_of(names),
                "populations": names,
                "spent": to_epsilon(units),
                "left": None if cap is None else to_epsilon(max(cap - units, 0)),
                "bookings": [
                    {
                        "time": row.time,
                        "mechanism": row.mechanism,
                        "epsilon": to_epsilon(cost),
                        **_became(drawn, row, first),
                    }
                    for row, cost in rows
                    if row.population == population and cost > 0
                ],
            }
        )
    return populations


def _became(drawn: DrawnReleases, row: Row, first: int) -> dict[str, str]:
    """What became of a booking: the file, its checksum, how far it came; ``first`` is noted."""
    noted = drawn.note(row.token) if row.token else None
    if noted is None:
        state = UNFINISHED if row.token and row.number >= first else UNKNOWN
        state = WAITING if row.token and drawn.unnamed(row.token) else state
        return {"state": state, "file": "", "sha256": ""}
    state = GIVEN_UP if noted.given_up else SAVED if noted.saved else WAITING
    if state == WAITING and not drawn.known(noted.token):
        state = UNFINISHED
    return {"state": state, "file": noted.file, "sha256": noted.sha256}


def _receipt(book: Book, row: Row) -> Receipt:
    before = spent_most(book.rows[: row.number - 1], row.names, row.dataset)
    return Receipt(
        row.names[0],
        row.time,
        row.mechanism,
        row.units,
        str(row.token),
        row.public,
        before,
        row.number >= book.noted,
    )
