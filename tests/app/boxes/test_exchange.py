"""Boxes as files: what is saved is read back, and a bad file changes nothing."""

import json

import numpy as np
import pytest

from explorer.app.boxes.exchange import BoxExchange
from explorer.app.boxes.rectangles import Rectangles
from explorer.grid.grid import Grid


class Visit:
    """The buttons with notes of what happened."""

    def __init__(self, grid=None) -> None:
        self.rectangles = Rectangles(grid or Grid.around(2.35, 48.85, 8000, shape=32))
        self.rectangles.reset(self.rectangles.grid)
        self.changes = 0
        self.said: list[str] = []
        self.buttons = BoxExchange(self.rectangles, self.add, self.count, self.said.append)

    def add(self) -> None:
        self.rectangles.add_middle(self.rectangles.grid.bounds)
        self.count()

    def count(self) -> None:
        self.changes += 1

    def save(self, ending: str) -> bytes:
        (button,) = (each for each in self.buttons.saves if each.filename == f"boxes.{ending}")
        return button.callback().getvalue()

    def read(self, data: bytes, name: str) -> None:
        self.buttons.file.param.update(filename=name, value=data)


@pytest.mark.parametrize("ending", ["csv", "geojson"])
def test_saved_boxes_come_back(ending) -> None:
    visit = Visit()
    saved = visit.save(ending)
    other = Visit()
    other.read(saved, f"boxes.{ending}")
    assert not other.said
    np.testing.assert_allclose(other.rectangles.boxes[2:], visit.rectangles.boxes, atol=1e-6)
    # The names Q1 and Q2 were taken.
    assert other.rectangles.names == ["Q1", "Q2", "Q3", "Q4"]
    assert other.changes == 1
    assert other.buttons.file.value is None


@pytest.mark.parametrize(
    "data", [b"junk", b"{}", b"\xff\xfe", b"west,south,east,north\n9,9,1,1\n", b"[1, 2]"]
)
def test_a_bad_file_is_said_and_changes_nothing(data) -> None:
    visit = Visit()
    visit.read(data, "boxes.csv")
    assert len(visit.said) == 1
    assert len(visit.rectangles) == 2


def test_shapes_that_are_no_rectangles_are_asked_as_their_boxes_and_told() -> None:
    visit = Visit()
    triangle = [[2.34, 48.84], [2.36, 48.84], [2.36, 48.86]]
    shape = {"type": "Polygon", "coordinates": [triangle]}
    visit.read(json.dumps({"type": "Feature", "geometry": shape}).encode(), "shape.geojson")
    assert visit.said == ["The shape is not a rectangle on this map: its bounding box is asked."]
    assert len(visit.rectangles) == 3
    assert visit.changes == 1


def test_boxes_can_be_added_and_deleted_without_a_mouse() -> None:
    visit = Visit()
    visit.buttons.add.clicks += 1
    assert len(visit.rectangles) == 3
    visit.buttons.delete.clicks += 1
    assert len(visit.rectangles) == 3, "without a selection nothing is deleted"
    assert "No box is selected" in visit.said[-1]
    for rows in ([2], [0]):
        visit.rectangles.select(rows)
        visit.buttons.delete.clicks += 1
    assert visit.rectangles.names == ["Q2"]
    visit.buttons.delete.clicks += 1
    assert visit.rectangles.names == ["Q2"]


def test_a_matrix_without_a_place_offers_no_geojson() -> None:
    visit = Visit(Grid.cells((16, 16)))
    visit.buttons.reset()
    assert [each.visible for each in visit.buttons.saves] == [True, False]
    assert visit.save("csv")


def test_rows_of_several_places_are_saved_and_come_back_with_their_gaps() -> None:
    def visit() -> tuple[Rectangles, BoxExchange, list[str]]:
        grid = Grid.around(2.35, 48.85, 8000, shape=16)
        rectangles = Rectangles(grid, grid, places=["from", "to"])
        said: list[str] = []
        buttons = BoxExchange(rectangles, lambda: None, lambda: None, said.append)
        buttons.reset()
        return rectangles, buttons, said

    rectangles, buttons, _ = visit()
    rectangles.add((1, 2, 3, 4))
    rectangles.add_row([(0, 0, 1000, 1000), (-500, 0, 500, 250)], "home")
    assert not buttons.saves[1].visible, "GeoJSON has one shape for a row"
    saved = buttons.saves[0].callback().getvalue()
    other, again, said = visit()
    again.file.param.update(filename="rows.csv", value=saved)
    assert not said
    np.testing.assert_array_equal(other.boxes, rectangles.boxes)
    assert other.names == ["Q1", "home"]
    again.file.param.update(filename="rows.csv", value=b"a,b\n1,2\n")
    assert len(said) == 1
    assert len(other) == 2
