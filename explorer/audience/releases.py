"""The releases that are served: their files are held open, and let go once they have changed."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from explorer.errors import InputError
from explorer.publish.manifest import MOST_MANIFEST
from explorer.publish.names import FILES, MANIFEST, RELEASE, SIGNATURE
from explorer.publish.published import Published
from explorer.releases.release import Release
from explorer.views.partition import Leaves
from explorer.views.scale import ColourScale, top_value_of_leaves

_PIECE = 1 << 20
#: What a file is held by: it is another, or was written to, where one of these is.
_STAMP = ("st_dev", "st_ino", "st_size", "st_mtime_ns", "st_ctime_ns")


class Gone(InputError):
    """Raised for a release that was shown and is not any more."""


class Unknown(InputError):
    """Raised for a release that never was."""


class Changed(Exception):
    """Raised for a file that is not the one that was verified."""


class OpenFile:
    """A file that is held open: what is read is what was verified, whatever is at its name.

    Parameters
    ----------
    path : of the file
    limit : bytes it may have

    Raises
    ------
    Changed
        For what is no file, is a link or is too long.
    """

    def __init__(self, path: Path, limit: int) -> None:
        self.path = path
        try:
            # What one system knows another does not.
            more = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
            self._file = os.open(path, os.O_RDONLY | more)
        except OSError:
            raise Changed from None
        about = os.fstat(self._file)
        self.size, self._stamp = about.st_size, _stamp(about)
        if not stat.S_ISREG(about.st_mode) or self.size > limit:
            self.close()
            raise Changed

    def pieces(self) -> Iterator[bytes]:
        """Its bytes; raises `Changed` once someone has written to it."""
        at = 0
        while at < self.size:
            if _stamp(os.fstat(self._file)) != self._stamp:
                raise Changed
            # All reading is done in one thread.
            os.lseek(self._file, at, os.SEEK_SET)
            piece = os.read(self._file, _PIECE)
            if not piece:
                raise Changed
            at += len(piece)
            yield piece

    @property
    def sha256(self) -> str:
        """SHA-256 of its bytes, in hexadecimal digits."""
        digest = hashlib.sha256()
        for piece in self.pieces():
            digest.update(piece)
        return digest.hexdigest()

    @property
    def unchanged(self) -> bool:
        """Whether it is at its name as it was."""
        with contextlib.suppress(OSError):
            return _stamp(self.path.lstat()) == self._stamp
        return False

    def close(self) -> None:
        """Let it go."""
        with contextlib.suppress(OSError):
            os.close(self._file)


def _stamp(about: os.stat_result) -> tuple[int, ...]:
    return tuple(getattr(about, name) for name in _STAMP)


@dataclass(frozen=True, eq=False)
class ServedRelease:
    """One release that is shown.

    Attributes
    ----------
    key : its name in addresses
    published : the release with all that is said of it
    files : what can be taken along, held open
    """

    key: str
    published: Published
    files: Mapping[str, OpenFile]

    @classmethod
    def of(cls, folder: Path, manifest: str) -> ServedRelease:
        """A folder whose manifest has this SHA-256.

        Raises
        ------
        Changed
            For one that is not the folder that was verified.
        """
        files: dict[str, OpenFile] = {}
        try:
            files[MANIFEST] = OpenFile(folder / MANIFEST, MOST_MANIFEST)
            if files[MANIFEST].sha256 != manifest:
                raise Changed
            document = json.loads(b"".join(files[MANIFEST].pieces()))
            for name in FILES:
                files[name] = OpenFile(folder / name, int(document["files"][name]["bytes"]))
                if files[name].sha256 != document["files"][name]["sha256"]:
                    raise Changed
            if (folder / SIGNATURE).exists():
                files[SIGNATURE] = OpenFile(folder / SIGNATURE, MOST_MANIFEST)
            published = Published.of_manifest(Release.load(folder / RELEASE), document)
            result = cls(manifest[:10], published, files)
            if not result.unchanged:
                raise Changed
        except (InputError, ValueError, KeyError, TypeError, AttributeError, Changed) as error:
            for file in files.values():
                file.close()
            raise Changed from error
        return result

    @property
    def release(self) -> Release:
        """The release."""
        return self.published.release

    @property
    def title(self) -> str:
        """What its publisher calls it."""
        return self.published.about.title

    @property
    def unchanged(self) -> bool:
        """Whether all its files are where they were, as they were."""
        return all(file.unchanged for file in self.files.values())

    @cached_property
    def leaves(self) -> Leaves:
        """Its leaves as pictures need them."""
        return Leaves.of(self.release)

    @cached_property
    def top(self) -> float:
        """The value of the last colour, of released numbers alone."""
        return top_value_of_leaves(self.leaves.density, self.leaves.cells, "log")

    @cached_property
    def total(self) -> tuple[float, float]:
        """Records in the whole map, and the standard deviation of their noise."""
        answers = self.release.answer(np.array([self.release.grid.bounds]))
        return float(answers.value[0]), float(answers.sd[0])

    def prepare(self) -> None:
        """Compute what everybody needs before anybody asks."""
        _ = self.leaves.line, self.top, self.total
        if not self.release.is_uniform:
            self.release.density()


class ServedReleases:
    """All releases of a server, in the order of their dates.

    Parameters
    ----------
    folders : each folder with the SHA-256 of its manifest
    """

    def __init__(self, folders: Sequence[tuple[str, str]]) -> None:
        by_key: dict[str, ServedRelease | None] = {}
        for folder, manifest in folders:
            try:
                by_key[manifest[:10]] = ServedRelease.of(Path(folder), manifest)
            except Changed:
                by_key[manifest[:10]] = None
        dates = {
            key: "" if entry is None else entry.published.booking.time
            for key, entry in by_key.items()
        }
        self._of = {key: by_key[key] for key in sorted(by_key, key=dates.__getitem__)}

    def __iter__(self) -> Iterator[ServedRelease]:
        """Those that are shown."""
        return iter([served for served in self._of.values() if served is not None])

    def __len__(self) -> int:
        return len(list(iter(self)))

    @property
    def gone(self) -> int:
        """How many are not shown any more."""
        return len(self._of) - len(self)

    def __getitem__(self, key: str) -> ServedRelease:
        """One of them.

        Raises
        ------
        Gone
            For one that was taken away or changed.
        Unknown
            For one that never was.
        """
        if key not in self._of:
            raise Unknown("There is no such map on this server: begin with the list of its maps.")
        result = self._of[key]
        if result is None:
            raise Gone(
                "This map was taken away, or changed, after it had been checked: it is not shown "
                "any more, the others are."
            )
        return result

    def drop_changed(self) -> list[str]:
        """Let go of those whose files are not as they were; returns their titles."""
        left = [served for served in self if not served.unchanged]
        for served in left:
            self._of[served.key] = None
            for file in served.files.values():
                file.close()
        return [served.title for served in left]

    @staticmethod
    def scale(maps: Sequence[ServedRelease]) -> ColourScale:
        """One colour scale for several: that of the release with the most."""
        return ColourScale("log", max(served.top for served in maps), "release")
