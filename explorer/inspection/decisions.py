"""Why a node of a release is a leaf, or why it went on: read from released figures alone.

Every mechanism's rule is read back from what the release holds: the noisy counts of its stages,
what every node has paid, the parameters and the facts that the plan chose. So a release that was
saved and loaded tells its decisions too. Nothing here looks at an exact count.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.errors import InputError
from explorer.inspection.figures import Figures, amount
from explorer.mechanisms.mosaic import BASE, ENOUGH


@dataclass(frozen=True)
class Decision:
    """Why a node ended or went on.

    Attributes
    ----------
    kind : {"stopped", "height", "cell", "extent", "budget", "public", "on", "unknown"}
        Ended by a noisy figure, at the lowest level, as a single cell, by the stop extent, for want
        of budget, or by a rule that no data touches; went on; or not told.
    verdict : a few words with the figures, such as "stopped: 37 ≤ 50"
    reason : one sentence
    """

    kind: str
    verdict: str
    reason: str


_CELL = Decision("cell", "cannot be split", "A single cell of the grid has no parts.")
_UNKNOWN = Decision(
    "unknown", "not told", "The release does not hold what this mechanism decides by."
)


def decision(release: Any, number: int) -> Decision:
    """The decision that ended the node at position ``number``, or let it go on.

    Parameters
    ----------
    release : Release
    number : position in `release.tree`
    """
    try:
        return _RULES[release.mechanism](Figures(release, number))
    except (InputError, KeyError, IndexError, ValueError, OverflowError, TypeError):
        # A file of another version, or one that somebody has changed.
        return _UNKNOWN


def _public(verdict: str, reason: str) -> Decision:
    return Decision("public", verdict, reason)


def _identity(it: Figures) -> Decision:
    if it.is_leaf:
        return _public("every cell is a leaf", "Single cells are counted, whatever lies in them.")
    return _public("divided into single cells", "No count decides: the shape is public.")


def _uniform(_it: Figures) -> Decision:
    return _public("never divided", "The whole map is counted once.")


def _ug(it: Figures) -> Decision:
    size = int(it.release.facts["grid size"])
    why = _size_of_a_grid(it, "total", it.made.c)
    if it.is_leaf:
        return _public(f"a cell of the {size} × {size} grid", f"UG divides no further. {why}")
    return _public(f"divided into {size} × {size}", why)


def _ag(it: Figures) -> Decision:
    size = int(it.release.facts["first grid size"])
    if it.depth == 0:
        return _public(f"divided into {size} × {size}", _size_of_a_grid(it, "total", it.made.c))
    first = it if it.depth == 1 else it.above
    counted = first.draw("first level")
    rest = it.release.epsilon - first.path_epsilon
    worth = np.sqrt(max(counted, 0.0) * rest / it.made.c2)
    parts = max(1, int(np.ceil(worth)))
    why = (
        f"Guideline 2: √({amount(max(counted, 0.0))} × {rest:.3g} / {it.made.c2:g}) = "
        f"{worth:.2f}, rounded up to {parts}"
    )
    if counted <= 0:
        why = f"The first noisy count is {amount(counted)}; 0 or less gives 1 × 1"
    if not it.is_leaf:
        return Decision("on", f"first count {amount(counted)}: {parts} × {parts}", f"{why}.")
    if first.cells == 1:
        return _CELL
    if parts == 1:
        verdict = f"not divided again: first count {amount(counted)}"
        return Decision("stopped", verdict, f"{why}.")
    reason = f"AG divides twice and no more. {why} a side."
    return _public("second level reached", reason)


def _quadtree(it: Figures) -> Decision:
    if it.is_leaf:
        return _CELL if it.cells == 1 else _reached(it.depth, it.deepest, "quarterings")
    return _public("quartered", "Every node above the lowest level is, whatever lies in it.")


def _htf(it: Figures) -> Decision:
    height = int(it.release.facts["height"])
    if not it.drawn("stop test"):
        if it.depth == height:
            return _reached(it.depth, height, "cuts")
        if it.cells == 1:
            return _CELL
        limit = it.made.stop_extent
        return Decision(
            "extent",
            f"stop extent reached: {it.cells:,} ≤ {limit:,}",
            f"Nodes of {limit:,} cells or fewer are not cut.",
        )
    total = it.root_draw("height") if "height" in it.tree.stages else 0
    left = it.release.units - it.root_paid("height")
    thresholds = it.made.schedule(it.release.units, left, height, int(total))[2]
    counted, limit = it.draw("stop test"), float(thresholds[height - it.depth])
    rule = {
        "count": "the stop count",
        "optimal": "the best threshold at this height (Algorithm 4)",
        "per epsilon": f"{it.made.stop_factor:g} / epsilon",
    }[it.made.stop_rule]
    if it.is_leaf:
        reason = f"Its noisy count was not above {rule}; a fresh draw then counted it as a leaf."
        return Decision("stopped", f"stopped: {amount(counted)} ≤ {amount(limit)}", reason)
    cut = it.cut()
    how = f"It was cut at {cut}: {_HTF_CUTS[it.made.split_rule]}."
    return Decision("on", f"went on: {amount(counted)} > {amount(limit)}", how)


_HTF_CUTS = {
    "search": "Algorithm 1 searched for even halves",
    "middle half": "Algorithm 1 searched the middle half",
    "middle quarter": "Algorithm 1 searched the middle quarter",
    "all cuts": "all cuts were compared at once, and only the winner is released",
    "middle": "the middle, which costs nothing",
}


def _kd(kinds: Callable[[Figures], list[str]]) -> Callable[[Figures], Decision]:
    def rule(it: Figures) -> Decision:
        levels = kinds(it)
        if it.is_leaf:
            return _CELL if it.cells == 1 else _reached(it.depth, len(levels), "levels")
        if levels[it.depth] == "quarter":
            return _public("quartered", "This level is cut in the middle for free.")
        reason = "Permute-and-flip chose among all cuts; only its choice is released."
        return Decision("on", f"cut at a private median, {it.cut()}", reason)

    return rule


def _hybrid_levels(it: Figures) -> list[str]:
    kinds = ["median"] * it.made.kd_levels, ["quarter"] * it.made.quad_levels
    first, second = kinds if it.made.order == "kd first" else kinds[::-1]
    return first + second


def _kd_cell(it: Figures) -> Decision:
    held, limit = it.tested(), it.made.stop_count
    if it.is_leaf and held > limit:
        return _CELL if it.cells == 1 else _reached(it.depth, it.made.height, "cuts")
    what = "the noisy grid's count" if it.is_leaf else "The noisy grid's count was high enough"
    if it.is_leaf:
        reason = f"Compared was {what}; a fresh draw then counted the leaf."
        return Decision("stopped", f"stopped: {amount(held)} ≤ {amount(limit)}", reason)
    reason = f"{what}; the cut at {it.cut()} halves it."
    return Decision("on", f"went on: {amount(held)} > {amount(limit)}", reason)


def _hierarchy(it: Figures) -> Decision:
    levels = len([stage for stage in it.tree.stages if stage.startswith("grid ")])
    if it.is_leaf:
        return _reached(it.depth, levels, "grids")
    why = _size_of_a_grid(it, "total", 10.0)
    return _public("divided into a finer grid", f"The shape is public. {why}")


def _hb(it: Figures) -> Decision:
    if it.is_leaf:
        return _CELL
    return _public(
        "divided further", f"HB goes down to single cells with a fan-out of {it.fan_out}."
    )


def _privlet(it: Figures) -> Decision:
    if it.is_leaf:
        return _public(
            "every cell is a leaf", "Its count is put together from noisy wavelet coefficients."
        )
    return _public("divided into single cells", "Noise lies on coefficients, not on cells.")


def _privtree(it: Figures) -> Decision:
    if it.is_leaf and it.cells == 1:
        return _CELL
    scale = 7 / 3 * it.release.contribution_bound / it.root_epsilon("structure")
    bias = scale * np.log(4)
    score = f"count − {it.depth} × {bias:.1f}, at least −{bias:.1f}, and noise of scale {scale:.1f}"
    if it.is_leaf:
        reason = f"The score ({score}) was not above 0. Only this outcome is released."
        return Decision("stopped", "stopped by PrivTree's test: score ≤ 0", reason)
    reason = f"The score ({score}) was above 0. Only this outcome is released."
    return Decision("on", "went on by PrivTree's test: score > 0", reason)


def _mosaic(it: Figures) -> Decision:
    if it.is_leaf and it.cells == 1:
        return _CELL
    if not it.drawn("levels"):
        if it.is_leaf:
            reason = "Its share took all that was left on the path: one draw, no decision."
            return Decision("budget", "the budget ends here", reason)
        return _public("passed over", "A node above it was divided several times at once.")
    counted = it.draw("levels")
    # What the leaf's second draw cost was still there when the first one decided.
    rest = it.release.epsilon - it.path_epsilon + it.own_epsilon("leaves")
    worth = counted * rest / ENOUGH
    figures = f"{amount(counted)} × {rest:.3g} / {ENOUGH:g} = {amount(worth)}"
    if it.is_leaf:
        reason = "Count times remaining budget was not enough to share among four quarters."
        return Decision("stopped", f"stopped: {figures} < 1", reason)
    if worth >= 1 or it.depth >= BASE:
        reason = "Count times remaining budget is enough to share among parts."
        return Decision("on", f"went on: {figures} ≥ 1", reason)
    return _public(f"divided: level {it.depth} of {BASE}", f"The first {BASE} levels always are.")


def _reached(depth: int, height: int, what: str) -> Decision:
    reason = "The lowest level that the tree may have: the rule looks at no count."
    return Decision("height", f"height reached: {depth} of {height} {what}", reason)


def _size_of_a_grid(it: Figures, stage: str, c: float) -> str:
    if stage not in it.tree.stages:
        return "The size of the grid was given."
    return f"Its size follows from a noisy total of {amount(it.root_draw(stage))} (c = {c:g})."


_RULES: dict[str, Callable[[Figures], Decision]] = {
    "identity": _identity,
    "uniform": _uniform,
    "ug": _ug,
    "ag": _ag,
    "quadtree": _quadtree,
    "htf": _htf,
    "kd-standard": _kd(lambda it: ["median"] * it.made.height),
    "kd-hybrid": _kd(_hybrid_levels),
    "kd-cell": _kd_cell,
    "hierarchy": _hierarchy,
    "hb": _hb,
    "privlet": _privlet,
    "privtree": _privtree,
    "mosaic": _mosaic,
}
