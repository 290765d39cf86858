"""Areas inside each other, from a table of polygons."""

import geopandas
import numpy as np
from shapely.geometry import box

from explorer import Areas

#   north: a | b      south: c
FRAME = geopandas.GeoDataFrame(
    {"part": ["north", "south", "north"], "name": ["a", "c", "b"]},
    geometry=[box(0, 1, 1, 2), box(0, 0, 2, 1), box(1, 1, 2, 2)],
    crs=4326,
)


def test_a_table_becomes_a_tree():
    areas = Areas.read(FRAME, ["part", "name"])
    assert areas.paths[:3] == ((), ("north",), ("south",))
    assert areas.paths[3:] == (("north", "a"), ("south", "c"), ("north", "b"))
    assert areas.parent.tolist() == [-1, 0, 0, 1, 2, 1]
    assert areas.level.tolist() == [0, 1, 1, 2, 2, 2]
    assert areas.lowest.tolist() == [3, 4, 5]
    assert areas.children(1).tolist() == [3, 5]


def test_an_only_child_is_the_same_people_as_its_parent():
    areas = Areas.read(FRAME, ["part", "name"])
    assert areas.same_as.tolist() == [0, 1, 2, 3, 2, 5]
    assert areas.measured.tolist() == [True, True, True, True, False, True]


def test_a_place_belongs_to_the_first_area_that_covers_it():
    areas = Areas.read(FRAME, ["part", "name"])
    x, y = [0.5, 1.5, 1.5, 1.0, 1.0, 5.0, np.nan], [1.5, 1.5, 0.5, 1.5, 1.0, 5.0, 0.5]
    assert areas.assign(x, y).tolist() == [0, 2, 1, 0, 0, -1, -1]


def test_great_britain(great_britain):
    areas = great_britain
    assert len(areas) == 380
    assert np.bincount(areas.level).tolist() == [1, 3, 11, 380]
    assert np.count_nonzero(~areas.measured) == 2
