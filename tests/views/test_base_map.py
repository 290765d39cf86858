"""A base map on figures: inks for light and dark, names that fit, nothing where there is none."""

from __future__ import annotations

import numpy as np
import shapely
from bokeh.plotting import figure

from explorer.grid.base_map import BaseMap
from explorer.views.base_map import BaseLayer, which_fit

BASE = BaseMap(
    [shapely.LineString([(0, 0), (10, 10)])],
    ["water"],
    ["City <b>", "Suburb", "Village"],
    np.array([(5.0, 5.0), (5.2, 5.0), (5.0, 9.0)]),
    ["place", "place", "water"],
)


def test_glyphs_come_with_the_first_map_that_has_something() -> None:
    figures, layer = [figure(), figure()], BaseLayer()
    before = [len(each.renderers) for each in figures]
    layer.show(None, figures)
    layer.show(BaseMap((), ()), figures)
    assert [len(each.renderers) for each in figures] == before
    layer.show(BASE, figures)
    assert [len(each.renderers) for each in figures] == [2, 2]
    assert layer.lines.data["kind"] == ["water"]
    layer.zoom((0, 0, 10, 10), 40)
    # Text of files is harmless wherever it goes.
    assert layer.names.data["text"] == ["City ‹b›", "Village"]
    layer.show(None, figures)
    assert layer.lines.data["kind"] == layer.names.data["text"] == []


def test_closer_more_names_fit_and_none_is_cut_off_or_covers_another() -> None:
    assert which_fit(BASE.names, BASE.places, (0, 0, 10, 10), 40) == (0, 2)
    assert which_fit(BASE.names, BASE.places, (4, 4, 6, 6), 400) == (0, 1)
    # Nothing is where the pointer is not, and a size that is not known yet is a usual one.
    assert which_fit(BASE.names, BASE.places, (20, 20, 30, 30), 40) == ()
    assert which_fit(BASE.names, BASE.places, (0, 0, 10, 10)) == (0, 2)
    rng = np.random.default_rng(2)
    names, places = [f"Name {i}" for i in range(300)], rng.uniform(0, 100, (300, 2))
    kept = which_fit(names, places, (0, 0, 100, 100), 4)
    assert kept[0] == min(kept)
    assert 10 < len(kept) < 60
    x, y = places[list(kept)].T * 4
    near = (np.abs(x[:, None] - x) < 40) & (np.abs(y[:, None] - y) < 16)
    assert near.sum() == len(kept)


def test_no_name_touches_what_lies_over_the_map() -> None:
    where = BASE.names, BASE.places, (0, 0, 10, 10), 40
    # "City <b>" is some 50 pixels wide, and its middle stands at 200, 200.
    assert which_fit(*where, [(0, 0, 170, 400)]) == (0, 2)
    assert which_fit(*where, [(0, 0, 180, 400)])[0] == 1
    assert which_fit(*where, [(0, 0, 400, 188)]) == (0, 2)
    assert which_fit(*where, [(0, 0, 400, 192)]) == (2,)
    # Larger type takes more of the same map.
    layer = BaseLayer()
    layer.show(BASE, [figure()])
    layer.zoom((0, 0, 10, 10), 40, [(0, 0, 170, 400)])
    assert "City ‹b›" in layer.names.data["text"]
    layer.widen(True)
    layer.zoom((0, 0, 10, 10), 40, [(0, 0, 170, 400)])
    assert "City ‹b›" not in layer.names.data["text"]
