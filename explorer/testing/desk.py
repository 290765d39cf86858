"""Checks of the curator that belong to no mechanism: refusals, bookings, whole budgets."""

from __future__ import annotations

from explorer.privacy.audit.budgets import check_budgets
from explorer.privacy.audit.sources import NoiseFinding
from explorer.testing.corners import check_cuts
from explorer.testing.refusals import ATTEMPTS, check_refusals


def check_desk() -> list[NoiseFinding]:
    """One finding each; what is wrong is certain and has no probability."""
    kinds = {
        "refusals": (len(ATTEMPTS), check_refusals()),
        "budgets": (2_000, check_budgets()),
        "cuts": (1, check_cuts()),
    }
    return [
        NoiseFinding("curator", kind, number, 1.0, 0.0, "; ".join(faults) or None)
        for kind, (number, faults) in kinds.items()
    ]
