"""Areas, their counts, and the release of two levels."""

import numpy as np
import pytest

from explorer import FrequencyMatrix, InputError
from explorer.country.areas import AreaCounts, Areas, release_two_levels
from explorer.mechanisms import HTF, UG
from explorer.privacy.curator import Curator
from explorer.privacy.noise import ReleaseNoise
from explorer.testing import NoNoise

LAND = Areas(
    {"b": "north", "north": None, "c": "south", "south": None, "a": "north", "d": "c", "e": "c"}
)
PARTS = [np.arange(12).reshape(3, 4) + i for i in range(4)]


def data(bound=1):
    maps = [FrequencyMatrix.from_array(each, contribution_bound=bound) for each in PARTS]
    totals = [each.total for each in maps]
    return AreaCounts(LAND, totals, bound, maps[0].unit), maps


def test_every_area_is_a_range_of_leaves():
    assert LAND.leaves == ("b", "a", "d", "e")
    assert LAND.ranges == {
        "north": (0, 2),
        "b": (0, 1),
        "a": (1, 2),
        "south": (2, 4),
        "c": (2, 4),
        "d": (2, 3),
        "e": (3, 4),
    }
    assert LAND.shape == (4,)


@pytest.mark.parametrize(
    ("parents", "says"),
    [
        ({}, "no areas"),
        ({"a": "b"}, "none of the areas"),
        ({"a": "b", "b": "a"}, "circle"),
        ({"a": None, "b": "b"}, "circle"),
    ],
)
def test_what_is_no_tree_is_refused(parents, says):
    with pytest.raises(InputError, match=says):
        Areas(parents)


def test_boxes_of_areas_go_there_and_back():
    ranges = [[0, 2], [2, 4]]
    cells = LAND.to_cells(ranges)
    assert cells.tolist() == [[[0], [2]], [[2], [4]]]
    assert LAND.from_cells(cells).tolist() == ranges
    for wrong in ([0, 2], [[2, 0]], [[0, np.nan]], [[0, 1, 2]]):
        with pytest.raises(InputError):
            LAND.to_cells(wrong)


def test_counts_of_ranges_and_no_cuts():
    counts, maps = data()
    lower, upper = np.array([[0], [2], [0]]), np.array([[2], [4], [4]])
    totals = [each.total for each in maps]
    assert counts.count(lower, upper).tolist() == [sum(totals[:2]), sum(totals[2:]), sum(totals)]
    curator = Curator(counts, 100, NoNoise())
    for rule in ("search", "all cuts"):
        with pytest.raises(InputError, match="no cuts"):
            curator.cut(curator.open(10), np.array([0]), 10, rule)
    with pytest.raises(InputError, match="no cuts"):
        curator.median(curator.open(10), np.array([0]), 10)


def test_keys_tell_counts_and_areas_apart():
    flat = Areas(dict.fromkeys(LAND.leaves))
    keys = [
        AreaCounts(LAND, [1, 2, 3, 4]).key,
        AreaCounts(LAND, [1, 2, 4, 3]).key,
        AreaCounts(flat, [1, 2, 3, 4]).key,
    ]
    assert len(set(keys)) == 3
    assert AreaCounts(LAND, np.array([1, 2, 3, 4])).key == keys[0]


@pytest.mark.parametrize("counts", [[1, 2, 3], [[1, 2, 3, 4]], [1, 2, 3, -1], [1, 2, 3, 0.5]])
def test_what_are_no_counts_is_refused(counts):
    with pytest.raises(InputError):
        AreaCounts(LAND, counts)


def test_without_noise_two_levels_are_the_truth():
    counts, maps = data()
    released = release_two_levels(counts, maps, UG(epsilon=1.0, grid_size=4), rng=NoNoise())
    assert released.counts.tolist() == [each.total for each in maps]
    for found, matrix in zip(released.maps, maps, strict=True):
        # A count is multiplied by its precision and divided by it: two roundings of 2^-53 at most.
        np.testing.assert_allclose(found.density(), matrix.counts, rtol=2**-52)
        assert found.preview
        assert found.units == 800_000_000_000
    assert released.spent == released.units == 10**12
    stages = [(row.stage, row.epsilon, row.draws) for row in released.ledger]
    assert stages == [("areas", 0.2, 4), ("inside: cells", 0.8, 48)]


@pytest.mark.parametrize(
    "mechanism", [UG(epsilon=0.7, grid_size=4), HTF(epsilon=0.7)], ids=lambda each: each.key
)
def test_two_levels_stay_within_epsilon_and_repeat(mechanism):
    counts, maps = data(bound=3)
    one, same, other = (release_two_levels(counts, maps, mechanism, rng=i) for i in (5, 5, 6))
    assert one.units == 700_000_000_000
    assert 0.2 * one.units < one.spent <= one.units
    assert {each.contribution_bound for each in one.maps} == {3}
    assert one.counts.tolist() == same.counts.tolist() != other.counts.tolist()
    for a, b in zip(one.maps, same.maps, strict=True):
        np.testing.assert_array_equal(a.density(), b.density())
    noise = {tuple((a.density() - b.counts).ravel()) for a, b in zip(one.maps, maps, strict=True)}
    assert len(noise) == 4, "the same noise in two areas"


def test_what_cannot_be_released_is_refused():
    counts, maps = data(bound=3)
    with pytest.raises(InputError, match="one for each"):
        release_two_levels(counts, maps[1:], UG(epsilon=1.0), rng=0)
    for part in (0.0, 1.0, -0.5, float("nan"), "0.2", None, True, [0.2], 10**400):
        with pytest.raises(InputError, match="between 0 and 1"):
            release_two_levels(counts, maps, UG(epsilon=1.0), part, rng=0)
    with pytest.raises(InputError, match="one bound"):
        release_two_levels(counts, data(bound=2)[1], UG(epsilon=1.0), rng=0)
    for part in (1e-13, 5e-324):
        with pytest.raises(InputError, match=r"^The areas' share of .* pays for no count .*\.$"):
            release_two_levels(counts, maps, UG(epsilon=1.0), part, rng=0)
    with pytest.raises(InputError):
        release_two_levels(counts, maps, UG(epsilon=1.0), np.nextafter(1.0, 0.0), rng=0)


class Recorded(ReleaseNoise):
    """A source of its own, as of an audit that writes down what OpenDP draws."""


@pytest.mark.parametrize(
    ("rng", "preview"),
    [(3, True), (np.random.default_rng(3), True), (Recorded(), True), (None, False)],
)
def test_two_levels_say_whether_they_are_a_preview(rng, preview):
    counts, maps = data()
    released = release_two_levels(counts, maps, UG(epsilon=1.0, grid_size=4), rng=rng)
    assert released.preview is preview
    assert {each.preview for each in released.maps} == {preview}
    kind = "Preview (reproducible noise, not private)" if preview else "Private release"
    assert repr(released) == (
        f"<TwoLevels: {kind} with epsilon 1: the counts of 4 leaf areas and a map inside each.>"
    )
