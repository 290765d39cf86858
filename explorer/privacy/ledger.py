"""The ledger: what has been spent on each data set, kept across sessions and restarts.

Releases of one data set add up (sequential composition), whoever draws them. So a spend is booked
in a file that all processes share, inside a transaction, before any noise is drawn; what would pass
the cap is refused. A release that fails after its booking stays booked: some of its noise may have
been seen. One that is refused in the midst of its plan stays booked with what it has drawn. The
file holds budgets and a hash of the counts, no count; but whoever can guess all the counts can
confirm the guess by that hash, so keep the file with the data, for the curator.
"""

from __future__ import annotations

import math
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from explorer.errors import InputError
from explorer.releases.units import to_epsilon, to_units

# Another process books in milliseconds; one that holds the file for longer has hung.
_WAIT_SECONDS = 30.0
_TABLE = """
CREATE TABLE IF NOT EXISTS spends (
    id INTEGER PRIMARY KEY,
    dataset TEXT NOT NULL,
    time TEXT NOT NULL,
    mechanism TEXT NOT NULL,
    units INTEGER NOT NULL CHECK (units > 0),
    what TEXT NOT NULL
)
"""


@dataclass(frozen=True)
class Spend:
    """One booking.

    Attributes
    ----------
    dataset : the key of the data set (`FrequencyMatrix.key`)
    time : UTC, ISO 8601
    mechanism : its key, such as "htf"
    units : what it cost, in units of 10^-12 epsilon
    what : what the release was, for people
    """

    dataset: str
    time: str
    mechanism: str
    units: int
    what: str


class Ledger:
    """Bookings of releases in an SQLite file, safe across threads and processes.

    Parameters
    ----------
    path : path, optional
        The file; made when it is first needed. By default the one that the environment variable
        EXPLORER_LEDGER names, else one in the user's data folder.
    cap : float, optional
        The most epsilon that all releases of one data set may spend together, 0 or more. By
        default EXPLORER_EPSILON_CAP, else there is none.

    Raises
    ------
    InputError
        For a cap that is not a number of 0 or more; from every method for a file that cannot be
        used.

    Examples
    --------
    >>> import tempfile
    >>> from explorer import HTF, FrequencyMatrix, InputError, Ledger
    >>> matrix = FrequencyMatrix.from_array([[9, 0], [8, 1]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = Ledger(f"{folder}/ledger.sqlite3", cap=1)
    ...     release = HTF(epsilon=0.75).release(matrix, ledger=ledger)
    ...     print(ledger.spent(matrix.key), ledger.left(matrix.key))
    ...     print([row.mechanism for row in ledger.rows(matrix.key)])
    ...     try:
    ...         HTF(epsilon=0.5).release(matrix, ledger=ledger)
    ...     except InputError:
    ...         print("refused: nothing was drawn")
    750000000000 250000000000
    ['htf']
    refused: nothing was drawn
    """

    def __init__(self, path: str | Path | None = None, cap: float | None = None) -> None:
        self.path = Path(path).expanduser() if path is not None else default_path()
        self.cap_units = _cap_units(os.environ.get("EXPLORER_EPSILON_CAP") if cap is None else cap)

    def spent(self, key: str) -> int:
        """What is booked on a data set, in units of 10^-12 epsilon.

        Parameters
        ----------
        key : str
            The data set's, such as `FrequencyMatrix.key`.

        Returns
        -------
        int
            0 for a data set that is not in the file.

        Raises
        ------
        InputError
            For a file that cannot be used.
        """
        with self._transaction() as connection:
            return _sum(connection, key)

    def left(self, key: str) -> int | None:
        """What may still be spent on a data set, in units; None when there is no cap.

        Parameters
        ----------
        key : str
            The data set's.

        Returns
        -------
        int or None
            In units of 10^-12 epsilon, 0 or more.

        Raises
        ------
        InputError
            For a file that cannot be used.
        """
        if self.cap_units is None:
            return None
        return max(self.cap_units - self.spent(key), 0)

    def affordable(self, key: str, units: int) -> int | None:
        """What is left on a data set before a release, if the release may be drawn.

        Parameters
        ----------
        key : str
            The data set's.
        units : int
            What the release would cost, in units of 10^-12 epsilon.

        Returns
        -------
        int or None
            As `left`. Another process may spend it before this one does: `book` decides.

        Raises
        ------
        InputError
            As `book`, which would refuse it now.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     print(Ledger(f"{folder}/ledger.sqlite3", cap=1).affordable("a key", 10**11))
        1000000000000
        """
        spent = self.spent(key)
        if self.cap_units is None:
            return None
        if spent + units > self.cap_units:
            raise InputError(_refusal(spent, units, self.cap_units))
        return self.cap_units - spent

    def book(self, key: str, units: int, mechanism: str, what: str = "") -> int:
        """Book a release before it is drawn, or refuse it.

        Parameters
        ----------
        key : str
            The data set's.
        units : int, above 0
            What the release costs, in units of 10^-12 epsilon.
        mechanism : str
            Its key, such as "htf".
        what : str
            A note for people; it must not hold an exact count.

        Returns
        -------
        int
            The number of the booking.

        Raises
        ------
        InputError
            If the data set's spends would pass the cap (nothing is booked then), and for a file
            that cannot be used.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ledger = Ledger(f"{folder}/ledger.sqlite3")
        ...     number = ledger.book("a key", 10**12, "htf")
        ...     ledger.lower(number, 10**11)
        ...     print(number, ledger.spent("a key"))
        1 100000000000
        """
        with self._transaction() as connection:
            before = _sum(connection, key)
            if self.cap_units is not None and before + units > self.cap_units:
                raise InputError(_refusal(before, units, self.cap_units))
            now = datetime.now(UTC).isoformat(timespec="milliseconds")
            made = connection.execute(
                "INSERT INTO spends (dataset, time, mechanism, units, what) VALUES (?, ?, ?, ?, ?)",
                (key, now, mechanism, int(units), what),
            )
            return int(made.lastrowid or 0)

    def lower(self, number: int, units: int) -> None:
        """Book no more than a refused release has spent before its refusal; never more than it was.

        Parameters
        ----------
        number : int, 1 or more
            Of the booking, see `book`.
        units : int
            What was spent, in units of 10^-12 epsilon; 0 takes the booking out.

        Raises
        ------
        InputError
            For a file that cannot be used.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ledger = Ledger(f"{folder}/ledger.sqlite3")
        ...     ledger.lower(ledger.book("a key", 10**12, "htf"), 0)
        ...     print(ledger.rows())
        []
        """
        with self._transaction() as connection:
            if units <= 0:
                connection.execute("DELETE FROM spends WHERE id = ?", (number,))
            else:
                connection.execute(
                    "UPDATE spends SET units = MIN(units, ?) WHERE id = ?", (int(units), number)
                )

    def rows(self, key: str | None = None) -> list[Spend]:
        """Bookings in their order, of one data set or of all.

        Parameters
        ----------
        key : str, optional
            Of one data set; by default those of all.

        Returns
        -------
        list of Spend
            Data set, time, mechanism, units (10^-12 epsilon) and note of each.

        Raises
        ------
        InputError
            For a file that cannot be used.
        """
        query = "SELECT dataset, time, mechanism, units, what FROM spends"
        query += "" if key is None else " WHERE dataset = ?"
        with self._transaction() as connection:
            found = connection.execute(query + " ORDER BY id", () if key is None else (key,))
            return [Spend(*row) for row in found]

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """A connection that holds the write lock; commits at the end, or takes all back."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # A connection of its own for every call: none is shared by threads or forks.
            with closing(
                sqlite3.connect(self.path, timeout=_WAIT_SECONDS, isolation_level=None)
            ) as connection:
                # Immediate: no other process can book between the sum and the insert.
                connection.execute("BEGIN IMMEDIATE")
                try:
                    connection.execute(_TABLE)
                    yield connection
                except BaseException:
                    connection.execute("ROLLBACK")
                    raise
                connection.execute("COMMIT")
        except (sqlite3.Error, OSError) as error:
            raise InputError(
                f"The ledger {self.path} cannot be used ({error}), so nothing was drawn; mend the "
                "file, or name another with EXPLORER_LEDGER."
            ) from error


def default_path() -> Path:
    """The file that EXPLORER_LEDGER names, else one in the user's data folder."""
    named = os.environ.get("EXPLORER_LEDGER")
    if named:
        return Path(named).expanduser()
    import platformdirs

    return platformdirs.user_data_path("dp-explorer", appauthor=False) / "ledger.sqlite3"


def _sum(connection: sqlite3.Connection, key: str) -> int:
    query = "SELECT COALESCE(SUM(units), 0) FROM spends WHERE dataset = ?"
    return int(connection.execute(query, (key,)).fetchone()[0])


def _cap_units(cap: float | str | None) -> int | None:
    if cap is None or cap == "":
        return None
    try:
        number = float(cap)
    except (TypeError, ValueError):
        number = math.nan
    # Above a million no sum of bookings would fit the file's whole numbers.
    if not 0 <= number <= 1e6:
        raise InputError(
            f"The cap of the ledger (EXPLORER_EPSILON_CAP) is {cap!r}; give an epsilon of 0 or "
            "more, up to a million."
        )
    return to_units(number)


def _refusal(before: int, units: int, cap: int) -> str:
    spent, wanted, most = (f"{to_epsilon(part):.12g}" for part in (before, units, cap))
    left = max(cap - before, 0)
    advice = f"lower epsilon to {to_epsilon(left):.12g}" if left else "use a release drawn before"
    return (
        f"This data set has spent epsilon {spent} of a cap of {most}, and this release would cost "
        f"{wanted}, so nothing was drawn; {advice}, or raise the cap (EXPLORER_EPSILON_CAP)."
    )
