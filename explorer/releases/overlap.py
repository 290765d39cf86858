"""Which leaves a box holds whole and which it cuts, and what exact counts would say of it.

A released answer errs for two reasons. The counts of leaves are noisy; and where a box cuts a leaf,
people are spread unevenly inside it. Giving the same partition its exact counts leaves the second
reason alone. Only the nodes along the edges of a box are visited.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from explorer.releases.nodes import Ints
from explorer.releases.tree import Floats, Tree, share_inside


def cut_leaves(tree: Tree, box: Floats) -> tuple[int, Ints]:
    """Number of leaves inside a box (2, d), and the leaves that it cuts, (k,) increasing."""
    leaves = np.empty(len(tree.leaves), dtype=np.int64)
    first, below = tree.first_child, tree.variances[2]
    inside, cut = _sort_out(
        np.asarray(box, float)[None], tree.lower, tree.upper, first, tree.fan_out, below, leaves
    )
    return int(inside), np.sort(leaves[:cut])


def spread_exactly(tree: Tree, exact: Ints, boxes: Floats) -> tuple[Floats, Ints, Ints]:
    """What a partition would answer if its counts were exact, spread evenly inside leaves.

    `exact` are the curator's counts of every node, (n,); or, of two dimensions, the summed-area
    table
    of the cells, (rows + 1, cols + 1), of which no more is read than the boxes (m, 2, d) need.
    Returns (m,) answers, (m,) leaves inside whole, (m,) leaves cut through.
    """
    answers = np.zeros(len(boxes))
    inside, cut = np.zeros((2, len(boxes)), dtype=np.int64)
    first, below = tree.first_child, tree.variances[2]
    of_nodes = exact if exact.ndim == 1 else np.zeros(0, dtype=np.int64)
    sums = exact if exact.ndim == 2 else np.zeros((0, 0), dtype=np.int64)
    _spread(
        np.ascontiguousarray(boxes),
        tree.lower,
        tree.upper,
        first,
        tree.fan_out,
        below,
        of_nodes,
        sums,
        np.empty(len(tree.lower), dtype=np.int64),
        answers,
        inside,
        cut,
    )
    return answers, inside, cut


@njit(cache=True, nogil=True)
def _sort_out(boxes, lower, upper, first, fan_out, below, leaves):  # type: ignore[no-untyped-def]
    """Leaves inside, and how many cut ones were written into `leaves`."""
    waiting = np.empty(len(lower), dtype=np.int64)
    ends, inside, cut = 0, 0, 0
    begin, stop = 0, 1
    while True:
        for i in range(begin, stop):
            part, is_whole = share_inside(boxes, 0, lower, upper, i)
            if is_whole:
                inside += below[i]
            elif part > 0.0 and fan_out[i] == 0:
                leaves[cut] = i
                cut += 1
            elif part > 0.0:
                waiting[ends] = i
                ends += 1
        if ends == 0:
            return inside, cut
        ends -= 1
        begin = first[waiting[ends]]
        stop = begin + fan_out[waiting[ends]]


@njit(cache=True, nogil=True)
def _spread(  # type: ignore[no-untyped-def]
    boxes, lower, upper, first, fan_out, below, of_nodes, sums, waiting, answers, inside, cut
):
    for m in range(len(boxes)):
        answer, whole, ends = 0.0, 0, 0
        begin, stop = 0, 1
        while True:
            for i in range(begin, stop):
                part, is_whole = share_inside(boxes, m, lower, upper, i)
                if part == 0.0:
                    continue
                if not is_whole and fan_out[i] > 0:
                    waiting[ends] = i
                    ends += 1
                    continue
                if len(of_nodes):
                    count = of_nodes[i]
                else:
                    r0, c0, r1, c1 = lower[i, 0], lower[i, 1], upper[i, 0], upper[i, 1]
                    count = sums[r1, c1] - sums[r0, c1] - sums[r1, c0] + sums[r0, c0]
                answer += part * count
                if is_whole:
                    whole += below[i]
                else:
                    cut[m] += 1
            if ends == 0:
                break
            ends -= 1
            begin = first[waiting[ends]]
            stop = begin + fan_out[waiting[ends]]
        answers[m], inside[m] = answer, whole
