"""The kinds of domain by their tags, as files name them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from explorer.errors import InputError
from explorer.grid.domain import Domain
from explorer.grid.grid import Grid
from explorer.grid.places import TripDomain

_KINDS: dict[str, Callable[[Mapping[str, Any]], Domain]] = {
    "grid": Grid.from_dict,
    "trips": TripDomain.from_dict,
}


class UnknownKind(InputError):
    """A domain of a kind that this version cannot read."""


def alike(first: Domain, second: Domain) -> bool:
    """Whether two domains are the same space, whatever their grids are called.

    >>> alike(Grid.cells(4, name="a"), Grid.cells(4, name="b"))
    True
    """
    if isinstance(first, Grid) and isinstance(second, Grid):
        return (first.shape, first.bounds, first.crs) == (second.shape, second.bounds, second.crs)
    if isinstance(first, TripDomain) and isinstance(second, TripDomain):
        same = len(first.grids) == len(second.grids)
        return same and all(map(alike, first.grids, second.grids))
    return first == second


def to_plain(domain: Domain) -> dict[str, Any]:
    """A domain as plain values, its kind first."""
    return {"kind": domain.kind, **domain.to_dict()}


def from_plain(saved: Any) -> Domain:
    """The domain that `to_plain` described.

    Raises
    ------
    UnknownKind
        For a kind that this version does not know.
    InputError
        For a description that lacks something.
    """
    kind = saved.get("kind") if isinstance(saved, Mapping) else None
    if not isinstance(kind, str) or kind not in _KINDS:
        raise UnknownKind(
            f"This is about a domain of the kind {str(kind)[:40]!r}, and this version knows "
            f"{' and '.join(_KINDS)}; open it with the version that wrote it."
        )
    return _KINDS[kind](saved)
