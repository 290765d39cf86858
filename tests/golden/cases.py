"""What is pinned: made-up matrices, boxes, and the settings of every mechanism.

Everything follows from whole numbers of a bit generator, whose streams numpy promises to keep, and
from sums and products: the same matrices on every machine and with every version of numpy.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import param

from explorer import FrequencyMatrix, Grid, Mechanism
from explorer.mechanisms import all_mechanisms

SMALL = ((64, 64), (48, 37), (1, 9))
LARGE = ((1024, 1024),)
SEEDS = (1, 2)
BOUNDS = (1, 3)
PEOPLE = {(64, 64): 60_000, (48, 37): 20_000, (1, 9): 2_000, (1024, 1024): 1_000_000}


def uniforms(seed: int, n: int) -> np.ndarray:
    """Numbers from 0 to 1, (n,), multiples of 2^-53."""
    return (np.random.PCG64(seed).random_raw(n) >> np.uint64(11)) * 2.0**-53


def places(seed: int, n: int) -> np.ndarray:
    """Places of n people in a city of three quarters and a fringe, (n, 2) parts of its sides.

    A sum of four uniform numbers stands in for a normal one: it needs no logarithm.
    """
    u = uniforms(seed, 10 * n).reshape(10, n)
    around = np.stack([u[0:4].sum(axis=0), u[4:8].sum(axis=0)], axis=1) - 2.0
    kind = np.searchsorted([0.45, 0.7, 0.9], u[8], side="right")
    centre = np.array([[0.30, 0.40], [0.72, 0.61], [0.55, 0.15], [0.5, 0.5]])[kind]
    spread = np.array([0.06, 0.10, 0.03, 0.40])[kind]
    return centre + spread[:, None] * around


@cache
def matrix(shape: tuple[int, int], bound: int = 1) -> FrequencyMatrix:
    """Whole counts of a made-up city; with a bound above 1 the unit of privacy is a user."""
    place = places(shape[0], PEOPLE[shape])
    place = place[((place >= 0) & (place < 1)).all(axis=1)]
    counts = np.zeros(shape, dtype=np.int64)
    np.add.at(counts, tuple((place * shape).astype(np.int64).T), 1)
    return FrequencyMatrix.from_array(counts, contribution_bound=bound)


def boxes(shape: tuple[int, int]) -> np.ndarray:
    """Twenty boxes in cells, (20, 4) x0, y0, x1, y1: whole, cut, beside and beyond the map."""
    rows, cols = shape
    a, b = np.sort(uniforms(20, 68).reshape(2, 17, 2), axis=0)
    some = np.concatenate([a, b], axis=1) * [cols, rows, cols, rows]
    some[:6, :2], some[:6, 2:] = np.floor(some[:6, :2]), np.ceil(some[:6, 2:])
    some[6:8, 2:] += [cols / 2, rows / 3]
    whole = [[0, 0, cols, rows], [cols - 1, 0, cols, 1], [cols, rows, cols + 2, rows + 5]]
    return np.concatenate([whole, some])


@dataclass(frozen=True)
class Case:
    """A mechanism with settings, on a matrix, with a seed."""

    mechanism: str
    settings: tuple[tuple[str, Any], ...]
    shape: tuple[int, int]
    bound: int
    seed: int

    @property
    def name(self) -> str:
        """The settings in words."""
        return ", ".join(f"{name} {value}" for name, value in self.settings) or "defaults"

    @property
    def key(self) -> str:
        """The name of its golden values."""
        rows, cols = self.shape
        return f"{self.mechanism}, {self.name}, {rows}x{cols}, bound {self.bound}, seed {self.seed}"

    def made(self) -> Mechanism:
        """The mechanism."""
        return all_mechanisms()[self.mechanism](**dict(self.settings))


def settings(kind: type[Mechanism]) -> Iterator[dict[str, Any]]:
    """The defaults, another epsilon, every other value of an option, automatic numbers by hand."""
    yield {}
    yield {"epsilon": 1.0}
    for name in kind.tunables():
        declared = kind.param[name]
        if isinstance(declared, param.Selector | param.Boolean):
            values = getattr(declared, "objects", (False, True))
            yield from ({name: value} for value in values if value != declared.default)
        elif declared.allow_None:
            yield {name: 5}


def cases(key: str, large: bool = False) -> list[Case]:
    """All cases of a mechanism: every setting on small matrices, or the defaults on a large one."""
    chosen = [{}] if large else list(settings(all_mechanisms()[key]))
    return [
        Case(key, tuple(each.items()), shape, bound, seed)
        for each in chosen
        for shape in (LARGE if large else SMALL)
        for bound in BOUNDS
        for seed in SEEDS
    ]


def placed() -> dict[str, FrequencyMatrix]:
    """Five matrices whose keys name them in ledgers."""
    counts, tall = matrix((48, 37)).counts, matrix((64, 64)).counts
    around = Grid.around(-122.42, 37.77, 20_000, 18_500.5, shape=(48, 37), name="A name")
    bounds = Grid.from_bounds(500_000, 150_000, 560_000, 213_000, "EPSG:27700", shape=64)
    east = Grid.around(179.9, -16.5, 12_345.678, shape=64)
    return {
        "cells": FrequencyMatrix.from_array(counts),
        "cells, users": FrequencyMatrix.from_array(counts, contribution_bound=3),
        "around a place": FrequencyMatrix(counts, around),
        "bounds of a CRS, users": FrequencyMatrix(tall, bounds, 5, "user"),
        "antimeridian, users of one record": FrequencyMatrix(tall, east, 1, "user"),
    }
