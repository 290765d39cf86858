"""Why a node of a release is a leaf, or why it went on: what mechanisms say of it.

A mechanism's rule is read back from what the release holds: the noisy counts of its stages, what
every node has paid, the parameters and the facts that the plan chose. So a release that was saved
and loaded can be explained too. Nothing here looks at an exact count.
"""

from __future__ import annotations

from dataclasses import dataclass

from explorer.mechanisms.figures import Figures, amount


@dataclass(frozen=True)
class Decision:
    """Why a node ended or went on."""

    # {"stopped", "height", "cell", "extent", "budget", "public", "on", "unknown"} Ended by a noisy
    # figure, at the lowest level, as a single cell, by the stop extent, for want of budget, or by a
    # rule that no data touches; went on; or not known.
    kind: str
    verdict: str  # a few words with the figures, such as "stopped: 37 ≤ 50"
    reason: str  # one sentence


CELL = Decision("cell", "cannot be split", "A single cell of the grid has no parts.")
UNKNOWN = Decision(
    "unknown", "not known", "The release does not hold what this mechanism decides by."
)


def public(verdict: str, reason: str) -> Decision:
    """A decision that no data touches."""
    return Decision("public", verdict, reason)


def reached(depth: int, height: int, what: str) -> Decision:
    """The end at the lowest level; ``what`` it counts, such as "cuts"."""
    reason = "The lowest level that the tree may have: the rule looks at no count."
    return Decision("height", f"height reached: {depth} of {height} {what}", reason)


def size_of_a_grid(node: Figures, stage: str, c: float) -> str:
    """Where the size of a grid comes from: a noisy total of ``stage``, or a parameter."""
    if stage not in node.tree.stages:
        return "The size of the grid was given."
    return f"Its size follows from a noisy total of {amount(node.root_draw(stage))} (c = {c:g})."
