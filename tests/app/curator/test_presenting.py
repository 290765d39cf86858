"""On maps beside counts: nothing exact while presenting, coast and names until switched off."""

import numpy as np
import pytest

from explorer.app import Compare, Country, Explore, Federated, Trips
from explorer.app.curator.data import base_maps_on, load_city
from explorer.cities import madeup
from explorer.grid.grid import Grid
from explorer.points.matrix import FrequencyMatrix
from tests.app import press
from tests.app.country import land
from tests.app.map_pages import MATRIX


def tags(page) -> str:
    boxes = [tag.data["text"] for boxes in page.maps.boxes for tag in boxes.tags]
    return " ".join(text for texts in boxes for text in texts)


def shown(page) -> list[bool]:
    return [card.visible for card in page.maps.frame[0]]


def test_no_true_number_is_on_the_screen_before_it_is_asked_for() -> None:
    # Numbers that stand nowhere by chance.
    counts = FrequencyMatrix.from_array(997 * MATRIX.counts, MATRIX.grid)
    page = Explore(counts, mechanism="ug", epsilon=1.0)
    true = [f"{value:,.0f}" for value in page.answers.true]
    assert all(each in tags(page) for each in true)
    page.maps.draft(0, (0.0, 0.0, 900.0, 900.0), [("4,711", "green"), ("4,700  -0.2 %", "blue")])
    page.pressed("p", False)
    assert shown(page) == [False, True]
    assert not any(each in tags(page) for each in (*true, "4,711"))
    assert not any(each in press.markup(page) for each in true)
    assert "private" in page.table.widget.value.columns
    assert not len(page.maps.left.image.data["image"])
    page.drawn((-1000.0, -1000.0, 500.0, 500.0))
    assert tags(page).count("Q3") == 2
    assert f"{page.answers.true['Q3']:,.0f}" not in tags(page)
    assert "%" not in tags(page)
    # A panel is shown with the exact counts alone.
    page.explain.choice.value = "Leaves"
    assert page.explain.open is None
    page.pressed("t", False)
    assert shown(page) == [True, True]
    assert all(each in tags(page) for each in true)
    assert len(page.maps.left.image.data["image"])
    assert page.explain.open is not None
    page.pressed("t", False)
    assert shown(page) == [False, True]
    assert page.explain.open is None
    assert page.maps.covered == frozenset()


def test_a_country_says_nothing_true_at_the_pointer_either() -> None:
    page = land.new_page()
    hover, table = page.maps.choropleth.hover, page.readout.areas.widget
    for truth in (True, False, True):
        assert ("@true" in hover.tooltips) is truth
        assert np.isfinite(page.maps.choropleth.source.data["true"]).all() == truth
        assert bool({"true", "difference", "error %"} & {*table.value.columns}) is truth
        page.pressed("p" if truth else "t", False)


# Coast, roads and names.


@pytest.mark.parametrize("kind", [Explore, Compare, Trips, Federated])
def test_port_amber_has_its_names_on_every_page_until_they_are_switched_off(kind) -> None:
    page = kind("madeup", side=64 if kind is Trips else 256)
    layers = page.maps.base.layers
    for layer in layers:
        assert "Port Amber" in layer.names.data["text"]
        assert len(layer.lines.data["xs"]) > 20
        assert all(each.texts.visible for each in layer.drawn)
    switch = press.find(page, "Coast, roads and names")
    for on in (False, True):
        switch.value = on
        drawn = [each for layer in layers for each in layer.drawn]
        assert all(each.strokes.visible is each.texts.visible is on for each in drawn)


def test_a_country_names_its_areas_and_counts_without_a_place_have_no_switch() -> None:
    names = Country("nation").maps.base.layers[0].names.data["text"]
    assert "North Amber" in names
    assert len(names) > 8
    page = Explore(FrequencyMatrix.from_array(np.ones((64, 64), dtype=int)))
    assert not press.find(page, "Coast, roads and names").visible
    assert all(not layer.drawn for layer in page.maps.base.layers)


def test_a_bad_file_is_told_and_loses_nothing(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("EXPLORER_DATA", str(tmp_path))
    (tmp_path / "town.base_map.geojson").write_text("no map")
    bases, said = base_maps_on("town", (Grid.around(0, 0, 1000, shape=4),))
    assert bases == (None,)
    assert "town.base_map.geojson" in said[0]
    assert load_city("madeup", 256).base_maps[0] is not None
    assert madeup.grid(4).crs is not None
