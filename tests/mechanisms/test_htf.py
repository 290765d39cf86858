"""HTF: equal to a naive reading of the algorithms, heights and thresholds of the paper."""

import numpy as np
import pytest

from explorer import HTF, FrequencyMatrix
from explorer.mechanisms.htf import paper_height
from explorer.points.split_costs import LATTICE_BITS, SENSITIVITY
from explorer.privacy import allocation
from explorer.privacy.accounts import mix
from explorer.privacy.noise import PreviewNoise
from explorer.privacy.regions import Boxes
from explorer.releases.units import to_units
from tests.helpers import NoNoise, city, run

GOLDEN = 0x9E3779B97F4A7C15


class Naive:
    """Algorithms 1 to 3, node by node, by recursion, with numpy sums of the cells themselves."""

    def __init__(self, counts, mechanism, seed):
        self.counts, self.mechanism = counts, mechanism
        self.noise = PreviewNoise(seed)
        self.leaves = []

    def noisy(self, value, sensitivity, units, key, stage):
        draw = self.noise.laplace(
            np.array([value]), sensitivity, np.array([units]), np.array([key], np.uint64), stage
        )
        return int(draw[0])

    def run(self):
        m, (rows, cols) = self.mechanism, self.counts.shape
        self.units = to_units(m.epsilon)
        key = int(mix(np.array([GOLDEN], dtype=np.uint64))[0])
        paid = to_units(m.height_budget)
        total = self.noisy(self.counts.sum(), 1, paid, key, "height")
        self.height = int(np.floor(np.log2(max(total, 0) * m.epsilon / 10)))
        self.share = min(to_units(m.split_budget), self.units // (2 * self.height))
        data = self.units - paid - self.height * self.share
        self.tests = allocation.geometric(data, self.height)
        self.visit(0, 0, rows, cols, key, self.height, paid)
        return sorted(self.leaves)

    def visit(self, r0, c0, r1, c1, key, h, paid):
        box = self.counts[r0:r1, c0:c1]
        if h == 0 or box.size == 1:
            return self.publish(r0, c0, r1, c1, key, paid)
        noisy = self.noisy(box.sum(), 1, self.tests[h], key, "stop test")
        paid += int(self.tests[h])
        if noisy <= self.mechanism.stop_count:
            return self.publish(r0, c0, r1, c1, key, paid)
        axis = h % 2
        if box.shape[axis] == 1:
            axis = 1 - axis
        k, cost = self.split_point(box if axis == 0 else box.T, key)
        children = [mix(np.array([(key + (i + 1) * GOLDEN) % 2**64], np.uint64)) for i in (0, 1)]
        low, high = (int(child[0]) for child in children)
        if axis == 0:
            self.visit(r0, c0, r0 + k, c1, low, h - 1, paid + cost)
            self.visit(r0 + k, c0, r1, c1, high, h - 1, paid + cost)
        else:
            self.visit(r0, c0, r1, c0 + k, low, h - 1, paid + cost)
            self.visit(r0, c0 + k, r1, c1, high, h - 1, paid + cost)
        return None

    def publish(self, r0, c0, r1, c1, key, paid):
        count = self.counts[r0:r1, c0:c1].sum()
        noisy = self.noisy(count, 1, self.units - paid, key, "leaf counts")
        self.leaves.append((r0, c0, r1, c1, noisy))

    def split_point(self, box, key):
        """Algorithm 1 with errata 1 to 4; the cost of a cut by Eq. 5, floored to the lattice."""
        size, rounds = len(box), self.mechanism.T
        if size == 2:
            return 1, 0
        each = self.share // (2 * rounds + 1)

        def objective(k, draw):
            exact = 0
            for half in (box[:k], box[k:]):
                n, total = half.size, int(half.sum())
                far = int(np.abs(half * n - total).sum())
                exact += (far << LATTICE_BITS) // n
            return self.noisy(exact, SENSITIVITY, each, key, f"split {draw}")

        low, high = 0, size
        k = (low + high) // 2
        best = objective(k, 0)
        for step in range(rounds):
            k1, k2 = (low + k) // 2, (k + high) // 2
            o1 = objective(k1, 2 * step + 1) if k1 != low else None
            o2 = objective(k2, 2 * step + 2) if k2 not in (k, high) else None
            if o1 is None and o2 is None:
                break
            candidates = [(best, 0), *((o, i) for o, i in ((o1, 1), (o2, 2)) if o is not None)]
            least, which = min(candidates)
            if which == 0:
                low, high = k1, k2 if o2 is not None else high
            elif which == 1:
                high, k = k, k1
            else:
                low, k = k, k2
            best = least
        return k, each * (2 * rounds + 1)


@pytest.mark.parametrize(("shape", "seed"), [((64, 64), 1), ((40, 77), 2), ((128, 32), 3)])
def test_identical_to_the_naive_reading(shape, seed):
    matrix = city(shape, 30_000)
    mechanism = HTF(epsilon=0.5, T=3, stop_count=20)
    release = mechanism.release(matrix, rng=seed)
    ours = sorted(
        zip(*release.lower.T.tolist(), *release.upper.T.tolist(), release.counts, strict=True)
    )
    naive = Naive(matrix.counts, mechanism, seed).run()
    assert len(naive) > 30
    assert [leaf[:4] for leaf in ours] == [leaf[:4] for leaf in naive]
    assert [leaf[4] for leaf in ours] == pytest.approx([leaf[4] for leaf in naive], rel=1e-12)


def test_heights_of_section_7_4():
    domain = Boxes((1024, 1024), 0, 1).root()
    heights = [paper_height(3_500_000, epsilon, domain) for epsilon in (0.1, 0.3, 0.5)]
    assert heights == [15, 16, 17]
    assert paper_height(-50, 0.1, domain) == 0
    assert paper_height(10**9, 10, domain) == 20


def test_figure_2_splits_off_the_empty_row():
    b1 = FrequencyMatrix.from_array([[0, 0], [3, 3], [3, 3]])
    release, _ = run(HTF(height=1, first_axis="rows", T=3, stop_count=1), b1, NoNoise())
    assert release.upper.tolist() == [[1, 2], [3, 2]]
    assert release.counts.tolist() == [0, 12]


@pytest.mark.parametrize("rule", ["search", "middle half", "middle quarter", "all cuts", "middle"])
@pytest.mark.parametrize("first", ["paper", "rows", "columns", "longer"])
def test_every_split_rule_and_axis_spends_the_whole_budget(rule, first):
    release, desk = run(
        HTF(epsilon=0.2, split_rule=rule, first_axis=first), city((40, 90)), PreviewNoise(1)
    )
    assert desk.spent == desk.units
    assert ("split" in release.tree.stages) == (rule != "middle")
    root_cut = release.tree.lower[2] - release.tree.lower[1]
    wanted = {"rows": 0, "columns": 1, "longer": 1, "paper": int(release.facts["height"]) % 2}
    assert root_cut[wanted[first]] > 0


@pytest.mark.statistical
def test_claimed_noise_of_leaves_is_the_noise_of_their_draws():
    matrix = city()
    errors, claims = [], []
    for seed in range(20):
        release = HTF(epsilon=0.3).release(matrix, rng=seed)
        errors.append(release.counts - matrix.count(release.lower, release.upper))
        claims.append(release.sd)
    ratio = np.concatenate(errors) / np.concatenate(claims)
    # The variance of n standardised Laplace draws is known to sqrt(5 / n).
    assert np.mean(ratio**2) == pytest.approx(1, abs=5 * np.sqrt(5 / len(ratio)))
    assert abs(ratio.mean()) < 5 / np.sqrt(len(ratio))


def test_stop_rules():
    matrix = city()
    few = HTF(epsilon=1, stop_count=500).release(matrix, rng=1).n_leaves
    many = HTF(epsilon=1, stop_count=5).release(matrix, rng=1).n_leaves
    assert few < many
    same = [
        HTF(epsilon=0.5, stop_rule="per epsilon", stop_factor=20).release(matrix, rng=1),
        HTF(epsilon=0.5, stop_rule="count", stop_count=40).release(matrix, rng=1),
    ]
    assert np.array_equal(same[0].counts, same[1].counts)
    extent = HTF(epsilon=1, stop_extent=64, stop_count=0).release(matrix, rng=1)
    parents = extent.tree.parent[extent.tree.leaves]
    sides = extent.tree.upper[parents] - extent.tree.lower[parents]
    assert np.all(np.prod(sides, axis=1) > 64)
    assert HTF(epsilon=1, stop_rule="optimal").release(matrix, rng=1).n_leaves > 10


def test_a_total_split_budget_is_shared_by_the_levels():
    level = HTF(epsilon=1, height=10, split_budget=0.01).release(city(), rng=1)
    total = HTF(epsilon=1, height=10, split_budget=0.1, split_budget_per="total")
    assert np.array_equal(level.counts, total.release(city(), rng=1).counts)


def test_parameters_without_effect_are_not_offered():
    assert "stop_factor" not in HTF().relevant()
    assert {"T", "split_budget"}.isdisjoint(HTF(split_rule="middle").relevant())
    assert "height_budget" not in HTF(height=3).relevant()
