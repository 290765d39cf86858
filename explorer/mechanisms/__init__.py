"""The mechanisms, one concept a module.

`all_mechanisms()` are those of maps, `trip_mechanisms()` those of trips.
"""

from __future__ import annotations

import re
from typing import TypeVar

from explorer.errors import InputError
from explorer.grid.values import of_key
from explorer.mechanisms.base import Mechanism
from explorer.mechanisms.baselines import Identity, Uniform
from explorer.mechanisms.daf import DAFEntropy, DAFHomogeneity
from explorer.mechanisms.gravity import Gravity
from explorer.mechanisms.grids import AG, UG
from explorer.mechanisms.hierarchies import HB, Hierarchy
from explorer.mechanisms.htf import HTF
from explorer.mechanisms.kdtrees import KDCell, KDHybrid, KDStandard
from explorer.mechanisms.mosaic import Mosaic
from explorer.mechanisms.privlet import Privlet
from explorer.mechanisms.privtree import PrivTree
from explorer.mechanisms.quadtree import QuadTree
from explorer.mechanisms.trip_grids import EBP, EUG, MKM
from explorer.releases.release import Release

#: The registry, in the order in which mechanisms are best explained: one line for each.
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
    EUG,
    EBP,
    MKM,
    DAFEntropy,
    DAFHomogeneity,
    Gravity,
)
_REGISTERED: dict[str, type[Mechanism]] = {mechanism.key: mechanism for mechanism in _ALL}

__all__ = [
    "AG",
    "EBP",
    "EUG",
    "HB",
    "HTF",
    "MKM",
    "UG",
    "DAFEntropy",
    "DAFHomogeneity",
    "Gravity",
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
    "first_compared",
    "mechanism",
    "rebuild",
    "register",
    "trip_mechanisms",
    "unregister",
]

M = TypeVar("M", bound=Mechanism)
_KEY = re.compile(r"[a-z][a-z0-9-]{0,39}")


def all_mechanisms() -> dict[str, type[Mechanism]]:
    """The mechanisms of maps by name, in the order in which they are best explained.

    Returns
    -------
    dict of str to class

    Examples
    --------
    >>> list(all_mechanisms())[:4]
    ['identity', 'uniform', 'ug', 'ag']
    """
    return {key: kind for key, kind in _REGISTERED.items() if kind.for_maps}


def trip_mechanisms() -> dict[str, type[Mechanism]]:
    """The mechanisms that take trips of two places by name, in the same order."""
    return {key: kind for key, kind in _REGISTERED.items() if 4 in kind.dimensions}


def mechanism(name: str) -> type[Mechanism]:
    """The mechanism of that name, a class that is called with its settings.

    Parameters
    ----------
    name : str
        As files and the command line write it, such as "htf" or "kd-standard"; in any case.

    Returns
    -------
    class
        Of maps or of trips.

    Raises
    ------
    InputError
        For a name that there is not; the sentence says which was meant, or lists all.

    Examples
    --------
    >>> mechanism("htf")(epsilon=0.5).epsilon
    0.5
    """
    return of_key(_REGISTERED, str(name).lower(), "There is no mechanism")


def first_compared() -> tuple[str, ...]:
    """The names of the mechanisms that a comparison begins with."""
    return tuple(key for key, kind in _REGISTERED.items() if kind.compared_first)


def rebuild(release: Release) -> Mechanism:
    """The mechanism that a release came from, with the same settings.

    Of maps and trips: those of later packages are rebuilt by their own class, such as
    `Federated.of(release)`.

    Raises
    ------
    InputError
        For a mechanism that does not exist here, or settings that it refuses.
    """
    return mechanism(release.mechanism).of(release)


def register(kind: type[M]) -> type[M]:
    """Add a mechanism of your own, for as long as this process runs; also a class decorator.

    Do so before the pages of the app are loaded: their menus are made then.
    `explorer.testing.mechanism_checks` says whether it keeps its promises.

    Returns
    -------
    The class itself.

    Raises
    ------
    InputError
        For a class without a key, title or summary, or with the key of another.
    """
    if not _KEY.fullmatch(kind.key):
        raise InputError(
            f"The key of {kind.__name__} is {kind.key!r}: give up to 40 small letters, digits and "
            "hyphens, a letter first."
        )
    if not (kind.title and kind.summary):
        raise InputError(f"{kind.__name__} has no title or no summary: give it both.")
    if _REGISTERED.get(kind.key, kind) is not kind:
        raise InputError(f"There is a mechanism {kind.key!r} already: choose another key.")
    _REGISTERED[kind.key] = kind
    return kind


def unregister(key: str) -> None:
    """Take a mechanism that was registered out again; those of this package stay."""
    if all(mechanism.key != key for mechanism in _ALL):
        _REGISTERED.pop(key, None)
