"""The Country page, without a browser: one area at a time, private beside true."""

import html
import io
import re

import numpy as np
import pyogrio
import pytest
import shapely

from explorer.app.country import comparison
from explorer.app.country.budget import INSIDE, find_budget
from explorer.country.mechanism import Country as Mechanism
from explorer.points.truth import exact
from explorer.releases.country import CountryRelease
from explorer.views import palette
from explorer.views.viewport import Viewport
from tests.app import press
from tests.app.acts import Browser
from tests.app.country import land


@pytest.fixture
def page():
    return land.new_page()


def said(page) -> str:
    return html.unescape(re.sub("<[^>]*>", "", page.readout.answer.object)).strip()


def node_of(page, name: str) -> int:
    (found,) = (n for n, path in enumerate(page.parts.data.areas.paths) if path[-1:] == (name,))
    return found


def private_and_true(page, node: int) -> tuple[float, float]:
    release = Mechanism(epsilon=1.0, inside="ug").release(land.counts(), rng=page.state.seed)
    return float(release.figures()[0][node]), float(land.counts().by_node[node])


def test_it_opens_with_one_sentence_about_the_area_with_most_records(page) -> None:
    node = node_of(page, "D11")
    private, true = private_and_true(page, node)
    found = re.fullmatch(
        r"West > Vale > D11: private ([\d,]+) \(95 %: [\d,]+ to [\d,]+\), truly ([\d,]+), "
        r"off by (below )?([\d.]+) %\.",
        said(page),
    )
    assert float(found[1].replace(",", "")) == round(private)
    assert float(found[2].replace(",", "")) == true
    assert float(found[4]) / 100 == pytest.approx(abs(private - true) / true, abs=1e-4)
    assert page.screen.node == node
    # Two boxes lie on land, above the bar of colours.
    grid, boxes = page.parts.data.grid, page.rectangles.boxes
    for x0, y0, x1, y1 in boxes:
        middle = shapely.Point((x0 + x1) / 2, (y0 + y1) / 2)
        assert shapely.covers(page.parts.data.shapes().polygons[0], middle)
    assert boxes[0, 1] > grid.bounds[1] + 0.29 * grid.height
    rows = page.table.widget.value
    np.testing.assert_array_equal(rows["true"], exact(page.parts.data.national, boxes).round())


def test_areas_are_chosen_in_the_table_on_the_map_and_by_a_menu(page) -> None:
    widget, picker = page.readout.areas.widget, page.readout.picker
    frame = widget.value.set_index("area")
    private, true = private_and_true(page, node_of(page, "D20"))
    assert len(frame) == 12
    row = frame.loc["D20"]
    assert (row["private"], row["true"], row["inside"]) == (round(private), true, "Vale, West")
    assert row["error %"] == pytest.approx(100 * (private - true) / true, abs=1e-3)
    Browser(widget).click(list(frame.index).index("D20"))
    assert said(page).startswith("West > Vale > D20:")
    x0, y0, x1, y1 = page.screen.outlined.shapes.bounds[node_of(page, "D02")]
    page.tapped((x0 + x1) / 2, (y0 + y1) / 2)
    page.tapped(x0 - 1e6, y0)
    page.tapped("x", None)
    assert said(page).startswith("West > Hill > D02:"), "the sea and what is no place choose none"
    press.put(picker, "Area", node_of(page, "D11"))
    press.press(picker, "One level up")
    assert said(page).startswith("West > Vale:")
    assert page.screen.inside is None, "upper areas have no map of their own"
    table = page.readout.family.object.replace("\u2003", "")
    assert all(f">{name}<" in table for name in ("D00", "D10", "D21", "Vale"))
    for _ in range(2):
        press.press(picker, "One level up")
    assert said(page).startswith("your own counts: private")
    assert press.find(picker, "One level up").disabled
    press.put(picker, "Area", node_of(page, "D32"))
    assert said(page).startswith("East > East > D32:"), "an only child is named with its parent"


def test_levels_change_the_geometry_and_looks_change_colours_alone(page) -> None:
    source = page.maps.choropleth.source
    before = source.data["xs"]
    assert len(before) == 12
    page.state.put(shows="difference")
    assert source.data["xs"] is before
    page.state.put(level=1)
    assert list(source.data["name"]) == ["West", "East"]
    page.state.put(level=20, shows="true")
    assert list(source.data["true"]) == land.counts().by_node[page.screen.outlined.nodes].tolist()
    # The sea is as light as the colours of the areas.
    for name, colours in palette.PALETTES.items():
        page.state.put(palette=name)
        assert palette.is_light(page.maps.country.mapper.palette) == palette.is_light(colours), name


def test_zooming_in_brings_finer_outlines_of_what_is_in_sight(page, monkeypatch) -> None:
    def seen(number: int = -1) -> Viewport:
        # As a browser of that size would tell.
        maps = page.maps
        return Viewport.of(maps.all_ranges[number].bounds, 500, 500, maps.grids[number])

    monkeypatch.setattr(page.maps, "viewport", seen)
    coarse = page.screen.outlined.shapes
    page.state.put(area=page.parts.data.areas.paths[node_of(page, "D00")])
    press.press(page.readout.picker, "Zoom to it")
    outlined = page.screen.outlined
    assert node_of(page, "D00") in outlined.finer
    assert node_of(page, "D32") not in outlined.finer
    page.zoom(0)
    assert page.screen.outlined.shapes is coarse


def test_the_map_inside_is_the_areas_own(page) -> None:
    inside, matrix = page.screen.inside, page.parts.data.inside(page.screen.node)
    assert matrix.total == land.counts().by_node[page.screen.node]
    assert inside.release.grid.bounds == matrix.grid.bounds
    assert inside.bytes.max() > 100
    page.state.put(shows="true")
    assert not np.array_equal(page.screen.inside.bytes, inside.bytes)
    press.put(page.drawer, "Own share", 0.6)
    assert page.screen.release.parameters["own_share"] == 0.6
    press.put(page.drawer, "Inside areas", "none")
    assert page.screen.inside is None


def test_the_budget_of_a_path_adds_up(page) -> None:
    page.explain.choice.value = "Budget"
    for rule in ("Eq. 38", "least squares", "uniform"):
        page.state.set_parameter("budgets", rule)
        page.settings_changed()
        found = find_budget(page.screen)
        assert sum(part for _, part in found.path) == pytest.approx(1.0, abs=1e-9)
        assert sum(part for _, part in found.levels) == pytest.approx(1.0, abs=1e-9)
        assert found.path[-1][0] == INSIDE
    assert "On the way to D11" in press.text(page.explain.open)


def test_architectures_are_compared_when_asked(page, monkeypatch) -> None:
    monkeypatch.setattr(comparison, "RUNS", 1)
    page.explain.choice.value = "Ways"
    panel = page.explain.open
    assert panel.found is None
    press.press(panel, "Compare architectures")
    rows = panel.found.rows
    assert {row.title for row in rows} == set(comparison.ways(Mechanism()))
    assert not any(row.said for row in rows if "Benchmark" not in row.title)
    assert [row.lowest for row in rows] == sorted(row.lowest for row in rows)
    page.state.put(epsilon=0.5)
    assert "The settings have changed since" in press.text(panel)


def test_a_release_is_saved_as_a_geopackage_with_a_layer_a_level(
    page, monkeypatch, tmp_path
) -> None:
    monkeypatch.setenv("EXPLORER_LEDGER", str(tmp_path / "ledger.sqlite3"))
    press.draw_release(page.drawer)
    path = tmp_path / "release.gpkg"
    path.write_bytes(press.download(page.drawer, "Save as GeoPackage, a layer per level"))
    np.testing.assert_allclose(CountryRelease.load(path).figures()[0], page.screen.private)
    layers = {name for name, _ in pyogrio.list_layers(path)}
    assert {"country", "region", "district"} <= layers


def upload(page, frame, points: str, folder) -> None:
    """Send boundaries and points as a visitor does."""
    path = folder / "own.gpkg"
    path.unlink(missing_ok=True)
    frame.to_file(path)
    form = page.upload
    form.boundaries.param.update(value=path.read_bytes(), filename="own.gpkg")
    form.file.param.update(value=points.encode(), filename="p.csv")
    press.press(form, "Load these points")


def test_own_boundaries_and_points_are_uploaded(page, tmp_path) -> None:
    text, points = io.StringIO(), land.places(500)
    text.write("lon,lat\n")
    np.savetxt(text, np.column_stack([points.x, points.y]), delimiter=",")
    form, wards = page.upload, land.frame().rename(columns={"district": "ward"})
    form.file.param.update(value=text.getvalue().encode(), filename="p.csv")
    press.press(form, "Load these points")
    assert "No boundaries have been chosen" in press.text(page)
    upload(page, wards, text.getvalue(), tmp_path)
    assert "district" in press.text(page), "the column that is not there is named"
    upload(page, land.frame(), "lon,lat\n50.1,10.1\n50.2,10.2\n", tmp_path)
    assert "None of your points lies in any of your areas" in page.message.sentence
    assert page.parts.data.title == "your own counts"
    assert page.state.city == "yours"
    press.put(form, form.levels.label, "country, region, ward")
    upload(page, wards, text.getvalue(), tmp_path)
    assert page.parts.data.title == "Your country"
    assert len(page.readout.areas.widget.value) == 12
    assert page.parts.data.true[0] <= 500
    assert page.parts.data.areas.levels == ("country", "region", "ward")
    # What was left out of boundaries is said.
    odd = land.frame().to_crs(3035).rename(columns={"district": "ward"})
    line = shapely.LineString([(0, 0), (1, 1)])
    odd.loc[0, "geometry"] = shapely.GeometryCollection([odd.geometry[0], line])
    upload(page, odd, "lon,lat\n10.15,50.15\n10.25,50.25\n", tmp_path)
    assert page.parts.data.true[0] == 2
    assert page.message.sentence == " ".join(page.parts.data.notes) != ""
