"""A scenario of people who keep their places as Python: what its scripts say in addition."""

from __future__ import annotations

from typing import Any

from explorer.scenario.model import Scenario


def besides(scenario: Scenario) -> dict[str, Any]:
    """Settings that a page adds: its previews draw the noise of all shares at once.

    A release draws everybody's own share, which is the mechanism's default, and so does a preview
    with bits that someone chose: what does not fit them shows shard by shard alone. A release says
    how many people are declared, as the field of the page does.
    """
    mechanisms: list[Any] = list(scenario.made())
    if scenario.seed is None:
        return {"people": mechanisms[0].people}
    return {} if any(mechanism.bits is not None for mechanism in mechanisms) else {"mode": "summed"}


def tell() -> list[str]:
    """Lines that print the rounds."""
    return [
        "for number, row in enumerate(release.rounds.itertuples(), 1):",
        '    print(f"round {number}: {row.people:,} people, {row.cells:,} numbers each")',
    ]


def table() -> str:
    """The rounds as a table."""
    return "release.rounds"
