"""What a release says of itself next to its counts: checked when it comes out of a file."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from explorer.releases.transcript import LedgerRow
from explorer.releases.units import UNITS_OF_PRIVACY, UNITS_PER_EPSILON, to_epsilon

# The key of a mechanism in a file, of ours or of someone's own.
_NAME = re.compile(r"[\w -]{0,60}")


def by_stage(
    stages: Sequence[tuple[str, float]], ledger: Sequence[LedgerRow]
) -> tuple[LedgerRow, ...]:
    """The rows of single measurements summed by stage, so that their epsilons add up.

    Parameters
    ----------
    stages : (stage, epsilon) of a leaf's path, averaged over leaves
    ledger : one row or more of each stage
    """
    rows = []
    for stage, epsilon in stages:
        of = [row for row in ledger if row.stage == stage]
        draws, sensitivity = sum(row.draws for row in of), max(row.sensitivity for row in of)
        why = ", ".join(dict.fromkeys(row.composition for row in of))
        rows.append(LedgerRow(stage, epsilon, draws, sensitivity, why))
    return tuple(rows)


def described(release: Any) -> dict[str, Any]:
    """The facts of a `Release` as JSON can hold them: what `checked` reads again."""
    return {
        **of_any(release),
        "elsewhere": release.elsewhere,
        "inside": release.inside,
        "linear": release.linear,
        "haar_variance": release.haar_variance,
        # Files without it are of whole records.
        **({"weighted": True} if release.weighted else {}),
    }


def of_any(release: Any) -> dict[str, Any]:
    """What releases of every kind say of themselves, as JSON can hold it."""
    return {
        "software": release.version,
        "mechanism": release.mechanism,
        "parameters": dict(release.parameters),
        "epsilon": release.epsilon,
        "units": release.units,
        "preview": release.preview,
        "unit_of_privacy": release.unit,
        "contribution_bound": release.contribution_bound,
        "ledger": [vars(row) for row in release.ledger],
        "facts": dict(release.facts),
    }


def checked(about: dict[str, Any], has_maps: bool = False) -> dict[str, Any]:
    """The facts of a release file in their own types; raises where one is impossible.

    `has_maps` says whether the release has maps of its places.
    """
    units, bound, variance = about["units"], about["contribution_bound"], about["haar_variance"]
    mechanism, epsilon = about["mechanism"], about["epsilon"]
    facts = {str(name): float(value) for name, value in about["facts"].items()}
    elsewhere = tuple((str(stage), float(part)) for stage, part in about["elsewhere"])
    ledger = tuple(
        LedgerRow(str(r["stage"]), float(r["epsilon"]), int(r["draws"]), float(r["sensitivity"]),
                  str(r["composition"]))
        for r in about["ledger"]
    )  # fmt: skip
    possible = (
        isinstance(units, int)
        and 0 < units <= 10**6 * UNITS_PER_EPSILON
        and type(epsilon) in (int, float)
        and math.isclose(epsilon, to_epsilon(units))
        and isinstance(mechanism, str)
        and _NAME.fullmatch(mechanism) is not None
        and isinstance(bound, int)
        and bound >= 1
        and about["inside"] in ("uniform", "maps" if has_maps else "interpolated")
        and about["unit_of_privacy"] in UNITS_OF_PRIVACY
        and all(isinstance(about[name], bool) for name in ("preview", "linear"))
        and isinstance(about.get("weighted", False), bool)
        and (variance is None or (isinstance(variance, float) and 0 < variance < np.inf))
        and np.isfinite([*facts.values(), *(part for _, part in elsewhere)]).all()
    )
    if not possible:
        raise ValueError("a fact of the release is impossible")
    return {
        "mechanism": mechanism,
        "parameters": dict(about["parameters"]),
        "units": units,
        "preview": about["preview"],
        "unit": about["unit_of_privacy"],
        "contribution_bound": bound,
        "ledger": ledger,
        "facts": facts,
        "elsewhere": elsewhere,
        "inside": about["inside"],
        "linear": about["linear"],
        "haar_variance": variance,
        "weighted": about.get("weighted", False),
        "version": str(about["software"]),
    }
