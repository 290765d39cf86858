"""Folders that are one table: their own log says which of their files still count.

Delta Lake, Apache Iceberg and Apache Hudi leave replaced Parquet files where they were. A Delta
table whose log is a plain list of added and removed files is read by that log; all others are
refused with how to export them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote

from explorer.errors import InputError
from explorer.grid.values import shown

_DELTA, _HUDI, _ICEBERG = "_delta_log", ".hoodie", "metadata"
_COMMIT = re.compile(r"\d{20}\.json")
# Features of a Delta log that change nothing about which files count.
_PLAIN = {"timestampNtz", "v2Checkpoint", "vacuumProtocolCheck"}
_EXPORTS = {
    _DELTA: "DeltaTable(path).to_pandas().to_parquet('points.parquet') of the package deltalake",
    _ICEBERG: "table.scan().to_pandas().to_parquet('points.parquet') of the package pyiceberg",
    _HUDI: "spark.read.format('hudi').load(path).write.parquet('points') of Spark",
}
_TITLES = {_DELTA: "a Delta table", _ICEBERG: "an Iceberg table", _HUDI: "a Hudi table"}
#: Commits of a Delta log that are read, and bytes of each.
_MOST_COMMITS, _MOST_BYTES = 100_000, 2**28


def counted_files(
    paths: Sequence[str], system: Any, folder: str = ""
) -> tuple[list[str], list[str]]:
    """Parquet files that still count, and sentences on those that do not.

    Parameters
    ----------
    paths : of files in ``system``, a `pyarrow.fs.FileSystem`
    folder : what was given, where it was a folder; its replaced files are left out

    Raises
    ------
    InputError
        For files of an Iceberg or Hudi table, or of a Delta table with another log than files
        added and removed; for a replaced file that was not given as part of its folder; for a
        folder from which a file is missing.
    """
    look = cache(lambda directory: _kind_of(directory, system))
    roots: dict[str, list[str]] = {}
    for path in paths:
        root = next((folder_above for folder_above in _above(path) if look(folder_above)), None)
        if root is not None:
            roots.setdefault(root, []).append(path)
    gone: set[str] = set()
    notes = []
    for root, inside in roots.items():
        kind, name = look(root), shown(PurePosixPath(root).name)
        if kind != _DELTA:
            raise _refused(name, str(kind))
        live = _live_files(root, name, system)
        replaced = sorted(set(inside) - live)
        if replaced and not folder:
            raise InputError(
                f"{shown(PurePosixPath(replaced[0]).name)} counts no more: the log of the Delta "
                f"table {name} has replaced it; give the folder {name}."
            )
        whole = _posix(folder)
        missing = [file for file in live if f"{file}/".startswith(f"{whole}/")] if folder else []
        missing = sorted(set(missing) - set(inside))
        if missing:
            raise InputError(
                f"{shown(PurePosixPath(missing[0]).name)}, which the log of the Delta table {name} "
                "counts, is not there; bring it back."
            )
        gone |= set(replaced)
        if replaced:
            notes.append(f"{name} is a Delta table: files that its log has replaced were not read.")
    left = [path for path in paths if path not in gone]
    if not left:
        raise InputError("By the log of this Delta table none of its files counts; give another.")
    return left, notes


def check_counted(path: Path) -> None:
    """Raise `InputError` for a Parquet file of this computer that a table has replaced."""
    from pyarrow.fs import LocalFileSystem

    counted_files([_posix(str(path.resolve()))], LocalFileSystem())


def refuse_folder(path: Path) -> None:
    """As `refuse_other`, and for a Delta table."""
    refuse_other(path)
    if (path / _DELTA).is_dir():
        raise InputError(
            f"{path.name} is a Delta table, which is read for points alone; write what it holds "
            f"now as Parquet, such as by {_EXPORTS[_DELTA]}."
        )


def refuse_other(path: Path) -> None:
    """Raise `InputError`, with how to export it, for a folder that is an array or table.

    A Delta table is none of these.
    """
    from pyarrow.fs import LocalFileSystem

    names = {entry.name for entry in path.iterdir()}
    kind = _kind_of(_posix(str(path)), LocalFileSystem())
    if kind not in ("", _DELTA):
        raise _refused(shown(path.name), kind)
    if names & {".zgroup", ".zarray", ".zmetadata", "zarr.json"}:
        raise InputError(
            f"{path.name} is a Zarr store, which is not read; write its points as Parquet."
        )
    if "_versions" in names and any(path.rglob("*.lance")):
        raise InputError(
            f"{path.name} is a Lance data set, which is not read; write it as Parquet, such as by "
            "lance.dataset(path).to_table() and pyarrow.parquet.write_table."
        )


def _posix(path: str) -> str:
    return path.replace("\\", "/").rstrip("/")


def _above(path: str) -> list[str]:
    """The folders above a file, the nearest first."""
    return [str(parent) for parent in PurePosixPath(_posix(path)).parents if str(parent) != "."]


def _kind_of(folder: str, system: Any) -> str:
    """Which of the three a folder is the root of, "" for none."""
    from pyarrow.fs import FileSelector, FileType

    named = [f"{folder.rstrip('/')}/{name}" for name in (_DELTA, _HUDI, _ICEBERG)]
    delta, hudi, metadata = (
        about.type == FileType.Directory for about in system.get_file_info(named)
    )
    if delta or hudi:
        return _DELTA if delta else _HUDI
    if metadata:
        files = system.get_file_info(FileSelector(named[2], allow_not_found=True))
        if any(file.base_name.endswith(".metadata.json") for file in files):
            return _ICEBERG
    return ""


def _refused(name: str, kind: str, because: str = "") -> InputError:
    return InputError(
        f"{name} is {_TITLES[kind]}{because}, whose own log says which of its files count, and "
        f"that is not read; write what it holds now as Parquet, such as by {_EXPORTS[kind]}."
    )


def _live_files(root: str, name: str, system: Any) -> set[str]:
    """The files that a Delta table holds now, by its commits from the first on."""
    from pyarrow.fs import FileSelector

    listed = system.get_file_info(FileSelector(f"{root}/{_DELTA}"))
    commits = sorted(file.path for file in listed if _COMMIT.fullmatch(file.base_name))
    numbers = [int(PurePosixPath(commit).stem) for commit in commits]
    if not commits or numbers != list(range(len(commits))):
        raise _refused(name, _DELTA, " of which the first commits are packed or gone")
    if len(commits) > _MOST_COMMITS:
        raise _refused(name, _DELTA, " with a very long log")
    live: set[str] = set()
    for commit in commits:
        with system.open_input_stream(commit) as opened:
            text = opened.read(_MOST_BYTES).decode("utf-8", "replace")
        for line in filter(str.strip, text.splitlines()):
            try:
                action = json.loads(line)
                _apply(action, live, root, name)
            except InputError:
                raise
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise InputError(
                    f"The log of the Delta table {name} is damaged; bring back its files."
                ) from error
    return live


def _apply(action: dict[str, Any], live: set[str], root: str, name: str) -> None:
    """One action of a commit."""
    if "protocol" in action:
        needed = action["protocol"]
        features = set(needed.get("readerFeatures") or [])
        if int(needed["minReaderVersion"]) not in (1, 3) or features - _PLAIN:
            raise _refused(name, _DELTA, " with column mapping or deletion vectors")
    elif "add" in action or "remove" in action:
        facts = action.get("add") or action["remove"]
        path = unquote(str(facts["path"]))
        if "://" in path or path.startswith("/") or ".." in PurePosixPath(path).parts:
            raise _refused(name, _DELTA, " with files of another table")
        if facts.get("deletionVector"):
            raise _refused(name, _DELTA, " with deletion vectors")
        (live.add if "add" in action else live.discard)(f"{root}/{path}")
