"""Maps side by side: what moves together, which boxes lie where, and how wide they are."""

import numpy as np
import pytest
from bokeh.events import SelectionGeometry, Tap

from explorer.app.kit.map_parts import Editing, MapSpec
from explorer.app.kit.maps import DOCK, TAKEN, Maps, holder
from explorer.grid.grid import Grid
from tests.app.acts import drag
from tests.helpers import happen

PARIS, LYON = Grid.around(2.35, 48.85, 8000, shape=32), Grid.around(4.83, 45.76, 6000, 9000, 32)
SPECS = {
    1: [MapSpec(PARIS, "a")],
    2: [MapSpec(PARIS, "a"), MapSpec(LYON, "b", place=1, partition=1)],
    3: [
        MapSpec(PARIS, "a"),
        MapSpec(LYON, "b", place=1, partition=1),
        MapSpec(PARIS, "c", place=2, partition=0),
    ],
}


class Visit:
    """k maps with notes of what they were told."""

    def __init__(self, k: int) -> None:
        self.drawn: list[tuple] = []
        self.tapped: list[tuple] = []
        self.maps = Maps(
            SPECS[k],
            lambda: None,
            lambda place, box: self.drawn.append((place, box)),
            lambda *where: self.tapped.append(where),
        )


@pytest.fixture(params=[1, 2, 3])
def visit(request):
    return Visit(request.param)


def widths(maps: Maps) -> list[str]:
    return [card.styles["max-width"] for card in maps.view[0]]


def test_maps_of_one_extent_move_together_and_others_stay() -> None:
    maps = Visit(3).maps
    first, other, third = (view.figure.x_range for view in maps.views)
    assert first is third
    assert first is not other
    lyon = maps.viewport(1)
    maps.ranges.zoom(0.5)
    assert maps.viewport(1) == lyon
    maps.zoom(0.0)
    assert maps.ranges.bounds == PARIS.bounds


def test_zoom_scales_each_extent_once(visit) -> None:
    visit.maps.zoom(0.5)
    for view, grid in zip(visit.maps.views, visit.maps.grids, strict=True):
        assert view.figure.x_range.end - view.figure.x_range.start == pytest.approx(grid.width / 2)


def test_a_drag_and_a_click_say_on_which_map(visit) -> None:
    for view in visit.maps.views:
        drag(view.figure, (1.0, 2.0, 3.0, 4.0))
        happen(Tap(view.figure, x=5.0, y=6.0))
    places = range(len(visit.maps.views))
    assert visit.drawn == [(place, (1.0, 2.0, 3.0, 4.0)) for place in places]
    assert visit.tapped == [(place, 5.0, 6.0) for place in places]


def test_each_map_draws_the_boxes_of_its_place(visit) -> None:
    k = len(visit.maps.views)
    rows = np.arange(2.0 * k * 4).reshape(2, k, 4)
    rows[1, 0] = np.nan
    visit.maps.highlight(rows, ["Q1", "Q2"], [1])
    for place, boxes in enumerate(visit.maps.boxes):
        np.testing.assert_array_equal(boxes.source.data["x0"], rows[:, place, 0])
    visit.maps.highlight(np.zeros((0, 4)) if k == 1 else np.zeros((0, k, 4)), [], [])
    assert all(len(boxes.source.data["x0"]) == 0 for boxes in visit.maps.boxes)


def test_maps_and_what_belongs_to_them_end_together_with_a_panel_and_without(visit) -> None:
    maps = visit.maps
    whole = maps.view.styles["max-width"]
    assert all(width in whole for width in widths(maps))
    window = f"100vh) - {TAKEN}px * var(--type, 1)"
    assert all(f"{window} - {DOCK}" in width for width in widths(maps))
    maps.make_room(True)
    assert maps.view.styles["max-width"] == whole


def pair() -> Maps:
    maps = Maps([MapSpec(PARIS, "a"), MapSpec(PARIS, "b")], lambda: None, lambda *_: None)
    maps.title(0, "Truth", "<p>exact</p>")
    maps.title(1, "Private", "<p>a preview</p>")
    return maps


def test_one_of_two_maps_can_stand_alone() -> None:
    maps = pair()
    maps.stand_in(around := holder())
    both = around.styles["max-width"]
    for how, shown in (("1", [False, True]), ("0", [True, False]), ("all", [True, True])):
        maps.arrange(how)
        assert [card.visible for card in maps.view[0]] == shown
        assert (around.styles["max-width"] == both) == (how == "all")


def test_the_second_map_lies_over_the_first_as_far_as_the_slider() -> None:
    maps = pair()
    maps.arrange("swipe")
    first, second = maps.view[0]
    assert first.visible
    assert second.visible
    assert first.styles["grid-area"] == second.styles["grid-area"]
    # The picture alone is cut.
    picture = maps.views[1].figure
    assert picture.styles["clip-path"] == "inset(0 0 0 50%)"
    assert not any("clip-path" in card.styles for card in (first, second))
    assert maps.swipe.visible
    # Both titles stand in one place, with what must be said of each map.
    assert all(each in maps.heads[0].object for each in ("Truth", "exact", "Private", "a preview"))
    assert maps.heads[1].object == ""
    maps.arrange("all")
    assert not maps.swipe.visible
    assert "exact" in maps.heads[0].object
    assert "a preview" in maps.heads[1].object
    # A browser keeps what is not said anew.
    assert picture.styles["clip-path"] == "none"
    assert all(card.styles["grid-area"] == "auto" for card in maps.view[0])
    assert maps.view[0].styles["display"] == "flex"


class Edits:
    """Maps whose one box on each place is selected, with notes of what is done to boxes."""

    def __init__(self, k: int = 2) -> None:
        self.drawing: list[tuple] = []
        self.edited: list[tuple] = []
        self.clicked: list[tuple] = []
        self.maps = Visit(k).maps
        notes = (self.drawing, self.edited, self.clicked)
        self.maps.let_edit(Editing(*(lambda *said, to=each: to.append(said) for each in notes)))
        self.row = np.array([[[0.0, 0, 9, 9]] * k])
        self.maps.highlight(self.row, ["Q1"], [0])

    @property
    def editors(self):
        return [view.editor for view in self.maps.views]


def test_the_selected_box_has_an_editor_on_every_map_and_no_other() -> None:
    edits = Edits()
    assert [each.visible for each in edits.editors] == [True, True]
    assert [each.right for each in edits.editors] == [9, 9]
    assert edits.edited == []
    edits.row[0, 1] = np.nan
    edits.maps.highlight(edits.row, ["Q1"], [0])
    assert [each.visible for each in edits.editors] == [True, False]
    edits.maps.highlight(edits.row, ["Q1"], [])
    assert not any(each.visible for each in edits.editors)
    # What a page is about by itself can be drawn over.
    edits.maps.highlight(edits.row, ["Q1"], [0], held=False)
    assert not any(each.visible for each in edits.editors)
    assert not len(edits.maps.boxes[0].polygons.corners.data["x"])


def test_a_dragged_editor_tells_its_place_and_is_left_alone_until_the_end() -> None:
    edits = Edits()
    edits.editors[1].right = 12.0
    assert edits.edited == [(1, (0.0, 0.0, 12.0, 9.0), False)]
    # The page answers with a box that it has clipped: the pointer still holds the side.
    edits.row[0, 1, 2] = 10.0
    edits.maps.highlight(edits.row, ["Q1"], [0])
    assert edits.editors[1].right == 12
    edits.editors[0].name = "dragged 1"
    assert len(edits.edited) == 1, "another map's drag has ended"
    edits.editors[1].name = "dragged 1"
    assert edits.edited[-1] == (1, (0.0, 0.0, 12.0, 9.0), True)
    edits.maps.highlight(edits.row, ["Q1"], [0])
    assert edits.editors[1].right == 10


def test_a_new_box_is_told_while_it_is_dragged_and_clicks_are() -> None:
    edits = Edits()
    shape = {"type": "rect", "x0": 1.0, "x1": 3.0, "y0": 2.0, "y1": 5.0}
    happen(SelectionGeometry(edits.maps.views[1].figure, geometry=shape, final=False))
    happen(Tap(edits.maps.views[0].figure, x=5.0, y=6.0))
    assert edits.drawing == [(1, (1.0, 2.0, 3.0, 5.0))]
    happen(SelectionGeometry(edits.maps.views[1].figure, geometry=shape, final=True))
    assert edits.drawing[1:] == [(1, None)]
    assert edits.clicked == [(0, 5.0, 6.0)]


def test_tags_of_boxes_that_are_gone_are_not_said() -> None:
    maps = Edits(1).maps
    maps.say([[("Q1  5", "red"), ("Q2  5", "red")]])
    assert maps.boxes[0].tags[0].data["text"] == ["Q1"]
    maps.say([[("Q1  5", "red")]])
    assert maps.boxes[0].tags[0].data["text"] == ["Q1  5"]
