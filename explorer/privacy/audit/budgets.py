"""Budgets as whole numbers: conversions against fractions of the audit's own, and shares."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from explorer.privacy import allocation
from explorer.privacy.audit.branches import watched
from explorer.privacy.audit.distributions import PER_EPSILON
from explorer.privacy.audit.loss import budget
from explorer.releases import units

_TRIED = 2_000


def check_budgets() -> list[str]:
    """What is wrong with conversions and shares of budgets."""
    with watched():
        return list(dict.fromkeys([*_conversions(), *_shares()]))


def _conversions() -> Iterator[str]:
    rng = np.random.default_rng(5)
    if units.UNITS_PER_EPSILON != PER_EPSILON:
        yield "an epsilon has another number of units"
    decimals = [float(f"{10 ** rng.uniform(-4, 1):.{rng.integers(1, 17)}g}") for _ in range(_TRIED)]
    for epsilon in [*decimals, 0.1, 0.3, 1e-5, 1, 10]:
        right = budget(epsilon)
        if units.to_units(epsilon) != right or units.to_units(str(epsilon)) != right:
            yield "an epsilon in units is another number than its decimals times 10^12"
        if units.to_units(Fraction(str(epsilon))) != right:
            yield "a fraction in units is another number than it times 10^12"
        if abs(units.to_epsilon(right) - right / PER_EPSILON) > 1e-15 * epsilon:
            yield "units are read as another epsilon"
        part = float(rng.uniform())
        if units.share(right, part) != int(Fraction(str(part)) * right):
            yield "a share of a budget is another number than its part of it"


def _shares() -> Iterator[str]:
    """No sum of shares may pass what is shared; even shares lose a unit each at most."""
    rng = np.random.default_rng(6)
    for _ in range(_TRIED):
        whole, levels = int(10 ** rng.uniform(0, 18)), int(rng.integers(1, 23))
        shared = {
            "proportional": allocation.proportional(whole, rng.random(levels) ** 4 + 1e-9),
            "uniform": allocation.uniform(whole, levels - 1),
            "geometric": allocation.geometric(whole, levels - 1),
            "fan-out": allocation.fan_out(whole, (4 ** np.arange(min(levels, 12))).tolist()),
        }
        for name, shares in shared.items():
            if shares.sum() > whole or shares.min() < 0:
                yield f"{name} shares add up to more than the budget"
            elif shares.sum() < whole - 2 * len(shares) - 1e-9 * whole:
                yield f"{name} shares leave a part of the budget"
