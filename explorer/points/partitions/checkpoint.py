"""Going on where counting was interrupted: what was added up, in one file that is never half."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np

from explorer.errors import InputError
from explorer.grid.whole_file import write_whole
from explorer.points.partitions.adding import Counted, Sum
from explorer.points.partitions.kept import Kept

_ARRAYS = ("atoms", "counts", "judged", "user", "taken")


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
                arrays = {name: np.asarray(saved[name], np.int64) for name in _ARRAYS}
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise InputError(
                f"{self._path.name} is damaged, so counting cannot go on from it; remove it to "
                "begin anew."
            ) from error
        if key != self._key:
            raise InputError(
                f"{self._path.name} was begun with other points, another grid or another bound; "
                "give those again, or remove it to begin anew."
            )
        counted = Counted(arrays["atoms"], arrays["counts"], arrays["judged"], Kept.none())
        total.restore(set(added), counted, arrays["user"], arrays["taken"])

    def save(self, total: Sum) -> None:
        """Replace the file by what is added up now, see `write_whole`."""
        now, (user, taken) = total.total(), total.users()

        def write(part: Path) -> None:
            # By its opened file: numpy adds an ending to a name without one.
            with part.open("wb") as opened:
                np.savez(
                    opened,
                    key=np.array(self._key),
                    added=np.array(sorted(total.added), dtype=np.str_),
                    atoms=now.atoms,
                    counts=now.counts,
                    judged=now.judged,
                    user=user,
                    taken=taken,
                )

        write_whole(self._path, write)

    def remove(self) -> None:
        """Take the file away: all is counted."""
        self._path.unlink(missing_ok=True)
