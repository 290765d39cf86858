"""Outlines for drawing: no overlaps, every area there, borders of all levels the same lines."""

import geopandas
import numpy as np
import pytest
import shapely
from shapely.geometry import MultiPolygon, Polygon, box

from explorer import Areas
from explorer.grid.areas.areas import without_small
from tests.grid.areas.test_index import crooked


def country():
    shapes = crooked()
    frame = geopandas.GeoDataFrame(
        {
            "part": ["west" if s.centroid.x < 0.5 else "east" for s in shapes],
            "n": range(len(shapes)),
        },
        geometry=shapes,
        crs=4326,
    )
    return Areas.read(frame, ["part", "n"])


def overlaps(shapes):
    first, second = shapely.STRtree(shapes).query(shapes, predicate="intersects")
    pair = first < second
    return float(
        shapely.area(shapely.intersection(shapes[first[pair]], shapes[second[pair]])).sum()
    )


@pytest.mark.parametrize("tolerance", [0.0, 300.0, 3_000.0])
def test_levels_have_no_overlaps_and_share_their_borders(tolerance):
    areas = country()
    outlines = areas.outlines(tolerance)
    assert len(outlines) == len(areas.parent)
    assert shapely.is_valid(outlines).all()
    assert not shapely.is_empty(outlines).any()
    lowest = outlines[areas.lowest]
    assert overlaps(lowest) < 1.0
    for node in np.flatnonzero(areas.level == 1):
        inner = shapely.area(outlines[areas.children(node)]).sum()
        assert shapely.area(outlines[node]) == pytest.approx(inner, rel=1e-9)
        corners = {tuple(each) for each in shapely.get_coordinates(outlines[node])}
        assert corners <= {
            tuple(each) for each in shapely.get_coordinates(outlines[areas.children(node)])
        }
    assert shapely.area(outlines[0]) / 1e6 == pytest.approx(areas.sizes.sum(), rel=0.02)


def test_small_parts_and_holes_go_but_never_the_last_part():
    lake = [(2, 2), (3, 2), (3, 3), (2, 3)]
    enclave = [(6, 6), (7, 6), (7, 7), (6, 7)]
    large = MultiPolygon(
        [Polygon([(0, 0), (9, 0), (9, 9), (0, 9)], [lake, enclave]), box(20, 0, 21, 1)]
    )
    tiny = MultiPolygon([box(6, 6, 7, 7), box(30, 0, 30.5, 0.5)])
    kept = without_small(np.array([large, tiny], dtype=object), 4.0)
    assert len(kept[0].geoms) == 1
    # The lake is filled; what is drawn in the other hole is not hidden.
    (hole,) = kept[0].geoms[0].interiors
    assert hole.bounds == (6, 6, 7, 7)
    assert kept[1].equals(box(6, 6, 7, 7))


def test_great_britain(great_britain):
    areas = great_britain
    outlines = areas.outlines(1_000.0)
    lowest = outlines[areas.lowest]
    # Measured before: 21,048 corners in 470 rings.
    assert shapely.get_num_coordinates(lowest).sum() == pytest.approx(21_048, rel=0.02)
    assert len(shapely.get_rings(shapely.get_parts(lowest))) == pytest.approx(470, abs=10)
    assert overlaps(lowest) < 1.0
    assert shapely.coverage_is_valid(lowest)
    assert shapely.is_valid(outlines).all()
