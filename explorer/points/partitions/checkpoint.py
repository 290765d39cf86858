"""Going on where counting was interrupted: what was added up, in one file that is never half."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np

from explorer.errors import InputError
from explorer.grid.whole_file import write_whole
from explorer.points.partitions.adding import Counted, Sum
from explorer.points.partitions.people import Held

_COUNTED = ("atoms", "counts", "judged")
_HELD = ("identity", "person", "atom", "records")


class Checkpoint:
    """A file with the keys of counted parts and their sum. Exact: it stays with the curator.

    Parameters
    ----------
    path : Path
    key : what is counted on what; a file with another key is refused
    """

    def __init__(self, path: Path, key: str) -> None:
        self._path, self._key = path, key

    def fill(self, total: Sum) -> None:
        """Add what the file holds, if it is there.

        Raises
        ------
        InputError
            If it is damaged, or was begun with other points or another grid.
        """
        if not self._path.exists():
            return
        try:
            with np.load(self._path, allow_pickle=False) as saved:
                key, added = str(saved["key"]), [str(each) for each in saved["added"]]
                arrays = {name: np.asarray(saved[name], np.int64) for name in _COUNTED}
                # Without a contribution bound nothing is held, and older files do not name it.
                held = [np.asarray(saved[name], np.int64) for name in _HELD if name in saved]
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise InputError(
                f"{self._path.name} is damaged, so counting cannot go on from it; remove it to "
                "begin anew."
            ) from error
        if key != self._key:
            raise InputError(
                f"{self._path.name} was begun with other points, another grid or another bound, "
                "or by another version; give those again, or remove it to begin anew."
            )
        people = Held(held[0], [held[1:]]) if held else Held.none()
        total.restore(set(added), Counted(**arrays, held=people))

    def save(self, total: Sum) -> None:
        """Replace the file by what is added up now, see `write_whole`."""
        now = total.so_far()
        arrays = {name: getattr(now, name) for name in _COUNTED}
        if len(now.held.identity):
            held = now.held.identity, *now.held.joined()
            arrays |= dict(zip(_HELD, held, strict=True))

        def write(part: Path) -> None:
            # By its opened file: numpy adds an ending to a name without one.
            with part.open("wb") as opened:
                added = np.array(sorted(total.added), dtype=np.str_)
                np.savez(opened, key=np.array(self._key), added=added, **arrays)

        write_whole(self._path, write)

    def remove(self) -> None:
        """Take the file away: all is counted."""
        self._path.unlink(missing_ok=True)
