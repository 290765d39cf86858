"""The ledger's file: opened by one at a time, proved to be a ledger, its rows chained by hashes.

Every row carries a SHA-256 over what it says, random bytes of its own and the hash of the row
before; how many there are and the last hash are kept with them. So a row that was changed, taken
out, moved or cut off is noticed, and rows are only ever added: what takes a booking back is a row.
This finds accidents; a person who can write the file can write another one as well.

A release that is published names its row by a hash of these random bytes alone, which depends on
no count; the bytes, and the hashes that chain rows, stay in the file. Data sets and populations
without a name are known by an HMAC of their hashes under a secret of the file. Who has the file has
the secret too, and can confirm a guess of all counts: the file belongs with the data.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import os
import secrets
import sqlite3
import tempfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, astuple, dataclass, fields, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from explorer.errors import InputError
from explorer.grid.whole_file import write_whole
from explorer.points.populations import is_hash, population_name

logger = logging.getLogger(__name__)

#: Another process books in milliseconds; one that holds the file for longer has hung.
WAIT_SECONDS = 10.0
#: "DPLG", in the header of the file: says what the file is.
APPLICATION = 0x44504C47
_FORMAT = 3
_COLUMNS_1 = "id, dataset, time, mechanism, units, what"
_COLUMNS_2 = "number, population, dataset, time, mechanism, units, what, lowers, token"
#: Between the populations of one booking: no name holds a line break.
_BETWEEN = "\n"
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
        random TEXT NOT NULL,
        former TEXT,
        chain TEXT NOT NULL
    )""",
    "CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
)
# What this process has last seen of each file: its identity, its rows, the hash of the last.
_SEEN: dict[Path, tuple[str, int, str] | None] = {}
_SEEN_LOCK = threading.Lock()
# Clocks are set by that much now and then, which needs no warning.
_SMALL_CHANGE = timedelta(minutes=1)
_GO_ON = (
    "take what is there now for the ledger (dp-explorer ledger --accept, which forgets bookings "
    "that are not in it), "
)


class NotALedger(Exception):
    """What is wrong with a file, as the middle of a sentence."""


class Exchanged(NotALedger):
    """What is wrong with a file that is a ledger, or gone, and not the one that was here before."""


@dataclass(frozen=True)
class Row:
    """One row as the file has it."""

    number: int
    population: str  # one name or several, see `joined` and `Book.named`
    dataset: str  # see `Book.keyed`
    time: str
    mechanism: str
    units: int
    what: str
    lowers: int | None = None  # the number of the booking that it takes back
    token: str | None = None
    random: str = ""  # 16 bytes that only the file holds, in hexadecimal digits
    # the hash that chained it in a file of format 2, by which older folders name it
    former: str | None = None

    @property
    def names(self) -> list[str]:
        """The populations on which it is booked."""
        return self.population.split(_BETWEEN)

    @property
    def public(self) -> str:
        """By which a published release names the row: of its random bytes, and of nothing else."""
        return hashlib.sha256(f"row of a ledger {self.random}".encode()).hexdigest()


_COLUMNS = ", ".join(column.name for column in fields(Row))


class Book:
    """The rows of an opened file, all of them proved; what is added is committed with the rest."""

    def __init__(self, connection: sqlite3.Connection, about: dict[str, str]) -> None:
        self._connection = connection
        #: The first row of which is noted what became of it.
        self.noted = int(about["noted"])
        self.identity, self._secret = about["identity"], about["secret"]
        if _identity(self._secret) != self.identity:
            raise NotALedger("its secret was changed")
        proved = list(_proved(connection, _COLUMNS, about))
        self.rows = [Row(*values) for values, _ in proved]
        self.chain = [self.identity, *(chain for _, chain in proved)]

    def keyed(self, text: str) -> str:
        """The HMAC-SHA-256 of a text under the secret of this file, as hexadecimal digits."""
        return hmac.new(bytes.fromhex(self._secret), text.encode(), "sha256").hexdigest()

    def named(self, population: str) -> str:
        """A population as the file calls it: one that is named by a hash, by an HMAC of it."""
        if not is_hash(population):
            return population
        kind, _, digest = population.partition(" ")
        return f"{kind} {self.keyed(digest)[:32]}"

    def of(self, populations: Sequence[str], key: str) -> tuple[tuple[str, ...], str]:
        """Populations and data set as the file calls them; counts without a name are their own."""
        dataset = self.keyed(key)
        return tuple(map(self.named, populations)) or (f"counts {dataset[:32]}",), dataset

    def add(self, row: Row) -> Row:
        """Write a row behind the last; its number and its time follow from those before."""
        number, time, random = len(self.rows) + 1, self._time(row.time), secrets.token_hex(16)
        row = replace(row, number=number, time=time, random=random)
        chain = _chained(self.chain[-1], astuple(row))
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


def _chained(before: str, values: Iterable[Any]) -> str:
    """The hash of a row behind one with the hash `before`."""
    return hashlib.sha256(json.dumps([before, *values]).encode()).hexdigest()


def _proved(
    connection: sqlite3.Connection, columns: str, about: dict[str, str]
) -> Iterator[tuple[list[Any], str]]:
    """The values of each row with its hash; raises `NotALedger` where they do not fit."""
    number, before = 0, about["identity"]
    query = f"SELECT {columns}, chain FROM spends ORDER BY number"
    for number, (*values, chain) in enumerate(connection.execute(query), 1):
        if values[0] != number or _chained(before, values) != chain:
            raise NotALedger(f"its row {number} was changed, moved or taken out")
        before = chain
        yield values, chain
    if (about["rows"], about["head"]) != (str(number), before):
        raise NotALedger("rows at its end were taken out")


def real_path(path: str | Path) -> Path:
    """The absolute path of a file on the disk."""
    text = str(path)
    if not text.strip() or ":memory:" in text or text.startswith("file:"):
        raise InputError(
            f"The ledger is {text!r}, which keeps nothing: name a file on the disk by its whole "
            "path (EXPLORER_LEDGER)."
        )
    return Path(path).expanduser().absolute()


@contextmanager
def opened(path: Path) -> Iterator[Book]:
    """The book of a file, locked for all others; commits at the end, or takes all back."""
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
                # Where there was no space it is taken back already, and would be a second error.
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
            f"back, {_GO_ON if isinstance(error, Exchanged) else ''}or name another with "
            "EXPLORER_LEDGER to begin anew: what was spent before is not counted then."
        ) from error


def accept(path: Path) -> tuple[int, int]:
    """Go on with the ledger that is in a place now; a new one is made where there is none.

    Returns
    -------
    (int, int)
        How many rows were known of, and how many it has.
    """
    record = remembered(path)
    last_seen, _SEEN[path] = _SEEN.get(path), None
    try:
        with opened(path) as book:
            rows = len(book.rows)
            forget(path)
    except InputError:
        _SEEN[path] = last_seen
        raise
    return 0 if record is None else record.rows, rows


def _connected(path: Path) -> sqlite3.Connection:
    # It must be there: SQLite would make an empty one in place of one that was taken away.
    address = f"{path.as_uri()}?mode=rw"
    return sqlite3.connect(address, uri=True, timeout=WAIT_SECONDS, isolation_level=None)


def _make(path: Path) -> None:
    """A new ledger where there is no file; no process ever sees one that is not whole."""
    if path.exists():
        if path.is_file() and path.stat().st_size == 0:
            raise NotALedger("it was emptied, and holds no row any more")
        return
    if _seen(path):
        raise Exchanged("it was there before and is gone")
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


def _set_up(connection: sqlite3.Connection, noted: int = 1) -> dict[str, str]:
    """The tables of an empty file; returns the values of its table `about`."""
    secret = secrets.token_hex(32)
    identity = _identity(secret)
    for statement in _TABLES:
        connection.execute(statement)
    about = {"secret": secret, "identity": identity, "rows": "0", "head": identity}
    about["noted"] = str(noted)
    connection.executemany("INSERT INTO about VALUES (?, ?)", about.items())
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {_FORMAT}")
    return about


def _identity(secret: str) -> str:
    return hashlib.sha256(f"identity of a ledger {secret}".encode()).hexdigest()


def _about(connection: sqlite3.Connection, path: Path) -> dict[str, str]:
    """Proof that this is a ledger; one of an older format is taken over once."""

    def number(name: str) -> int:
        return int(connection.execute(f"PRAGMA {name}").fetchone()[0])

    ours, version = number("application_id") == APPLICATION, number("user_version")
    if ours and version not in (2, _FORMAT):
        raise NotALedger("another version of this program has written it")
    # SQLite reads what was cut off a last page as zeros.
    if ours and number("page_count") * number("page_size") != path.stat().st_size:
        raise NotALedger("a part of it is missing")
    if not ours or version == 2:
        old, noted = _format_2(connection) if ours else _format_1(connection)
        _take_over(connection, path, old, noted)
    about = _named_values(connection)
    if not {"secret", "identity", "rows", "head", "noted"} <= about.keys():
        raise NotALedger("parts of it are missing")
    return about


def _named_values(connection: sqlite3.Connection) -> dict[str, str]:
    return dict(connection.execute("SELECT name, value FROM about"))


def _format_1(connection: sqlite3.Connection) -> tuple[list[Row], int]:
    """Rows of the first format, each data set a population of its own, and the first noted."""
    tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master")]
    columns = [row[1] for row in connection.execute("PRAGMA table_info(spends)")]
    if tables != ["spends"] or columns != _COLUMNS_1.split(", "):
        raise NotALedger("it is a database, but no ledger")
    # A booking that was taken back has left a gap in the old numbers.
    query = f"SELECT {_COLUMNS_1} FROM spends ORDER BY id"
    rows = [Row(0, f"counts {row[1]}", *row[1:]) for row in connection.execute(query)]
    return rows, len(rows) + 1


def _format_2(connection: sqlite3.Connection) -> tuple[list[Row], int]:
    """Rows of the format whose hashes have no random bytes, and the first that is noted."""
    about = _named_values(connection)
    if not {"identity", "rows", "head"} <= about.keys():
        raise NotALedger("parts of it are missing")
    proved = _proved(connection, _COLUMNS_2, about)
    rows = [replace(Row(*values), former=chain) for values, chain in proved]
    return rows, int(about.get("noted", len(rows) + 1))


def _take_over(connection: sqlite3.Connection, path: Path, old: list[Row], noted: int) -> None:
    """Write the rows of an older format anew, in their order and with their numbers."""
    # What was in the old tables is overwritten in the file.
    connection.execute("PRAGMA secure_delete = ON")
    for table in ("spends", "about"):
        connection.execute(f"DROP TABLE IF EXISTS {table}")
    book = Book(connection, _set_up(connection, noted))
    for row in old:
        names, dataset = book.of([_renamed(row.population)], row.dataset)
        book.add(replace(row, population=joined(names), dataset=dataset))
    logger.warning(
        "The ledger %s is of an older version: its %d rows were taken over, with all that was "
        "spent; older versions of this program cannot read it any more.", path, len(old),
    )  # fmt: skip


def _renamed(population: str) -> str:
    """An older name by the rules of today."""
    with suppress(InputError):
        return population_name(population)
    return population


def joined(names: Sequence[str]) -> str:
    """Populations of one booking as a row has them."""
    return _BETWEEN.join(names)


def now() -> str:
    """UTC by the clock, ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _as_before(path: Path, book: Book) -> None:
    """Raise `Exchanged` unless the file goes on from what was last seen of it."""
    for identity, rows, head in _seen(path):
        if book.identity != identity:
            raise Exchanged("another ledger was put in its place")
        if len(book.rows) < rows or book.chain[rows] != head:
            raise Exchanged("an older copy was put in its place")


def _seen(path: Path) -> list[tuple[str, int, str]]:
    """What this process, and others before it, have last seen of a file."""
    if path in _SEEN and _SEEN[path] is None:  # accepted as it is
        return []
    record = remembered(path)
    states = [] if record is None else [(record.identity, record.rows, record.head)]
    here = _SEEN.get(path)
    return states if here is None else [*states, here]


def _remember(path: Path, book: Book) -> None:
    with _SEEN_LOCK:
        last_seen = _SEEN.get(path)
        # A thread that was slower knows less.
        if last_seen is None or last_seen[1] <= len(book.rows):
            _SEEN[path] = book.identity, len(book.rows), book.chain[-1]
    remember(path, book.identity, len(book.rows), book.chain[-1])


_warned: set[Path] = set()


@dataclass(frozen=True)
class Remembered:
    """The state in which a ledger was last seen."""

    path: str  # its file
    identity: str  # what its chain of hashes begins with
    rows: int  # how many there were
    head: str  # the hash of the last of them


def remembered(path: Path) -> Remembered | None:
    """What is remembered of a ledger's file; None where nothing is."""
    with suppress(OSError, ValueError, TypeError):
        remembered = Remembered(**json.loads(_note(path).read_text("utf8")))
        return remembered if remembered.path == str(path) and remembered.rows > 0 else None
    return None


def remember(path: Path, identity: str, rows: int, head: str) -> None:
    """Note how far a ledger has come; a folder that cannot be written to is a warning."""
    before = remembered(path)
    # Another process may have been quicker, and has seen more.
    if rows == 0 or (before is not None and before.identity == identity and before.rows >= rows):
        return
    note, state = _note(path), Remembered(str(path), identity, rows, head)
    try:
        note.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(note, lambda part: part.write_text(json.dumps(asdict(state)), "utf8"))
    except (OSError, InputError):
        if note.parent not in _warned:
            _warned.add(note.parent)
            logger.warning(
                "The folder %s cannot be written to: an older copy of a ledger is not noticed at "
                "the next start; name another folder (EXPLORER_STATE).", note.parent,
            )  # fmt: skip


def forget(path: Path) -> None:
    """Remember nothing of a ledger's file any more."""
    try:
        _note(path).unlink(missing_ok=True)
    except OSError as error:
        raise InputError(
            f"{_note(path)} cannot be removed ({error.strerror}); allow it, or remove it yourself."
        ) from error


def _note(path: Path) -> Path:
    named = os.environ.get("EXPLORER_STATE")
    if named:
        folder = Path(named).expanduser().absolute()
    else:
        import platformdirs

        folder = platformdirs.user_state_path("dp-explorer", appauthor=False)
    name = hashlib.sha256(os.fsencode(path)).hexdigest()[:24]
    return folder / "ledgers" / f"{name}.json"
