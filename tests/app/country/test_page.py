"""The Country page, without a browser: one area at a time, private beside true."""

from __future__ import annotations

import html
import io
import re

import numpy as np
import pyogrio
import pytest
import shapely

from explorer.app.country import comparison
from explorer.app.country.budget import INSIDE
from explorer.app.curator.explain import OFF
from explorer.country.mechanism import Country as Mechanism
from explorer.errors import InputError
from explorer.points.truth import exact
from explorer.views import palette
from explorer.views.viewport import Viewport
from tests.app import acts, press
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


def test_the_sea_is_as_light_as_the_colours_of_the_areas(page) -> None:
    sea = page.maps.country.mapper
    for name, colours in palette.PALETTES.items():
        page.state.put(palette=name)
        assert palette.is_light(sea.palette) == palette.is_light(colours), name
    # It is told apart from an area where nobody is.
    page.state.put(palette="paper")
    assert sea.palette[0] != palette.PALETTES["paper"][0]


def test_it_opens_with_one_sentence_about_the_area_with_most_records(page) -> None:
    node = node_of(page, "D11")
    private, true = private_and_true(page, node)
    off = abs(private - true) / true
    found = re.fullmatch(
        r"West > Vale > D11: private ([\d,]+) \(95 %: [\d,]+ to [\d,]+\), truly ([\d,]+), "
        r"off by (below )?([\d.]+) %\.",
        said(page),
    )
    assert found, said(page)
    assert float(found[1].replace(",", "")) == round(private)
    assert float(found[2].replace(",", "")) == true
    assert float(found[4]) / 100 == pytest.approx(off, abs=1e-4)
    assert page.screen.node == node
    assert "D11" in page.maps.country.figure.html_attributes["aria-label"]


def test_the_table_has_every_area_of_the_map_and_a_click_chooses_it(page) -> None:
    frame = page.readout.areas.widget.value
    assert len(frame) == 12
    rows = dict(zip(frame["area"], frame.to_dict("records"), strict=True))
    private, true = private_and_true(page, node_of(page, "D20"))
    assert rows["D20"]["private"] == round(float(private))
    assert rows["D20"]["true"] == true
    assert rows["D20"]["error %"] == pytest.approx(100 * (private - true) / true, abs=1e-3)
    assert rows["D20"]["inside"] == "Vale, West"
    at = list(frame["area"]).index("D20")
    Browser(page.readout.areas.widget).click(at)
    assert said(page).startswith("West > Vale > D20:")


def test_a_click_on_the_country_chooses_the_area_there(page) -> None:
    node = node_of(page, "D02")
    x0, y0, x1, y1 = page.screen.outlined.shapes.bounds[node]
    page.tapped((x0 + x1) / 2, (y0 + y1) / 2)
    assert said(page).startswith("West > Hill > D02:")
    page.tapped(x0 - 1e6, y0)
    page.tapped("x", None)
    assert said(page).startswith("West > Hill > D02:"), "the sea and what is no place choose none"


def test_levels_change_the_geometry_and_looks_change_colours_alone(page) -> None:
    source = page.maps.choropleth.source
    assert len(source.data["xs"]) == 12
    before = source.data["xs"]
    page.state.put(shows="difference")
    assert source.data["xs"] is before
    page.state.put(level=1)
    assert len(source.data["xs"]) == 2
    assert list(source.data["name"]) == ["West", "East"]
    page.state.put(level=0)
    assert len(source.data["xs"]) == 1
    page.state.put(level=20, shows="true")
    assert list(source.data["true"]) == land.counts().by_node[page.screen.outlined.nodes].tolist()


def test_upper_areas_list_what_lies_in_them_and_have_no_map_of_their_own(page) -> None:
    press.press(page.readout.picker, "One level up")
    assert said(page).startswith("West > Vale:")
    assert page.screen.inside is None
    table = page.readout.family.object
    assert all(f">{name}<" in table.replace("\u2003", "") for name in ("D00", "D10", "D21", "Vale"))
    press.press(page.readout.picker, "One level up")
    press.press(page.readout.picker, "One level up")
    assert said(page).startswith("your own counts: private")
    assert press.find(page.readout.picker, "One level up").disabled
    press.put(page.readout.picker, "Area", node_of(page, "D32"))
    assert said(page).startswith("East > East > D32:"), "an only child is named with its parent"


def test_zooming_in_brings_finer_outlines_of_what_is_in_sight(page, monkeypatch) -> None:
    maps = page.maps

    def seen(number: int = -1) -> Viewport:
        # As a browser of that size would tell.
        return Viewport.of(maps._ranges[number].bounds, 500, 500, maps.grids[number])

    monkeypatch.setattr(maps, "viewport", seen)
    coarse = page.screen.outlined.shapes
    page.state.put(area=page.parts.data.areas.paths[node_of(page, "D00")])
    press.press(page.readout.picker, "Zoom to it")
    outlined = page.screen.outlined
    assert outlined.shapes is not coarse
    assert node_of(page, "D00") in outlined.finer
    assert node_of(page, "D32") not in outlined.finer
    page.zoom(0)
    assert page.screen.outlined.shapes is coarse


def test_it_opens_with_two_boxes_in_public_areas_and_both_their_numbers(page) -> None:
    data, boxes = page.parts.data, page.rectangles.boxes
    assert page.rectangles.names == ["Q1", "Q2"]
    for x0, y0, x1, y1 in boxes:
        middle = shapely.Point((x0 + x1) / 2, (y0 + y1) / 2)
        assert shapely.covers(data.shapes().polygons[0], middle), "on land"
    assert boxes[0, 1] > data.grid.bounds[1] + 0.29 * data.grid.height, "above the bar"
    rows = page.table.widget.value
    np.testing.assert_array_equal(rows["true"], exact(data.national, boxes).round())
    private = page.screen.release.answer(boxes).value.round()
    np.testing.assert_array_equal(rows["private"], private)
    said = " ".join(text for each in page.maps.boxes[0].tags for text in each.data["text"])
    assert all(f"{value:,.0f}" in said for value in private)


def test_a_box_is_answered_by_areas_and_maps(page) -> None:
    page.boxes = np.zeros((0, 4))
    grid = page.parts.data.grid
    x0, y0, x1, y1 = grid.bounds
    assert not page.table.widget.visible, "a table without rows is none to a screen reader"
    acts.drag(page.maps.country.figure, (x0 + 3000, y0 + 3000, x1 - 9000, y1 - 7000))
    assert page.table.widget.visible
    assert page.rectangles.names == ["Q1"]
    row = page.table.widget.value.iloc[0]
    release = page.screen.release
    boxes = page.rectangles.boxes
    assert row["private"] == round(float(release.answer(boxes).value[0]))
    assert row["true"] == round(float(exact(page.parts.data.national, boxes)[0]))
    # On the map inside, too.
    b = page.maps._ranges[1].bounds
    acts.drag(page.maps.inside.figure, (b[0] + 2000, b[1] + 2000, b[0] + 5000, b[1] + 6000))
    assert page.rectangles.names == ["Q1", "Q2"]


def test_the_map_inside_is_the_areas_own(page) -> None:
    inside = page.screen.inside
    matrix = page.parts.data.inside(page.screen.node)
    assert matrix.total == land.counts().by_node[page.screen.node]
    assert inside.release.grid.bounds == matrix.grid.bounds
    assert inside.bytes.max() > 100
    page.state.put(shows="true")
    assert not np.array_equal(page.screen.inside.bytes, inside.bytes)
    press.put(page.drawer, "Inside areas", "none")
    assert page.screen.inside is None


def test_the_budget_of_a_path_adds_up(page) -> None:
    page.explain.choice.value = "Budget"
    panel = page.explain.open
    for rule in ("Eq. 38", "least squares", "uniform"):
        page.state.set_parameter("budgets", rule)
        page.settings_changed()
        from explorer.app.country.budget import find_budget

        found = find_budget(page.screen)
        assert sum(part for _, part in found.path) == pytest.approx(1.0, abs=1e-9)
        assert sum(part for _, part in found.levels) == pytest.approx(1.0, abs=1e-9)
        assert found.path[-1][0] == INSIDE
    assert "On the way to D11" in press.text(panel)
    page.explain.choice.value = OFF


def test_sliders_change_the_release(page) -> None:
    before = page.screen.private.copy()
    press.put(page.drawer, "Own share", 0.6)
    assert not np.array_equal(page.screen.private, before)
    assert page.screen.release.parameters["own_share"] == 0.6
    press.put(page.drawer, "Threshold", 500)
    assert page.screen.release.parameters["threshold"] == 500
    with pytest.raises(InputError, match=r"The area is .D11.: give its names"):
        page.state.put(area="D11")


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
    assert "As chosen" in press.text(panel)
    page.state.put(epsilon=0.5)
    assert "The settings have changed since" in press.text(panel)


def test_a_release_is_booked_and_saved_and_a_preview_says_so(page, monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("EXPLORER_LEDGER", str(tmp_path / "ledger.json"))
    assert "must not be published" in press.text(page)
    assert not press.find(page.drawer, "Save the release").visible
    press.draw_release(page.drawer)
    assert not page.screen.release.preview
    assert "booked with epsilon 1" in press.text(page)
    assert "Private release: may be published" in press.text(page)
    file = press.download(page.drawer, "Save the release")
    path = tmp_path / "release.parquet"
    path.write_bytes(file)
    from explorer.releases.country import CountryRelease

    again = CountryRelease.load(path)
    np.testing.assert_allclose(again.figures()[0], page.screen.private)
    other = tmp_path / "release.gpkg"
    other.write_bytes(press.download(page.drawer, "Save as GeoPackage, a layer per level"))
    np.testing.assert_allclose(CountryRelease.load(other).figures()[0], page.screen.private)
    names = [name for name, _ in pyogrio.list_layers(other)]
    assert {"country", "region", "district"} <= set(names)


def test_own_boundaries_and_points_are_uploaded(page, tmp_path) -> None:
    land.frame().rename(columns={"district": "ward"}).to_file(tmp_path / "a.gpkg")
    points = land.places(500)
    text = io.StringIO()
    text.write("lon,lat\n")
    np.savetxt(text, np.column_stack([points.x, points.y]), delimiter=",")
    form = page.upload
    form.file.param.update(value=text.getvalue().encode(), filename="p.csv")
    press.press(form, "Load these points")
    assert "No boundaries have been chosen" in press.text(page)
    form.boundaries.param.update(value=(tmp_path / "a.gpkg").read_bytes(), filename="a.gpkg")
    press.press(form, "Load these points")
    assert "district" in press.text(page), "the column that is not there is named"
    press.put(form, form.levels.label, "country, region, ward")
    form.boundaries.param.update(value=(tmp_path / "a.gpkg").read_bytes(), filename="a.gpkg")
    form.file.param.update(value=text.getvalue().encode(), filename="p.csv")
    press.press(form, "Load these points")
    assert page.parts.data.title == "Your country"
    assert len(page.readout.areas.widget.value) == 12
    assert page.parts.data.true[0] <= 500
    assert page.parts.data.areas.levels == ("country", "region", "ward")


def upload(page, frame, points: str, folder) -> None:
    """Send boundaries and points as a visitor does."""
    path = folder / "own.gpkg"
    path.unlink(missing_ok=True)
    frame.to_file(path)
    form = page.upload
    form.boundaries.param.update(value=path.read_bytes(), filename="own.gpkg")
    form.file.param.update(value=points.encode(), filename="p.csv")
    press.press(form, "Load these points")


def test_points_of_another_place_are_refused_in_a_sentence(page, tmp_path) -> None:
    upload(page, land.frame(), "lon,lat\n50.1,10.1\n50.2,10.2\n", tmp_path)
    assert "None of your points lies in any of your areas" in page.message.sentence
    assert page.parts.data.title == "your own counts"
    assert page.state.city == "yours"


def test_what_was_left_out_of_boundaries_is_said_when_they_are_shown(page, tmp_path) -> None:
    frame = land.frame().to_crs(3035)
    line = shapely.LineString([(0, 0), (1, 1)])
    frame.loc[0, "geometry"] = shapely.GeometryCollection([frame.geometry[0], line])
    upload(page, frame, "lon,lat\n10.15,50.15\n10.25,50.25\n", tmp_path)
    assert page.parts.data.true[0] == 2
    assert page.parts.data.notes, "the line is no area"
    assert page.message.sentence == " ".join(page.parts.data.notes)
