"""Polygons of a scenario: kept as text, exactly; anything else is one sentence."""

import numpy as np
import pytest
import shapely

from explorer import exact
from explorer.cities.catalogue import find
from explorer.errors import InputError
from explorer.scenario import Polygon, Scenario, to_notebook, to_python
from explorer.scenario.boxes import MOST_TEXT

RING = shapely.Polygon([(-500.5, -700), (900.125, -600), (0, 800)], [[(0, 0), (100, 0), (0, 100)]])


def test_a_polygon_comes_back_exactly_from_a_file_and_from_a_link() -> None:
    one = Scenario(boxes=[[0, 0, 500, 500], Polygon.of(RING, "Hill")])
    for again in (Scenario.from_yaml(one.to_yaml()), Scenario.from_link(one.to_link())):
        assert again == one
        assert again.boxes[1].shape == RING
        assert again.boxes[1].edges == RING.bounds
    assert "POLYGON ((" in one.to_yaml()
    rounded = Polygon.of(shapely.Polygon([(0, 0), (1.00049, 0), (0, 1)]))
    assert rounded.shape.bounds == (0, 0, 1, 1)


@pytest.mark.parametrize(
    "wkt",
    [
        *("", "POLYGON", "POINT (1 2)", "POLYGON EMPTY", "POLYGON ((0 0, 1 1, 2 2, 0 0))", 7, None),
        *("POLYGON ((0 0, nan 1, 2 0, 0 0))", "POLYGON ((0 0, 1e300 1, 2 0, 0 0))"),
        " " * MOST_TEXT * 2,
    ],
)
def test_what_is_no_polygon_is_refused_in_a_sentence(wkt) -> None:
    with pytest.raises(InputError, match="polygon of the scenario"):
        Scenario(boxes=[{"name": "x", "polygon": wkt}])


def test_trips_and_unknown_entries_are_refused() -> None:
    with pytest.raises(InputError, match="one map"):
        Scenario(page="trips", boxes=[Polygon.of(RING)])
    with pytest.raises(InputError, match="unknown"):
        Scenario(boxes=[{"polygon": RING.wkt, "edges": [0, 0, 1, 1]}])


def test_a_script_and_a_notebook_ask_the_polygons_of_the_screen() -> None:
    one = Scenario(side=256, boxes=[[0, 0, 500, 500], Polygon.of(RING, "Hill")])
    space: dict = {}
    exec(to_python(one), space)
    matrix = find("madeup").load(256)[1]
    np.testing.assert_allclose(space["true"][1], exact(matrix, RING)[0], rtol=1e-9)
    np.testing.assert_allclose(space["true"][0], exact(matrix, [[0, 0, 500, 500]])[0], rtol=1e-9)
    assert "from_wkt" in to_notebook(one)


def test_more_corners_than_a_file_may_have_are_said_when_it_is_saved() -> None:
    places = [(3 * n, 0 if n % 2 else 7) for n in range(2000)]
    shape = shapely.LineString(places).buffer(1, quad_segs=1)
    many = Scenario(boxes=[Polygon.of(shape, f"S{n}") for n in range(6)])
    with pytest.raises(InputError, match="too many corners"):
        many.to_yaml()
    with pytest.raises(InputError, match="too much for a link"):
        many.to_link()
