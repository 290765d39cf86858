"""The folder of a published release: written whole next to its place, then given its name."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from explorer.errors import InputError
from explorer.publish import geotiff, registry, tables
from explorer.publish.manifest import MOST_MANIFEST, as_bytes, manifest_of
from explorer.publish.names import (
    DENSITY,
    GEOJSON,
    MANIFEST,
    PACKAGE,
    PICTURE,
    REGISTRY,
    RELEASE,
    REPORT,
    SIGNATURE,
    TABLE,
)
from explorer.publish.picture import drawn
from explorer.publish.published import Booking, Published
from explorer.publish.report import report
from explorer.publish.signing import PublisherKey


def require_free(folder: Path) -> None:
    """Refuse a place where a folder cannot be made, before anything is drawn.

    Raises
    ------
    InputError
        For a name that is taken, and a place that is missing or cannot be written to.
    """
    if folder.exists() or folder.is_symlink():
        raise InputError(f"{folder} exists already: publish into a folder of another name.")
    parent = folder.absolute().parent
    if not parent.is_dir():
        raise InputError(f"There is no folder {parent} for {folder.name}; make it first.")
    part = _part(folder)
    try:
        part.mkdir()
        part.rmdir()
    except OSError as error:
        raise InputError(
            f"The folder {parent} cannot be written to ({error.strerror}); choose another."
        ) from error


def write_directory(published: Published, folder: Path, key: PublisherKey | None = None) -> None:
    """Write the folder of a release.

    Its files are written into a folder next to it and brought to the disk; only then it is given
    its name. Whatever ends the process before leaves nothing under that name.

    Parameters
    ----------
    published : what is in it
    folder : which is not there yet
    key : of the publisher; without one the folder is unsigned

    Raises
    ------
    InputError
        For a folder that is there, and when it cannot be written.
    """
    require_free(folder)
    part = _part(folder)
    try:
        part.mkdir()
        _write(published, part, key)
        for path in (*part.iterdir(), part):
            _to_the_disk(path)
        part.rename(folder)
        with suppress(OSError):  # not every system lets a folder be opened
            _to_the_disk(folder.absolute().parent)
    # GDAL says what the disk said as an error of its own, a RuntimeError.
    except (OSError, RuntimeError) as error:
        why = getattr(error, "strerror", None) or error
        raise InputError(
            f"{folder} could not be written ({why}); make room, or choose another place."
        ) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


def booking_in(folder: Path) -> Booking | None:
    """The row of the ledger that a folder's manifest names; None for what is no such folder."""
    path = folder / MANIFEST
    try:
        if path.stat().st_size > MOST_MANIFEST:
            return None
        return Booking(**json.loads(path.read_bytes())["booking"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _write(published: Published, folder: Path, key: PublisherKey | None) -> None:
    release, leaves, about = published.release, published.leaves, published.about
    metadata = {
        "title": registry.plain(about.title),
        "summary": release.summary(),
        "licence": registry.plain(about.licence),
        "software": f"dp-explorer {release.version}",
    }
    pieces: dict[str, Callable[[Path], object]] = {
        RELEASE: lambda path: tables.write_parquet(path, release, leaves),
        PACKAGE: lambda path: tables.write_package(path, leaves, metadata),
        GEOJSON: lambda path: tables.write_geojson(path, leaves, metadata),
        TABLE: lambda path: tables.write_csv(path, leaves),
        DENSITY: lambda path: geotiff.write(
            path, release.density(), release.grid, {**metadata, "unit": "private records per cell"}
        ),
        PICTURE: lambda path: path.write_bytes(drawn(published).png()),
        REPORT: lambda path: path.write_text(report(published), "utf8", newline="\n"),
        REGISTRY: lambda path: path.write_text(
            registry.as_text(registry.entry(published)), "utf8", newline="\n"
        ),
    }
    for name, write in pieces.items():
        write(folder / name)
    manifest = as_bytes(manifest_of(published, folder))
    (folder / MANIFEST).write_bytes(manifest)
    if key is not None:
        (folder / SIGNATURE).write_bytes(as_bytes(key.sign(manifest)))


def _part(folder: Path) -> Path:
    return folder.absolute().with_name(f".part.{secrets.token_hex(4)}.{folder.name[-100:]}")


def _to_the_disk(path: Path) -> None:
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
