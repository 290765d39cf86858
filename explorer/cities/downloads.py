"""Files from the net: only those the catalogue names, and only if their checksum is right."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from explorer.errors import InputError
from explorer.grid.kept import cache_folder


@dataclass(frozen=True)
class Download:
    """A file of the net.

    Parameters
    ----------
    url : str
    checksum : str
        "sha256:..." of the content, or "git:...", the id that Git gives the content: SHA-1 of
        "blob", its length, a zero byte and itself.
    name : str
        Name of the file here.
    """

    url: str
    checksum: str
    name: str

    def path(self) -> Path:
        """Return where the file is or would be."""
        return cache_folder() / self.name

    def fetch(self) -> Path:
        """Return the path of the file, downloaded and checked if it was not there yet.

        Raises
        ------
        InputError
            Without the extra ``download``, without a connection, or for another checksum; then
            nothing is kept.
        """
        path = self.path()
        if path.is_file():
            return path
        try:
            import pooch
        except ImportError as error:
            raise InputError(
                'Downloads need one more package; install it with: pip install "dp-explorer'
                '[download]"'
            ) from error
        # Under another name until it is checked: a broken download is never taken for the file.
        part = path.with_name(path.name + ".part")
        part.unlink(missing_ok=True)
        try:
            pooch.retrieve(self.url, known_hash=None, fname=part.name, path=part.parent)
        except Exception as error:  # whatever the network, the server or the disk can do
            part.unlink(missing_ok=True)
            raise InputError(
                f"{self.name} could not be downloaded ({type(error).__name__}); check the "
                "connection and the free space, and try again."
            ) from error
        if file_checksum(part, self.checksum.partition(":")[0]) != self.checksum:
            part.unlink()
            raise InputError(
                f"{self.name} is not the file it should be (its checksum differs); it was not kept."
            )
        return part.replace(path)


def file_checksum(path: Path, kind: str) -> str:
    """Return "sha256:..." or "git:..." of a file."""
    if kind == "sha256":
        digest = hashlib.sha256()
    elif kind == "git":
        # Not for secrecy: it is the name under which the file's own repository knows it.
        digest = hashlib.sha1(usedforsecurity=False)
        digest.update(f"blob {path.stat().st_size}\0".encode())
    else:
        raise InputError(f"The checksum kind {kind!r} is unknown; use sha256 or git.")
    with path.open("rb") as opened:
        for block in iter(lambda: opened.read(2**20), b""):
            digest.update(block)
    return f"{kind}:{digest.hexdigest()}"


def is_there(downloads: Sequence[Download]) -> bool:
    """Return whether all of these files are here already."""
    return all(download.path().is_file() for download in downloads)
