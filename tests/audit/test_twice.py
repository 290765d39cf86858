"""Twice the budget, in four ways, in every mechanism: found in a few cases of a default run."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

import pytest

from explorer.country import audit as country
from explorer.country import mechanism as country_mechanism
from explorer.federated import audit as federated
from explorer.federated import mechanism as federated_mechanism
from explorer.mechanisms import all_mechanisms, base, trip_mechanisms
from explorer.privacy.audit.audit import replay_cases
from explorer.privacy.curator import Curator
from explorer.testing.counts import by_kind
from tests.audit.mutants import Noise
from tests.audit.planting import Plant, planted

pytestmark = pytest.mark.audit
KINDS = {**all_mechanisms(), **trip_mechanisms()}


def units_doubled(module: Any = base) -> Plant:
    return module, "to_units", lambda right, epsilon: 2 * right(epsilon)


def asks_twice(right, self, *asked, **named):
    """Privlet and PrivTree draw with what they have asked for, not with what is charged."""
    own = self._noise

    def laplace(values, sensitivity, paid, *names):
        return own.laplace(values, sensitivity, 2 * paid, *names)

    def above(values, threshold, sensitivity, paid, *names):
        return own.above(values, threshold, sensitivity, 2 * paid, *names)

    self._noise = Noise(own, laplace=laplace, above=above)
    try:
        return right(self, *asked, **named)
    finally:
        self._noise = own


#: Every draw has twice its budget; accounts, ledger and release show it once.
DRAWN_TWICE: list[Plant] = [
    (Curator, "_charge", lambda right, *asked: 2 * right(*asked)),
    (Curator, "privtree", asks_twice),
    (Curator, "coefficients", asks_twice),
]


def of_twice(mechanism: Any) -> Any:
    """With twice its budget, where that is one that is allowed: elsewhere it is no bug."""
    most = mechanism.param.epsilon.bounds[1]
    return by_kind(mechanism.with_(epsilon=min(most, 2 * mechanism.epsilon)))


def halved(mechanism: Any) -> Any:
    """Its release says half of what it spends, in its books, too: the loss itself shows it."""

    def publish(matrix: Any, source: Any) -> Any:
        if 2 * mechanism.epsilon > mechanism.param.epsilon.bounds[1]:
            return by_kind(mechanism)(matrix, source)
        made = of_twice(mechanism)(matrix, source)
        tree = replace(made.tree, spent=made.tree.spent // 2)
        rows = tuple(replace(row, epsilon=row.epsilon / 2) for row in made.ledger)
        return replace(made, tree=tree, units=made.units // 2, ledger=rows)

    return publish


WAYS: dict[str, tuple[Callable[[], AbstractContextManager[Any]], Callable[[Any], Any], str]] = {
    "units doubled": (lambda: planted(units_doubled()), by_kind, "units"),
    "twice the epsilon": (nullcontext, of_twice, "units"),
    "half of it said": (nullcontext, halved, ""),
    "draws of twice their price": (lambda: planted(*DRAWN_TWICE), by_kind, ""),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("key", KINDS)
def test_twice_the_budget_is_found(key: str, way: str) -> None:
    around, publish, says = WAYS[way]
    with around():
        breach = replay_cases(KINDS[key], range(8), 0, publish).breach
    assert breach is not None
    assert says in breach


def test_countries_and_people_are_no_exception() -> None:
    for module, audit in ((country_mechanism, country), (federated_mechanism, federated)):
        assert audit.replay_cases(range(2)).breach is None
        with planted(units_doubled(module)):
            assert audit.replay_cases(range(2)).breach is not None
