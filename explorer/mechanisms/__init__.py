"""The mechanisms, one concept a module; `all_mechanisms()` is their registry."""

from __future__ import annotations

from explorer.errors import InputError
from explorer.mechanisms.base import Mechanism
from explorer.mechanisms.baselines import Identity, Uniform
from explorer.mechanisms.grids import AG, UG
from explorer.mechanisms.hierarchies import HB, Hierarchy
from explorer.mechanisms.htf import HTF
from explorer.mechanisms.kdtrees import KDCell, KDHybrid, KDStandard
from explorer.mechanisms.mosaic import Mosaic
from explorer.mechanisms.privlet import Privlet
from explorer.mechanisms.privtree import PrivTree
from explorer.mechanisms.quadtree import QuadTree

_ALL: tuple[type[Mechanism], ...] = (
    Identity,
    Uniform,
    UG,
    AG,
    QuadTree,
    HTF,
    KDStandard,
    KDHybrid,
    KDCell,
    Hierarchy,
    HB,
    Privlet,
    PrivTree,
    Mosaic,
)

__all__ = [
    "AG",
    "HB",
    "HTF",
    "UG",
    "Hierarchy",
    "Identity",
    "KDCell",
    "KDHybrid",
    "KDStandard",
    "Mechanism",
    "Mosaic",
    "PrivTree",
    "Privlet",
    "QuadTree",
    "Uniform",
    "all_mechanisms",
    "mechanism",
]


def all_mechanisms() -> dict[str, type[Mechanism]]:
    """The mechanisms by name, in the order in which they are best explained."""
    return {each.key: each for each in _ALL}


def mechanism(name: str) -> type[Mechanism]:
    """The mechanism of that name; an InputError lists the names there are."""
    known = all_mechanisms()
    if name not in known:
        raise InputError(f"There is no mechanism {name!r}: choose one of {', '.join(known)}.")
    return known[name]
