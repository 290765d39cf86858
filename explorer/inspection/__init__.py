"""What a release knows of one node: where it is, what was drawn, and why it ended or went on."""

from explorer.inspection.cuts import CutStudy, study_cut
from explorer.inspection.nodes import Node, decision, inspect, neighbour, node_at
from explorer.mechanisms.decisions import Decision

__all__ = [
    "CutStudy",
    "Decision",
    "Node",
    "decision",
    "inspect",
    "neighbour",
    "node_at",
    "study_cut",
]
