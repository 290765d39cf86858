"""Drawn releases on the disk: what was paid for is kept until it is saved or discarded.

They are kept next to the ledger, in a folder that only its owner can open, each under the token
that it was booked with: the release as it is saved, and a note of what it is of. A connection that
is cut, or a process that ends, takes none away. They hold no exact count. What became of each stays
noted when its file has gone.
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
    """One release that was drawn."""

    token: str  # what it was booked with
    population: str  # whose records it is of, as in the ledger
    title: str  # for people, such as "HTF with epsilon 0.5"
    time: float  # when, in seconds since 1970
    saved: float = 0.0  # when it was saved, 0 while it was not
    given_up: float = 0.0  # when it was given up, 0 while it was not
    file: str = ""  # what it was saved or published as, "" where that is not known
    sha256: str = ""  # of that file, "" where that is not known


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
        """Write a release before anything else is done with it; returns its file."""
        file = self._file(token)
        with suppress(OSError):  # said by the first write, with its reason
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._forget_saved()
        release.save(file)
        # Last: what is named here is whole.
        self._note(Drawn(token, population, title, time.time()))
        return file

    def unnamed(self, token: str) -> bool:
        """Whether a release is here, whole, and its process was ended before it noted that."""
        is_here = _TOKEN.fullmatch(token) is not None and self.known(token)
        return is_here and not self._about(token).exists()

    def name(self, token: str, population: str, title: str) -> Drawn:
        """Note a release that is here and `unnamed`, with when its file was written."""
        drawn = Drawn(token, population, title, self._file(token).stat().st_mtime)
        self._note(drawn)
        return drawn

    def here(self) -> list[Drawn]:
        """All whose files are here, saved ones too, the newest first."""
        return sorted(self._all(), key=lambda drawn: -drawn.time)

    def waiting(self, *populations: str) -> list[Drawn]:
        """Those of a population, by any of its names, that are not saved yet, the newest first."""
        return [
            drawn for drawn in self.here() if drawn.population in populations and not drawn.saved
        ]

    def known(self, token: str) -> bool:
        """Whether a release is here, saved or not."""
        return self._file(token).is_file()

    def path(self, token: str) -> Path:
        """The file of a release that is here."""
        return self._file(token)

    def read(self, token: str) -> bytes:
        """A release's file."""
        try:
            return self._file(token).read_bytes()
        except OSError as error:
            raise InputError(
                "This release is not kept any more: it was saved before, or given up."
            ) from error

    def saved(self, token: str, file: str = "", sha256: str = "") -> None:
        """Someone has it: it waits for no one, and goes after a day.

        What it was saved as stays noted: the ledger's statement says it.
        """
        noted = self.note(token)
        if noted is not None:
            # A later save without a name takes no earlier one away.
            file, sha256 = (file, sha256) if file else (noted.file, noted.sha256)
            with suppress(InputError):
                self._note(replace(noted, saved=time.time(), file=file, sha256=sha256))

    def saved_elsewhere(
        self, token: str, population: str, title: str, file: str, sha256: str
    ) -> None:
        """Note a release that was saved at once, and of which nothing is kept here."""
        now = time.time()
        with suppress(OSError, InputError):
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._note(Drawn(token, population, title, now, now, 0.0, file, sha256))

    def give_up(self, token: str) -> None:
        """Discard a release: its budget stays spent, and its file is deleted."""
        noted = self.note(token)
        if noted is not None:
            with suppress(InputError):
                self._note(replace(noted, given_up=time.time()))
        self._remove(token)

    def note(self, token: str) -> Drawn | None:
        """What is noted of a draw, also after its file has gone; None where nothing is."""
        # One that cannot be read is left where it is.
        with suppress(OSError, ValueError, TypeError):
            facts: dict[str, Any] = json.loads(self._about(token).read_text("utf8"))
            drawn = Drawn(**facts)
            return drawn if drawn.token == token else None
        return None

    def _remove(self, token: str) -> None:
        with suppress(OSError):
            self._file(token).unlink(missing_ok=True)

    def _note(self, drawn: Drawn) -> None:
        text = json.dumps(asdict(drawn))
        write_whole(self._about(drawn.token), lambda part: part.write_text(text, "utf8"))

    def _all(self) -> Iterator[Drawn]:
        """Those whose files are here."""
        for path in self.folder.glob("*.json"):
            if _TOKEN.fullmatch(path.stem) and self.known(path.stem):
                noted = self.note(path.stem)
                if noted is not None and not noted.given_up:
                    yield noted

    def _forget_saved(self) -> None:
        for drawn in list(self._all()):
            if drawn.saved and time.time() - drawn.saved > AFTER_SAVING:
                self._remove(drawn.token)

    def _file(self, token: str) -> Path:
        return self.folder / f"{_checked(token)}.parquet"

    def _about(self, token: str) -> Path:
        return self.folder / f"{_checked(token)}.json"


def _checked(token: str) -> str:
    if not _TOKEN.fullmatch(token):
        raise ValueError("a token is of hexadecimal digits: it names a file")
    return token
