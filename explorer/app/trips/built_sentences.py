"""What is said of a branch: the piece at each level, why it was cut on, and the row's answer."""

from __future__ import annotations

import numpy as np

from explorer.app.boxes.table import edge_unit
from explorer.app.trips.built_frame import Cut
from explorer.app.trips.sentences import question
from explorer.inspection import Node
from explorer.views.budget import amount
from explorer.views.tables import Cell, table


def caption(cut: Cut) -> str:
    """What is below the maps while they show a level."""
    kind = "a preview, not private" if cut.screen.release.preview else "the drawn release"
    return f"After {cut.cuts} of {_cuts(cut.depth)}; {kind}"


def about_piece(cut: Cut) -> str:
    """Where the branch is: the piece, its private count, and why it was cut on or not."""
    node, data = cut.node, cut.screen.data
    where = "Before the first cut" if cut.cuts == 0 else f"After {cut.cuts} of {_cuts(cut.depth)}"
    if cut.depth == 0:
        where = "Never cut"
    piece = question(data.names, np.reshape(node.bounds, (-1, 4)), data.grids)
    verdict, reason = node.decision.verdict, node.decision.reason
    return (
        f"{where}: {piece}. Private count {_whole(node.count)}. "
        f"{verdict[:1].upper()}{verdict[1:]}. {reason}{_parts(cut)}"
    )


def about_answer(cut: Cut) -> str:
    """What the row's answer would be if nothing had been cut further."""
    if cut.answer is None or cut.final is None:
        return ""
    shares = cut.screen.release.unit != "point"
    say = "{:.2f} % of all trips".format if shares else _whole
    if cut.at_end:
        text = f"The release answers {cut.row} with {say(cut.final)}"
    else:
        text = (
            f"Had every branch ended here, {cut.row} would be answered with {say(cut.answer)}; "
            f"the release says {say(cut.final)}"
        )
    if cut.truth is not None and cut.truth.answer is not None:
        text += f", and the truth is {say(cut.truth.answer)}"
    return f"{text}."


def about_budget(cut: Cut) -> str:
    """What the path has spent so far."""
    spent = sum(part for _, part in cut.spent())
    whole = cut.screen.release.epsilon
    return f"Budget of the path so far: {amount(spent)} of epsilon {amount(whole)}."


def levels_table(cut: Cut) -> str:
    """The branch's pieces up to the level shown, one row each, the present one standing out."""
    data = cut.screen.data
    unit, _ = edge_unit(data.grids[0])
    columns = [("cuts", "so many cuts lead to this piece")]
    columns += [(f"{name}, {unit}", f"size of its box on the map {name}") for name in data.names]
    columns += [
        ("private count", "after all draws were made to agree"),
        ("noisy counts", "drawn for this piece itself"),
    ]
    if cut.truth is not None:
        columns.append(("true count", "exact: for the curator only"))
    columns.append(("cut on?", "what was decided, from released figures alone"))
    rows = []
    for level, node in enumerate(cut.nodes[: cut.cuts + 1]):
        now = level == cut.cuts
        draws = ", ".join(_whole(value) for _, value in node.draws) or "none"
        row = [Cell(str(level)), *(Cell(size) for size in _sizes(node, cut))]
        row += [Cell(_whole(node.count), best=now), Cell(draws)]
        if cut.truth is not None:
            row.append(Cell(_whole(float(cut.truth.nodes[level]))))
        rows.append([*row, Cell(node.decision.verdict)])
    about = cut.row or "the most likely combination of cells"
    return table(f"The pieces on the way to {about}, from all trips down.", columns, rows)


def _parts(cut: Cut) -> str:
    """Into how many parts the piece was cut, and on which maps; nothing of a leaf."""
    if cut.at_end:
        return ""
    node, child = cut.node, cut.nodes[cut.cuts + 1]
    if node.children == 1:
        return " It was counted again."
    bounds = np.array([node.bounds, child.bounds]).reshape(2, -1, 4)
    names = cut.screen.data.names
    on = [name for name, (a, b) in zip(names, bounds.swapaxes(0, 1), strict=True) if np.any(a != b)]
    maps = "map" if len(on) == 1 else "maps"
    return f" It was cut into {node.children:,} parts on the {maps} {' and '.join(on)}."


def _sizes(node: Node, cut: Cut) -> list[str]:
    sizes = []
    boxes = np.reshape(node.bounds, (-1, 4))
    for (x0, y0, x1, y1), grid in zip(boxes.tolist(), cut.screen.data.grids, strict=True):
        _, size = edge_unit(grid)
        sizes.append(f"{(x1 - x0) / size:.3g} × {(y1 - y0) / size:.3g}")
    return sizes


def _cuts(n: int) -> str:
    return "1 cut" if n == 1 else f"{n} cuts"


def _whole(value: float) -> str:
    # A noise below one half must not read "-0".
    return f"{round(value):,}".replace("-", "−")
