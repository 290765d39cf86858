"""What a tree over several places answers when maps of the places say where counts lie.

A leaf that a box cuts through gives its count times the product over places of
A(box and leaf) / A(leaf), see `place_maps`; a leaf that lies wholly inside gives its count.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np
from numba import njit
from numpy.typing import NDArray

from explorer.releases.place_maps import PlaceMaps, mass
from explorer.releases.tree import Tree, share_inside

Floats = NDArray[np.float64]


def integrate(tree: Tree, maps: PlaceMaps, boxes: Floats) -> Floats:
    """Counts in m boxes (m, 2, 2k), lower and upper in cells, fractions allowed, (m,)."""
    answers = np.zeros(len(boxes))
    first, fan_out = tree.first_child, tree.fan_out
    _walk(
        np.ascontiguousarray(boxes, dtype=np.float64),
        tree.lower,
        tree.upper,
        first,
        fan_out,
        tree.value,
        *maps.flat,
        answers,
    )
    return answers


def marginal(tree: Tree, maps: PlaceMaps, shape: Sequence[int], axes: Sequence[int]) -> Floats:
    """Count per cell of the chosen axes, all others summed; as `marginal.marginal_density`."""
    leaves, chosen = tree.leaves, np.asarray(axes, dtype=np.int64)
    order = np.sort(chosen)
    # A place of which an axis is wanted takes part with both: its map ties them together.
    wanted = [2 * number + side for number in sorted(set(order // 2)) for side in (0, 1)]
    corners = np.hstack([tree.lower[leaves][:, wanted], tree.upper[leaves][:, wanted]])
    # Leaves that lie behind each other are added up first: many share one shadow.
    shadows, owner = np.unique(corners, axis=0, return_inverse=True)
    counts = np.bincount(owner.ravel(), tree.value[leaves], len(shadows))
    image = np.zeros([shape[axis] for axis in order])
    for shadow, count in zip(shadows, counts, strict=True):
        low, high = np.split(shadow, 2)
        parts, where = [], []
        for place in range(0, len(wanted), 2):
            rows, cols = slice(low[place], high[place]), slice(low[place + 1], high[place + 1])
            chances = maps.places[wanted[place] // 2].chances[rows, cols]
            kept = [side for side in (0, 1) if wanted[place] + side in order]
            where += [(rows, cols)[side] for side in kept]
            others = tuple(side for side in (0, 1) if side not in kept)
            parts.append(chances.sum(axis=others) / chances.sum())
        image[tuple(where)] += count * reduce(np.multiply.outer, parts)
    return np.transpose(image, np.argsort(np.argsort(chosen)))


@njit(cache=True, nogil=True)
def _walk(  # type: ignore[no-untyped-def]
    boxes, lower, upper, first, fan_out, value, flat, start, shapes, answers
):
    waiting = np.empty(len(lower), dtype=np.int64)
    for m in range(len(boxes)):
        answer, ends = 0.0, 0
        begin, stop = 0, 1
        while True:
            for i in range(begin, stop):
                part, whole = share_inside(boxes, m, lower, upper, i)
                if part == 0.0:
                    continue
                if whole:
                    answer += value[i]
                elif fan_out[i] > 0:
                    waiting[ends] = i
                    ends += 1
                elif value[i] != 0.0:
                    answer += value[i] * _share(boxes, m, lower, upper, i, flat, start, shapes)
            if ends == 0:
                break
            ends -= 1
            begin = first[waiting[ends]]
            stop = begin + fan_out[waiting[ends]]
        answers[m] = answer


@njit(cache=True, nogil=True)
def _share(boxes, m, lower, upper, i, flat, start, shapes):  # type: ignore[no-untyped-def]
    """The part of leaf i's chances that lies in box m; they touch."""
    part = 1.0
    for place in range(len(start)):
        row, col = 2 * place, 2 * place + 1
        r0, r1 = float(lower[i, row]), float(upper[i, row])
        c0, c1 = float(lower[i, col]), float(upper[i, col])
        top, bottom = max(boxes[m, 0, row], r0), min(boxes[m, 1, row], r1)
        left, right = max(boxes[m, 0, col], c0), min(boxes[m, 1, col], c1)
        if top == r0 and bottom == r1 and left == c0 and right == c1:
            continue
        begin, rows, cols = start[place], shapes[place, 0], shapes[place, 1]
        inside = mass(flat, begin, rows, cols, top, left, bottom, right)
        # Differences of sums: for a thin slice of a cell they may miss 0 by a last bit.
        part *= max(inside, 0.0) / mass(flat, begin, rows, cols, r0, c0, r1, c1)
    return part
