"""What the leaf inspector shows of one node: computed in a thread from one screen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from explorer.app.curator.screen import Screen
from explorer.inspection import CutStudy, Node, inspect, study_cut


@dataclass(frozen=True, eq=False)
class NodeJob:
    """A node of a screen's release, by its position in the tree."""

    screen: Screen
    node: int


@dataclass(frozen=True, eq=False)
class NodeLook:
    """A node with its exact count and, for a cut of HTF, the costs of all cuts: the curator's."""

    screen: Screen
    node: Node
    true: int
    study: CutStudy | None


def look_at(job: NodeJob) -> NodeLook:
    """Look a node up, count what is really in it, and study its cut."""
    release, matrix = job.screen.release, job.screen.data.matrix
    node = inspect(release, job.node)
    true = job.screen.data.every.count(np.array([node.lower]), np.array([node.upper]))
    return NodeLook(job.screen, node, int(true[0]), study_cut(matrix, release, job.node))
