"""Releases of weighted records: measured in units of a lattice, said in records."""

from __future__ import annotations

from dataclasses import replace

from explorer.releases.place_maps import PlaceMaps
from explorer.releases.release import Release


def in_records(release: Release, lattice: int) -> Release:
    """A release whose counts are units of a lattice, with counts in records.

    Counts were whole units, and a unit of privacy moved them by its bound in such units; divided by
    the lattice they are records by weight, and the bound is in records. Nothing else changes: the
    noise has the scale bound / epsilon either way.

    Parameters
    ----------
    release : Release
        As it was measured.
    lattice : units of its counts that make one record; 1 returns it as it is
    """
    if lattice == 1:
        return release
    tree, maps = release.tree, release.maps
    if maps is not None:
        places = tuple(replace(place, counts=place.counts / lattice) for place in maps.places)
        maps = PlaceMaps(places)
    return replace(
        release,
        tree=replace(
            tree,
            value=tree.value / lattice,
            precision=tree.precision * float(lattice) ** 2,
            draws=tree.draws / lattice,
            tested=None if tree.tested is None else tree.tested / lattice,
        ),
        maps=maps,
        contribution_bound=release.contribution_bound // lattice,
        ledger=tuple(replace(row, sensitivity=row.sensitivity / lattice) for row in release.ledger),
        weighted=True,
    )
