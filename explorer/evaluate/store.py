"""The store: finished runs in a folder, so that an evaluation can be interrupted and go on."""

from __future__ import annotations

from pathlib import Path

from explorer.errors import InputError
from explorer.evaluate import results
from explorer.evaluate.results import Run


class Store:
    """A folder with one Parquet file a run, named after the hash of its task.

    Each file is complete or not there, so that nothing is lost or taken twice when a process is
    killed, and several may share the folder.

    Parameters
    ----------
    folder : where the files are; made when it is not there

    Raises
    ------
    InputError
        When the folder cannot be made, or is a file.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(
                f"The folder {folder} cannot be made ({error.strerror}): choose another."
            ) from error

    def find(self, key: str) -> Run | None:
        """The run of a task's hash; None without a file, or with one that cannot be read."""
        path = self._path(key)
        if not path.exists():
            return None
        try:
            return results.runs_of(results.read(path))[0]
        except (InputError, IndexError):
            return None  # it is run again and its file replaced

    def add(self, run: Run) -> None:
        """Keep a run."""
        results.write(results.tidy([run]), self._path(run.key))

    def remove(self) -> None:
        """Delete the store's files, and the folder if nothing else is in it."""
        for path in [*self.folder.glob("*.parquet"), *self.folder.glob(".part.*")]:
            path.unlink()
        if not any(self.folder.iterdir()):
            self.folder.rmdir()

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.parquet"
