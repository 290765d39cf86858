"""Maps of places in a release: their masses, what they answer, their file."""

from __future__ import annotations

import io
import zipfile
from base64 import b64decode, b64encode
from dataclasses import replace

import numpy as np
import pytest

from explorer import Gravity, InputError, Release
from explorer.releases import file as release_file
from explorer.releases.place_maps import FLOOR, PlaceMap, PlaceMaps
from explorer.releases.places import place_counts
from explorer.trips.matrix import TripMatrix
from tests.releases.test_release import rewrite

SHAPES = ((9, 6), (5, 7))


@pytest.fixture(scope="module")
def release() -> Release:
    rng = np.random.default_rng(2)
    sides = [side for shape in SHAPES for side in shape]
    where = np.stack([rng.binomial(side - 1, 0.3, 4000) for side in sides], axis=1)
    return Gravity(epsilon=1.0).release(TripMatrix.from_coordinates(where, SHAPES), rng=1)


def every_cell(release: Release) -> np.ndarray:
    """The counts of all cells, leaf by leaf, from the definition."""
    cells = np.zeros(release.domain.shape)
    one, two = (place.chances for place in release.maps.places)
    for low, high, count in zip(release.lower, release.upper, release.counts, strict=True):
        a, b, c, d = map(slice, low, high)
        inside = np.multiply.outer(one[a, b], two[c, d])
        cells[a, b, c, d] += count * inside / inside.sum()
    return cells


def boxes_of_cells(rng, number=300):
    """Boxes as people write them, whole cells, and the slices that they are."""
    boxes, slices = [], []
    for _ in range(number):
        box, where = [], []
        for sides in SHAPES:
            (top, bottom), (left, right) = (
                sorted(rng.choice(side + 1, 2, replace=False)) for side in sides
            )
            box += [left, top, right, bottom]
            where += [slice(top, bottom), slice(left, right)]
        boxes.append(box)
        slices.append(tuple(where))
    return np.array(boxes, dtype=float), slices


def test_answers_are_sums_of_cells(release) -> None:
    cells = every_cell(release)
    boxes, slices = boxes_of_cells(np.random.default_rng(3))
    summed = [cells[where].sum() for where in slices]
    np.testing.assert_allclose(release.answer(boxes).value, summed, rtol=1e-9, atol=1e-9)


def test_cells_cut_through_count_by_area(release) -> None:
    whole = release.answer([[2, 3, 3, 4, 1, 1, 4, 4]]).value
    part = release.answer([[2.25, 3, 2.75, 3.5, 1, 1, 4, 4]]).value
    assert part == pytest.approx(whole / 4)


def test_marginals_are_sums_of_cells_in_any_order(release) -> None:
    cells = every_cell(release)
    for axes in [(0, 1), (2, 3), (3, 0), (1,), (2, 0, 1), (3, 2, 1, 0)]:
        others = tuple(axis for axis in range(4) if axis not in axes)
        kept = [axis for axis in range(4) if axis in axes]
        expected = np.transpose(cells.sum(axis=others), [kept.index(axis) for axis in axes])
        np.testing.assert_allclose(release.marginal(axes), expected, atol=1e-9)


@pytest.mark.parametrize(("place", "others"), [(0, (2, 3)), (1, (0, 1))])
def test_counts_of_a_place_are_sums_of_cells(release, place: int, others: tuple[int, int]) -> None:
    """Also on a map of an odd number of columns."""
    expected = every_cell(release).sum(axis=others)
    np.testing.assert_allclose(place_counts(release, place), expected, atol=1e-9)


def test_even_inside_leaves_is_a_switch_that_goes_back(release) -> None:
    boxes, _ = boxes_of_cells(np.random.default_rng(4), 50)
    even = release.spread("uniform")
    assert not np.allclose(even.answer(boxes).value, release.answer(boxes).value)
    np.testing.assert_allclose(even.answer(boxes).value, even.tree.integrate(
        even.domain.to_cells(boxes))[0])  # fmt: skip
    back = even.spread("maps")
    np.testing.assert_array_equal(back.answer(boxes).value, release.answer(boxes).value)
    with pytest.raises(InputError, match="choose one of uniform, maps"):
        release.spread("interpolated")
    with pytest.raises(InputError, match=r"choose one of uniform\."):
        replace(release, maps=None).spread("maps")


def test_a_map_answers_for_its_place(release) -> None:
    first = release.maps.places[0]
    np.testing.assert_allclose(
        release.map_answer(0, [[1, 2, 4, 8], [0, 0, 6, 9]]),
        [first.density[2:8, 1:4].sum(), first.counts.sum()],
    )
    with pytest.raises(InputError, match=r"^The place is 2: give a number, 0 to 1"):
        release.map_answer(2, [[0, 0, 1, 1]])
    with pytest.raises(InputError, match=r"^This release has no maps"):
        replace(release, maps=None).map_answer(0, [[0, 0, 1, 1]])


def test_masses_are_products_of_chances(release) -> None:
    lower, upper = release.tree.lower, release.tree.upper
    one, two = (place.chances for place in release.maps.places)
    for low, high, mass in zip(lower, upper, release.maps.masses(lower, upper), strict=True):
        a, b, c, d = map(slice, low, high)
        assert mass == pytest.approx(one[a, b].sum() * two[c, d].sum(), rel=1e-9)


def test_chances_are_floored_and_an_empty_map_is_even() -> None:
    lower, upper = np.array([[0, 0], [2, 0]]), np.array([[2, 3], [4, 3]])
    place = PlaceMap((4, 3), lower, upper, np.array([12.0, 0.0]))
    assert place.chances.sum() == pytest.approx(1)
    assert place.chances.min() >= FLOOR / 12 * (1 - 1e-12)
    nobody = PlaceMap((4, 3), lower, upper, np.zeros(2))
    np.testing.assert_array_equal(nobody.chances, np.full((4, 3), 1 / 12))


@pytest.mark.parametrize(
    "change",
    [
        {"lower": [[0, 0], [1, 0]]},
        {"upper": [[2, 3], [5, 3]]},
        {"lower": [[0, 0], [0, 0]], "upper": [[2, 3], [2, 3]]},
        {"lower": [[0.0, 0.0], [2.0, 0.0]]},
        *({"counts": counts} for counts in ([1.0, -1.0], [1.0, np.nan], np.ones(3), [1e308, 1e308],
          [np.inf, 1.0], np.ones((2, 1)), np.ones(2, dtype=np.float32))),
    ],
)  # fmt: skip
def test_what_is_no_map_is_refused(change) -> None:
    good = {"lower": [[0, 0], [2, 0]], "upper": [[2, 3], [4, 3]], "counts": np.ones(2)}
    PlaceMap((4, 3), *map(np.asarray, good.values()))
    with pytest.raises(ValueError, match=r"map"):
        PlaceMap((4, 3), *map(np.asarray, (good | change).values()))


def test_a_file_gives_back_the_same_release(release, tmp_path) -> None:
    path = tmp_path / "trips.parquet"
    release.save(path)
    found = Release.load(path)
    boxes, _ = boxes_of_cells(np.random.default_rng(5))
    np.testing.assert_array_equal(found.answer(boxes).value, release.answer(boxes).value)
    np.testing.assert_array_equal(
        found.map_answer(1, boxes[:, 4:]), release.map_answer(1, boxes[:, 4:])
    )
    assert found.maps.key == release.maps.key
    assert (found.inside, found.ledger, found.elsewhere) == (
        release.inside,
        release.ledger,
        release.elsewhere,
    )
    assert repr(found) == repr(release)
    even = release.spread("uniform")
    even.save(path)
    assert Release.load(path).inside == "uniform"
    assert Release.load(path).spread("maps").total == release.total


def test_older_versions_refuse_maps_in_a_sentence(release, tmp_path, monkeypatch) -> None:
    path = tmp_path / "trips.parquet"
    release.save(path)
    monkeypatch.setattr(release_file, "_READ", (1, 2))
    with pytest.raises(InputError, match="has release format 3 and this version reads 1 and 2"):
        Release.load(path)
    replace(release, maps=None, inside="uniform").save(path)
    assert Release.load(path).maps is None


def _repacked(maps, name, values):
    """The maps' archive with one array replaced."""
    with np.load(io.BytesIO(b64decode(maps["leaves"]))) as archive:
        arrays = {each: archive[each] for each in archive.files}
    raw = io.BytesIO()
    np.savez_compressed(raw, **(arrays | {name: values(arrays[name])}))
    return maps | {"leaves": b64encode(raw.getvalue()).decode()}


def _bomb(maps):
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("lower 0.npy", bytes(10**6))
    return maps | {"leaves": b64encode(raw.getvalue()).decode()}


REPACKED = [
    ("counts 1", lambda v: -1 - v),
    ("counts 0", lambda v: v * np.nan),
    ("counts 0", lambda v: v + 1),
    ("counts 0", lambda v: v + 1e300),
    ("counts 1", lambda v: v[None]),
    ("upper 1", lambda v: v + 2**62),
    ("upper 1", lambda v: v + 1),
    ("lower 0", lambda v: v[1:]),
]


@pytest.mark.parametrize(
    "change",
    [
        *(lambda facts, each=each: {"maps": _repacked(facts["maps"], *each)} for each in REPACKED),
        lambda facts: {"maps": facts["maps"] | {"key": "0" * 64}},
        lambda facts: {"maps": _bomb(facts["maps"])},
        lambda _: {"maps": {}},
        lambda _: {"maps": None},
        lambda _: {"inside": "interpolated"},
        lambda _: {"format": 2},
        lambda facts: facts.pop("maps") and {},
    ],
)
def test_damaged_maps_are_refused_in_a_sentence(release, tmp_path, change) -> None:
    path = tmp_path / "trips.parquet"
    release.save(path)
    rewrite(path, lambda facts: facts.update(change(facts)))
    with pytest.raises(InputError, match="is a release file but damaged"):
        Release.load(path)


def test_maps_of_a_place_that_is_missing_are_refused(release) -> None:
    arrays = release.maps.arrays()
    with pytest.raises(KeyError):
        PlaceMaps.from_arrays(arrays, (*release.domain.shape, 3, 3))
