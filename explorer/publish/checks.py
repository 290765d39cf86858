"""Verify a published folder: what must hold of it, in an order in which nothing unsafe is read.

`verify` does so in a process with limits, which can take nothing with it.
"""

from __future__ import annotations

import json
import stat
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from explorer.errors import InputError
from explorer.grid.apart import Limits, read_apart
from explorer.publish.contents import Check, contents
from explorer.publish.manifest import (
    FORMAT,
    FORMATS,
    MOST_MANIFEST,
    as_bytes,
    checksum,
    size_and_sum,
)
from explorer.publish.names import FILES, MANIFEST, REQUIRED, SIGNATURE
from explorer.publish.signing import fingerprint, signer

#: Bytes of all files together.
_MOST = 2 * 10**9
_MOST_SIGNATURE = 10_000
_UNSIGNED = (
    "Unsigned: whoever changed a file could have changed the manifest as well, and that this is no "
    "preview is the word of whoever gave it to you."
)

_COMPUTABLE = (
    "This folder is of an older format, whose manifest names a row of the ledger by a hash that, "
    "from the second booking of a ledger on, can be computed from the exact counts and the folder "
    "that was published before: who has both and knows all records but one can find out that one. "
    "Take the folder back, and publish the same release anew, which spends nothing: dp-explorer "
    "publish --again DIR -o NEW."
)

#: What looking at one folder may take: a map of a million leaves needs about half of it.
LIMITS = Limits(cpu=180, memory=3_000_000_000, wall=600.0)


@dataclass(frozen=True)
class Verdict:
    """What was found of a folder.

    Attributes
    ----------
    checks : in their order; after the first group that does not hold nothing more is read
    signed_by : the fingerprint of the key, "" for a folder that is unsigned
    signature : what its signature says, in a sentence
    warning : what its publisher has to know and do, "" for nothing
    """

    checks: tuple[Check, ...]
    signed_by: str
    signature: str
    warning: str = ""

    @property
    def holds(self) -> bool:
        """Whether everything does."""
        return all(check.holds for check in self.checks)

    def facts(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {"holds": self.holds, **asdict(self)}


class Unreadable(InputError):
    """Raised for what is no folder of a release, or is too large to be looked at."""


def checked(folder: Path, key: str = "") -> Verdict:
    """Look at a folder.

    Parameters
    ----------
    folder : of any origin
    key : the public key that it has to be signed with, in hexadecimal digits; any without

    Raises
    ------
    InputError
        For what is no folder of a release, and for more than 2 GB.
    """
    checks = [_look(folder)]
    manifest, content = _manifest(folder)
    checks.append(_whole(manifest, content))
    signed_by, signature, signs = _signature(folder, content, key)
    checks.append(signs)
    if checks[1].holds:
        checks += _files(folder, manifest)
    if all(check.holds for check in checks):
        checks += contents(folder, manifest)
    else:
        checks.append(Check("contents", False, "Not looked at, since files are not as they were."))
    warning = _COMPUTABLE if manifest["format"] == 1 else ""
    return Verdict(tuple(checks), signed_by, signature, warning)


def verify(folder: str | Path, key: bytes = b"") -> Verdict:
    """Look at a folder, anyone who made it.

    Parameters
    ----------
    folder : of a published release
    key : the public key that it has to be signed with, 32 bytes; any without

    Raises
    ------
    InputError
        For what cannot be read: no such folder, no manifest, more than 2 GB, a file that takes
        more than the limits.

    Examples
    --------
    >>> verify("nowhere at all")
    Traceback (most recent call last):
    explorer.errors.InputError: ...
    """
    plain = read_apart(
        as_plain, b"", str(Path(folder).expanduser().absolute()), key.hex(), limits=LIMITS
    )
    checks = tuple(Check(**entry) for entry in plain["checks"])
    return Verdict(checks, plain["signed_by"], plain["signature"], plain["warning"])


def as_plain(_content: bytes, folder: str, key: str) -> dict[str, Any]:
    """In the process with limits: what was found, as plain values."""
    facts = checked(Path(folder), key).facts()
    return {**facts, "checks": list(facts["checks"])}


def _look(folder: Path) -> Check:
    """Names, kinds and sizes of what is in the folder; nothing is opened."""
    try:
        entries = {path.name: path.lstat() for path in folder.iterdir()}
    except OSError as error:
        raise Unreadable(f"{folder} cannot be read ({error.strerror}); name a folder.") from error
    if MANIFEST not in entries:
        raise Unreadable(f"{folder} has no {MANIFEST}: it is no release that was published.")
    if sum(status.st_size for status in entries.values()) > _MOST:
        raise Unreadable(f"{folder} holds more than 2 GB, so it is not looked at.")
    plain = all(stat.S_ISREG(status.st_mode) for status in entries.values())
    if not plain or folder.is_symlink():
        return Check(
            "folder", False, "It holds links, folders or pipes: a release has files alone."
        )
    allowed = {*REQUIRED, SIGNATURE}
    extra, missing = sorted(entries.keys() - allowed), sorted(set(REQUIRED) - entries.keys())
    if extra or missing:
        parts = [f"There is {name!r}, which is no part of it" for name in extra[:3]]
        parts += [f"{name} is missing" for name in missing]
        return Check("folder", False, f"{'; '.join(parts)}.")
    return Check("folder", True, f"{len(entries)} files, none extra and none missing")


def _manifest(folder: Path) -> tuple[dict[str, Any], bytes]:
    content = _bytes(folder / MANIFEST, MOST_MANIFEST)
    try:
        manifest = json.loads(content)
        kind, version = manifest["kind"], manifest["format"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise Unreadable(f"{folder / MANIFEST} is damaged, or no manifest of a release.") from error
    if kind != "dp-explorer release" or version not in FORMATS:
        raise Unreadable(
            f"{folder / MANIFEST} has format {str(version)[:20]!r} and this version reads "
            f"{FORMATS[0]} to {FORMAT}: verify it with the version that wrote it."
        )
    return manifest, content


def _bytes(path: Path, limit: int) -> bytes:
    try:
        if not _plain(path) or path.stat().st_size > limit:
            raise Unreadable(f"{path} is no file of less than {limit:,} bytes.")
        return path.read_bytes()
    except OSError as error:
        raise Unreadable(f"{path} cannot be read ({error.strerror}).") from error


def _plain(path: Path) -> bool:
    """Whether it is a file: nothing comes through a link, and a pipe is waited for without end."""
    return stat.S_ISREG(path.lstat().st_mode)


def _whole(manifest: dict[str, Any], content: bytes) -> Check:
    """The manifest is written in the one way there is, and has its own checksum."""
    try:
        same = as_bytes(manifest) == content and manifest["checksum"] == checksum(manifest)
        files = manifest["files"].keys() == FILES.keys()
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        same = files = False
    if not same:
        return Check("manifest", False, "The manifest was changed.")
    if not files:
        return Check("manifest", False, "The manifest lists other files than a release has.")
    return Check("manifest", True, "as it was written")


def _signature(folder: Path, manifest: bytes, key: str) -> tuple[str, str, Check]:
    path = folder / SIGNATURE
    if not path.exists() and not path.is_symlink():
        return "", _UNSIGNED, Check("signature", not key, _UNSIGNED)
    content = _bytes(path, _MOST_SIGNATURE)
    try:
        signature = json.loads(content)
        # Written in the one way there is: no byte of it is without meaning.
        public = signer(signature, manifest) if as_bytes(signature) == content else None
    except (ValueError, TypeError, AttributeError, RecursionError):
        public = None
    if public is None:
        sentence = "The signature is not of this manifest: one of both was changed."
        return "", sentence, Check("signature", False, sentence)
    mark = fingerprint(public)
    if key and public.hex() != key:
        sentence = f"It is signed with another key than the one you gave: {mark}."
        return mark, sentence, Check("signature", False, sentence)
    sentence = f"Signed with the key {mark}" + (
        ", which is the one you gave."
        if key
        else ": compare it with the one that the publisher gives."
    )
    return mark, sentence, Check("signature", True, sentence)


def _files(folder: Path, manifest: dict[str, Any]) -> list[Check]:
    """Each file has the size and the checksum that the manifest says."""
    checks = []
    for name in FILES:
        same = unchanged(folder / name, manifest["files"][name])
        checks.append(Check(name, same, "" if same else "It is not the file that was published."))
    return checks


def unchanged(path: Path, entry: Any) -> bool:
    """Whether a file has the size and the checksum that a manifest says of it."""
    try:
        noted = {part: entry[part] for part in ("bytes", "sha256")}
        # Its size first: nothing that is too long is read.
        if not _plain(path) or path.stat().st_size != noted["bytes"]:
            return False
        return size_and_sum(path) == noted
    except (KeyError, TypeError, OSError):
        return False
