"""The mechanisms, one concept a module; `mechanisms()` is their registry."""

from __future__ import annotations

from explorer.errors import InputError
from explorer.mechanisms.base import Mechanism
from explorer.mechanisms.baselines import Identity, Uniform
from explorer.mechanisms.grids import AG, UG
from explorer.mechanisms.htf import HTF
from explorer.mechanisms.quadtree import QuadTree

__all__ = [
    "AG",
    "HTF",
    "UG",
    "Identity",
    "Mechanism",
    "QuadTree",
    "Uniform",
    "mechanism",
    "mechanisms",
]

_ALL: tuple[type[Mechanism], ...] = (Identity, Uniform, UG, AG, QuadTree, HTF)


def mechanisms() -> dict[str, type[Mechanism]]:
    """The mechanisms by name, in the order in which they are best explained."""
    return {each.key: each for each in _ALL}


def mechanism(name: str) -> type[Mechanism]:
    """The mechanism of that name; an InputError lists the names there are."""
    known = mechanisms()
    if name not in known:
        raise InputError(f"There is no mechanism {name!r}: choose one of {', '.join(known)}.")
    return known[name]
