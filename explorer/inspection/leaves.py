"""All leaves of a release as columns to sort and filter, next to what is really in them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.points.matrix import FrequencyMatrix
from explorer.points.truth import of_all_records
from explorer.points.weights import lattice_of
from explorer.releases.release import Release

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
Span = tuple[float, float]

#: A file of more leaves is one that no tool opens with pleasure.
MOST_SAVED = 100_000

_NUMBER = r"[-+−]?(?:\d[\d,]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_SPAN = re.compile(rf"({_NUMBER})?\s*(?:to|…|–|\.\.)\s*({_NUMBER})?", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class LeafTable:
    """The leaves of a map in the order of the release; all columns are (leaves,).

    Parameters
    ----------
    release : of a map
    true : how many records are really in each leaf, of all on the map: exact, so for the curator
        alone

    Examples
    --------
    >>> from explorer import UG
    >>> matrix = FrequencyMatrix.from_array([[9, 0], [8, 1]])
    >>> table = LeafTable.of(UG(epsilon=1, grid_size=2).release(matrix, rng=7), matrix)
    >>> table.true.tolist(), table.columns["cells"].tolist()
    ([9.0, 0.0, 8.0, 1.0], [1, 1, 1, 1])
    >>> table.where({"true": (1, 8)}).tolist(), table.ordered(table.where({}), "true").tolist()
    ([2, 3], [1, 3, 2, 0])
    """

    release: Release
    true: Floats

    @classmethod
    def of(cls, release: Release, matrix: FrequencyMatrix) -> LeafTable:
        """The leaves of a release that was drawn from ``matrix``."""
        every = of_all_records(matrix)
        true = every.count(release.lower, release.upper) / lattice_of(every)
        return cls(release, true.astype(np.float64))

    def __len__(self) -> int:
        return len(self.true)

    @cached_property
    def columns(self) -> Mapping[str, NDArray[np.float64] | Rows]:
        """Number from 1, cells, cuts above it, private count, sd of its noise, truth, error."""
        release = self.release
        return {
            "leaf": np.arange(1, len(self) + 1),
            "cells": np.prod(release.upper - release.lower, axis=1),
            "depth": release.tree.depth[release.tree.leaves],
            "private": release.counts,
            "noise": release.sd,
            "true": self.true,
            "error": release.counts - self.true,
        }

    def where(self, spans: Mapping[str, Span]) -> Rows:
        """The leaves whose columns lie in all ``spans``, both ends included, (k,)."""
        good = np.ones(len(self), dtype=bool)
        for name, (low, high) in spans.items():
            good &= (self.columns[name] >= low) & (self.columns[name] <= high)
        return np.flatnonzero(good)

    def ordered(self, rows: Rows, by: str, down: bool = False) -> Rows:
        """``rows`` by a column, errors by their size; equal ones in the order of the release."""
        values = self.columns[by][rows]
        values = np.abs(values) if by == "error" else values
        return rows[np.argsort(-values if down else values, kind="stable")]

    def geojson(self, rows: Rows, *, exact: bool = False) -> str:
        """The leaves in ``rows`` in longitude and latitude, with what was released of each.

        Parameters
        ----------
        rows : (k,) positions among the leaves
        exact : whether EXACT counts and the errors are in it: such a file is for the curator

        Raises
        ------
        InputError
            For no leaves, too many of them, and a map that is nowhere on the Earth.
        """
        if not len(rows):
            raise InputError("No leaf is chosen: widen the filters first.")
        if len(rows) > MOST_SAVED:
            raise InputError(
                f"{len(rows):,} leaves are too many for a file: choose at most {MOST_SAVED:,}, or "
                "save the whole release."
            )
        if self.release.grid.crs is None:
            raise InputError("This map is measured in cells and lies nowhere on the Earth.")
        frame = self.release.to_geodataframe(details=True).iloc[rows].to_crs(4326)
        frame.insert(0, "leaf", rows + 1)
        if exact:
            frame["EXACT"], frame["error"] = self.true[rows], self.columns["error"][rows]
        description = f"{len(rows):,} of {len(self):,} leaves. {self.release.summary()}"
        description = f"EXACT counts, not to be published: {description}" if exact else description
        text: str = frame.to_json(drop_id=True)
        return f'{{"description": {json.dumps(description)}, {text[1:]}'


def read_span(text: str) -> Span | None:
    """Ends of what a person wrote as "3 to 7", "3 to", "to 7" or "3"; None for nothing.

    Raises
    ------
    InputError
        For anything else.

    Examples
    --------
    >>> read_span("3 to 7"), read_span("to -1,000"), read_span("5"), read_span(" ")
    ((3.0, 7.0), (-inf, -1000.0), (5.0, 5.0), None)
    """
    text = text.strip()
    if not text:
        return None
    ends = (text, text) if re.fullmatch(_NUMBER, text) else None
    match = _SPAN.fullmatch(text)
    if match and any(match.groups()):
        ends = match[1] or "-inf", match[2] or "inf"
    if ends is None:
        raise InputError("Write a filter as 3 to 7, as 3 to, as to 7, or as one number.")
    low, high = (float(end.replace(",", "").replace("−", "-")) for end in ends)
    if low > high:
        raise InputError("A filter begins with its smaller number: write 3 to 7, not 7 to 3.")
    return low, high
