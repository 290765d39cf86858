"""The parts of an error: clipping, noise and uneven spread add up, for every kind of release."""

from __future__ import annotations

from typing import Any

import geopandas
import numpy as np
import pytest
import shapely

from explorer import Grid, Points, TripDomain, Trips, all_mechanisms, compare, exact
from explorer.inspection.errors import error_split
from explorer.inspection.leaves import LeafTable
from explorer.mechanisms import trip_mechanisms

SIDE, N, USERS = 16, 3_000, 200
GRID = Grid.from_bounds(0, 0, 1600, 1600, "EPSG:32633", SIDE)
BOXES = np.array([[0, 0, 1600, 1600], [130, 250, 910, 1240], [0, 800, 400, 820]])
SHAPES = geopandas.GeoSeries(
    [shapely.Point(700, 800).buffer(430), shapely.box(20, 30, 40, 50)], crs=GRID.crs
)


def places(places: int, bound: int | None) -> tuple[Any, Any, np.ndarray]:
    """Counts under a bound, those of all records, and boxes; some users have many records."""
    rng = np.random.default_rng(5)
    user = (rng.random(N) ** 2 * USERS).astype(np.int64)
    at = np.clip(rng.normal(700, 350, (2 * places, N)), 0, 1599)
    per = "record" if bound is None else "user"
    if places == 1:
        points = Points(*at, GRID.crs, user)
        return GRID.count(points, bound, per=per), GRID.count(points, per="record"), BOXES
    trips = Trips(tuple(at[::2]), tuple(at[1::2]), crs=GRID.crs, user=user)
    domain = TripDomain([GRID] * places)
    every = domain.count(trips, per="record")
    rows = np.stack([BOXES, BOXES], axis=1)
    return domain.count(trips, bound, per=per), every, rows


def check(counts: Any, every: Any, release: Any, asked: Any) -> None:
    """Three parts that add up to private minus the count of all records."""
    split = error_split(counts, release, asked)
    private, true = release.answer(asked).value, exact(every, asked)
    np.testing.assert_allclose(exact(counts, asked), true, rtol=1e-12)
    total = split.clipping + split.noise + split.uniformity
    np.testing.assert_allclose(total, private - true, rtol=1e-9, atol=1e-6)
    counted = exact(counts, asked, counted=True)
    np.testing.assert_allclose(split.clipping, counted - true, atol=1e-9)
    if counts.unclipped is None:
        assert not split.clipping.any()
    else:
        assert np.all(split.clipping <= 1e-9)
        assert split.clipping[0] < -N / 20


@pytest.mark.parametrize("bound", [None, 1, 3])
@pytest.mark.parametrize("name", all_mechanisms())
def test_parts_add_up_on_maps(name: str, bound: int | None) -> None:
    counts, every, boxes = places(1, bound)
    release = all_mechanisms()[name](epsilon=0.5).release(counts, rng=3)
    for asked in (boxes, SHAPES):
        check(counts, every, release, asked)
    true = LeafTable.of(release, counts).true
    assert true.sum() == pytest.approx(every.total)


@pytest.mark.parametrize("bound", [None, 2])
@pytest.mark.parametrize("name", trip_mechanisms())
def test_parts_add_up_on_trips(name: str, bound: int | None) -> None:
    counts, every, rows = places(2, bound)
    release = trip_mechanisms()[name](epsilon=0.5).release(counts, rng=3)
    check(counts, every, release, rows)


@pytest.mark.parametrize("bound", [None, 2])
def test_tables_of_answers_have_the_truth_of_all_records(bound: int | None) -> None:
    counts, every, boxes = places(1, bound)
    table = compare(counts, ["ug", "htf"], 0.5, boxes, progress=False)
    np.testing.assert_allclose(table.true, np.tile(exact(every, boxes), 2))
    parts = [name for name in table.columns if name.startswith("from_")]
    np.testing.assert_allclose(table[parts].sum(axis=1), table.error, atol=1e-6)
    assert ("from_clipping" in parts) == (bound is not None)
    if bound is not None:
        np.testing.assert_allclose(table.counted - table.true, table.from_clipping, atol=1e-9)
