"""The one door to exact counts: what it charges, refuses and writes down."""

import numpy as np
import pytest

from explorer import FrequencyMatrix, InputError
from explorer.privacy.curator import BudgetExceeded, Curator
from explorer.privacy.noise import PreviewNoise
from tests.helpers import NoNoise, city


class Counting(PreviewNoise):
    """Preview noise that knows how often it was asked."""

    def __init__(self):
        super().__init__(1)
        self.draws = 0
        self.sensitivities = []

    def laplace(self, values, sensitivity, units, keys, stage):
        self.draws += len(values)
        self.sensitivities.append(sensitivity)
        return super().laplace(values, sensitivity, units, keys, stage)


def curator(units=100, matrix=None, noise=None):
    return Curator(matrix or city((8, 8), 500), units, noise or NoNoise())


def test_counts_are_charged_and_children_inherit():
    desk = curator()
    root = desk.open()
    desk.count(root, 30, "total")
    halves = root.split(0, np.array([4]))
    assert desk.remaining(halves).tolist() == [70, 70]
    desk.count(halves.select(np.array([True, False])), 70, "leaf")
    assert desk.remaining(halves).tolist() == [0, 70]
    assert desk.spent == 100
    assert [(row.stage, row.draws) for row in desk.ledger] == [("total", 1), ("leaf", 1)]


def test_one_price_for_many_is_what_each_of_them_pays() -> None:
    """It is held once, and nothing that comes of it shows that."""
    found = []
    for given in (60, np.full(4096, 60), np.broadcast_to(np.array([60]), 4096)):
        desk = curator(noise=PreviewNoise(3), matrix=city((64, 64), 5000))
        cells = desk.open().grid((64, 64))
        desk.count(cells, given, "first")
        left = desk.remaining(cells)
        with pytest.raises(ValueError, match="read-only"):
            left[0] = 1
        with pytest.raises(BudgetExceeded, match="nothing was drawn"):
            desk.count(cells, left + 1, "too much")
        desk.count(cells.select(np.arange(5, 3000)), left[5:3000], "second")
        record = desk.transcript()
        drawn = [(m.values.tolist(), m.variances.tolist()) for m in record.measurements]
        counted = [each.tolist() for each in record.counts()]
        found.append((drawn, counted, record.spent.tolist(), desk.ledger, desk.spent))
        with pytest.raises(ValueError, match="broadcast"):
            desk.count(cells, np.broadcast_to(np.array([1]), 4095), "too few")
    assert found[0] == found[1] == found[2]
    assert found[0][-1] == 100


def test_overspending_is_refused_before_anything_is_drawn():
    noise = Counting()
    desk = curator(noise=noise)
    halves = desk.open().split(0, np.array([4]))
    with pytest.raises(BudgetExceeded, match="nothing was drawn"):
        desk.count(halves, np.array([100, 101]), "leaf")
    assert noise.draws == 0
    assert desk.remaining(halves).tolist() == [100, 100]
    assert desk.ledger == ()


@pytest.mark.parametrize("units", [0, -5])
def test_a_measurement_for_nothing_is_refused(units):
    desk = curator()
    with pytest.raises(BudgetExceeded, match="above 0"):
        desk.count(desk.open(), units, "leaf")


def test_passes_together_stay_within_the_budget():
    desk = curator()
    first, second = desk.open(40), desk.open()
    desk.count(first, 40, "a")
    desk.count(second, 60, "b")
    assert desk.spent == 100
    with pytest.raises(BudgetExceeded, match="unclaimed"):
        desk.open(1)


def test_a_contribution_bound_multiplies_every_sensitivity():
    noise = Counting()
    matrix = FrequencyMatrix.from_array(np.arange(64).reshape(8, 8), contribution_bound=3)
    desk = curator(10**12, matrix, noise)
    root = desk.open()
    desk.count(root, 10**10, "total")
    desk.cut(root, np.array([0]), 10**10)
    # 3 records a user: 3 for a count, 3 * 2 * 2^10 for a lattice cost.
    assert set(noise.sensitivities) == {3, 3 * 2 * 1024}
    assert [row.sensitivity for row in desk.ledger] == [3.0, 6.0]


@pytest.mark.parametrize("rule", ["search", "middle half", "middle quarter", "all cuts", "middle"])
def test_cuts_lie_inside_and_cost_what_they_should(rule):
    desk = curator(10**12, city((64, 64)), PreviewNoise(3))
    parts = desk.open().grid(np.array([4, 8]))
    axis = np.arange(len(parts)) % 2
    at = desk.cut(parts, axis, 7 * 10**9, rule, 3)
    rows = np.arange(len(parts))
    length = parts.shape[rows, axis]
    offset = at - parts.lower[rows, axis]
    assert np.all((offset > 0) & (offset < length))
    if rule == "middle half":
        assert np.all((offset >= length // 4) & (offset <= length - length // 4))
    if rule == "middle quarter":
        low = length * 3 // 8
        assert np.all((offset >= low) & (offset <= length - low))
    # Sides of 16 and 8 cells; the middle quarter of 8 cells has a single cut, which is free.
    paid = parts.spent
    free = (length == 8) & (rule == "middle quarter") | (rule == "middle")
    assert np.array_equal(paid, np.where(free, 0, 7 * 10**9))


def test_the_search_without_noise_descends_to_a_local_minimum():
    counts = np.zeros((1, 64), dtype=int)
    counts[0, 37:] = 9
    desk = curator(10**12, FrequencyMatrix.from_array(counts))
    # From 32 the steps halve: 48, then 40, 36, 38, 37.
    first, second = desk.open(10**11), desk.open(10**11)
    assert desk.cut(first, np.array([1]), 10**10, "search", 6).tolist() == [37]
    assert desk.cut(second, np.array([1]), 10**10, "all cuts").tolist() == [37]


class Sparse:
    """Counts without a dense form, over any domain."""

    def __init__(self, matrix):
        self.matrix = matrix

    def __getattr__(self, name):
        if name == "dense":
            raise AttributeError(name)
        return getattr(self.matrix, name)


def test_a_curator_asks_its_counts_nothing_but_what_counts_are_asked():
    matrix = city((8, 8), 500)
    rows = {}
    for counts in (matrix, Sparse(matrix)):
        desk = curator(10**12, counts, PreviewNoise(4))
        root = desk.open(10**11)
        found = [desk.count(root, 10**9, "total"), desk.median(root, np.array([1]), 10**9)]
        found += [desk.cut(root, np.array([0]), 10**9, rule) for rule in ("search", "all cuts")]
        found.append(desk.privtree(desk.open(10**11), 10**11).lower.ravel())
        rows[type(counts)] = np.concatenate(found).tolist()
    assert rows[FrequencyMatrix] == rows[Sparse]


def test_coefficients_of_counts_that_cannot_say_every_cell_are_refused():
    desk = curator(100, Sparse(city((8, 8), 500)))
    with pytest.raises(InputError, match="count of every cell"):
        desk.coefficients(desk.open())
    assert desk.spent == 0
