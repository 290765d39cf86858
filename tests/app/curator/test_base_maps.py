"""Coast, roads and names under the maps of every page: there, switched, kept, never in the way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from explorer.app import Compare, Country, Explore, Federated, Trips
from explorer.app.curator.data import load_city
from explorer.app.curator.grounds import base_maps_on
from explorer.cities import madeup
from explorer.grid.grid import Grid
from explorer.points.matrix import FrequencyMatrix
from explorer.scenario import Scenario
from tests.app import press

PAGES: list[Any] = [Explore, Compare, Trips, Federated]


def layers(page: Any) -> list[Any]:
    found: list[Any] = page.maps.base.layers
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda each: each.__name__)
def test_port_amber_has_its_names_on_every_page_until_they_are_switched_off(page: Any) -> None:
    shown = page("madeup", side=64 if page is Trips else 256)
    for layer in layers(shown):
        assert "Port Amber" in layer.names.data["text"]
        assert len(layer.lines.data["xs"]) > 20
        assert all(each.texts.visible for each in layer.drawn)
    switch = press.find(shown, "Coast, roads and names")
    assert switch.visible
    assert switch.value
    switch.value = False
    assert not any(each.strokes.visible for layer in layers(shown) for each in layer.drawn)
    switch.value = True
    assert all(each.texts.visible for layer in layers(shown) for each in layer.drawn)


def test_a_country_names_its_areas_coarse_ones_first() -> None:
    page = Country("nation")
    names = layers(page)[0].names.data["text"]
    assert "North Amber" in names
    assert len(names) > 8


def test_counts_without_a_place_have_no_switch() -> None:
    page = Explore(FrequencyMatrix.from_array(np.ones((64, 64), dtype=int)))
    assert not press.find(page, "Coast, roads and names").visible
    assert all(not layer.drawn for layer in layers(page))


def test_inks_follow_the_colours_of_each_map() -> None:
    page = Explore("madeup", side=256)
    (layer,) = layers(page)
    left, right = layer.drawn
    dark = list(left.inks.palette)
    page.state.put(palette="paper")
    assert left.inks.palette == right.inks.palette != dark
    page.state.put(right="difference")
    assert list(right.inks.palette) == dark != left.inks.palette


def test_a_scenario_keeps_that_there_is_none() -> None:
    plain = {"scenario": 1, "page": "explore", "city": "madeup", "look": {"base_map": False}}
    scenario = Scenario.from_dict(plain)
    assert Scenario.from_link(scenario.to_link()).look.base_map is False
    assert "base_map" not in Scenario.from_dict({**plain, "look": {}}).to_dict().get("look", {})


def test_a_bad_file_is_told_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXPLORER_DATA", str(tmp_path))
    (tmp_path / "town.base_map.geojson").write_text("no map")
    bases, said = base_maps_on("town", (Grid.around(0, 0, 1000, shape=4),))
    assert bases == (None,)
    assert "town.base_map.geojson" in said[0]
    assert load_city("madeup", 256).base_maps[0] is not None
    assert madeup.grid(4).crs is not None
