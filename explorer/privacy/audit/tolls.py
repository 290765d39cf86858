"""Whether every draw was paid for: the budget it was drawn with against the books, node by node.

Neighbours tell this for the few cells that they change. The names of draws tell it for all nodes at
once: a name follows from the way from the root, which the released tree shows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from explorer.privacy.audit.loss import Breach, Question
from explorer.privacy.audit.replay import Recording
from explorer.privacy.noise import Keys

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_PASSES = 12  # passes over one domain, at most


def check(run: Recording) -> None:
    """Raise `Breach` for a node that was drawn with more than its account shows.

    Counts and choices of single nodes; what a proof of its own covers (PrivTree's tests, candidate
    sets, coefficients) has names of its own and is left to replays.
    """
    tree = run.published.tree
    questions = [draw.question for draw in run.draws if draw.question.kind != "above"]
    named = _named(tree.parent, [question.keys for question in questions])
    if named is None:
        return
    names, order = named
    drawn = np.zeros_like(tree.spent)
    for question in questions:
        stage = _stage(question, tree.stages)
        if stage is None:
            continue
        at = np.minimum(np.searchsorted(names, question.keys), len(names) - 1)
        matches = names[at] == question.keys
        np.add.at(drawn[:, stage], order[at[matches]], question.units[matches])
    beyond = np.argwhere(drawn > tree.spent)
    if len(beyond):
        node, stage = beyond[0]
        raise Breach(
            f"the books show {int(tree.spent[node, stage])} units for {tree.stages[stage]!r} of "
            f"node {node}, which was drawn with {int(drawn[node, stage])}"
        )


def _stage(question: Question, stages: tuple[str, ...]) -> int | None:
    """Column of a question in the books; draws of a search add a number to its name."""
    for name in (question.stage, question.stage.rpartition(" ")[0]):
        if name in stages:
            return stages.index(name)
    return None


def _named(parent: NDArray[np.int64], keys: list[Keys]) -> tuple[Keys, NDArray[np.int64]] | None:
    """Names of all nodes, sorted, and which node each is of; None if no pass has them."""
    if not any(map(len, keys)):
        return None
    drawn_keys = np.sort(np.concatenate(keys))
    # Children of one node are side by side, in their order.
    at = np.arange(len(parent))
    first = np.maximum.accumulate(np.where(np.diff(parent, prepend=-2) != 0, at, 0))
    levels = _levels(parent)
    with np.errstate(over="ignore"):
        steps = (at - first + 1).astype(np.uint64) * _GOLDEN
        for number in range(_PASSES):
            names = np.zeros(len(parent), dtype=np.uint64)
            names[0] = _mix(np.array([number + 1], dtype=np.uint64) * _GOLDEN)[0]
            for level in levels:
                names[level] = _mix(names[parent[level]] + steps[level])
            if _any_of(names, drawn_keys):
                order = np.argsort(names)
                return names[order], order
    return None


def _levels(parent: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """The nodes below the root, level by level."""
    order = np.argsort(parent, kind="stable")
    ordered, level, levels = parent[order], np.zeros(1, dtype=np.int64), []
    while len(level):
        begin, end = (np.searchsorted(ordered, level, side) for side in ("left", "right"))
        number = end - begin
        within = np.arange(number.sum()) - np.repeat(np.cumsum(number) - number, number)
        level = order[np.repeat(begin, number) + within]
        levels.append(level)
    return levels[:-1]


def _any_of(names: Keys, drawn_keys: Keys) -> bool:
    at = np.minimum(np.searchsorted(drawn_keys, names), len(drawn_keys) - 1)
    return bool((drawn_keys[at] == names).any())


def _mix(words: Keys) -> Keys:
    """Scramble 64-bit words (the finaliser of splitmix64)."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: Keys = words ^ (words >> np.uint64(31))
    return mixed
