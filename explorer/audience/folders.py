"""Which folders are shown: found in what was named, and verified before anything is shown."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from explorer.errors import InputError
from explorer.grid.apart import read_apart
from explorer.grid.apart.limits import SUPPORTED
from explorer.publish.checks import LIMITS, checked
from explorer.publish.names import MANIFEST

#: Releases of one server.
MOST = 50


@dataclass(frozen=True)
class Verified:
    """A folder that holds.

    Attributes
    ----------
    folder : where it is
    manifest : SHA-256 of its manifest, which has those of all other files
    signature : what its signature says, in a sentence
    warning : what its publisher has to know, "" for nothing
    """

    folder: str
    manifest: str
    signature: str
    warning: str = ""

    def facts(self) -> dict[str, str]:
        """As JSON can hold it."""
        return asdict(self)


def release_folders(named: Sequence[str | Path]) -> list[Path]:
    """Folders of releases: those that were named, or all in a folder that was named.

    Raises
    ------
    InputError
        For what is no folder or holds no release, for a link that leads out of it, and for too
        many.

    Examples
    --------
    >>> release_folders(["nowhere at all"])
    Traceback (most recent call last):
    explorer.errors.InputError: There is no folder nowhere at all: name one that was published.
    """
    folders: dict[Path, None] = {}
    for name in named:
        if not Path(name).expanduser().is_dir():
            raise InputError(f"There is no folder {name}: name one that was published.")
        # Who names a link knows where it leads; what is in the folder may come from others.
        root = Path(name).expanduser().resolve()
        folders |= dict.fromkeys(_inside(root))
    if len(folders) > MOST:
        raise InputError(f"These are {len(folders):,} releases: show {MOST} of them at most.")
    return list(folders)


def _inside(root: Path) -> list[Path]:
    try:
        entries = sorted(root.iterdir())
    except OSError as error:
        raise InputError(f"{root} cannot be read ({error.strerror}); name a folder.") from error
    for entry in entries:
        if entry.is_symlink() and not entry.resolve().is_relative_to(root):
            raise InputError(
                f"{entry.name} in {root} is a link that leads out of it: copy what it leads to, or "
                "take it away."
            )
    if any(entry.name == MANIFEST for entry in entries):
        return [root]
    # A link to a release next to it would show that twice.
    folders = [entry for entry in entries if entry.is_dir() and not entry.is_symlink()]
    folders = [entry for entry in folders if not entry.name.startswith(".")]
    if not folders:
        raise InputError(f"{root} holds no release: name a folder that `publish` made.")
    for folder in folders:
        for entry in folder.iterdir():
            if entry.is_symlink():
                raise InputError(f"{entry.name} in {folder} is a link: a release has files alone.")
    return folders


def verified(folder: Path, ask: Callable[..., Any] | None = None) -> Verified:
    """Look at a folder in a process with limits, as `verify` does.

    Parameters
    ----------
    ask : how it is read, see `read_apart`; without limits where there are none

    Raises
    ------
    InputError
        With the first thing that does not hold.
    """
    ask = ask or (read_apart if SUPPORTED else read_beside)
    report = ask(as_plain, b"", str(folder), limits=LIMITS)
    wrong = next((entry for entry in report["checks"] if not entry["holds"]), None)
    if wrong is not None:
        reason = str(wrong["said"]) or "It is not what was published."
        raise InputError(f"{folder} is not shown, since it does not verify: {reason}")
    if not report["manifest"]:
        raise InputError(f"{folder} is not shown: it was changed while it was being verified.")
    facts = (str(report[name]) for name in ("manifest", "signature", "warning"))
    return Verified(str(folder), *facts)


def as_plain(_content: bytes, folder: str = "") -> dict[str, Any]:
    """In the process with limits: what was found, as plain values."""
    path = Path(folder) / MANIFEST
    before = digest(path)
    facts = checked(Path(folder)).facts()
    same = before == digest(path)
    return {**facts, "checks": list(facts["checks"]), "manifest": before if same else ""}


def read_beside(_work: Any, _content: bytes, folder: str, *, limits: Any) -> Any:
    """As `read_apart` of `as_plain`, in a process without limits: this one may not read one."""
    path = os.pathsep.join(entry for entry in sys.path if entry)
    command = [sys.executable, "-P", "-m", "explorer.audience.folders", folder]
    done = subprocess.run(
        command,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": path},
        timeout=limits.wall,
        check=False,
    )
    try:
        result = json.loads(done.stdout)
    except ValueError:
        raise InputError(f"{folder} could not be read; it may be damaged.") from None
    if "refused" in result:
        raise InputError(result["refused"])
    return result


def digest(path: Path) -> str:
    """SHA-256 of a file, "" where there is none."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def main() -> None:
    """Print what `as_plain` finds of the folder that is named, as JSON."""
    try:
        report = as_plain(b"", sys.argv[1])
    except InputError as error:
        report = {"refused": str(error)}
    print(json.dumps(report))


if __name__ == "__main__":
    main()
