"""How the branch of a row grew: from a screen and a number of cuts to what is shown of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.app.trips.screen import PlacePicture, TripScreen, answer_trips
from explorer.inspection import Node, inspect
from explorer.inspection.growth import Growth
from explorer.releases.release import Release
from explorer.releases.units import UNITS_PER_EPSILON

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CutJob:
    """One request; ``cuts`` None is the end, and ``previous`` lends whatever is still right."""

    screen: TripScreen
    cuts: int | None
    row: str
    previous: Cut | None = None


@dataclass(frozen=True, eq=False)
class Truth:
    """What is exact: of the nodes of the branch, (depth + 1,), and of the row, if there is one."""

    nodes: Floats
    answer: float | None


@dataclass(frozen=True, eq=False)
class Cut:
    """The release cut off at one level of the branch; everything but ``truth`` is released.

    Attributes
    ----------
    asked : the cuts asked for, None for the end
    cuts : those shown
    nodes : of the branch, from the whole domain to its leaf
    painted : all maps of the release cut off there, None at the end, where the screen's are right
    row : name of the row that the maps are about, "" for none
    answer, final : to that row, by the release cut off and by the whole; None without a row, and
        in percent of all trips where persons are protected
    truth : the curator's
    """

    screen: TripScreen
    growth: Growth
    asked: int | None
    cuts: int
    nodes: tuple[Node, ...]
    painted: tuple[tuple[PlacePicture, ...]] | None
    row: str
    answer: float | None
    final: float | None
    truth: Truth | None

    @property
    def depth(self) -> int:
        """How many cuts lead to the leaf."""
        return len(self.nodes) - 1

    @property
    def node(self) -> Node:
        """The last node shown."""
        return self.nodes[self.cuts]

    @property
    def at_end(self) -> bool:
        """Whether this is the release itself."""
        return self.cuts == self.depth

    def boxes(self) -> list[tuple[float, ...]]:
        """The node's box on every map, x0, y0, x1, y1 in grid units."""
        bounds = self.node.bounds
        return [bounds[start : start + 4] for start in range(0, len(bounds), 4)]

    def spent(self) -> list[tuple[str, float]]:
        """What the path to the node has spent, every stage in the order of the release."""
        tree = self.growth.release.tree
        on_path = tree.spent[[node.number for node in self.nodes[: self.cuts + 1]]].sum(axis=0)
        here = zip(tree.stages, (on_path / UNITS_PER_EPSILON).tolist(), strict=True)
        return [*self.growth.release.elsewhere, *here]


def compute_cut(job: CutJob) -> Cut:
    """Cut the tree at that level, look the branch's nodes up, paint, answer the row."""
    screen, old = job.screen, job.previous
    release, path = screen.release, screen.branch.path
    if old is not None and old.growth.release is release:
        growth, nodes = old.growth, old.nodes
    else:
        growth, nodes = Growth(release), ()
    if [node.number for node in nodes] != path.tolist():
        nodes = tuple(inspect(release, int(number)) for number in path)
    depth = len(nodes) - 1
    cuts = depth if job.cuts is None else min(max(job.cuts, 0), depth)
    grown: Release = release if cuts == depth else growth.at(int(growth.level_ends[cuts]))
    if cuts == depth:
        painted = None
    elif old is not None and (old.screen, old.cuts) == (screen, cuts):
        painted = old.painted
    else:
        painted = screen.paint(grown, screen.cell)
    row = screen.look.row
    question = None if row is None or row >= len(screen.boxes) else screen.boxes[row : row + 1]
    tree, data = release.tree, screen.data
    here = None if question is None else answer_trips(grown, data, question)
    final = None if question is None else answer_trips(release, data, question)
    truth = Truth(
        data.every.count(tree.lower[path], tree.upper[path]) / data.every.lattice,
        None if final is None else float(final.true[0]),
    )
    return Cut(
        screen=screen,
        growth=growth,
        asked=job.cuts,
        cuts=cuts,
        nodes=nodes,
        painted=painted,
        row=job.row if question is not None else "",
        answer=None if here is None else float(here.private[0]),
        final=None if final is None else float(final.private[0]),
        truth=truth,
    )
