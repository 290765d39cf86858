"""Mosaic's steering against a direct reading of its note, and how counts are believed."""

import json
import math

import numpy as np
import pytest

from explorer.mechanisms import mosaic
from explorer.mechanisms.mosaic import Appetite

PER_EPSILON = 10**12


def by_the_note(focus, side, believed, sd, rest):
    """Section 3: jump (0 ends), whether what is reached ends, its units, whether it was near."""
    t_d, a, b = 12 * 6**-focus, 0.35 + 0.15 * focus, 0.15 + 0.1 * focus
    e, h = rest / PER_EPSILON, int(math.log2(side))
    q, doubt = believed * e, 0.25 * sd * e
    if h == 0 or q + doubt < 10:
        return 0, False, 0, False
    lam, g = math.log(max(q / 6, 1), 4), a * max(q, 1) ** -b
    if q > t_d * side**2 or h <= 1:
        jump = h
    elif lam <= 1 or g > 0.5:
        jump = min(h, max(1, math.ceil(lam)))
    else:
        jump = min(3, h - 1, max(1, math.floor(lam / 2 + 0.5)))
        return jump, False, max(1, math.floor(rest * g)), False
    return jump, True, 0, q + doubt < 20


@pytest.mark.parametrize("focus", [0.0, 0.2, 0.5, 1.0])
def test_steps_are_those_of_the_note(focus):
    rng = np.random.default_rng(1)
    n = 3000
    side = 2 ** rng.integers(0, 9, n)
    believed = 10 ** rng.uniform(-1, 7, n)
    sd, rest = 10 ** rng.uniform(0, 3, n), rng.integers(10**9, 2 * 10**12, n)
    shape = np.stack([side, side], axis=1)
    made = mosaic.next_steps(Appetite.of(focus), shape, believed, sd, rest, 1, False)
    kinds = set()
    for i in range(n):
        jump, last, units, near = by_the_note(focus, side[i], believed[i], sd[i], int(rest[i]))
        assert (made.jump[i], made.last[i], made.near[i]) == (jump, last, near)
        assert made.units[i] == pytest.approx(units, abs=1)
        kinds.add((jump, last, near))
    assert len(kinds) > 8


def test_the_base_is_always_there_and_costs_less_where_many_are():
    for believed, part in ((1.0, 0.22), (9_000.0, 0.22), (1e6, 2 * 6**-0.2 * 1e6**-0.2)):
        made = mosaic.next_steps(
            Appetite.of(0.2), np.array([[256, 256]]), np.array([believed]), np.ones(1),
            np.array([PER_EPSILON]), 1, True,
        )  # fmt: skip
        assert (made.jump[0], bool(made.last[0]), bool(made.near[0])) == (3, False, False)
        assert made.units[0] == pytest.approx(part * PER_EPSILON, rel=1e-9)


def test_a_strip_has_as_many_parts_as_a_map():
    for shape, jump in (([1, 1000], 6), ([4, 4], 2), ([5, 1], 3), ([64, 1024], 3)):
        made = mosaic.next_steps(
            Appetite.of(0.2), np.array([shape]), np.array([1e5]), np.ones(1),
            np.array([PER_EPSILON]), 1, True,
        )  # fmt: skip
        assert made.jump[0] == jump


def test_a_count_is_worth_its_part_of_the_contribution_bound():
    args = np.array([[32, 32]] * 5), np.array([10.0, 40, 160, 640, 1e5])
    one = mosaic.next_steps(Appetite.of(0.5), *args, np.ones(5), np.full(5, PER_EPSILON), 1, False)
    five = mosaic.next_steps(
        Appetite.of(0.5), args[0], 5 * args[1], np.full(5, 5.0), np.full(5, PER_EPSILON), 5, False
    )
    for name in ("jump", "last", "near"):
        np.testing.assert_array_equal(getattr(one, name), getattr(five, name))
    np.testing.assert_allclose(one.units, five.units, rtol=1e-9)


@pytest.mark.parametrize("n", [60, 200])  # few parts each are sorted in another way than many
def test_parts_are_believed_to_add_up_to_what_all_draws_say(n):
    rng = np.random.default_rng(4)
    owner = np.sort(rng.integers(0, 9, n))
    noisy = np.rint(rng.normal(20, 30, n)).astype(np.int64)
    variance, known = rng.exponential(50, 9), rng.exponential(50, 9)
    own = rng.normal(300, 200, 9)
    own[4] = -1e4
    found = mosaic.shared(noisy, owner, variance, own, known)
    for i in range(9):
        mine = noisy[owner == i]
        weights = np.array([1 / known[i], 1 / (len(mine) * variance[i])])
        total = max(0.0, np.average([own[i], mine.sum()], weights=weights))
        assert found[owner == i].sum() == pytest.approx(total, abs=1e-9)
        moved = (mine - found[owner == i])[found[owner == i] > 0]
        assert np.ptp(moved) < 1e-9 if len(moved) else total == 0
        assert np.all(mine[found[owner == i] == 0] <= (moved[0] if len(moved) else np.inf) + 1e-9)
    # The order in which parts come does not matter.
    order = rng.permutation(n)
    again = mosaic.shared(noisy[order], owner[order], variance, own, known)
    np.testing.assert_allclose(again, found[order], atol=1e-9)


def test_the_figures_of_a_focus_are_those_of_the_reference(reference_data):
    known = json.loads(reference_data("mosaic/mosaic-2.json").read_text())["constants"]
    for focus, each in known.items():
        made = Appetite.of(float(focus))
        ours = made.first, made.base, made.dense, made.share, made.fall
        assert ours == pytest.approx([each[name] for name in ("e0", "aB", "Td", "a", "b")])
