import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely

from explorer.app.boxes import frames
from explorer.app.boxes.rectangles import Rectangles
from explorer.errors import InputError
from explorer.grid.grid import Grid

PLACE = Grid.around(13.4, 52.5, 5000, shape=64)
BOXES = [(-900.125, -800, 100, 250.5), (0, 0, 2000, 2400.001)]


def on(*grids: Grid, places: tuple[str, ...] = ("",)) -> Rectangles:
    chosen = Rectangles(*grids, places=places)
    chosen.reset(*grids, examples=False)
    return chosen


def two(grid: Grid = PLACE) -> Rectangles:
    chosen = on(grid)
    chosen.add_many(BOXES if grid is PLACE else [(0, 0, 2, 3), (1, 1, 4, 4)], ["Home", ""])
    return chosen


@pytest.mark.parametrize("crs", [None, 4326, 25833, "own"])
def test_boxes_come_back_exactly_from_a_frame_in_any_crs(crs) -> None:
    chosen = two()
    frame = frames.to_frame(chosen)
    assert list(frame.columns) == ["name", "x0", "y0", "x1", "y1", "geometry"]
    assert frame.crs.to_epsg() == 4326
    if crs is not None:
        frame = frame.to_crs(PLACE.crs if crs == "own" else crs)
    boxes, names, _ = frames.read(frame, chosen)
    np.testing.assert_array_equal(boxes, chosen.boxes)
    assert names == ["Home", "Q1"]


def test_numbers_are_in_the_unit_of_the_map_and_never_degrees() -> None:
    chosen = two()
    np.testing.assert_array_equal(frames.read(BOXES, chosen)[0], BOXES)
    with pytest.raises(InputError, match="look like degrees"):
        frames.read([[13.39, 52.49, 13.4, 52.5]], chosen)
    called_metres = gpd.GeoSeries([shapely.box(13.39, 52.49, 13.4, 52.5)], crs=PLACE.crs)
    with pytest.raises(InputError, match="look like degrees"):
        frames.read(called_metres, chosen)


def test_what_is_no_polygon_is_refused_and_several_maps_take_rectangles_alone() -> None:
    chosen = two()
    with pytest.raises(InputError, match="not a polygon"):
        frames.read(gpd.GeoSeries([shapely.Point(0, 0)], crs=PLACE.crs), chosen)
    places = on(PLACE, PLACE, places=("from", "to"))
    round_one = gpd.GeoSeries([shapely.Point(0, 0).buffer(500)], crs=PLACE.crs)
    with pytest.raises(InputError, match="one map"):
        frames.read(gpd.GeoDataFrame({"from": round_one}, geometry="from"), places)
    with pytest.raises(InputError, match="no shapes"):
        frames.read(pd.DataFrame({"x0": [1]}), chosen)
    with pytest.raises(InputError, match="no file of rectangles"):
        frames.read("nothing.geojson", chosen)


def test_rows_of_several_places_have_a_shape_for_each() -> None:
    chosen = on(PLACE, PLACE, places=("from", "to"))
    chosen.add_row([BOXES[0], None], "Out")
    chosen.add_row([None, BOXES[1]], "In")
    frame = frames.to_frame(chosen)
    assert list(frame.columns) == ["name", "from", "to"]
    assert frame["to"].isna().tolist() == [True, False]
    boxes, names, _ = frames.read(frame, chosen)
    np.testing.assert_array_equal(np.isnan(boxes), np.isnan(chosen.boxes))
    np.testing.assert_allclose(boxes, chosen.boxes, atol=0.2)
    assert names == ["Out", "In"]
    with pytest.raises(InputError, match="for each place here: from, to"):
        frames.read(frame[["name"]], chosen)


@pytest.mark.parametrize("height", [0.005, 0.01, 0.02])
def test_a_rectangle_that_lies_askew_here_is_not_asked_by_the_box_around_it(height) -> None:
    """Far from the centre; the box around it holds 2 to 6 percent more than the rectangle."""
    chosen = on(Grid.around(13.4, 52.5, 80_000, shape=64))
    shapes = gpd.GeoSeries([shapely.box(13.0, 52.45, 13.1, 52.45 + height)], crs=4326)
    there = shapes.to_crs(chosen.grid.crs)
    assert 0.94 < there.area[0] / there.envelope.area[0] < 0.99
    boxes, _, (asked,) = frames.read(shapes, chosen)
    assert asked.area == pytest.approx(there.area[0], rel=1e-6)
    np.testing.assert_allclose(boxes[0], asked.bounds)
    small = gpd.GeoSeries([shapely.box(13.39, 52.49, 13.41, 52.51)], crs=4326)
    ((x0, y0, x1, y1),), _, _ = frames.read(small, chosen)
    area = small.to_crs(chosen.grid.crs).area[0]
    assert (x1 - x0) * (y1 - y0) == pytest.approx(area, rel=0.01)


def test_polygons_come_back_from_a_frame_where_they_were() -> None:
    chosen = two()
    ring = shapely.Polygon(
        [(0, 0), (1500, 200), (300, 1800)], [[(300, 300), (600, 300), (400, 600)]]
    )
    chosen.add_shape(ring, "Ring")
    frame = frames.to_frame(chosen)
    assert frame["x0"].isna().tolist() == [False, False, True]
    assert len(frame.geometry.iloc[2].interiors) == 1
    other = two()
    other.put(*frames.read(frame, other))
    np.testing.assert_array_equal(other.boxes[:2], chosen.boxes[:2])
    assert other.names == ["Home", "Q1", "Ring"]
    assert other.shapes[:2] == (None, None)
    assert shapely.hausdorff_distance(other.shapes[2], ring) < 0.2
