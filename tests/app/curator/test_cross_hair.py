"""The cross-hair: what each map says of the cell at the pointer, and nothing before it is asked."""

import json

import numpy as np
import pytest
from bokeh.models import CrosshairTool

from explorer.app import Compare, Explore
from explorer.grid.grid import Grid
from explorer.points.matrix import FrequencyMatrix


@pytest.fixture
def matrix():
    grid = Grid.around(2.35, 48.85, 6400, shape=64, name="Test town")
    return FrequencyMatrix.from_array(np.random.default_rng(9).poisson(9, (64, 64)), grid)


def heads(page) -> list[str]:
    return [each.object for each in page.maps.heads]


def hairs(page) -> list[int]:
    views = page.maps.views
    return [sum(isinstance(t, CrosshairTool) for t in each.figure.tools) for each in views]


def point(page, x: object, y: object) -> None:
    """As the browser does, which tells of the pointer only when it shall."""
    if page.cross_hair.pointer.said.tags:
        page.cross_hair.pointer.said.value = json.dumps([x, y])


def test_both_maps_say_what_the_cell_at_the_pointer_holds(matrix) -> None:
    page = Explore(matrix, mechanism="ug", epsilon=1.0)
    before = heads(page)
    page.pressed("c", False)
    assert hairs(page) == [1, 1]
    # The cell in row 40 and column 10, of 100 m.
    point(page, -3200 + 1050.0, -3200 + 4050.0)
    private = page.release.density()[40, 10]
    assert f"{matrix.counts[40, 10]:,} in this cell" in heads(page)[0]
    assert f"{private:,.2f} in this cell" in heads(page)[1]
    point(page, None, None)
    assert heads(page) == before
    point(page, 9e9, 0.0)
    assert "in this cell" not in "".join(heads(page))
    for nonsense in ("", "{", "[1]", "[[], {}]", "[NaN, 1]", '["0", 1]'):
        page.cross_hair.pointer.said.value = nonsense
    page.pressed("c", False)
    assert hairs(page) == [0, 0]
    assert heads(page) == before
    point(page, 0.0, 0.0)
    assert heads(page) == before


def test_the_lines_are_the_same_on_all_maps_and_follow_to_other_ones(matrix) -> None:
    page = Explore(matrix)
    page.cross_hair.toggle()
    lines = {
        id(line)
        for view in page.maps.views
        for tool in view.figure.tools
        if isinstance(tool, CrosshairTool)
        for line in tool.overlay
    }
    assert len(lines) == 2
    page.state.put(city="madeup", side=256)
    assert hairs(page) == [1, 1]


def test_who_presents_without_the_truth_reads_private_counts_alone(matrix) -> None:
    page = Explore(matrix)
    page.pressed("p", False)
    page.pressed("c", False)
    point(page, 0.0, 0.0)
    assert "in this cell" not in heads(page)[0]
    assert "in this cell" in heads(page)[1]


def test_a_page_that_compares_reads_both(matrix) -> None:
    page = Compare(matrix)
    page.pressed("c", False)
    point(page, 0.0, 0.0)
    for text, release in zip(heads(page), page.releases, strict=True):
        assert f"{release.density()[32, 32]:,.2f} in this cell" in text
