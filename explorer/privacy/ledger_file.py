"""The ledger's file: opened by one at a time, proved to be a ledger, its rows chained by hashes.

Every row carries a SHA-256 over what it says and the hash of the row before; how many there are and
the last hash stand beside them. So a row that was changed, taken out, moved or cut off is noticed,
and rows are only ever added: what takes a booking back is a row of its own. A hash without a
secret stops no one who means to deceive, who could write another file as well.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import secrets
import sqlite3
import tempfile
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import astuple, dataclass, fields, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from explorer.errors import InputError

logger = logging.getLogger(__name__)

#: Another process books in milliseconds; one that holds the file for longer has hung.
WAIT_SECONDS = 10.0
#: "DPLG", in the header of the file: says what it is to whoever opens it.
APPLICATION = 0x44504C47
_FORMAT = 2
_OLD_COLUMNS = ["id", "dataset", "time", "mechanism", "units", "what"]
_TABLES = (
    """CREATE TABLE spends (
        number INTEGER PRIMARY KEY,
        population TEXT NOT NULL,
        dataset TEXT NOT NULL,
        time TEXT NOT NULL,
        mechanism TEXT NOT NULL,
        units INTEGER NOT NULL CHECK (units >= 0),
        what TEXT NOT NULL,
        lowers INTEGER,
        token TEXT UNIQUE,
        chain TEXT NOT NULL
    )""",
    "CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
)
# What this process has last seen of each file: its identity, its rows, the hash of the last.
_SEEN: dict[Path, tuple[str, int, str]] = {}
_SEEN_LOCK = threading.Lock()
# A clock is set by that much now and then, and nobody needs to hear of it.
_SMALL_CHANGE = timedelta(minutes=1)


class NotALedger(Exception):
    """What is wrong with a file, as the middle of a sentence."""


@dataclass(frozen=True)
class Row:
    """One row as it stands in the file; `lowers` is the number of the booking it takes back."""

    number: int
    population: str
    dataset: str
    time: str
    mechanism: str
    units: int
    what: str
    lowers: int | None = None
    token: str | None = None

    def chained(self, before: str) -> str:
        """The hash of this row behind one with the hash `before`."""
        return hashlib.sha256(json.dumps([before, *astuple(self)]).encode()).hexdigest()


_COLUMNS = ", ".join(each.name for each in fields(Row))


class Book:
    """The rows of an opened file, all of them proved; what is added is committed with the rest."""

    def __init__(self, connection: sqlite3.Connection, about: dict[str, str]) -> None:
        self._connection = connection
        #: The first row of which is noted what became of it; 0 in a file of before, until the next.
        self.noted = int(about.get("noted", 0))
        self.identity, self.rows, self.chain = about["identity"], [], [about["identity"]]
        query = f"SELECT {_COLUMNS}, chain FROM spends ORDER BY number"
        for number, (*values, chain) in enumerate(connection.execute(query), 1):
            row = Row(*values)
            if row.number != number or row.chained(self.chain[-1]) != chain:
                raise NotALedger(f"its row {number} was changed, moved or taken out")
            self.rows.append(row)
            self.chain.append(chain)
        if (about["rows"], about["head"]) != (str(len(self.rows)), self.chain[-1]):
            raise NotALedger("rows at its end were taken out")

    def add(self, row: Row) -> Row:
        """Write a row behind the last; its number and its time follow from those before."""
        if not self.noted:
            self.noted = len(self.rows) + 1
            noted = "INSERT INTO about VALUES ('noted', ?)"
            self._connection.execute(noted, (str(self.noted),))
        row = replace(row, number=len(self.rows) + 1, time=self._time(row.time))
        chain = row.chained(self.chain[-1])
        marks = ", ".join("?" * (len(fields(Row)) + 1))
        self._connection.execute(
            f"INSERT INTO spends ({_COLUMNS}, chain) VALUES ({marks})", (*astuple(row), chain)
        )
        self.rows.append(row)
        self.chain.append(chain)
        for name, value in (("rows", str(len(self.rows))), ("head", chain)):
            self._connection.execute("UPDATE about SET value = ? WHERE name = ?", (value, name))
        return row

    def _time(self, now: str) -> str:
        """Never before the row before, whatever the clock says."""
        last = self.rows[-1].time if self.rows else now
        if datetime.fromisoformat(last) - datetime.fromisoformat(now) > _SMALL_CHANGE:
            logger.warning(
                "The clock says %s and the ledger's last booking is of %s: this one is booked with "
                "that time, and bookings count in their order; set the clock.", now, last,
            )  # fmt: skip
        return max(now, last)


def real_path(path: str | Path) -> Path:
    """The absolute path of a file on the disk.

    Raises
    ------
    InputError
        For the names by which SQLite keeps nothing, and for none.
    """
    text = str(path)
    if not text.strip() or ":memory:" in text or text.startswith("file:"):
        raise InputError(
            f"The ledger is {text!r}, which keeps nothing: name a file on the disk by its whole "
            "path (EXPLORER_LEDGER)."
        )
    return Path(path).expanduser().absolute()


@contextmanager
def opened(path: Path) -> Iterator[Book]:
    """The book of a file, locked for all others; commits at the end, or takes all back.

    Raises
    ------
    InputError
        For a file that cannot be used, or is none of ours.
    """
    try:
        _make(path)
        # A connection of its own for every call: none is shared by threads or forks.
        with closing(_connected(path)) as connection:
            # Immediate: no other process can book between the sum and the insert.
            connection.execute("BEGIN IMMEDIATE")
            try:
                book = Book(connection, _about(connection, path))
                _as_before(path, book)
                yield book
                connection.execute("COMMIT")
            except BaseException:
                # Where there was no room it is taken back already, and would be a second error.
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise
            _remember(path, book)
    except (sqlite3.Error, OSError, NotALedger, UnicodeError) as error:
        why = str(error)
        if "locked" in why:
            why = f"another program has kept it locked for {WAIT_SECONDS:g} seconds"
        raise InputError(
            f"The ledger {path} cannot be used ({why}), so nothing was drawn; bring the right file "
            "back, or name another with EXPLORER_LEDGER to begin anew: what was spent before is "
            "not counted then."
        ) from error


def _connected(path: Path) -> sqlite3.Connection:
    # It must be there: SQLite would make an empty one in place of one that was taken away.
    address = f"{path.as_uri()}?mode=rw"
    return sqlite3.connect(address, uri=True, timeout=WAIT_SECONDS, isolation_level=None)


def _make(path: Path) -> None:
    """A new ledger where there is no file; nobody ever sees one that is not whole."""
    if path.exists():
        if path.is_file() and path.stat().st_size == 0:
            raise NotALedger("it was emptied, and holds no row any more")
        return
    if path in _SEEN:
        raise NotALedger("it was there before and is gone")
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".ledger-", dir=path.parent) as folder:
        new = Path(folder) / "new"
        with closing(sqlite3.connect(new, isolation_level=None)) as connection:
            _set_up(connection)
        with suppress(FileExistsError):  # another process was quicker, with one as good
            try:
                os.link(new, path)
            except FileExistsError:
                raise
            except OSError:  # a disk without links
                with path.open("xb") as file:
                    file.write(new.read_bytes())


def _set_up(connection: sqlite3.Connection) -> str:
    """The tables of an empty file; returns the identity that the chain begins with."""
    identity = secrets.token_hex(16)
    for statement in _TABLES:
        connection.execute(statement)
    for each in (("identity", identity), ("rows", "0"), ("head", identity), ("noted", "1")):
        connection.execute("INSERT INTO about VALUES (?, ?)", each)
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {_FORMAT}")
    return identity


def _about(connection: sqlite3.Connection, path: Path) -> dict[str, str]:
    """Proof that this is a ledger; one of before version 2 is taken over once."""

    def number(name: str) -> int:
        return int(connection.execute(f"PRAGMA {name}").fetchone()[0])

    if number("application_id") != APPLICATION:
        _take_over(connection, path)
        return dict(connection.execute("SELECT name, value FROM about"))
    if number("user_version") != _FORMAT:
        raise NotALedger("another version of this program has written it")
    # SQLite reads what was cut off a last page as zeros.
    if number("page_count") * number("page_size") != path.stat().st_size:
        raise NotALedger("a part of it is missing")
    about = dict(connection.execute("SELECT name, value FROM about"))
    if not {"identity", "rows", "head"} <= about.keys():
        raise NotALedger("parts of it are missing")
    return about


def _take_over(connection: sqlite3.Connection, path: Path) -> None:
    """Rows of an older ledger, each data set a population of its own, chained from now on."""
    tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master")]
    columns = [row[1] for row in connection.execute("PRAGMA table_info(spends)")]
    if tables != ["spends"] or columns != _OLD_COLUMNS:
        raise NotALedger("it is a database, but no ledger")
    old = list(connection.execute("SELECT * FROM spends ORDER BY id"))
    connection.execute("DROP TABLE spends")
    identity = _set_up(connection)
    book = Book(connection, {"identity": identity, "rows": "0", "head": identity, "noted": "1"})
    # A booking that was taken back has left a gap in the old numbers.
    for _number, dataset, time, mechanism, units, what in old:
        book.add(Row(0, own(dataset), dataset, time, mechanism, units, what))
    logger.warning(
        "The ledger %s is of an older version: its %d bookings were taken over, each data set as a "
        "population of its own, and are chained from now on.", path, len(old),
    )  # fmt: skip


def own(dataset: str) -> str:
    """The population of counts that nobody has named."""
    return f"counts {dataset}"


def now() -> str:
    """UTC by the clock, ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _as_before(path: Path, book: Book) -> None:
    """Raise `NotALedger` unless the file goes on from what this process saw last."""
    seen: Any = _SEEN.get(path)
    if seen is None:
        return
    identity, rows, head = seen
    if book.identity != identity:
        raise NotALedger("another ledger was put in its place")
    if len(book.rows) < rows or book.chain[rows] != head:
        raise NotALedger("an older copy was put in its place")


def _remember(path: Path, book: Book) -> None:
    with _SEEN_LOCK:
        seen = _SEEN.get(path)
        # A thread that was slower knows less.
        if seen is None or seen[1] <= len(book.rows):
            _SEEN[path] = book.identity, len(book.rows), book.chain[-1]
