"""How far each ledger of this account had come, kept outside of the ledgers.

An older copy of a ledger, or another file in its place, has fewer bookings than were made, and
nothing in it tells. So the number of rows and the hash of the last are noted in the user's state
folder, outside of what is copied along with a ledger. There is no count in them.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from explorer.errors import InputError
from explorer.grid.whole_file import write_whole

logger = logging.getLogger(__name__)

_warned: set[Path] = set()


@dataclass(frozen=True)
class Remembered:
    """The state in which a ledger was last seen.

    Attributes
    ----------
    path : its file
    identity : what its chain of hashes begins with
    rows : how many there were
    head : the hash of the last of them
    """

    path: str
    identity: str
    rows: int
    head: str


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
    """Remember nothing of a ledger's file any more.

    Raises
    ------
    InputError
        Where the note cannot be removed.
    """
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
