"""Plans that try to measure more than their accounts show: each must fail or gain nothing."""

from __future__ import annotations

import numpy as np
import pytest

from explorer.errors import InputError
from explorer.privacy.curator import BudgetExceeded, Curator
from explorer.privacy.passes import Passes
from explorer.privacy.regions import Regions
from explorer.trips.matrix import TripMatrix
from tests.helpers import NoNoise, city

EPSILON = 10**12
EDGES = np.array([[0, 0], [8, 8]])


@pytest.fixture
def desk() -> Curator:
    return Curator(city((8, 8), 500), EPSILON, NoNoise())


def sixteenths(desk: Curator) -> Regions:
    """Sixteen disjoint regions, each with a whole epsilon to spend."""
    return desk.open().grid(np.array([4, 4]))


def whole_map_of_each(desk: Curator, cells: Regions) -> None:
    """What a successful attack would be: sixteen counts of everybody for the price of one."""
    total = int(city((8, 8), 500).total)
    truth = [int(n) for n in desk.count(cells, EPSILON, "attack")]
    assert truth != [total] * 16, f"spent 16 epsilon, the accounts show {desk.spent / EPSILON}"
    assert sum(truth) == total


def test_boxes_written_into_regions(desk: Curator) -> None:
    cells = sixteenths(desk)
    for box, edge in ((cells.lower, 0), (cells.upper, 8)):
        with pytest.raises(ValueError, match="read-only"):
            box[:] = edge
        with pytest.raises(ValueError, match="WRITEABLE"):
            box.flags.writeable = True
    whole_map_of_each(desk, cells)


def test_boxes_written_into_the_book_or_the_transcript(desk: Curator) -> None:
    cells = sixteenths(desk)
    arrays = [cells.book.lower, cells.book.spent, cells.book.keys, cells.keys, cells.parent]
    arrays += [desk.transcript().lower, desk.transcript().upper, desk.transcript().parent]
    arrays += [cells.select(np.array([1, 3, 8])).lower, desk.transcript().spent[:0], cells.ids]
    for array in arrays:
        if array.size:
            with pytest.raises(ValueError, match="read-only"):
                array[:] = 0
    whole_map_of_each(desk, cells)


def test_regions_of_other_boxes_with_real_ids(desk: Curator) -> None:
    cells = sixteenths(desk)
    lower, upper = (np.tile(edge, (16, 1)) for edge in EDGES)
    with pytest.raises(TypeError):
        Regions(lower, upper, cells.ids, cells.book)  # type: ignore[call-arg]
    forged = Regions(cells.ids, cells.book)
    vars(forged)["_edges"] = lower, upper
    assert forged.lower is lower
    whole_map_of_each(desk, forged)


def test_regions_that_say_something_else_each_time(desk: Curator) -> None:
    class Everywhere(Regions):
        lower = property(lambda _: np.tile(EDGES[0], (16, 1)))
        upper = property(lambda _: np.tile(EDGES[1], (16, 1)))

    cells = sixteenths(desk)
    whole_map_of_each(desk, Everywhere(cells.ids, cells.book))


def test_cuts_and_trees_go_by_the_book_too(desk: Curator) -> None:
    quarter = desk.open().grid(np.array([2, 2])).select(np.array([True, False, False, False]))
    forged = Regions(quarter.ids, quarter.book)
    vars(forged)["_edges"] = EDGES[:1], EDGES[1:]
    assert forged.upper.max() > 4
    assert desk.median(forged, np.array([0]), 1000)[0] in range(1, 4)
    assert desk.cut(forged, np.array([1]), 1000, "all cuts")[0] in range(1, 4)
    assert desk.privtree(forged, 1000).upper.max() <= 4


@pytest.mark.parametrize("ids", [[1, 1], [2, 1], [-1], [-16, 1], [17], [0]])
def test_ids_that_name_a_region_twice_or_none(desk: Curator, ids: list[int]) -> None:
    book = sixteenths(desk).book
    with pytest.raises(ValueError, match=r"named only once|no such region|was split"):
        desk.count(Regions(np.array(ids), book), 1, "attack")


def test_ids_that_change_after_the_measurement(desk: Curator) -> None:
    cells = sixteenths(desk)
    ids = cells.ids[:1].copy()
    desk.count(Regions(ids, cells.book), EPSILON, "leaves")
    ids[:] = 9
    transcript = desk.transcript()
    assert np.flatnonzero(transcript.spent.sum(axis=1)).tolist() == [1]
    assert transcript.measurements[0].ids.tolist() == [1]


def test_accounts_cannot_be_paid_back(desk: Curator) -> None:
    cells = sixteenths(desk)
    desk.count(cells, EPSILON, "leaves")
    with pytest.raises(ValueError, match="below 0"):
        cells.book.pay(cells.ids, np.full(16, -EPSILON))
    for name in ("limit", "spent"):
        with pytest.raises(AttributeError):
            setattr(cells.book, name, np.zeros(17, dtype=np.int64))
    with pytest.raises(BudgetExceeded):
        desk.count(cells, 1, "again")


@pytest.mark.parametrize(
    "boxes",
    [
        [[0, 0, 8, 8], [0, 0, 8, 8]],  # twice the whole
        [[0, 0, 5, 8], [4, 0, 8, 8]],  # a row in both
        [[0, 0, 4, 8], [5, 0, 8, 8]],  # a row in neither
        [[0, 0, 4, 8], [4, 0, 9, 8]],  # outside
        [[-1, 0, 4, 8], [4, 0, 8, 8]],
        [[0, 0, 4, 4], [0, 4, 4, 8], [4, 0, 8, 9]],  # as many cells, elsewhere
        [[0, 0, 4, 8], [4, 0, 8, 8], [4, 0, 4, 8]],  # one of no cells
        [[0, 0, 8, 8], [8, 8, 0, 0]],  # inside out
    ],
)
def test_children_that_do_not_tile_their_parent(desk: Curator, boxes: list[list[int]]) -> None:
    root, corners = desk.open(), np.array(boxes)
    with pytest.raises(ValueError, match="tile"):
        root.divide(np.array([len(boxes)]), corners[:, :2], corners[:, 2:])
    # Nothing has happened: the region can still be measured.
    assert desk.count(root, 1, "total")[0] == city((8, 8), 500).total


def test_the_budget_cannot_be_raised(desk: Curator) -> None:
    with pytest.raises(AttributeError):
        desk.units = 16 * EPSILON  # type: ignore[misc]


@pytest.mark.parametrize("units", [2**63 - 1, 2**62 + 1])
def test_a_price_that_wraps_round_to_nothing(desk: Curator, units: int) -> None:
    cells = desk.open()
    desk.count(cells, 1, "first")
    with pytest.raises((ValueError, BudgetExceeded)):
        desk.count(cells.grid(8), units, "attack")
    assert desk.spent == 1


def test_what_an_inner_curator_pays_does_not_wrap_round_either(desk: Curator) -> None:
    root = desk.open()
    root.book.hand_on(root.ids)
    for units in (2**63 - 1, EPSILON + 1):
        with pytest.raises(ValueError, match="more than its region has left"):
            root.book.pay_inside(0, units)
    assert desk.spent == 0


def test_coefficients_of_a_part_would_be_those_of_the_whole(desk: Curator) -> None:
    halves = desk.open().split(0, np.array([4]))
    for part in (halves, halves.select(np.array([0])), halves.select(np.array([1]))):
        with pytest.raises(ValueError, match="whole domain"):
            desk.coefficients(part)
    assert desk.spent == 0


@pytest.mark.parametrize(
    ("axis", "position"),
    [(0, [2]), (0, [2, 2, 6]), ([0, 1], [2, 2, 6, 6]), (0, [np.nan, 2, 6, 6]),
     (0, [2.5, 2.5, 6.5, 6.5]), (0.0, [2, 2, 6, 6])],
)  # fmt: skip
def test_cuts_that_are_not_one_for_each_region(desk: Curator, axis, position) -> None:
    quarters = desk.open().grid(2)
    axis = np.array(axis) if isinstance(axis, list) else axis
    with pytest.raises(ValueError, match="for each of the 4 regions"):
        quarters.split(axis, np.array(position))
    children = quarters.split(0, np.array([2, 2, 6, 6]))
    assert int(children.cells.sum()) == 64


def test_notes_that_a_plan_would_like_to_rewrite(desk: Curator) -> None:
    noisy = desk.count(sixteenths(desk), EPSILON, "count")
    with pytest.raises(ValueError, match="read-only"):
        noisy[:] = -5
    with pytest.raises(AttributeError):
        desk.ledger.clear()  # type: ignore[attr-defined]
    assert len(desk.ledger) == 1


@pytest.mark.parametrize("rounds", [-1, 1.5])
def test_a_search_of_no_whole_number_of_rounds(desk: Curator, rounds) -> None:
    root = desk.open()
    with pytest.raises(ValueError, match="whole number of rounds"):
        desk.cut(root, np.array([0]), 1000, rounds=rounds)
    assert desk.spent == 0


def test_a_tree_too_large_for_any_memory_is_one_sentence() -> None:
    trips = TripMatrix.from_coordinates([[0] * 6], [100] * 3)
    curator = Curator(trips, EPSILON, NoNoise())
    with pytest.raises(InputError, match=r"a tree of 1,000,000,000,001 nodes"):
        curator.open().grid(100)


def test_a_pass_whose_limit_compares_as_it_likes(desk: Curator) -> None:
    class Unequal(int):
        __gt__ = __lt__ = lambda *_: False

    with pytest.raises(BudgetExceeded):
        desk.open(Unequal(16 * EPSILON))
    assert desk.open(Unequal(5)).book.limit == 5


@pytest.mark.parametrize(
    ("axis", "position"),
    # A list of axes would cut each slab its own way: the first and the last would overlap.
    [([0, 1], [4, 4]), (2, [3, 6]), (-1, [3, 6]), (0.0, [3, 6]), (0, [6, 3]), (0, [3, 3]),
     (0, [0, 4]), (0, [4, 8]), (0, [4]), (0, [[3], [6]]), (0, [3, 2**63 - 1])],
)  # fmt: skip
def test_slabs_that_would_not_tile_their_region(desk: Curator, axis, position) -> None:
    root = desk.open()
    axis = np.array(axis) if isinstance(axis, list) else axis
    with pytest.raises(ValueError, match=r"axis|axes|cut"):
        root.slice(axis, np.array([3]), np.array(position))
    assert int(root.slice(1, np.array([3]), np.array([3, 6])).cells.sum()) == 64


@pytest.mark.parametrize("more", [8, 2**62])
def test_numbers_of_children_whose_sum_wraps_round(desk: Curator, more: int) -> None:
    quarters = desk.open().grid(2)
    children = np.array([2**62, 2**62, 2**62, 2**62 - 1 + more])
    with pytest.raises((InputError, ValueError)):
        quarters.slice(0, children, np.ones(3, dtype=np.int64))
    with pytest.raises((InputError, ValueError)):
        quarters.divide(children, np.zeros((7, 2), np.int64), np.ones((7, 2), np.int64))
    whole_map_of_each(desk, quarters.grid(2))


@pytest.mark.parametrize(
    ("parts", "about"),
    [
        # Slabs beyond the region, whose figures would be those of other memory.
        *(([parts], {}) for parts in (9, 20, 0, -3, 2.5, np.nan)),
        ([3, 3], {}),
        *(([3], {"axis": axis}) for axis in (-1, 2, [0, 1])),
        *(([3], {"candidates": number}) for number in (0, -3, 2.5)),
    ],
)
def test_cuts_of_parts_that_a_region_has_not(desk: Curator, parts, about) -> None:
    root = desk.open()
    with pytest.raises(ValueError, match=r"slab|axis|axes|one whole|candidates"):
        desk.partition(root, parts=np.array(parts), units=1000, **{"axis": 0, **about})
    assert desk.spent == 0


def test_axes_that_change_between_two_looks(desk: Curator) -> None:
    class TwoFaced(np.ndarray):
        def __getitem__(self, _which):
            return np.array([1])

    part = desk.open().split(0, np.array([3])).select(np.array([True, False]))
    axis = np.array([0]).view(TwoFaced)
    assert desk.cut(part, axis, 1000, "all cuts")[0] in (1, 2)
    assert desk.median(part, axis, 1000)[0] in (1, 2)
    for wrong in (np.array([-1]), np.array([2]), np.array([0.0])):
        for ask in (desk.cut, desk.median):
            with pytest.raises(ValueError, match=r"axis|axes"):
                ask(part, wrong, 1000)


def test_a_price_list_of_another_length(desk: Curator) -> None:
    cells = sixteenths(desk)
    for price in (cells.book.dearest, cells.book.pay):
        with pytest.raises(ValueError, match="every region pays one"):
            price(cells.ids, np.ones(1, dtype=np.int64))


def test_a_closed_curator_measures_nothing_inside_or_out(desk: Curator) -> None:
    halves = desk.open().split(0, np.array([4]))
    lower, upper = (halves.select(np.array([end])) for end in (0, 1))
    inner = desk.within(lower, city((4, 8), 100))
    assert desk.count(upper, 7, "count").shape == (1,)
    assert desk.close() == 7
    for curator, region in ((desk, upper), (inner, inner.open())):
        with pytest.raises(BudgetExceeded, match="closed"):
            curator.count(region, 1, "attack")


def test_what_is_drawn_inside_while_another_closes_is_in_its_sum(
    desk: Curator, monkeypatch: pytest.MonkeyPatch
) -> None:
    halves = desk.open().split(0, np.array([4]))
    inner = desk.within(halves.select(np.array([0])), city((4, 8), 100))
    asked, said = Passes._is_closed.fget, []

    def closes_next(self: Passes) -> bool:
        found = asked(self)
        said.append(desk.close())
        return found

    monkeypatch.setattr(Passes, "_is_closed", property(closes_next))
    inner.count(inner.open(), 5, "count")
    assert said[0] == desk.spent == 5


@pytest.mark.parametrize("rule", ["search", "middle half", "middle quarter", "all cuts"])
def test_a_side_of_one_cell_has_no_cut_to_pay_for(desk: Curator, rule: str) -> None:
    lines = desk.open().grid((8, 1))
    desk.cut(lines, 0, 1000, rule)
    assert desk.spent == 0
