"""Workloads: the papers' distributions, the same boxes every time, everything inside the map."""

import geopandas
import numpy as np
import pytest
import shapely

from explorer import UG, FrequencyMatrix, Grid, InputError
from explorer.evaluate import evaluate
from explorer.evaluate.workloads import AG_SIZES, NAMES, SQUARES, Workload, workload, workloads
from explorer.grid.range_queries import RangeQueries

SHAPE = (256, 320)


def extents(boxes):
    return (boxes[:, 1] - boxes[:, 0]).T  # rows, columns


@pytest.mark.parametrize("shape", [SHAPE, (1024, 1024), (7, 3), (1, 1)])
@pytest.mark.parametrize("name", NAMES)
def test_boxes_are_whole_cells_inside_the_map(name, shape):
    boxes = workload(name, shape).boxes
    assert boxes.dtype == np.int64
    assert boxes.shape[1:] == (2, 2)
    assert boxes.min() >= 0
    assert np.all(boxes[:, 1].max(axis=0) <= shape)
    rows, cols = extents(boxes)
    assert rows.min() >= 1
    assert cols.min() >= 1


@pytest.mark.statistical
def test_random_rectangles_have_uniform_centres_and_extents():
    # Far inside a large map nothing is clipped: conditions on the centre leave extents uniform.
    cells = 1000
    rows, cols = extents(workload("random", (cells, cells), n=20_000).boxes)
    # Clipping only shortens. The chance that it does is E[extent] / 2 cells = 1/4 for each side,
    # and the expected extent is 1/2 - 2 * (1/4) E[part cut off | cut] = 1/2 - 1/12 = 5/12 cells.
    for extent in (rows, cols):
        # The variance of an extent is below that of a uniform one over the map, 1/12.
        assert np.mean(extent) == pytest.approx(
            cells * 5 / 12, abs=4 * cells / np.sqrt(12 * 20_000)
        )
    assert abs(np.corrcoef(rows, cols)[0, 1]) < 4 / np.sqrt(20_000)


def test_squares_are_square_and_of_the_stated_area():
    for name, part in SQUARES.items():
        rows, cols = extents(workload(name, (1000, 1000)).boxes)
        assert np.array_equal(rows, cols)
        assert len(set(rows.tolist())) == 1
        # Rounding the side to whole cells moves the area by at most a side, 1 in 140.
        assert rows[0] * cols[0] == pytest.approx(part * 1e6, rel=0.008)


def test_sizes_of_the_grids_paper_double_up_to_half_of_each_side():
    sizes = [tuple(int(e[0]) for e in extents(workload(name, SHAPE).boxes)) for name in AG_SIZES]
    assert sizes == [(4, 5), (8, 10), (16, 20), (32, 40), (64, 80), (128, 160)]


@pytest.mark.statistical
def test_placed_boxes_reach_every_place_alike():
    boxes = workload("q6", (64, 64), n=33_000).boxes
    # 33 places along each side, each with chance 1/33: 1,000 expected, sd below 32.
    for axis in (0, 1):
        hits = np.bincount(boxes[:, 0, axis], minlength=33)
        assert len(hits) == 33
        assert np.abs(hits - 1000).max() < 4.5 * 32


def test_a_name_and_a_seed_give_the_same_boxes_whatever_else_is_asked_for():
    alone = workload("sq6", SHAPE)
    among = workloads(["ag", "random", "htf"], SHAPE)
    assert [each.name for each in among] == [*AG_SIZES, "random", *SQUARES]
    again = next(each for each in among if each.name == "sq6")
    assert np.array_equal(alone.boxes, again.boxes)
    assert alone.key == again.key
    other = workload("sq6", SHAPE, seed=1)
    assert not np.array_equal(alone.boxes, other.boxes)
    assert alone.key != other.key


def test_polygons_come_in_cells_and_have_keys_of_their_own():
    grid = Grid.from_bounds(1000, 2000, 1400, 2200, 3857, (20, 40))  # cells of 10 m
    triangle = shapely.Polygon([(1005, 2010), (1100, 2010), (1100, 2200)])
    mine = Workload.of("mine", triangle, grid)
    assert mine.boxes == pytest.approx(np.array([[[1, 0.5], [20, 10]]]))
    corners = shapely.get_coordinates(mine.shapes[0])
    assert sorted(map(tuple, corners[:-1])) == [(0.5, 1.0), (10.0, 1.0), (10.0, 20.0)]
    edges = np.array([triangle.bounds])
    boxed = Workload.of("mine", edges, grid)
    assert boxed.shapes == ()
    assert boxed.key != mine.key
    both = RangeQueries(np.tile(edges, (2, 1)), [None, triangle])
    mixed = Workload.of("mine", both, grid)
    assert [each is None for each in mixed.shapes] == [True, False]
    assert mixed.key not in (mine.key, boxed.key, Workload.of("mine", both[[1, 0]], grid).key)
    frame = geopandas.GeoSeries([triangle], crs=3857)
    assert Workload.of("mine", frame, grid).key == mine.key
    with pytest.raises(InputError, match="lies outside the grid"):
        Workload.of("mine", shapely.box(5000, 5000, 6000, 6000), grid)
    with pytest.raises(InputError, match="give each box its polygon or None"):
        Workload("mine", mixed.boxes, shapes=(None,))


def test_what_is_no_workload_is_refused():
    with pytest.raises(InputError, match="no workload 'squares'"):
        workloads("squares", SHAPE)
    with pytest.raises(InputError, match="row before column"):
        Workload("none", np.zeros((0, 4)))
    with pytest.raises(InputError, match="inside out"):
        Workload.of("mine", [[5, 0, 1, 1]], Grid.cells(SHAPE))
    with pytest.raises(InputError, match="Box 2 of the workload 'mine' lies outside the grid"):
        Workload.of("mine", [[0, 0, 1, 1], [5000, 0, 6000, 1]], Grid.cells(SHAPE))


@pytest.mark.parametrize("wrong", [[[0, 0, 1, 1]], ["random"], [np.zeros((1, 4))]])
def test_boxes_that_were_not_made_a_workload_are_refused(wrong: list) -> None:
    matrix = FrequencyMatrix.from_array([[9, 0], [8, 1]])
    with pytest.raises(InputError, match=r"make it with Workload\.of"):
        evaluate(matrix, [UG], [1], wrong, jobs=1)
    with pytest.raises(InputError, match="is no mechanism"):
        evaluate(matrix, [3], [1], jobs=1)
