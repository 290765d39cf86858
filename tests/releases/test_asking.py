"""Questions to a release: boxes, and polygons as themselves."""

from __future__ import annotations

from dataclasses import replace

import geopandas
import numpy as np
import pytest
import shapely
from shapely.geometry import LineString, MultiPolygon, Point, Polygon, box

from explorer import (
    UG,
    FrequencyMatrix,
    Grid,
    Identity,
    InputError,
    Mosaic,
    Privlet,
    QuadTree,
    TripDomain,
    exact,
)
from explorer.releases.asking import variance_of

GRID = Grid.around(-122.42, 37.77, 16_000, shape=32)
COUNTS = np.random.default_rng(5).poisson(20, (32, 32))
MATRIX = FrequencyMatrix(COUNTS, GRID)
TRIANGLE = Polygon([(-7_000, -7_000), (6_500, -3_000), (-1_000, 7_500)])
RING = Polygon(
    [(-5_000, -5_000), (5_000, -5_000), (5_000, 5_000), (-5_000, 5_000)],
    [[(-2_100, -2_000), (2_300, -2_000), (0, 3_000)]],
)


@pytest.mark.parametrize("mechanism", [QuadTree(), UG(), Identity(), Mosaic(), Privlet()])
def test_a_box_as_a_polygon_is_answered_as_the_box(mechanism) -> None:
    release = mechanism.release(MATRIX, rng=3)
    boxes = np.array([[-8_000, -8_000, 8_000, 8_000], [-3_333, -7_000, 4_444, 1_234]])
    shapes = [box(*each) for each in boxes]
    asked, expected = release.answer(shapes), release.answer(boxes)
    assert asked.value == pytest.approx(expected.value, rel=1e-9, abs=1e-6)
    assert asked.sd == pytest.approx(expected.sd, rel=1e-9)
    assert asked.sd_exact == expected.sd_exact
    assert release.touched(shapes).tolist() == release.touched(boxes).tolist()


@pytest.mark.parametrize("mechanism", [QuadTree(), Identity(), Mosaic()])
def test_answers_to_parts_add_up_to_the_whole(mechanism) -> None:
    release = mechanism.release(MATRIX, rng=3)
    rest = shapely.difference(box(*GRID.bounds), TRIANGLE)
    value = release.answer([TRIANGLE, rest]).value
    assert value.sum() == pytest.approx(release.total)
    assert release.answer(TRIANGLE).value == pytest.approx(value[:1])
    assert exact(MATRIX, [TRIANGLE, rest]).sum() == pytest.approx(COUNTS.sum())


def test_the_truth_of_a_polygon_is_by_area() -> None:
    rows, cols = np.mgrid[0:32, 0:32]
    edges = np.stack([cols, rows, cols + 1, rows + 1], axis=-1).reshape(-1, 4) * 500.0 - 8_000
    parts = shapely.area(shapely.intersection(RING, shapely.box(*edges.T))) / 500.0**2
    assert exact(MATRIX, RING)[0] == pytest.approx(parts @ COUNTS.ravel())
    # Its bounding box holds what lies in the hole as well.
    assert exact(MATRIX, [RING.bounds])[0] > 1.05 * exact(MATRIX, RING)[0]


@pytest.mark.parametrize("mechanism", [QuadTree(), UG(), Privlet()])
def test_the_noise_of_a_polygon_is_what_its_draws_say(mechanism) -> None:
    release = mechanism.release(MATRIX, rng=0)
    asked = [TRIANGLE, RING]
    answers = [mechanism.release(MATRIX, rng=seed).answer(asked) for seed in range(400)]
    same = [each for each in answers if np.allclose(each.sd, answers[0].sd)]
    # The grid of UG hangs on a noisy total: compare draws of one partition.
    values = np.array([each.value for each in same])
    assert len(values) > 100
    ratio = values.std(axis=0, ddof=1) / same[0].sd
    # The sd of a Laplace sample's sd is at most sqrt(5 / (4 n)) of it.
    assert np.abs(ratio - 1).max() < 5 * np.sqrt(1.25 / len(values))
    assert release.answer(asked).sd_exact


def test_a_sum_of_leaves_has_the_noise_of_its_node() -> None:
    tree = QuadTree(height=6).release(MATRIX, rng=3).tree
    for node in (0, 1, 3, 7):
        below = np.flatnonzero(
            (tree.lower[tree.leaves] >= tree.lower[node]).all(axis=1)
            & (tree.upper[tree.leaves] <= tree.upper[node]).all(axis=1)
        )
        found = variance_of(tree, tree.leaves[below], np.ones(len(below)))
        assert np.sqrt(found) == pytest.approx(tree.sd[node])


@pytest.mark.filterwarnings("ignore::explorer.grid.pieces.OutsideWarning")
def test_what_lies_outside_the_grid_counts_nothing() -> None:
    release = Identity().release(MATRIX, rng=3)
    far, wide = box(20_000, 0, 30_000, 10_000), box(-90_000, -80_000, 70_000, 60_000)
    beside = Polygon([(-30_000, -30_000), (-9_000, 0), (-30_000, 30_000)])
    answers = release.answer([far, wide, beside, MultiPolygon([far, beside])])
    assert answers.value == pytest.approx([0, release.total, 0, 0])
    assert answers.sd[0] == 0
    slanted = Polygon([(-40_000, -9_000), (3_000, -9_000), (3_000, 9_000), (-20_000, 9_000)])
    kept = shapely.intersection(slanted, box(*GRID.bounds))
    assert release.answer(slanted).value == pytest.approx(release.answer(kept).value)


def test_invalid_rings_do_no_harm() -> None:
    release = Identity().release(MATRIX, rng=3)
    bow = Polygon([(0, 0), (4_000, 4_000), (4_000, 0), (0, 4_000)])
    mended = shapely.make_valid(bow, method="structure", keep_collapsed=False)
    assert release.answer(bow).value == pytest.approx(release.answer(mended).value)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (Point(0, 0), "is a Point; give polygons"),
        ([TRIANGLE, LineString([(0, 0), (1, 1)])], "Row 2 is a LineString"),
        (Polygon(), "Polygon 1 is missing"),
        (geopandas.GeoSeries([TRIANGLE, None]), "Polygon 2 is missing"),
        (Polygon([(0, 0), (np.inf, 0), (0, 1)]), "not a finite number"),
        (geopandas.GeoSeries([box(-200, -95, 0, 0)], crs=4326), "cannot be degrees"),
    ],
)
def test_what_is_no_polygon_is_refused(asked: object, said: str) -> None:
    with pytest.raises(InputError, match=said):
        QuadTree().release(MATRIX, rng=3).answer(asked)


def test_a_polygon_with_a_crs_needs_a_grid_with_one() -> None:
    release = QuadTree().release(FrequencyMatrix.from_array(COUNTS), rng=3)
    with pytest.raises(InputError, match="measured in cells"):
        release.answer(geopandas.GeoSeries([box(0, 0, 1, 1)], crs=4326))
    assert release.answer([box(0, 0, 32, 32)]).value == pytest.approx(release.total)


def test_several_places_have_no_polygon() -> None:
    release = replace(
        QuadTree().release(MATRIX, rng=3), domain=TripDomain((GRID, GRID), ("from", "to"))
    )
    with pytest.raises(InputError, match="has 4 axes"):
        release.answer(TRIANGLE)
