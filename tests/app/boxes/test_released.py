"""A release by itself: its map, boxes and answers, without any truth."""

import numpy as np
import pytest
from bokeh.events import Tap

from explorer import HTF, UG, FrequencyMatrix, Gravity, Grid, Release, TripMatrix
from explorer.app import Compare, Explore
from explorer.app.boxes.released import ReleasePage
from explorer.errors import InputError
from tests.app import press
from tests.app.acts import drag
from tests.helpers import happen


@pytest.fixture(scope="module")
def release():
    grid = Grid.around(2.35, 48.85, 8000, shape=64, name="Test <town>")
    matrix = FrequencyMatrix.from_array(np.random.default_rng(9).poisson(9, (64, 64)), grid)
    return HTF(epsilon=1.0).release(matrix, rng=3)


def tags(page) -> list[str]:
    return [text.split("  ")[1] for text in page.maps.boxes[0].tags[0].data["text"]]


def test_a_release_given_to_explore_shows_its_map_and_its_answers(release) -> None:
    page = Explore(release)
    assert isinstance(page, ReleasePage)
    value = release.answer(page.rectangles.boxes).value
    assert tags(page) == [f"{round(each):,}" for each in value]
    np.testing.assert_array_equal(page.table.widget.value["private"], np.round(value))
    assert "true" not in page.table.widget.value
    np.testing.assert_allclose(page.answers["private"], value)
    assert page.answers.index.tolist() == ["Q1", "Q2"]
    said = press.text(page)
    assert "Preview" in said
    assert "Test ‹town›" in said
    assert "<town>" not in said
    assert page.maps.views[0].image.data["image"][0].any()
    assert len(page.maps.views[0].lines.boxes.data_source.data["x0"]) == release.n_leaves


def test_boxes_are_drawn_moved_and_set_as_on_other_pages(release) -> None:
    page = Explore(release, boxes=[[-1000, -1000, 1000, 1000]], height="600px")
    assert page.rectangles.boxes.tolist() == [[-1000, -1000, 1000, 1000]]
    figure = page.maps.views[0].figure
    wanted = release.answer([[1000, 500, 3000, 2500]]).value[0]
    drag(figure, (1000.0, 500.0, 3000.0, 2500.0))
    assert tags(page)[1] == f"{round(wanted):,}"
    happen(Tap(figure, x=0, y=0))
    page.maps.views[0].editor.right = 2000.0
    page.maps.views[0].editor.name = "dragged 1"
    assert page.boxes.x1.tolist() == [2000, 3000]
    with pytest.raises(InputError):
        page.boxes = [[9, 9, 1, 1]]
    assert page.boxes.x1.tolist() == [2000, 3000]


def test_a_release_in_cells_and_one_from_a_file_are_shown_too(tmp_path) -> None:
    UG(epsilon=1, grid_size=2).release([[9, 0], [8, 1]]).save(tmp_path / "map.parquet")
    page = Explore(Release.load(tmp_path / "map.parquet"))
    assert page.rectangles.grid.unit == "cells"
    assert len(tags(page)) == 2
    for path in (tmp_path / "map.parquet", str(tmp_path / "map.parquet")):
        assert tags(Explore(path)) == tags(page)


def test_what_does_not_go_with_a_release_is_refused_in_a_sentence(release) -> None:
    with pytest.raises(InputError, match="leave epsilon out"):
        Explore(release, epsilon=1)
    with pytest.raises(InputError, match=r"Explore\(release\)"):
        Compare(release)
    trips = Gravity(epsilon=1).release(TripMatrix.from_coordinates([[0, 1, 3, 2]], [4, 4]), rng=7)
    with pytest.raises(InputError):
        Explore(trips)
