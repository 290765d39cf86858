"""Compiled code that is out of date is removed before it can run.

Numba keeps a compiled function under the size and time of the file that defines it. What that
function calls, and constants it uses from other files, are compiled into it, so that after
``git pull`` a file that did not change could go on running the older code of one that did. Here
each file with kernels is kept under a fingerprint of itself and of all files of the package that it
imports, directly or through others. When the fingerprint has changed, numba's index of that file is
deleted, and numba compiles anew.

Only the standard library is loaded. A start that finds nothing changed reads the sizes and times of
the sources, some milliseconds; only then are sources read.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

#: The folder of this package.
PACKAGE = Path(__file__).parent
_RECORD = "kernels.json"
_PREPARED = "prepared.json"
_IMPORT = re.compile(
    r"^\s*(?:from\s+(\S+)\s+import\s+(\([^)]*\)|[^\n]*)|import\s+(\S+))", re.MULTILINE
)


def remove_outdated(package: Path) -> list[str]:
    """Delete numba's index of every file whose kernels may hold code that has changed.

    Parameters
    ----------
    package : path
        Folder of an importable package whose kernels are cached next to their sources.

    Returns
    -------
    list of str
        Files, relative to the package, whose kernels will be compiled anew. Empty where nothing has
        changed, and where the folder cannot be written: numba keeps nothing there either.

    Notes
    -----
    A process that has loaded the older sources and compiles after this call may still write code of
    theirs: restart servers after an update.
    """
    record = package / "__pycache__" / _RECORD
    recorded: dict[str, dict[str, str]] = {"stamps": {}, "kernels": {}}
    with suppress(OSError, ValueError):
        recorded |= json.loads(record.read_text(encoding="utf-8"))
    try:
        stamps = _stamps(package)
        # A process that may not read its own sources knows nothing of them.
        if not stamps or recorded["stamps"] == stamps:
            return []
        kernels = _fingerprints(package, stamps)
        outdated = [file for file, now in kernels.items() if recorded["kernels"].get(file) != now]
        for file in outdated:
            source = package / file
            for index in (source.parent / "__pycache__").glob(f"{source.stem}.*.nbi"):
                index.unlink(missing_ok=True)
        record.parent.mkdir(exist_ok=True)
        _write(record, {"stamps": stamps, "kernels": kernels})
    except OSError:
        return []
    return outdated


def is_prepared(package: Path, part: str) -> bool:
    """Whether `note_prepared` was called for a part, such as a page, with the present code.

    True also where compiled code cannot be kept: preparing it in another process is of no use.
    """
    folder = _compiled_in(package)
    if folder.is_dir() and not os.access(folder, os.W_OK):
        return True
    return _prepared(folder).get(part) == _state(package)


def note_prepared(package: Path, *parts: str) -> None:
    """Note that the kernels of some parts of the package have been compiled and are kept."""
    folder = _compiled_in(package)
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        _write(folder / _PREPARED, _prepared(folder) | dict.fromkeys(parts, _state(package)))


def _compiled_in(package: Path) -> Path:
    """Where numba keeps compiled code, as a rule."""
    return Path(os.environ.get("NUMBA_CACHE_DIR") or package / "__pycache__")


def _prepared(folder: Path) -> dict[str, str]:
    with suppress(OSError, ValueError):
        parts: dict[str, str] = json.loads((folder / _PREPARED).read_text(encoding="utf-8"))
        return parts
    return {}


def _state(package: Path) -> str:
    """A hash of the kernels' sources and of what compiles them."""
    kernels: dict[str, str] = {}
    with suppress(OSError, ValueError):
        record = package / "__pycache__" / _RECORD
        kernels = json.loads(record.read_text(encoding="utf-8"))["kernels"]
    tools = sys.version, platform.machine(), version("numba"), version("llvmlite")
    text = json.dumps([kernels or _stamps(package), *tools], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _write(path: Path, content: object) -> None:
    """Write a file whole, also where several processes do."""
    part = path.with_name(f"{path.name}.{os.getpid()}")
    part.write_text(json.dumps(content), encoding="utf-8")
    part.replace(path)


def _stamps(package: Path) -> dict[str, str]:
    """Size and time of each source, by its path below the package."""
    stamps = {}
    for path in package.rglob("*.py"):
        of_file = path.stat()
        stamps[path.relative_to(package).as_posix()] = f"{of_file.st_size} {of_file.st_mtime_ns}"
    return dict(sorted(stamps.items()))


def _fingerprints(package: Path, stamps: Mapping[str, str]) -> dict[str, str]:
    """A hash of each file with kernels together with all that it imports of the package."""
    texts = {file: (package / file).read_text(encoding="utf-8") for file in stamps}
    hashes = {file: hashlib.sha256(text.encode()).hexdigest() for file, text in texts.items()}
    imports = {file: _imported(package.name, text, stamps) for file, text in texts.items()}
    fingerprints = {}
    for file in (file for file, text in texts.items() if "numba" in text):
        reached, waiting = {file}, [file]
        while waiting:
            new = imports[waiting.pop()] - reached
            reached |= new
            waiting += new
        parts = [f"{name} {hashes[name]}" for name in sorted(reached)]
        fingerprints[file] = hashlib.sha256("\n".join(parts).encode()).hexdigest()
    return fingerprints


def _imported(package: str, text: str, sources: Mapping[str, str]) -> set[str]:
    """Files of the package that a source imports by absolute names."""
    files = set()
    for module, names, plain in _IMPORT.findall(text):
        modules = [plain or module]
        modules += [f"{module}.{name}" for name in re.findall(r"\w+", names)]
        for name in modules:
            if name.split(".")[0] != package:
                continue
            path = name.partition(".")[2].replace(".", "/")
            files |= {f"{path}.py", f"{path}/__init__.py"} & sources.keys()
    return files
