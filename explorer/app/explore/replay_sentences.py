"""What the replay says: one sentence for every step, and the boxes' answers as a table."""

from __future__ import annotations

import numpy as np

from explorer.app.explore.replay_frame import Frame
from explorer.app.kit.numbers import percent
from explorer.inspection.growth import Growth
from explorer.views.budget import amount
from explorer.views.tables import Cell, table


def pieces(n: int) -> str:
    """So many pieces, in words.

    >>> pieces(1), pieces(4096)
    ('1 piece', '4,096 pieces')
    """
    return f"{n:,} {'piece' if n == 1 else 'pieces'}"


def about_step(growth: Growth, step: int) -> str:
    """One sentence about a step: where it is, the pieces, what is spent."""
    n, ended = growth.pieces(step), growth.ended(step)
    if step == growth.n_splits:
        stopped = "and none is cut any more" if n > 1 else "and it is not cut"
    else:
        stopped = f"{ended:,} stopped, {n - ended:,} still to be cut"
    spent = sum(part for _, part in growth.spent(step))
    budget = f"epsilon spent so far {amount(spent)} of {growth.release.epsilon:.4g}"
    return f"{_where(growth, step)}: {pieces(n)}, {stopped}; {budget}."


def _where(growth: Growth, step: int) -> str:
    level = growth.level(step)
    if step == growth.level_ends[level]:
        return f"Level {level} of {growth.levels}"
    tree = growth.release.tree
    node = growth.split_node(step)
    rows, cols = tree.upper[node] - tree.lower[node]
    first, last = growth.level_ends[level], growth.level_ends[level + 1]
    # AG counts a piece that is empty enough a second time instead of dividing it.
    parts = int(tree.fan_out[node])
    became = f"became {pieces(parts)}" if parts > 1 else "were counted again"
    return (
        f"Level {level + 1} of {growth.levels}, split {step - first:,} of {last - first:,}: "
        f"{rows:,} × {cols:,} cells {became}"
    )


def caption(growth: Growth, step: int) -> str:
    """What is above the map while it shows a step."""
    level = growth.level(step)
    whole = step == growth.level_ends[level]
    where = f"Height {level} of {growth.levels}" if whole else f"Split {step:,}"
    kind = "a preview, not private" if growth.release.preview else "the drawn release"
    return f"{where} of {kind}"


def answer_table(frame: Frame) -> str:
    """True answers, those of this cut and those of the release, box by box."""
    level = frame.growth.level(frame.step)
    whole = frame.step == frame.growth.level_ends[level]
    here = f"cut at height {level}" if whole else f"after {frame.step:,} splits"
    columns = [
        ("box", ""),
        ("true", "exact count of all records"),
        (here, "private answer of the pieces shown"),
        ("off by", "difference from the true answer, in percent of it"),
        ("whole tree", "private answer of the release"),
        ("off by", "difference from the true answer, in percent of it"),
    ]
    rows = [
        [Cell(name), _count(true), _count(cut), _off(cut, true), _count(end), _off(end, true)]
        for name, true, cut, end in zip(
            frame.boxes.names, frame.true, frame.private, frame.final, strict=True
        )
    ]
    title = f"What the boxes' answers would be with these pieces. {frame.boxes.sentence}"
    return table(title.strip(), columns, rows)


def _count(value: float) -> Cell:
    # A noise below one half must not read "-0".
    return Cell(f"{round(value):,}")


def _off(value: float, true: float) -> Cell:
    return Cell(percent(100 * abs(value - true) / true if true else np.nan))
