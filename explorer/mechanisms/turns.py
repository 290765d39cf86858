"""Places of trips cut in turn: which is next, into how many parts, and what that is worth."""

from __future__ import annotations

import numpy as np
from numba import njit

from explorer.releases.nodes import Ints
from explorer.releases.transcript import Floats

DOUBLINGS = 0.625  # of the count, for each place, that make a tree one jump deeper


def order_of_places(shape: tuple[int, ...]) -> Ints:
    """The places in their order, then once more those that have two sides to be cut.

    A place of one row is so cut half as often as the others.

    >>> order_of_places((8, 8, 8, 8)).tolist(), order_of_places((8, 8, 1, 8)).tolist()
    ([0, 1, 0, 1], [0, 1, 0])
    """
    k = len(shape) // 2
    wide = [place for place in range(k) if min(shape[2 * place], shape[2 * place + 1]) > 1]
    return np.array([*range(k), *wide], dtype=np.int64)


def cuts_between(shape: Ints, turn: Ints, cuts: int, order: Ints) -> tuple[Ints, Ints]:
    """So many cuts of every node at once, places in turn, each time through the longer side.

    A place of one cell is passed over; where nothing is left to be cut there are fewer cuts. Of
    equal sides the columns are cut.

    Parameters
    ----------
    shape : (n, 2k) cells of the nodes along every axis
    turn : (n,) positions in ``order`` of the places to be cut next
    cuts : number of cuts
    order : see `order_of_places`

    Returns
    -------
    (n, 2k) parts along every axis, powers of two, and (n,) whose turn it is afterwards
    """
    parts = np.ones(shape.shape, dtype=np.int64)
    after = np.array(turn, dtype=np.int64)
    _take_turns(np.array(shape, dtype=np.int64), after, cuts, order, parts)
    return parts, after


def zone_parts(shape: tuple[int, ...], zones: int) -> Ints:
    """Parts along every axis of the first cut into zones, no more than there are cells."""
    return np.minimum(np.array(shape, dtype=np.int64), zones)


def portion(worth: Floats, jump: int, due: int, k: int, ratio: float) -> Floats:
    """Share of what nodes have left that goes to the draws `jump` cuts below, 0 to 1.

    The tree is expected to end K = 1 + log2(max(worth, 1)) / (DOUBLINGS k) jumps of k cuts below,
    not before the cuts that are due in public; shares of successive draws grow geometrically, so
    that the first of K' of them, of ratio rho, is (rho - 1) / (rho^K' - 1).

    Parameters
    ----------
    worth : (n,) count times budget of the nodes, in units of what is enough
    jump : cuts made at once
    due : cuts that are made in public
    k : number of places
    ratio : of the shares of draws separated by k cuts
    """
    levels = 1 + np.log2(np.maximum(worth, 1)) / (DOUBLINGS * k)
    levels = np.maximum(levels, due / k)
    terms = np.maximum(1.0, levels * k / jump)
    rho = ratio ** (jump / k)
    if rho == 1.0:
        return 1.0 / terms
    part: Floats = (rho - 1) / (rho**terms - 1)
    return part


@njit(cache=True, nogil=True)
def _take_turns(sides, turn, cuts, order, parts):  # type: ignore[no-untyped-def]
    for i in range(len(sides)):
        for _ in range(cuts):
            axis = -1
            for _ in range(len(order)):
                row = 2 * order[turn[i]]
                turn[i] = (turn[i] + 1) % len(order)
                longer = row if sides[i, row] > sides[i, row + 1] else row + 1
                if sides[i, longer] > 1:
                    axis = longer
                    break
            if axis < 0:
                break
            parts[i, axis] *= 2
            # The larger half: as long as one child can be cut, all are.
            sides[i, axis] = (sides[i, axis] + 1) // 2
