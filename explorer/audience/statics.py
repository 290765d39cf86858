"""Style and scripts of the pages: in memory, under addresses that change with them."""

from __future__ import annotations

import hashlib
from pathlib import Path

from explorer.audience.packed import Packed

_FOLDER = Path(__file__).parent / "static"
_KINDS = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}


class Statics:
    """The files of a folder."""

    def __init__(self, folder: Path = _FOLDER) -> None:
        results = [path for path in sorted(folder.iterdir()) if path.suffix in _KINDS]
        self._of = {entry.name: Packed.of(entry.read_bytes()) for entry in results}
        # One mark for all: modules name each other.
        whole = b"".join(text.plain for text in self._of.values())
        self.mark = hashlib.sha256(whole).hexdigest()[:12]

    def address(self, name: str) -> str:
        """Where a file is; a browser keeps it for good."""
        return f"/static/{self.mark}/{name}"

    def get(self, mark: str, name: str) -> tuple[Packed, str] | None:
        """A file and what kind it is; None where there is none."""
        if mark != self.mark or name not in self._of:
            return None
        return self._of[name], _KINDS[Path(name).suffix]


STATICS = Statics()
