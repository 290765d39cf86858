"""The release: what may leave the curator's desk. It holds no exact count and no seed."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import geopandas
import numpy as np
import shapely
from numpy.typing import ArrayLike, NDArray

from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.grid.sums import rectangle_sums, summed
from explorer.releases import file as release_file
from explorer.releases import haar
from explorer.releases.inference import Estimate
from explorer.releases.interpolation import interpolate
from explorer.releases.nodes import span
from explorer.releases.transcript import Candidates, LedgerRow
from explorer.releases.tree import Tree
from explorer.releases.units import UNITS_PER_EPSILON, to_epsilon
from explorer.version import __version__

Floats = NDArray[np.float64]

# The key of a mechanism in a file, of ours or of somebody's own.
_NAME = re.compile(r"[\w -]{0,60}")


@dataclass(frozen=True)
class Answers:
    """Answers to n rectangles.

    Attributes
    ----------
    value : (n,) private counts
    sd : (n,) standard deviation of their noise part, given the partition. The rest of the error
        comes from uneven spread inside leaves, which no release can know.
    sd_exact : whether `sd` is a closed form (linear inference) or an estimate
    """

    value: Floats
    sd: Floats
    sd_exact: bool = True

    def interval(self, z: float = 1.96) -> tuple[Floats, Floats]:
        """Approximate 95 % interval of the noise part: value -+ z sd."""
        return self.value - z * self.sd, self.value + z * self.sd


@dataclass(frozen=True, eq=False)
class Release:
    """A private map: a partition of the grid with a private count for every leaf.

    Attributes
    ----------
    tree : Tree
        All nodes with their noisy counts; leaves tile the grid.
    grid : Grid
        The public extent.
    mechanism, parameters : how it was made
    units : int
        The budget, in units of 10^-12 epsilon.
    preview : bool
        True for reproducible dice: such a map is not private and must not be published.
    unit, contribution_bound : the unit of privacy and how many records it may have given
    ledger : one row a stage; what a leaf's path spent on each, averaged, adds up to epsilon
    facts : choices made from noisy figures, such as the height
    elsewhere : what passes over the domain before this tree cost, as (stage, epsilon)
    inside : how a leaf's count lies inside it, "uniform" or "interpolated" from released neighbours
    linear : whether counts are linear in the draws, so that the noise has a closed form
    haar_variance : variance of every Haar coefficient, for Privlet
    candidates : cuts that HTF's search looked at, with their noisy costs; no file keeps them
    version : of the software that drew it
    """

    tree: Tree
    grid: Grid
    mechanism: str
    parameters: Mapping[str, Any]
    units: int
    preview: bool
    unit: str
    contribution_bound: int
    ledger: tuple[LedgerRow, ...]
    facts: Mapping[str, float] = field(default_factory=dict)
    elsewhere: tuple[tuple[str, float], ...] = ()
    inside: str = "uniform"
    linear: bool = True
    haar_variance: float | None = None
    candidates: tuple[Candidates, ...] = ()
    version: str = __version__

    @classmethod
    def from_estimate(cls, estimate: Estimate, **about: Any) -> Release:
        """Build a release from what a plan inferred; everything in it has been released."""
        record = estimate.transcript
        draws = np.full((len(record), len(record.stages)), np.nan)
        for measured in record.measurements:
            draws[span(measured.ids), record.stages.index(measured.stage)] = measured.values
        tree = Tree(
            record.lower,
            record.upper,
            record.parent,
            estimate.value,
            estimate.precision,
            record.stages,
            record.spent,
            draws,
            estimate.tested,
        )
        release = cls(
            tree=tree,
            facts=dict(estimate.facts),
            elsewhere=record.elsewhere,
            linear=estimate.linear,
            haar_variance=estimate.haar_variance,
            candidates=record.candidates,
            **about,
        )
        return replace(release, ledger=_by_stage(release))

    @property
    def epsilon(self) -> float:
        """The budget as a number to read."""
        return to_epsilon(self.units)

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return len(self.tree.leaves)

    @cached_property
    def lower(self) -> NDArray[np.int64]:
        """First row and column of every leaf, (leaves, 2)."""
        return self.tree.lower[self.tree.leaves]

    @cached_property
    def upper(self) -> NDArray[np.int64]:
        """Row and column behind the last of every leaf, (leaves, 2)."""
        return self.tree.upper[self.tree.leaves]

    @cached_property
    def counts(self) -> Floats:
        """Private count of every leaf, (leaves,); noise may make it negative."""
        return self.tree.value[self.tree.leaves]

    @cached_property
    def sd(self) -> Floats:
        """Standard deviation of the noise in every leaf's count, (leaves,)."""
        return self.tree.sd[self.tree.leaves]

    @cached_property
    def height(self) -> NDArray[np.int64]:
        """Height of every leaf above the lowest level that the tree could have, (leaves,)."""
        deepest = int(self.facts.get("height", self.tree.depth.max()))
        return deepest - self.tree.depth[self.tree.leaves]

    @property
    def total(self) -> float:
        """Private number of records on the whole grid."""
        return float(self.tree.value[0])

    def boxes(self) -> Floats:
        """Leaves as x0, y0, x1, y1 in the grid's unit, (leaves, 4)."""
        return self.grid.from_cells(np.stack([self.lower, self.upper], axis=1))

    def answer(self, rectangles: ArrayLike) -> Answers:
        """Private counts of rectangles.

        Parameters
        ----------
        rectangles : (n, 4) x0, y0, x1, y1
            In metres of the grid's CRS, or in cells (x along columns, y along rows) when the grid
            has none. Cells that are cut through count by area; what lies outside the grid is 0.

        Returns
        -------
        Answers

        Raises
        ------
        InputError
            For rectangles that are not (n, 4), not finite, or inside out.
        """
        boxes = self.grid.to_cells(rectangles)
        value, variance, _ = self.tree.integrate(boxes)
        if self.inside == "interpolated":
            value = rectangle_sums(self._sums, boxes)
        if self.haar_variance is not None:
            variance = self.haar_variance * haar.noise(boxes, self.grid.shape)
        exact = self.linear and self.inside == "uniform"
        return Answers(value, np.sqrt(np.maximum(variance, 0.0)), exact)

    def touched(self, rectangles: ArrayLike) -> NDArray[np.int64]:
        """Number of leaves that each rectangle touches, (n,)."""
        return self.tree.integrate(self.grid.to_cells(rectangles))[2]

    def density(self) -> Floats:
        """Private count per cell, (rows, cols)."""
        return self._density

    @cached_property
    def _density(self) -> Floats:
        even = self.tree.paint(self.grid.shape)
        if self.inside == "uniform":
            return even
        return interpolate(even, self.tree.owners(self.grid.shape))

    @cached_property
    def _sums(self) -> Floats:
        return summed(self._density)

    def stages(self) -> list[tuple[str, float]]:
        """What a leaf's path spent on each stage, averaged over leaves; adds up to epsilon."""
        mean = self.tree.mean_path_spent / UNITS_PER_EPSILON
        here = [(stage, float(part)) for stage, part in zip(self.tree.stages, mean, strict=True)]
        return [*self.elsewhere, *here]

    def summary(self) -> str:
        """One sentence that says what this is and how good."""
        kind = "Preview (reproducible dice, not private)" if self.preview else "Private release"
        rows, cols = self.grid.shape
        typical = float(np.median(self.sd))
        return (
            f"{kind} by {self.mechanism} with epsilon {self.epsilon:g} per {self.unit}: "
            f"{self.n_leaves:,} {'leaf' if self.n_leaves == 1 else 'leaves'} over {rows} x {cols} "
            f"{'cell' if rows * cols == 1 else 'cells'}, about {self.total:,.0f} records in all, "
            f"noise of a leaf's count typically {typical:,.1f} (standard deviation)."
        )

    def to_geodataframe(self) -> geopandas.GeoDataFrame:
        """The leaves as polygons with `count`, `noise_sd`, `height`, in the grid's CRS."""
        return geopandas.GeoDataFrame(
            {"count": self.counts, "noise_sd": self.sd, "height": self.height},
            geometry=shapely.box(*self.boxes().T),
            crs=self.grid.crs,
        )

    def save(self, path: str | Path) -> None:
        """Write GeoParquet: leaves as rows, provenance and inner nodes as metadata.

        A file of that name is replaced without a question.
        """
        about = {
            "software": self.version,
            "mechanism": self.mechanism,
            "parameters": dict(self.parameters),
            "epsilon": self.epsilon,
            "units": self.units,
            "preview": self.preview,
            "unit_of_privacy": self.unit,
            "contribution_bound": self.contribution_bound,
            "grid": self.grid.to_dict(),
            "ledger": [vars(row) for row in self.ledger],
            "facts": dict(self.facts),
            "elsewhere": self.elsewhere,
            "inside": self.inside,
            "linear": self.linear,
            "haar_variance": self.haar_variance,
        }
        release_file.write(path, self.tree, self.boxes(), about)

    @classmethod
    def load(cls, path: str | Path) -> Release:
        """Read a release file; needs no points.

        Raises
        ------
        InputError
            For a file that is missing, damaged, not a release, or from another version.
        """
        tree, about = release_file.read(path)
        try:
            return cls(tree=tree, grid=Grid.from_dict(about["grid"]), **_known(about))
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise InputError(
                f"{path} is a release file but damaged: make it anew with `dp-explorer release`."
            ) from error

    def __repr__(self) -> str:
        return f"<Release: {self.summary()}>"


def _by_stage(release: Release) -> tuple[LedgerRow, ...]:
    """The rows of single measurements summed by stage, so that their epsilons add up."""
    rows = []
    for stage, epsilon in release.stages():
        of = [row for row in release.ledger if row.stage == stage]
        draws, sensitivity = sum(row.draws for row in of), max(row.sensitivity for row in of)
        why = ", ".join(dict.fromkeys(row.composition for row in of))
        rows.append(LedgerRow(stage, epsilon, draws, sensitivity, why))
    return tuple(rows)


def _known(about: dict[str, Any]) -> dict[str, Any]:
    """The facts of a release file in their own types; raises where one is impossible."""
    units, bound, variance = about["units"], about["contribution_bound"], about["haar_variance"]
    mechanism, epsilon = about["mechanism"], about["epsilon"]
    facts = {str(name): float(value) for name, value in about["facts"].items()}
    elsewhere = tuple((str(stage), float(part)) for stage, part in about["elsewhere"])
    ledger = tuple(
        LedgerRow(str(r["stage"]), float(r["epsilon"]), int(r["draws"]), float(r["sensitivity"]),
                  str(r["composition"]))
        for r in about["ledger"]
    )  # fmt: skip
    possible = (
        isinstance(units, int)
        and 0 < units <= 10**6 * UNITS_PER_EPSILON
        and type(epsilon) in (int, float)
        and math.isclose(epsilon, to_epsilon(units))
        and isinstance(mechanism, str)
        and _NAME.fullmatch(mechanism) is not None
        and isinstance(bound, int)
        and bound >= 1
        and about["inside"] in ("uniform", "interpolated")
        and about["unit_of_privacy"] in ("point", "user")
        and all(isinstance(about[name], bool) for name in ("preview", "linear"))
        and (variance is None or (isinstance(variance, float) and 0 < variance < np.inf))
        and np.isfinite([*facts.values(), *(part for _, part in elsewhere)]).all()
    )
    if not possible:
        raise ValueError("a fact of the release is impossible")
    return {
        "mechanism": mechanism,
        "parameters": dict(about["parameters"]),
        "units": units,
        "preview": about["preview"],
        "unit": about["unit_of_privacy"],
        "contribution_bound": bound,
        "ledger": ledger,
        "facts": facts,
        "elsewhere": elsewhere,
        "inside": about["inside"],
        "linear": about["linear"],
        "haar_variance": variance,
        "version": str(about["software"]),
    }
