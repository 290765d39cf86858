"""What is looked at in a release: hashes of whole numbers, and numbers to compare."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

import numpy as np

from explorer import InputError, Release
from tests.golden.cases import Case, boxes, matrix, uniforms

#: Relative difference that two machines may have: their log and exp differ in the last bits.
TOLERANCE = 1e-9
_NONE = np.iinfo(np.int64).min


def drawn(case: Case) -> Release:
    """The preview of a case."""
    return case.made().release(matrix(case.shape, case.bound), rng=case.seed)


def golden(case: Case) -> dict[str, Any]:
    """The golden values of a case; of one that is refused, the sentence."""
    try:
        release = drawn(case)
    except InputError as refused:
        return {"refused": str(refused)}
    return facts(release, boxes(case.shape))


def facts(release: Release, asked: np.ndarray) -> dict[str, Any]:
    """The release in a few lines: what is whole is hashed, what is not is kept as it is."""
    tree, seen, answers = release.tree, release.candidates, release.answer(asked)
    found = {
        "nodes": len(tree),
        "leaves": release.n_leaves,
        "units": release.units,
        "stages": list(tree.stages),
        "tree": digest(tree.lower, tree.upper, tree.parent),
        "spent": digest(tree.spent),
        "draws": digest(_whole(tree.draws)),
        "candidates": seen and digest(*(a for c in seen for a in (c.ids, c.positions, c.costs))),
        "touched": digest(release.touched(asked)),
        "about": [release.inside, release.linear, release.preview, release.unit],
        "bound": release.contribution_bound,
        "ledger": [[row.stage, row.epsilon, row.draws, row.sensitivity] for row in release.ledger],
        "elsewhere": [list(each) for each in release.elsewhere],
        "facts": dict(release.facts),
        "haar_variance": release.haar_variance,
        "value": sums(tree.value),
        "sd": sums(tree.sd),
        "precision": sums(tree.precision),
        "tested": None if tree.tested is None else sums(tree.tested),
        "answers": packed(answers.value),
        "noise": packed(answers.sd),
    }
    return {name: value for name, value in found.items() if value not in (None, (), [], {})}


def sums(column: np.ndarray) -> list[float]:
    """All of a column, its sizes, and a weighing that tells its order; what is NaN is left out."""
    known = np.flatnonzero(~np.isnan(column))
    here, weights = column[known], uniforms(3, len(column))[known]
    found = len(here), here.sum(), np.abs(here).sum(), here @ weights
    return [float(f"{number:.12g}") for number in found]


def differences(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """What of two golden values is not the same, in words."""
    found = []
    for name in sorted(before.keys() | now.keys()):
        old, new = before.get(name), now.get(name)
        if name in ("answers", "noise") and old and new:
            if not near(unpacked(old), unpacked(new)):
                found.append(f"{name} moved")
        elif not alike(old, new):
            found.append(f"{name}: {old} became {new}")
    return found


def alike(old: Any, new: Any) -> bool:
    """Whether two plain values are the same, fractions within `TOLERANCE`."""
    numbers = all(
        isinstance(each, int | float) and not isinstance(each, bool) for each in (old, new)
    )
    if numbers and float in (type(old), type(new)):  # a file turns 10 into 10.0
        return abs(old - new) <= TOLERANCE * max(abs(old), abs(new))
    if isinstance(old, list | tuple) and isinstance(new, list | tuple):
        return len(old) == len(new) and all(map(alike, old, new))
    if isinstance(old, dict) and isinstance(new, dict):
        return old.keys() == new.keys() and all(alike(old[name], new[name]) for name in old)
    return type(old) is type(new) and bool(old == new)


def near(old: np.ndarray, new: np.ndarray) -> bool:
    """Whether numbers of one kind are the same: a small one may be the difference of large ones."""
    if old.shape != new.shape:
        return False
    return bool((np.abs(old - new) <= TOLERANCE * np.abs(old).max(initial=0.0)).all())


def digest(*arrays: np.ndarray) -> str:
    """The first 64 bits of the SHA-256 of whole numbers and their shapes."""
    found = hashlib.sha256()
    for each in arrays:
        found.update(repr(each.shape).encode())
        found.update(np.ascontiguousarray(each, dtype="<i8").tobytes())
    return found.hexdigest()[:16]


def _whole(values: np.ndarray) -> np.ndarray:
    """Draws as whole numbers, with the lowest of them where there was none."""
    none = np.isnan(values)
    known = np.where(none, 0, values)
    if not np.array_equal(known, np.rint(known)):
        raise ValueError("a draw is no whole number")
    return np.where(none, _NONE, known.astype(np.int64))


def packed(values: np.ndarray) -> str:
    """Floats as text, bit for bit."""
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f8").tobytes()).decode()


def unpacked(text: str) -> np.ndarray:
    """The floats of a text."""
    return np.frombuffer(base64.b64decode(text), dtype="<f8")
