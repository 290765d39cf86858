"""The manifest: what is in the folder, what it is, and how it came to be."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from explorer.publish.leaves import why_none
from explorer.publish.names import FILES
from explorer.publish.published import Published
from explorer.version import __version__

#: Since format 2 `booking.row` is random; before, it was a hash of what could be guessed.
FORMAT = 2
FORMATS = (1, FORMAT)
#: Bytes of a manifest.
MOST_MANIFEST = 2_000_000
_LIBRARIES = ("numpy", "opendp", "pyarrow", "pyogrio", "pyproj", "shapely")


def manifest_of(published: Published, folder: Path) -> dict[str, Any]:
    """What the manifest of a folder says, whose other files are written."""
    release, grid, about = published.release, published.release.grid, published.about
    assert grid.crs is not None
    sd = release.sd
    manifest: dict[str, Any] = {
        "format": FORMAT,
        "kind": "dp-explorer release",
        "title": about.title,
        "date": published.booking.date,
        "preview": release.preview,
        "release": {
            "mechanism": release.mechanism,
            "parameters": {
                name: _plain(parameter) for name, parameter in release.parameters.items()
            },
            "epsilon": release.epsilon,
            "units": release.units,
            "unit_of_privacy": release.unit,
            "contribution_bound": release.contribution_bound,
            "stages": [[row.stage, row.epsilon] for row in release.ledger],
            "leaves": release.n_leaves,
            "total": release.total,
            "inside": release.inside,
            "linear": release.linear,
            "unbiased_estimate": why_none(release) or "estimate, with estimate_sd",
        },
        "extent": {
            "bounds": list(grid.bounds),
            "cells": list(grid.shape),
            "crs": grid.crs.to_wkt(),
        },
        "accuracy": {
            "positional": {
                "what": "side of a cell, in metres: no place is known more finely",
                "width": grid.cell_width,
                "height": grid.cell_height,
            },
            "thematic": {
                "what": "standard deviation of the noise in a leaf's count, in records; uneven "
                "spread inside a leaf comes on top for parts of it",
                "least": float(sd.min()),
                "median": float(np.median(sd)),
                "most": float(sd.max()),
            },
        },
        "lineage": [
            f"One record is {about.record}.",
            f"Left out or changed before counting: {about.cleaning}.",
            f"Counted in {grid.shape[0]} x {grid.shape[1]} cells of a declared extent.",
            f"Drawn once by {release.mechanism} with epsilon {release.epsilon:g}, booked before "
            f"any noise on {published.booking.time}.",
            "All else in this folder is computed from that draw.",
        ],
        "booking": published.booking.facts(),
        "about": about.facts(),
        "method": vars(published.method),
        "boxes": [] if published.boxes is None else published.boxes.facts(),
        "citation": citation(published),
        "software": versions(release.version),
        "files": {
            name: {"what": what, **size_and_sum(folder / name)} for name, what in FILES.items()
        },
    }
    return {**manifest, "checksum": checksum(manifest)}


def citation(published: Published) -> str:
    """How others name this map."""
    release, about = published.release, published.about
    per = "record" if release.unit == "point" else "user"
    return (
        f"{about.curator} ({published.booking.date[:4]}). {about.title}: differentially private "
        f"map, epsilon {release.epsilon:g} per {per}, drawn with dp-explorer {release.version}."
    )


def versions(drawn_with: str) -> dict[str, str]:
    """What drew and what wrote."""
    by_name = {"drawn_with": drawn_with, "dp-explorer": __version__}
    by_name["python"] = platform.python_version()
    return by_name | {name: metadata.version(name) for name in _LIBRARIES}


def size_and_sum(path: Path) -> dict[str, Any]:
    """Bytes of a file, and its SHA-256."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"bytes": path.stat().st_size, "sha256": digest}


def checksum(manifest: Mapping[str, Any]) -> str:
    """SHA-256 of a manifest without this very line."""
    rest = {name: text for name, text in manifest.items() if name != "checksum"}
    return hashlib.sha256(as_bytes(rest)).hexdigest()


def as_bytes(document: Mapping[str, Any]) -> bytes:
    """The one way in which a manifest or a signature is written."""
    return (json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value
