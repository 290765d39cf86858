"""Polygons on the pages of a curator: drawn, dragged, deleted, undone, answered, saved, kept."""

import io
import json

import numpy as np
import pandas as pd
import pytest
import shapely
from bokeh.events import Tap

from explorer import exact
from explorer.app import Compare, Explore, Federated
from explorer.app.boxes.chips import count
from explorer.app.boxes.released import ReleasePage
from explorer.grid.grid import Grid
from explorer.points.matrix import FrequencyMatrix
from explorer.scenario import Polygon, Scenario
from tests.app import press
from tests.app.acts import Browser
from tests.helpers import happen

CORNERS = [[-1000.0, -1000.0], [1500.0, -500.0], [0.0, 2000.0]]
TRIANGLE = shapely.Polygon(CORNERS)


@pytest.fixture(scope="module")
def matrix():
    grid = Grid.around(2.35, 48.85, 8000, shape=64)
    return FrequencyMatrix.from_array(np.random.default_rng(9).poisson(9, (64, 64)), grid)


@pytest.fixture
def page(matrix):
    page = Explore(matrix, mechanism="ug", epsilon=1.0)
    page.rectangles.put([[-3500, -3500, -2000, -2000]], ["Box"])
    page.boxes_changed()
    return page


def sketch(page, corners, final: bool, number: int = 0) -> None:
    """What a browser tells while a polygon is drawn on a map."""
    said = page.maps.views[number].sketch.told
    said.value = json.dumps({"turn": said.value[-20:], "corners": corners, "final": final})


def drag(page, corners, number: int = 0, end: bool = True) -> None:
    """Drag the selected polygon as a browser does: both columns, then the end."""
    editor = page.maps.views[number].polygon_editor
    assert editor.visible
    editor.update(xs=[x for x, _ in corners], ys=[y for _, y in corners])
    if end:
        editor.name = f"dragged {editor.name}"


def tags(page, number: int) -> list[str]:
    return list(page.maps.boxes[0].tags[number].data["text"])


def true_of(matrix, shape) -> float:
    return float(exact(matrix, shape)[0])


def test_a_polygon_counts_while_it_is_drawn_and_is_a_row_at_its_end(page, matrix) -> None:
    page.state.put(drag="polygon")
    assert all(view.sketch.on for view in page.maps.views)
    sketch(page, CORNERS[:2], False)
    assert not page.maps.views[0].draft.visible
    sketch(page, CORNERS, False)
    assert all(view.draft.visible for view in page.maps.views)
    true, private = (each.data["text"] for each in page.maps.boxes[0].drafts)
    assert true == [count(true_of(matrix, TRIANGLE))]
    assert private[0].endswith("%")
    sketch(page, CORNERS, True)
    assert not page.maps.views[0].draft.visible
    assert page.rectangles.shapes == (None, TRIANGLE)
    assert tags(page, 0)[1] == f"Q1  {count(true_of(matrix, TRIANGLE))}"
    row = page.table.widget.value.iloc[1]
    assert row["true"] == round(float(true_of(matrix, TRIANGLE)))
    assert page.answers.loc["Q1", "private"] == page.release.answer(TRIANGLE).value[0]
    assert page.answers.loc["Q1", "noise_sd"] == page.release.answer(TRIANGLE).sd[0]
    split = page.answers.loc["Q1", ["from_noise", "from_spread"]].sum()
    assert split == pytest.approx(page.answers.loc["Q1", "error"])


def test_a_polygon_given_up_and_nonsense_leave_everything_as_it_was(page) -> None:
    page.state.put(drag="polygon")
    sketch(page, CORNERS, False)
    sketch(page, None, False)
    assert not any(view.draft.visible for view in page.maps.views)
    wrong = [[1], [[1, 2]], [[0, 0], [1, 1], [2, "x"]], {"a": 1}, "x" * 50, 7, [[[]]], True]
    for corners in wrong:
        sketch(page, corners, False)
        sketch(page, corners, True)
    said = page.maps.views[0].sketch.told
    for text in ("", "{", "[" * 9999, "3", "null", '{"corners": []}'):
        said.value = text
    assert page.rectangles.names == ["Box"]
    assert "three corners" in page.message.sentence or "two numbers" in page.message.sentence


def test_clicks_that_make_corners_select_nothing(page) -> None:
    figure = page.maps.views[0].figure
    page.state.put(drag="polygon")
    happen(Tap(figure, x=-3000, y=-3000))
    assert page.rectangles.selected == []
    page.state.put(drag="draw")
    happen(Tap(figure, x=-3000, y=-3000))
    assert page.rectangles.selected == [0]


def test_the_selected_polygon_is_dragged_whole_and_by_a_corner(page, matrix) -> None:
    sketch(page, CORNERS, True)
    view = page.maps.views[0]
    happen(Tap(view.figure, x=1300, y=1800))
    assert page.rectangles.selected == []
    happen(Tap(view.figure, x=0, y=0))
    assert page.rectangles.selected == [1]
    assert not view.editor.visible
    assert len(page.maps.boxes[0].polygons.corners.data["x"]) == 3
    moved = [[x + 500, y - 250] for x, y in CORNERS]
    drag(page, moved, end=False)
    wanted = shapely.Polygon(moved)
    assert tags(page, 0)[1] == f"Q1  {count(true_of(matrix, wanted))}"
    view.polygon_editor.name = "dragged"
    assert page.rectangles.shapes[1].equals(wanted)
    assert page.maps.views[1].polygon_editor.xs == view.polygon_editor.xs
    drag(page, [*moved[:2], [3000.0, 3500.0]], number=1)
    assert page.rectangles.boxes[1].tolist() == [-500, -1250, 3000, 3500]
    # Beyond the map it is cut; sides that cross make parts, and the keys move them all.
    drag(page, [[-9000.0, 0.0], *moved[1:]])
    assert page.rectangles.boxes[1, 0] == -4000
    before = page.rectangles.shapes[1]
    page.pressed("ArrowUp", True)
    assert page.rectangles.shapes[1].area == pytest.approx(before.area)
    assert page.rectangles.boxes[1, 1] > before.bounds[1]


def test_what_is_done_to_polygons_is_undone_and_done_again(page) -> None:
    page.history.reset()
    steps = [page.rectangles.shapes]
    sketch(page, CORNERS, True)
    steps.append(page.rectangles.shapes)
    happen(Tap(page.maps.views[0].figure, x=0, y=0))
    drag(page, [CORNERS[0], CORNERS[1], [100.0, 1000.0]])
    steps.append(page.rectangles.shapes)
    page.pressed("ArrowLeft", False)
    steps.append(page.rectangles.shapes)
    page.pressed("Delete", False)
    assert page.rectangles.shapes == (None,)
    for wanted in steps[::-1]:
        page.pressed("mod+z", False)
        assert page.rectangles.shapes == wanted
    for wanted in steps[1:]:
        page.pressed("mod+y", False)
        assert page.rectangles.shapes == wanted


def test_an_edge_of_a_polygon_is_not_typed_and_says_why(page) -> None:
    sketch(page, CORNERS, True)
    Browser(page.table.widget).edit(1, "west km", -3.0)
    assert "edges of a polygon" in page.message.sentence
    assert page.table.widget.value["west km"].tolist() == [-3.5, -1.0]
    Browser(page.table.widget).edit(1, "box", "Hill")
    assert page.rectangles.names == ["Box", "Hill"]


def test_answers_and_boxes_carry_polygons_out_and_in(page) -> None:
    sketch(page, CORNERS, True)
    saved = pd.read_csv(io.BytesIO(press.download(page, "Save answers")))
    assert saved["box"].tolist() == ["Box", "Q1"]
    np.testing.assert_allclose(saved["EXACT"], page.answers["true"])
    frame = page.boxes
    assert frame.geometry.iloc[1].geom_type == "Polygon"
    page.boxes = frame[::-1]
    assert page.rectangles.names == ["Q1", "Box"]
    assert page.rectangles.shapes[0].area == pytest.approx(TRIANGLE.area, rel=1e-5)
    page.boxes = shapely.Polygon(CORNERS)
    assert page.rectangles.shapes == (TRIANGLE,)


def test_a_scenario_carries_polygons_and_opens_with_the_same_answers() -> None:
    page = Explore(side=256)
    sketch(page, [*CORNERS, [-500.12345, 100.0]], True)
    scenario = page.scenarios.present()
    assert isinstance(scenario.boxes[2], Polygon)
    assert Scenario.from_link(scenario.to_link()) == scenario
    assert Scenario.from_yaml(scenario.to_yaml()) == scenario
    other = Explore(scenario=scenario)
    pd.testing.assert_frame_equal(other.answers, page.answers, check_exact=True)


@pytest.mark.parametrize("made", ["htf", "mosaic", "privlet"])
def test_every_kind_of_inference_answers_polygons_with_an_interval(matrix, made) -> None:
    page = Explore(matrix, mechanism=made, epsilon=1.0)
    sketch(page, CORNERS, True)
    row = page.answers.loc["Q3"]
    assert row["low"] < row["private"] < row["high"]
    assert "to" in page.table.widget.value["range of the noise (95 %)"].iloc[2]
    assert abs(row["error"]) < 0.3 * row["true"]


def test_the_pages_that_show_maps_take_polygons(matrix) -> None:
    compare = Compare(matrix, a="ug", b="ag")
    sketch(compare, CORNERS, True)
    for letter, screen in zip("AB", (compare.pair.a, compare.pair.b), strict=True):
        wanted = screen.release.answer(TRIANGLE).value[0]
        assert compare.answers.loc[(letter, "Q3"), "private"] == wanted
    federated = Federated(matrix)
    sketch(federated, CORNERS, True)
    assert federated.answers.loc["Q3", "true"] == true_of(matrix, TRIANGLE)
    alone = ReleasePage(compare.pair.a.release)
    sketch(alone, CORNERS, True)
    assert alone.answers.loc["Q3", "private"] == compare.answers.loc[("A", "Q3"), "private"]


def test_a_file_of_areas_is_read_by_the_button(page, matrix, tmp_path) -> None:
    import geopandas as gpd

    parts = [shapely.Polygon([(x, -1000), (x + 900, -1000), (x, 1500)]) for x in (-2000, 0, 2000)]
    frame = gpd.GeoDataFrame({"NAME_1": ["A", "B", "Box"]}, geometry=parts, crs=matrix.grid.crs)
    frame.to_file(tmp_path / "areas.gpkg")
    content = (tmp_path / "areas.gpkg").read_bytes()
    page.exchange.file.param.update(filename="areas.gpkg", value=content)
    assert page.rectangles.names == ["Box", "A", "B", "Box"]
    assert page.message.sentence == "3 polygons read from areas.gpkg, named by its column NAME_1."
    np.testing.assert_allclose(page.answers["true"].iloc[1:], exact(matrix, parts), rtol=1e-9)
    again = io.BytesIO(page.exchange.saves[1].callback().getvalue())
    assert len(json.loads(again.read())["features"]) == 4
