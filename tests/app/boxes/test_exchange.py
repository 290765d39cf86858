"""Boxes as files: what is saved is read back, and a bad file changes nothing."""

import json

import numpy as np
import pytest
import shapely

from explorer.app.boxes.exchange import BoxExchange
from explorer.app.boxes.rectangles import Rectangles
from explorer.grid.grid import Grid
from explorer.queries.boxes import MOST_BOXES
from tests.app import press


class Visit:
    """The buttons with notes of what happened."""

    def __init__(self, grid=None) -> None:
        self.rectangles = Rectangles(grid or Grid.around(2.35, 48.85, 8000, shape=32))
        self.rectangles.reset(self.rectangles.grid)
        self.changes = 0
        self.said: list[str] = []
        self.told: list[str] = []
        acts = self.add, self.count, self.said.append
        self.buttons = BoxExchange(self.rectangles, *acts, told=self.told.append)

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
def test_saved_boxes_and_polygons_come_back(ending) -> None:
    visit, other = Visit(), Visit()
    visit.rectangles.put([[-3000, -3000, -2000, -1000], [0, 0, 1000, 1500.25]], ["Q1", "Mill"])
    ring = shapely.Polygon(
        [(0, 0), (2500, 0.125), (0, 3000)], [[(300, 300), (600, 300), (400, 600)]]
    )
    visit.rectangles.add_shape(ring, "=Ring")
    parts = shapely.union(shapely.box(0, 0, 9, 9), shapely.box(20, 0, 30, 9))
    visit.rectangles.add_shape(parts, "Parts")
    saved = visit.save(ending)
    other.read(saved, f"boxes.{ending}")
    assert not other.said
    np.testing.assert_allclose(other.rectangles.boxes[2:], visit.rectangles.boxes, atol=1e-6)
    # The name Q1 was taken.
    assert other.rectangles.names == ["Q1", "Q2", "Q3", "Mill", "=Ring", "Parts"]
    assert other.told == [
        f"2 boxes and 2 polygons read from boxes.{ending}. "
        "Q1 is called Q3 here: the names were taken."
    ]
    assert other.changes == 1
    shapes = zip(other.rectangles.shapes[4:], visit.rectangles.shapes[2:], strict=True)
    assert all(one.equals(another) for one, another in shapes)
    # What stands there already is not doubled: the third row has another name by now.
    other.read(saved, f"boxes.{ending}")
    assert other.rectangles.names[6:] == ["Q4"]
    assert "stand here already" in other.told[1] or "stands here already" in other.told[1]


@pytest.mark.parametrize(
    "data", [b"junk", b"{}", b"\xff\xfe", b"west,south,east,north\n9,9,1,1\n", b"[1, 2]"]
)
def test_a_bad_file_is_said_and_changes_nothing(data) -> None:
    visit = Visit()
    visit.read(data, "boxes.csv")
    assert len(visit.said) == 1
    assert len(visit.rectangles) == 2


def wards(*columns: str) -> bytes:
    """Two triangles in degrees with these columns of text."""
    features = []
    for number, place in enumerate((2.34, 2.36)):
        corners = [[place, 48.84], [place + 0.01, 48.84], [place + 0.01, 48.86]]
        facts = {name: f"{name} {number}" for name in columns} | {"people": 7 + number}
        shape = {"type": "Polygon", "coordinates": [corners]}
        features.append({"type": "Feature", "properties": facts, "geometry": shape})
    return json.dumps({"type": "FeatureCollection", "features": features}).encode()


def test_the_column_of_names_is_chosen_after_reading() -> None:
    visit = Visit()
    visit.read(wards("ward", "code", "<b>mayor</b>"), "wards.geojson")
    assert visit.told == ["2 polygons read from wards.geojson, named by its column ward."]
    names = press.find(visit.buttons, "Names from the column")
    assert names.value == "ward"
    assert list(names.options) == ["ward", "code", "‹b›mayor‹/b›"]
    names.value = "code"
    assert visit.rectangles.names == ["Q1", "Q2", "code 0", "code 1"]
    assert visit.told[-1] == "2 rows are named by the column code now."
    assert visit.changes == 2
    # A row that was deleted is not named, and of a box that was drawn since nothing is known.
    visit.rectangles.remove(2)
    visit.add()
    names.value = "<b>mayor</b>"
    assert visit.rectangles.names[:3] == ["Q1", "Q2", "‹b›mayor‹/b› 1"]
    assert visit.told[-1].startswith("1 row is named")
    visit.rectangles.remove(2)
    names.value = "ward"
    assert "load it again" in visit.said[-1]
    assert names.value == "<b>mayor</b>"
    press.send(names, value="people")
    assert "people" not in " ".join(visit.rectangles.names)


def test_rows_beyond_the_map_are_cut_or_left_out_and_it_is_said() -> None:
    visit = Visit()
    lines = ["name,x0,y0,x1,y1", "In,0,0,100,100", "Over,3000,0,9000,100", "Out,8000,0,9000,100"]
    visit.read("\n".join(lines).encode(), "a.csv")
    assert visit.told == [
        "2 boxes read from a.csv. 1 row reaches beyond the map: its part on it is asked. 1 row "
        "lies outside the map and was left out."
    ]
    visit.read(b"x0,y0,x1,y1\n8000,0,9000,100\n", "b.csv")
    assert visit.said == ["The row of b.csv lies outside the map."]
    many = "".join(f"{x},0,{x + 1},9\n" for x in range(MOST_BOXES))
    visit.read(f"x0,y0,x1,y1\n{many}".encode(), "c.csv")
    assert "c.csv holds 200 rows on the map, but a page keeps 200 boxes" in visit.said[1]
    assert visit.rectangles.names == ["Q1", "Q2", "In", "Over"]


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
