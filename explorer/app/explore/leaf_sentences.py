"""The inspector's figures in words."""

from __future__ import annotations

import numpy as np

from explorer.app.explore.leaf_look import NodeLook
from explorer.grid.grid import Grid
from explorer.inspection import CutStudy, Node
from explorer.views.inspector import Fact

AXES = ("row", "column")


def title(look: NodeLook) -> str:
    """Which node it is, such as "Leaf 12 of 7,414"."""
    node, release = look.node, look.screen.release
    if node.leaf is not None:
        return f"Leaf {node.leaf + 1:,} of {release.n_leaves:,}"
    parts = f"divided into {node.children:,} parts"
    return f"The whole map, {parts}" if node.parent < 0 else f"Inner node, {parts}"


def facts(look: NodeLook) -> list[Fact]:
    """Everything but decision and budget: what it is, its value, a remark."""
    node, grid = look.node, look.screen.release.grid
    low, high = node.interval
    kind = "95 % of the noise" if node.sd_exact else "95 % of the noise, about"
    draws = ", ".join(f"{stage} {_whole(value)}" for stage, value in node.draws)
    return [
        ("Private count", _one(node.count), f"{kind}: {_one(low)} to {_one(high)}"),
        ("True count", f"{look.true:,}", "exact: for the curator only, of all records"),
        ("Noisy counts drawn here", draws or "none", "" if draws else _source(look)),
        ("Size", *_size(node, grid)),
        ("Bounds", *_bounds(node, grid)),
        ("Depth and height", f"{node.depth} and {node.height}", _levels(node)),
    ]


def budget(look: NodeLook) -> str:
    """What the path has spent of all there was."""
    spent, whole = look.node.epsilon, look.screen.release.epsilon
    sentence = f"{spent:.4g} of epsilon {whole:.4g}"
    if look.node.leaf is None and spent < whole * (1 - 1e-9):
        return f"{sentence}; the rest is spent below."
    return f"{sentence}."


def costs(study: CutStudy) -> str:
    """The chart of cuts in numbers: the cut chosen, the best, the candidates and their noise."""
    axis = AXES[study.axis]
    chosen, best = study.cost(study.chosen), study.cost(study.best)
    sentence = f"Cut at {axis} {study.chosen:,}, exact cost {_one(chosen)} points"
    if len(study.positions) == 1:
        return f"{sentence}: there is no other cut, so nothing was looked at and nothing paid."
    sentence += (
        f"; the best of {len(study.positions):,} cuts is {axis} {study.best:,} with {_one(best)}. "
    )
    if study.rule in ("middle", "all cuts"):
        return (
            sentence
            + {
                "middle": "The rule takes the middle and looks at no cost.",
                "all cuts": "Permute-and-flip saw all costs; only its choice is released.",
            }[study.rule]
        )
    if np.isnan(study.noise_sd):
        return sentence + "The rule allows one cut, so nothing was looked at and nothing paid."
    if not study.stored:
        return sentence + "What the search looked at is not kept in files."
    first, last = study.allowed
    among = f" from {first:,} to {last:,}" if study.rule != "search" else ""
    return sentence + (
        f"The search looked at {len(study.looked_at)} candidates{among}, with noise of standard "
        f"deviation {_one(study.noise_sd)}; the costs differ by {_one(float(np.ptp(study.costs)))}."
    )


def _source(look: NodeLook) -> str:
    if look.screen.release.haar_variance is not None:
        return "its count comes from wavelet coefficients"
    return "its count is the sum of its parts"


def _size(node: Node, grid: Grid) -> tuple[str, str]:
    rows, cols = node.shape
    cells = "1 cell" if rows * cols == 1 else f"{cols:,} × {rows:,} cells"
    if grid.unit != "m":
        return cells, ""
    return f"{cols * grid.cell_width:,.0f} m × {rows * grid.cell_height:,.0f} m", cells


def _bounds(node: Node, grid: Grid) -> tuple[str, str]:
    (r0, c0), (r1, c1) = node.lower, node.upper
    cells = f"{_span('column', c0, c1 - 1)}, {_span('row', r0, r1 - 1)}"
    if grid.unit != "m":
        return cells, "row 0 in the south"
    west, south, east, north = (f"{edge:,.0f}".replace("-", "−") for edge in node.bounds)
    return f"west {west} m, south {south} m, east {east} m, north {north} m", cells


def _span(name: str, first: int, last: int) -> str:
    return f"{name} {first:,}" if first == last else f"{name}s {first:,} to {last:,}"


def _levels(node: Node) -> str:
    cuts = "1 division" if node.depth == 1 else f"{node.depth} divisions"
    return f"{cuts} below the whole map"


def _whole(value: float) -> str:
    return f"{value:,.0f}".replace("-", "−")


def _one(value: float) -> str:
    digits = 1 if abs(value) < 1000 else 0
    text = f"{value:,.{digits}f}".replace("-", "−")
    return "0.0" if text == "−0.0" else text
