"""Drawn releases on the disk: what was paid for is there until somebody saves it or gives it up.

They lie beside the ledger, in a folder that only its owner can open, each under the token that it
was booked with: the release as it is saved, and beside it what it is of. A connection that is cut,
or a process that ends, takes none away. They hold no exact count.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from explorer.errors import InputError
from explorer.grid.whole_file import write_whole

#: Seconds for which one that was saved stays: the connection may be cut while it is handed out.
AFTER_SAVING = 86_400.0
_TOKEN = re.compile(r"[0-9a-f]{16,64}")


class Release(Protocol):
    """What is kept: any release that can be saved."""

    def save(self, path: Path) -> object:
        """Write a file."""


@dataclass(frozen=True)
class Drawn:
    """One release that was drawn.

    Attributes
    ----------
    token : what it was booked with
    population : whose records it is of, as in the ledger
    title : for people, such as "HTF with epsilon 0.5"
    time : when, in seconds since 1970
    saved : when it was saved, 0 while it was not
    """

    token: str
    population: str
    title: str
    time: float
    saved: float = 0.0


class DrawnReleases:
    """The folder of drawn releases of one ledger.

    Parameters
    ----------
    ledger : path
        The ledger's file; the folder has its name with the ending .drawn.

    Examples
    --------
    >>> import tempfile
    >>> from explorer import UG, FrequencyMatrix
    >>> release = UG(epsilon=1).release(FrequencyMatrix.from_array([[9, 0], [8, 1]]), rng=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     drawn = DrawnReleases(Path(folder) / "ledger.sqlite3")
    ...     _ = drawn.keep("0" * 32, release, "riders", "UG with epsilon 1")
    ...     print([each.title for each in drawn.waiting("riders")], len(drawn.waiting("others")))
    ...     drawn.saved("0" * 32)
    ...     print(drawn.waiting("riders"))
    ['UG with epsilon 1'] 0
    []
    """

    def __init__(self, ledger: Path) -> None:
        self.folder = ledger.with_suffix(".drawn")

    def keep(self, token: str, release: Release, population: str, title: str) -> Path:
        """Write a release before anything else is done with it; returns its file.

        Raises
        ------
        InputError
            When there is no room, or the folder cannot be written to.
        """
        file = self._file(token)
        with suppress(OSError):  # said by the first write, with its reason
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._forget_saved()
        release.save(file)
        # Last: what is named here is whole.
        self._note(Drawn(token, population, title, time.time()))
        return file

    def waiting(self, population: str) -> list[Drawn]:
        """Those of a population that nobody has saved, the newest first."""
        found = [each for each in self._all() if each.population == population and not each.saved]
        return sorted(found, key=lambda each: -each.time)

    def known(self, token: str) -> bool:
        """Whether a release is here, saved or not."""
        return self._file(token).is_file()

    def read(self, token: str) -> bytes:
        """A release's file.

        Raises
        ------
        InputError
            For one that is not here any more.
        """
        try:
            return self._file(token).read_bytes()
        except OSError as error:
            raise InputError(
                "This release is not kept any more: it was saved before, or given up."
            ) from error

    def saved(self, token: str) -> None:
        """Somebody has it: it waits for nobody, and goes after a day."""
        for each in self._all():
            if each.token == token:
                with suppress(InputError):
                    self._note(replace(each, saved=time.time()))

    def give_up(self, token: str) -> None:
        """Nobody wants it: its budget is spent all the same."""
        for path in (self._about(token), self._file(token)):
            with suppress(OSError):
                path.unlink(missing_ok=True)

    def _note(self, drawn: Drawn) -> None:
        text = json.dumps(asdict(drawn))
        write_whole(self._about(drawn.token), lambda part: part.write_text(text, "utf8"))

    def _all(self) -> Iterator[Drawn]:
        for path in self.folder.glob("*.json"):
            # One that cannot be read is nobody's: it is left where it is.
            with suppress(OSError, ValueError, TypeError):
                facts: dict[str, Any] = json.loads(path.read_text("utf8"))
                drawn = Drawn(**facts)
                if drawn.token == path.stem and self.known(drawn.token):
                    yield drawn

    def _forget_saved(self) -> None:
        for each in list(self._all()):
            if each.saved and time.time() - each.saved > AFTER_SAVING:
                self.give_up(each.token)

    def _file(self, token: str) -> Path:
        return self.folder / f"{_checked(token)}.parquet"

    def _about(self, token: str) -> Path:
        return self.folder / f"{_checked(token)}.json"


def _checked(token: str) -> str:
    if not _TOKEN.fullmatch(token):
        raise ValueError("a token is of hexadecimal digits: it names a file")
    return token
