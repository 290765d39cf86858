"""Small releases that are published in a test, and folders that were changed since."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from explorer.grid.grid import Grid
from explorer.grid.range_queries import RangeQueries
from explorer.mechanisms import mechanism
from explorer.points.matrix import FrequencyMatrix
from explorer.publish.about import About
from explorer.publish.directory import write_directory
from explorer.publish.manifest import as_bytes, checksum, size_and_sum
from explorer.publish.names import FILES, MANIFEST, SIGNATURE
from explorer.publish.published import Booking, Boxes, Method, Published
from explorer.publish.signing import PublisherKey
from explorer.releases.release import Release
from explorer.testing import towns

GRID = Grid.around(-30, 40, "20km", shape=(32, 24))
ABOUT = About(
    title="Rides of Amber",
    curator="City of Amber",
    curator_type="Government",
    region="Port Amber",
    sector="Transportation",
    use="To plan where bicycles stand.",
    record="one ride that begins",
    tuned="no",
    why="It was agreed with those who ride.",
    licence="CC BY 4.0",
    cleaning="nothing",
)
BOXES = Boxes(
    RangeQueries(
        np.array([[-3000.0, -2000.0, 4000.0, 1000.0], [0.0, 0.0, 900.0, 900.0]]), [None] * 2
    ),
    ["Old town", "Harbour"],
)


@cache
def drawn(key: str = "quadtree", epsilon: float = 1.0, **settings: Any) -> Release:
    """A release-grade draw of a small town."""
    counts = FrequencyMatrix(towns(GRID.shape).counts, GRID)
    return mechanism(key)(epsilon=epsilon, **settings).release(counts)


def published(release: Release | None = None, **changes: Any) -> Published:
    """A release with all that is said of it."""
    release = drawn() if release is None else release
    booking = Booking(
        "amber riders",
        "2026-11-25T09:00:00.000+00:00",
        release.mechanism,
        release.units,
        "ab" * 32,
        0,
    )
    said = {"about": ABOUT, "booking": booking, "boxes": BOXES, **changes}
    return Published(release, method=Method.of(mechanism(release.mechanism)), **said)


def folder_of(path: Path, release: Release | None = None, key: PublisherKey | None = None) -> Path:
    """A folder as `publish` makes it."""
    write_directory(published(release), path, key)
    return path


def copy(folder: Path, to: Path) -> Path:
    """A folder that may be changed."""
    shutil.copytree(folder, to)
    return to


def made_good(folder: Path, change: Callable[[dict[str, Any]], None] = lambda _: None) -> None:
    """Whoever changed files writes a manifest that fits them; it cannot be signed again."""
    path = folder / MANIFEST
    said = json.loads(path.read_bytes())
    for name in FILES:
        said["files"][name] |= size_and_sum(folder / name)
    change(said)
    said["checksum"] = checksum(said)
    path.write_bytes(as_bytes(said))
    (folder / SIGNATURE).unlink(missing_ok=True)


def saved_otherwise(folder: Path, **changes: Any) -> None:
    """The release of a folder, saved with other facts."""
    from explorer.publish.leaves import leaves_of
    from explorer.publish.tables import write_parquet

    path = folder / "release.parquet"
    release = replace(Release.load(path), **changes)
    write_parquet(path, release, leaves_of(release))
