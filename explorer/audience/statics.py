"""Style and scripts of the pages: in memory, compressed, at addresses that change with them."""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass
from pathlib import Path

_FOLDER = Path(__file__).parent / "static"
_KINDS = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}


@dataclass(frozen=True)
class Compressed:
    """Bytes as they are, and compressed by gzip.

    >>> len(Compressed.of(b"a" * 1000).gzipped) < 100
    True
    """

    plain: bytes
    gzipped: bytes

    @classmethod
    def of(cls, plain: bytes) -> Compressed:
        """Compress them once."""
        return cls(plain, gzip.compress(plain, 6, mtime=0))


class Statics:
    """The files of a folder."""

    def __init__(self, folder: Path = _FOLDER) -> None:
        paths = [path for path in sorted(folder.iterdir()) if path.suffix in _KINDS]
        self._files = {path.name: Compressed.of(path.read_bytes()) for path in paths}
        # One digest for all: modules name each other.
        content = b"".join(file.plain for file in self._files.values())
        self.mark = hashlib.sha256(content).hexdigest()[:12]

    def address(self, name: str) -> str:
        """Where a file is; a browser keeps it for good."""
        return f"/static/{self.mark}/{name}"

    def get(self, mark: str, name: str) -> tuple[Compressed, str] | None:
        """A file and its content type; None where there is none."""
        if mark != self.mark or name not in self._files:
            return None
        return self._files[name], _KINDS[Path(name).suffix]


STATICS = Statics()
