"""The mechanisms that a scenario can name: those of maps, of trips, of areas and of people."""

from __future__ import annotations

from explorer.country.mechanism import Country
from explorer.federated.mechanism import Federated
from explorer.grid.values import of_key
from explorer.mechanisms import Mechanism, all_mechanisms, trip_mechanisms


def area_mechanisms() -> dict[str, type[Mechanism]]:
    """The mechanisms that take areas inside each other, by name: one, with any other inside."""
    return {Country.key: Country}


def people_mechanisms() -> dict[str, type[Mechanism]]:
    """The mechanisms that ask people who keep their places, by name: one, with its algorithms."""
    return {Federated.key: Federated}


def known_mechanisms() -> dict[str, type[Mechanism]]:
    """All of them, by name."""
    return all_mechanisms() | trip_mechanisms() | area_mechanisms() | people_mechanisms()


def mechanism(key: str) -> type[Mechanism]:
    """The mechanism of that name.

    Raises
    ------
    InputError
        For a name that none has; it lists those there are.

    Examples
    --------
    >>> mechanism("country").title, mechanism("htf").title
    ('Country', 'HTF')
    """
    return of_key(known_mechanisms(), key, "There is no mechanism")
