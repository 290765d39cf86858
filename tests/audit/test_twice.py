"""Twice the budget, in four ways, in every mechanism: found in a few cases of a default run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import pytest

from explorer.country import audit as country
from explorer.country import mechanism as country_mechanism
from explorer.federated import audit as federated
from explorer.federated import mechanism as federated_mechanism
from explorer.mechanisms import all_mechanisms, base, trip_mechanisms
from explorer.privacy.audit.audit import replay_cases
from explorer.privacy.curator import Curator
from explorer.releases import units
from explorer.testing.wide import by_kind

pytestmark = pytest.mark.audit
KINDS = {**all_mechanisms(), **trip_mechanisms()}
FEW = range(8)


def units_doubled(module: Any = base) -> Any:
    right = units.to_units
    return patch.object(module, "to_units", lambda epsilon: 2 * right(epsilon))


@contextmanager
def spent_twice_and_said_once() -> Iterator[None]:
    """Every draw has twice its budget; accounts, ledger and release show it once."""
    right = Curator._charge

    def wrong(self, regions, paid, stage):
        return 2 * right(self, regions, paid, stage)

    # Privlet and PrivTree draw with what they have asked for.
    privtree, coefficients = Curator.privtree, Curator.coefficients

    class Doubled:
        preview = True

        def __init__(self, source: Any) -> None:
            self.source = source

        def laplace(self, values, sensitivity, paid, *named):
            return self.source.laplace(values, sensitivity, 2 * paid, *named)

        def above(self, values, threshold, sensitivity, paid, *named):
            return self.source.above(values, threshold, sensitivity, 2 * paid, *named)

    def behind(ask: Callable[..., Any]) -> Callable[..., Any]:
        def asks(self, *asked, **named):
            own, self._noise = self._noise, Doubled(self._noise)
            try:
                return ask(self, *asked, **named)
            finally:
                self._noise = own

        return asks

    with (
        patch.object(Curator, "_charge", wrong),
        patch.object(Curator, "privtree", behind(privtree)),
        patch.object(Curator, "coefficients", behind(coefficients)),
    ):
        yield


def of_twice(mechanism: Any) -> Any:
    """With twice its budget, where that is one that is allowed: elsewhere it is no bug."""
    most = mechanism.param.epsilon.bounds[1]
    return mechanism.with_(epsilon=min(most, 2 * mechanism.epsilon))


def breach(key: str, publish: Callable[[Any], Any] = by_kind) -> str | None:
    return replay_cases(KINDS[key], FEW, 0, publish).breach


@pytest.mark.parametrize("key", KINDS)
def test_doubled_units_are_found(key: str) -> None:
    with units_doubled():
        assert "units" in str(breach(key))


@pytest.mark.parametrize("key", KINDS)
def test_a_mechanism_of_twice_the_epsilon_is_found(key: str) -> None:
    assert "units" in str(breach(key, lambda mechanism: by_kind(of_twice(mechanism))))


@pytest.mark.parametrize("key", KINDS)
def test_a_mechanism_that_says_half_of_what_it_spends_is_found(key: str) -> None:
    """Its release says epsilon, in its books, too: the loss itself shows it."""

    def halved(mechanism: Any) -> Any:
        run = by_kind(of_twice(mechanism))

        def publish(matrix: Any, source: Any) -> Any:
            if 2 * mechanism.epsilon > mechanism.param.epsilon.bounds[1]:
                return by_kind(mechanism)(matrix, source)
            made = run(matrix, source)
            tree = replace(made.tree, spent=made.tree.spent // 2)
            rows = tuple(replace(row, epsilon=row.epsilon / 2) for row in made.ledger)
            return replace(made, tree=tree, units=made.units // 2, ledger=rows)

        return publish

    assert breach(key, halved) is not None


@pytest.mark.parametrize("key", KINDS)
def test_draws_of_twice_their_price_are_found(key: str) -> None:
    with spent_twice_and_said_once():
        assert breach(key) is not None


def test_countries_and_people_are_no_exception() -> None:
    for module, audit in ((country_mechanism, country), (federated_mechanism, federated)):
        assert audit.replay_cases(range(2)).breach is None
        with units_doubled(module):
            assert audit.replay_cases(range(2)).breach is not None
