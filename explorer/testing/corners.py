"""Cases that chance deals seldom, tried every time: one cell, one row, settings at their ends.

And previews, which no release is: their shorter way through compiled kernels must give what the
way of a release gives with the same noise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from explorer.privacy.audit.audit import Finding, front_door, try_case
from explorer.privacy.audit.branches import watched
from explorer.privacy.audit.cases import Auditable, Case, Seeded
from explorer.privacy.audit.large import draw_large_case
from explorer.privacy.audit.loss import Breach
from explorer.privacy.audit.replay import Publish
from explorer.privacy.audit.surface import difference
from explorer.privacy.audit.ways import Told
from explorer.privacy.curator import Curator
from explorer.privacy.noise import AskedNoise, PreviewNoise
from explorer.testing.counts import counted

_SHAPES = ((1, 1), (1, 9), (8, 8))
_SETTINGS: Mapping[str, tuple[dict[str, Any], ...]] = {
    "gravity": (
        {"maps_share": 0.0},
        {"maps_share": 0.0, "inference": "leaves"},
        {"partition": "fixed boxes"},
        {"partition": "PrivTree"},
        {"zones": 2},
    ),
    "htf": (
        {"height": 3, "split_rule": "all cuts"},
        {"height": 0, "stop_rule": "optimal"},
        {"split_budget_per": "total"},
        {"first_axis": "longer", "height": 4},
    ),
    "daf-homogeneity": ({"p": 1}, {"stop_count": 5.0}, {"rule": "noisy-min"}),
    "hb": ({"branching": 2},),
    "kd-hybrid": ({"kd_levels": 0},),
}
"""Beside the defaults, by the key of the mechanism."""


def try_corners(kind: Auditable, publish: Callable[[Any], Publish]) -> Finding:
    """Corners of a mechanism, on small maps, with outcomes that test hardest; then its previews."""
    result = Finding(kind.key)
    for case in _cases(kind):
        result += try_case(kind, case, publish)
        if 2 in getattr(kind, "dimensions", ()) and not getattr(kind, "for_maps", True):
            # Of two dimensions it takes maps as well as trips.
            result += try_case(kind, case, front_door)
    if result.fault is None:
        result += _previews(kind, publish)
    return result


def _cases(kind: Auditable) -> Iterator[Case]:
    rng = np.random.default_rng(2)
    for settings in ({}, *_SETTINGS.get(kind.key, ())):
        for shape in _SHAPES:
            counts = rng.poisson(20, shape).astype(np.int64)
            change = np.zeros_like(counts)
            change.flat[-1] = 2
            yield Case({"epsilon": 1.0} | settings, counts, (change,), 2, "still", 1)


def _previews(kind: Any, publish: Callable[[Any], Publish]) -> Finding:
    case, seed = draw_large_case(kind, Seeded(kind.key)), 7
    fault, mechanism = None, kind(epsilon=1.0)
    recorder = Told(kind(epsilon=1.0), grade=False)
    ways = (publish(recorder), AskedNoise(seed)), (publish(recorder), seed)
    try:
        with watched():
            plain = publish(mechanism)(case.matrix, seed)  # type: ignore[arg-type]
        for run, source in ways:
            with watched():
                other = run(case.matrix, source)  # type: ignore[arg-type]
            where = difference(plain, other)
            if where is not None:
                raise Breach(f"{where} differs between a preview by kernels and one by asking")
    except Breach as breach:
        fault = f"{breach} ({case.describe(case.changes[0])})"
    return Finding(kind.key, cells=case.counts.size, fault=fault)


def check_cuts() -> list[str]:
    """Cuts of counts that kernels do not know, such as of trips: asked for, as in a release."""
    counts = counted(np.random.default_rng(1).poisson(3, (4, 4, 4, 4)).astype(np.int64))
    results = []
    for source in (PreviewNoise(3), AskedNoise(3)):
        curator = Curator(counts, 10**12, source)
        with watched():
            cut = curator.cut(curator.open(), np.zeros(1, dtype=np.int64), 10**12)
        results.append(int(cut[0]))
    return [] if results[0] == results[1] else ["a cut by kernels is another one than by asking"]
