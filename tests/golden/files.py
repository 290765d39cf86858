"""Release files of the present format, and what a reader of them must find."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from explorer import AG, KDCell, Mosaic, Privlet, QuadTree, Release
from tests.golden.cases import boxes, placed, uniforms
from tests.golden.measure import packed, sums
from tests.releases.test_domains import made as trips

#: Mechanism, matrix, seed: None is a release with OpenDP's noise, which nobody can draw again.
MADE = {
    "uniform-preview": (AG(epsilon=0.5), "around a place", 3),
    "interpolated-release": (Mosaic(epsilon=0.3), "antimeridian, users of one record", None),
    "haar-release-of-users": (Privlet(epsilon=1.0), "cells, users", None),
    "tested-preview": (KDCell(epsilon=0.4, height=7), "bounds of a CRS, users", 4),
    "split-release": (QuadTree(epsilon=0.2, height=4, inference="split"), "cells", None),
}


#: Put together by hand, over four axes.
BY_HAND = {"trips-of-clients": trips}


def draw(name: str) -> Release:
    """The release of a file."""
    if name in BY_HAND:
        return BY_HAND[name]()
    made, data, seed = MADE[name]
    return made.release(placed()[data], rng=seed)


def found(release: Release) -> dict[str, Any]:
    """What a reader of a file finds in it."""
    answers = release.answer(release.domain.from_cells(asked(release.domain.shape)))
    return {
        "mechanism": release.mechanism,
        "parameters": dict(release.parameters),
        "epsilon": release.epsilon,
        "units": release.units,
        "preview": release.preview,
        "unit": release.unit,
        "bound": release.contribution_bound,
        "grid": release.domain.to_dict(),
        "inside": release.inside,
        "linear": release.linear,
        "sd_exact": answers.sd_exact,
        "haar_variance": release.haar_variance,
        "facts": dict(release.facts),
        "elsewhere": [list(each) for each in release.elsewhere],
        "stages": [list(each) for each in release.stages()],
        "ledger": [list(vars(row).values()) for row in release.ledger],
        "leaves": release.n_leaves,
        "total": release.total,
        "counts": sums(release.counts),
        "heights": int(release.height.sum()),
        "summary": release.summary(),
        "answers": packed(answers.value),
        "noise": packed(answers.sd),
    }


def asked(shape: tuple[int, ...]) -> np.ndarray:
    """Twenty boxes of cells, (20, 2, d)."""
    if len(shape) == 2:
        return boxes(shape).reshape(-1, 2, 2)[:, :, ::-1]  # rows first
    some = np.sort(uniforms(20, 40 * len(shape)).reshape(20, 2, len(shape)), axis=1)
    return some * (np.array(shape) + 1)


def path_of(name: str, folder: Path) -> Path:
    """Where a file of a format lies."""
    return folder / f"{name}.parquet"
