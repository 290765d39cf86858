"""Answers to boxes and polygons, catalogue, mechanisms, tables."""

import json
from pathlib import Path

import numpy as np
import pytest

from explorer import HTF, FrequencyMatrix, Grid, Release, all_mechanisms
from explorer.cities.catalogue import cities
from explorer.commands import flags
from explorer.commands.terminal import table
from explorer.mechanisms import trip_mechanisms
from explorer.queries.files import read_rectangles
from tests.commands.refusals import refusal

GRID = Grid.around(-122.42, 37.77, 20_000, shape=64)


@pytest.fixture
def _map(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    counts = np.random.default_rng(1).poisson(3.0, GRID.shape)
    HTF(epsilon=1).release(FrequencyMatrix.from_array(counts, GRID), rng=7).save("map.parquet")


@pytest.mark.usefixtures("_map")
def test_the_table_is_aligned_and_explained_and_a_file_is_read_back(run):
    Path("boxes.csv").write_text("name,x0,y0,x1,y1\nCentre,-500,-500,500,500\n=1+1,0,0,9000,9000\n")
    asked = "answer map.parquet --rectangles boxes.csv --rectangle 100 -50 4000 333.3"
    out, err = run(asked)
    release, lines = Release.load("map.parquet"), out.splitlines()
    assert [line.split()[0] for line in lines] == ["name", "Centre", "=1+1", "Q3"]
    assert len({len(line) for line in lines}) == 1
    assert f"  {release.answer([[-500, -500, 500, 500]]).value[0]:,.1f}  " in lines[1]
    assert "95 % interval" in err
    assert release.summary() in err
    Path("a.geojson").write_text("my work")
    assert "3 answers were written" in run(f"{asked} -o a.geojson --overwrite").out
    features = json.loads(Path("a.geojson").read_text())["features"]
    run("answer map.parquet --rectangles a.geojson -o again.json")
    assert read_rectangles("a.geojson", GRID)[0][2].tolist() == [100, -50, 4000, 333.3]
    again = json.loads(Path("again.json").read_text())
    assert [row["value"] for row in again] == [each["properties"]["value"] for each in features]


@pytest.mark.usefixtures("_map")
def test_what_lies_outside_the_map_is_told(run):
    out, err = run("answer map.parquet --rectangle 20000 20000 30000 30000 --format json")
    assert "1 rectangle lies outside the map" in err
    assert (json.loads(out)[0]["value"], json.loads(out)[0]["noise_sd"]) == (0, 0)


def shapes(path, *rings, **facts):
    geometries = [{"type": "Polygon", "coordinates": [ring]} for ring in rings]
    features = [{"type": "Feature", "properties": facts, "geometry": g} for g in geometries]
    Path(path).write_text(json.dumps({"type": "FeatureCollection", "features": features}))


@pytest.mark.usefixtures("_map")
def test_shapes_that_are_no_rectangles_are_refused_or_asked_as_they_are(run, capsys):
    corners = [[-122.42, 37.76], [-122.40, 37.76], [-122.40, 37.78]]
    shapes("shapes.geojson", [*corners, [-122.42, 37.78]], corners)
    asked = "answer map.parquet --rectangles shapes.geojson --format json"
    sentence = "1 of 2 shapes is not a rectangle on this map"
    refused = refusal(capsys, *asked.split())
    assert f"{sentence}; ask shapes as they are with --polygons" in refused
    out, err = run(f"{asked} --bounding-boxes")
    assert f"{sentence}: its bounding box is asked." in err.splitlines()
    first, second = (row["value"] for row in json.loads(out))
    assert first == pytest.approx(second, rel=0.01)
    # Asked as they are, the triangle holds less than the square that it is half of.
    asked = "answer map.parquet --polygons shapes.geojson"
    square, triangle = json.loads(run(f"{asked} --format json").out)
    assert square["value"] == pytest.approx(first, rel=0.01)
    assert triangle["value"] < 0.9 * square["value"]
    assert square["name"] == "Q1"
    written = json.loads(run(f"{asked} --format geojson").out)["features"][1]
    assert written["properties"]["value"] == triangle["value"]
    assert np.allclose(written["geometry"]["coordinates"][0][:3], corners)
    assert "noise_sd" in run(asked).out


@pytest.mark.usefixtures("_map")
def test_polygons_are_named_by_the_column_that_is_given(run, capsys):
    """Without it they have the names of a column called name, here none."""
    shapes("wards.geojson", [[13.4, 52.52], [13.41, 52.52], [13.4, 52.53]], ward="Mitte", code=7)
    asked = "answer map.parquet --polygons wards.geojson --format json"
    for more, name in (("", "Q1"), (" --name-column ward", "Mitte")):
        assert json.loads(run(asked + more).out)[0]["name"] == name
    said = refusal(capsys, *asked.split(), "--name-column", "mayor")
    assert "The polygons have no column 'mayor'; choose among 'ward', 'code'." in said


def test_mechanisms_are_listed_with_their_papers(run):
    every = {**all_mechanisms(), **trip_mechanisms()}
    lines = run("mechanisms").out.splitlines()
    assert [line.split()[0] for line in lines] == list(every)
    for line, each in zip(lines, every.values(), strict=True):
        assert each.summary in line
        assert each.paper in line
        assert line.endswith(" (trips only)") == (not each.for_maps)
    out = run("mechanisms htf").out
    shown = [line for line in out.splitlines() if line.startswith("--")]
    assert shown == ["--epsilon", *map(flags.flag, HTF.tunables())]
    assert "0 to 22, or auto; default auto" in out


def test_cities_are_listed_with_their_files(tmp_path, run, monkeypatch):
    monkeypatch.setenv("EXPLORER_DATA", str(tmp_path))
    monkeypatch.setenv("EXPLORER_CACHE", str(tmp_path / "cache"))
    (tmp_path / "here.csv").write_text("lon,lat\n1,2\n")
    extent = 'title = "Here"\nfile = "here.csv"\naround = [1, 2]\nsize_km = 3\n'
    (tmp_path / "here.city.toml").write_text(extent)
    (tmp_path / "bad.city.toml").write_text('title = "Bad"\nfile = "nowhere.csv"\n')
    out, err = run("cities")
    assert out.startswith("madeup\n")
    assert "here\n    Here\n" in out
    assert str(tmp_path / "here.csv") in out.replace("\n    ", "")
    assert "dp-explorer cities --download" in out.replace("\n    ", " ")
    (line,) = err.splitlines()  # a warning is a line, without its place in the code
    assert line.startswith("dp-explorer: bad.city.toml is left out")
    (tmp_path / "bad.city.toml").unlink()
    assert "is here already" in run("cities --download madeup").out
    assert not all(each.present for each in cities().values())


def test_tables_align_what_terminals_draw_wide():
    lines = table(["name", "n"], [["東京", "1"], ["a\nb", "12.5"]]).splitlines()
    assert lines == ["name     n", "東京     1", "a b   12.5"]
