"""Degrees where metres are asked are refused, and nothing else is."""

import numpy as np
import pytest
import shapely

from explorer import Grid, InputError
from explorer.grid.degrees import refuse_degrees

AMSTERDAM = Grid.around(4.9, 52.37, 10_000, shape=64)
DEGREES = np.array([[4.88, 52.35, 4.9, 52.36], [4.9, 52.36, 4.93, 52.38]])


@pytest.mark.parametrize(
    "boxes", [DEGREES, DEGREES[:1], DEGREES[:, [1, 0, 3, 2]]], ids=["two", "one", "latitude first"]
)
def test_degrees_are_refused(boxes):
    with pytest.raises(InputError, match=r"look like degrees.*crs=4326"):
        AMSTERDAM.to_cells(boxes)


@pytest.mark.parametrize("boxes", [
    # Boxes near the middle, whose metres could be degrees of some other place.
    [[-90, -90, 90, 90]],
    [[0, 0, 150, 150], [4.88, 52.35, 200.0, 300.0]],
    # A place, and nothing at all.
    [[4.9, 52.37, 4.9, 52.37]],
    np.zeros((0, 4)),
    # Small, but not a speck: a metre each way, or some metres on a map of large cells.
    [[0.0, 0.0, 1.0, 1.0]],
    [[10.0, 10.0, 13.0, 13.5]],
])  # fmt: skip
def test_metres_are_left_alone(boxes):
    refuse_degrees(AMSTERDAM, np.array(boxes, dtype=float).reshape(-1, 4))


@pytest.mark.parametrize("box", [
    [2.3, 48.8, 2.4, 48.9],
    [48.8, 2.3, 48.9, 2.4],
    [-122.5, 37.7, -122.4, 37.8],
    [10, 10, 10.5, 10.5],
])  # fmt: skip
def test_degrees_of_another_place_are_refused_too(box):
    """As metres they are specks, whose answer was 8e-6 without a word."""
    with pytest.raises(InputError, match=r"another place.*crs=4326"):
        AMSTERDAM.to_cells([box])


def test_on_a_map_of_tiny_cells_half_a_metre_is_no_speck():
    room = Grid.around(4.9, 52.37, 20, shape=64)
    refuse_degrees(room, np.array([[2.3, 4.8, 2.4, 4.9]]))


def test_cells_have_no_degrees():
    refuse_degrees(Grid.cells(64), DEGREES)


def test_polygons_without_a_crs_are_looked_at_too():
    with pytest.raises(InputError, match="look like degrees"):
        AMSTERDAM.pieces(shapely.box(*DEGREES[0]))
    cells, parts = AMSTERDAM.pieces(shapely.box(*DEGREES[0]), crs=4326)
    assert len(cells) > 50
    assert parts.sum() == pytest.approx(len(cells), rel=0.2)
