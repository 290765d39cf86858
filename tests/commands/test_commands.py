"""The other commands: answers against the Python API, catalogue, mechanisms, tables."""

import csv
import io
import json
from pathlib import Path

import geopandas
import numpy as np
import pytest
import shapely

from explorer.cities.catalogue import cities
from explorer.cli import main
from explorer.commands import flags
from explorer.commands.terminal import table
from explorer.grid.grid import Grid
from explorer.mechanisms import HTF, UG, all_mechanisms, trip_mechanisms
from explorer.points.matrix import FrequencyMatrix
from explorer.queries.files import read_rectangles
from explorer.releases.release import Release
from tests.commands.refusals import refusal

GRID = Grid.around(-122.42, 37.77, 20_000, shape=64)


@pytest.fixture
def map_file(tmp_path):
    counts = np.random.default_rng(1).poisson(3.0, GRID.shape)
    path = str(tmp_path / "map.parquet")
    HTF(epsilon=1).release(FrequencyMatrix.from_array(counts, GRID), rng=7).save(path)
    return path


BOXES = np.array([[-2_000.0, -2_000.0, 0.0, 0.0], [100.0, -50.0, 4_000.0, 333.3]])


def box_flags(boxes: np.ndarray) -> list[str]:
    return [word for box in boxes.tolist() for word in ("--rectangle", *map(str, box))]


def test_answers_are_those_of_the_python_api(map_file, capsys):
    assert main(["answer", map_file, *box_flags(BOXES), "--format", "csv"]) == 0
    out, err = capsys.readouterr()
    release = Release.load(map_file)
    assert release.summary() in err
    rows = list(csv.DictReader(io.StringIO(out)))
    answers = release.answer(BOXES)
    low, high = answers.interval()
    for column, expected in {
        "x0": BOXES[:, 0], "y1": BOXES[:, 3], "value": answers.value, "noise_sd": answers.sd,
        "low": low, "high": high, "leaves": release.touched(BOXES),
    }.items():  # fmt: skip
        assert [float(row[column]) for row in rows] == expected.tolist(), column
    assert [row["name"] for row in rows] == ["Q1", "Q2"]


def test_the_table_is_aligned_and_explained(map_file, tmp_path, capsys):
    boxes = tmp_path / "boxes.csv"
    boxes.write_text("name,x0,y0,x1,y1\nCentre,-500,-500,500,500\n=1+1,0,0,9000,9000\n")
    assert main(["answer", map_file, "--rectangles", str(boxes), *box_flags(BOXES[:1])]) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert [line.split()[0] for line in lines] == ["name", "Centre", "=1+1", "Q3"]
    assert len({len(line) for line in lines}) == 1
    value = Release.load(map_file).answer([[-500, -500, 500, 500]]).value[0]
    assert f"  {value:,.1f}  " in lines[1]
    assert "95 % interval" in err


def test_answers_in_files_are_read_back(map_file, tmp_path, capsys):
    first, second = tmp_path / "boxes.geojson", tmp_path / "again.csv"
    assert main(["answer", map_file, *box_flags(BOXES), "-o", str(first)]) == 0
    assert "2 answers were written" in capsys.readouterr().out
    facts = [feature["properties"] for feature in json.loads(first.read_text())["features"]]
    assert [set(fact) >= {"value", "noise_sd", "low", "high", "leaves"} for fact in facts]
    assert main(["answer", map_file, "--rectangles", str(first), "-o", str(second)]) == 0
    assert np.array_equal(read_rectangles(second, GRID)[0], BOXES)
    rows = list(csv.DictReader(second.open()))
    assert [float(row["value"]) for row in rows] == [fact["value"] for fact in facts]
    text = tmp_path / "answers.txt"
    assert main(["answer", map_file, *box_flags(BOXES), "-o", str(text)]) == 0
    assert text.read_text().startswith("name  x0 (m)")


def test_rectangles_in_degrees(map_file, capsys):
    place = ["--rectangle", "-122.43", "37.76", "-122.41", "37.78", "--lonlat", "--format", "csv"]
    assert main(["answer", map_file, *place]) == 0
    (row,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    x, y = GRID.from_lonlat([-122.43, -122.41], [37.76, 37.78])
    # The corners and the widest place of the box differ by the meeting of meridians.
    assert float(row["x0"]) == pytest.approx(x[0], abs=1.0)
    assert float(row["y1"]) == pytest.approx(y[1], abs=0.5)
    assert float(row["x1"]) - float(row["x0"]) >= x[1] - x[0]


def test_rectangles_outside_the_map_are_told(map_file, capsys):
    far = ["--rectangle", "20000", "20000", "30000", "30000", "--format", "csv"]
    assert main(["answer", map_file, *far]) == 0
    out, err = capsys.readouterr()
    assert "1 rectangle lies outside the map" in err
    (row,) = csv.DictReader(io.StringIO(out))
    assert float(row["value"]) == float(row["noise_sd"]) == 0.0


def test_a_map_in_cells_is_answered_in_cells(tmp_path, capsys):
    path = str(tmp_path / "cells.parquet")
    UG(epsilon=1).release(np.ones((8, 8), dtype=int), rng=1).save(path)
    assert main(["answer", path, "--rectangle", "0", "0", "4.5", "8"]) == 0
    assert "x1 (cells)" in capsys.readouterr().out
    ask = ["answer", path, "--rectangle", "0", "0", "4", "8"]
    assert "CSV" in refusal(capsys, *ask, "--format", "geojson")
    assert "in cells" in refusal(capsys, *ask, "--lonlat")


def test_answers_replace_a_file_only_when_asked_for(map_file, tmp_path, capsys):
    path = tmp_path / "mine.csv"
    path.write_text("my work")
    arguments = ["answer", map_file, *box_flags(BOXES[:1]), "-o", str(path)]
    assert "exists already; give another name, or --overwrite" in refusal(capsys, *arguments)
    assert path.read_text() == "my work"
    assert main([*arguments, "--overwrite"]) == 0
    assert "1 answer was written to" in capsys.readouterr().out
    assert path.read_text().startswith("name,x0")
    before = Path(map_file).read_bytes()
    over = ["answer", map_file, *box_flags(BOXES[:1]), "--format", "csv", "--overwrite"]
    assert "is what is read" in refusal(capsys, *over, "-o", map_file)
    assert Path(map_file).read_bytes() == before


def test_a_report_on_papers_replaces_a_file_only_when_asked_for(tmp_path, capsys):
    path = tmp_path / "report.json"
    path.write_text("my work")
    arguments = ["papers", "--quick", "-o", str(path)]
    assert "exists already; give another name, or --overwrite" in refusal(capsys, *arguments)
    assert path.read_text() == "my work"


def test_shapes_that_are_no_rectangles_are_refused_or_asked_as_they_are(map_file, tmp_path, capsys):
    corners = [[-122.42, 37.76], [-122.40, 37.76], [-122.40, 37.78]]
    features = [
        {"type": "Feature", "properties": {}, "geometry": {"type": "Polygon", "coordinates": [c]}}
        for c in ([*corners, [-122.42, 37.78]], corners)
    ]
    path = tmp_path / "shapes.geojson"
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    asked = ["answer", map_file, "--rectangles", str(path), "--format", "csv"]
    sentence = "1 of 2 shapes is not a rectangle on this map"
    refused = refusal(capsys, *asked)
    assert f"{sentence}; ask shapes as they are with --polygons" in refused
    assert main([*asked, "--bounding-boxes"]) == 0
    out, err = capsys.readouterr()
    assert f"{sentence}: its bounding box is asked." in err.splitlines()
    first, second = csv.DictReader(io.StringIO(out))
    assert float(first["value"]) == pytest.approx(float(second["value"]), rel=0.01)
    # Asked as they are, the triangle holds less than the square that it is half of.
    assert main(["answer", map_file, "--polygons", str(path), "--format", "csv"]) == 0
    square, triangle = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert float(square["value"]) == pytest.approx(float(first["value"]), rel=0.01)
    assert float(triangle["value"]) < 0.9 * float(square["value"])
    assert square["name"] == "Q1"
    assert main(["answer", map_file, "--polygons", str(path), "--format", "geojson"]) == 0
    written = json.loads(capsys.readouterr().out)["features"][1]
    assert written["properties"]["value"] == float(triangle["value"])
    assert np.allclose(written["geometry"]["coordinates"][0][:3], corners)
    assert main(["answer", map_file, "--polygons", str(path)]) == 0
    assert "noise_sd" in capsys.readouterr().out


def test_polygons_are_named_by_the_column_that_is_given(map_file, tmp_path, capsys):
    """Without it they have the names of a column called name, here none."""
    corners = [[13.4, 52.52], [13.41, 52.52], [13.4, 52.53]]
    facts = {"ward": "Mitte", "code": 7}
    shape = {"type": "Polygon", "coordinates": [corners]}
    feature = {"type": "Feature", "properties": facts, "geometry": shape}
    path = tmp_path / "wards.geojson"
    path.write_text(json.dumps({"type": "FeatureCollection", "features": [feature]}))
    asked = ["answer", map_file, "--polygons", str(path), "--format", "csv"]
    for more, name in (((), "Q1"), (("--name-column", "ward"), "Mitte")):
        assert main([*asked, *more]) == 0
        (row,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
        assert row["name"] == name
    said = refusal(capsys, *asked, "--name-column", "mayor")
    assert "The polygons have no column 'mayor'; choose among 'ward', 'code'." in said


BAD_ANSWERS = {
    "names of no polygons": ("--rectangle 0 0 1 1 --name-column a", "--name-column is about"),
    "polygons and boxes": ("--polygons a.gpkg --rectangle 0 0 1 1", "Polygons are asked alone"),
    "no polygons": ("--polygons nowhere.gpkg", "no file nowhere.gpkg"),
    "nothing asked": ("", "no rectangle to answer"),
    "lonlat of nothing": ("--rectangles boxes.csv --lonlat", "--lonlat is about --rectangle"),
    "inside out": ("--rectangle 5 0 1 1", "inside out"),
    "nan": ("--rectangle nan 0 1 1", "not a finite number"),
    "metres as degrees": ("--rectangle 0 0 4000 4000 --lonlat", "not in degrees"),
    "no file": ("--rectangles nowhere.geojson", "no file of rectangles"),
    "no form": ("--rectangle 0 0 1 1 -o answers.xyz", "--format"),
    "bad form": ("--rectangle 0 0 1 1 --format xml", "invalid choice"),
    "over the map": ("--rectangle 0 0 1 1 --format csv -o MAP", "is what is read"),
    "no folder": ("--rectangle 0 0 1 1 -o no/where/a.csv", "There is no folder"),
}


@pytest.mark.parametrize("name", BAD_ANSWERS)
def test_a_bad_question_is_one_sentence(name, map_file, capsys):
    line, why = BAD_ANSWERS[name]
    arguments = [map_file if word == "MAP" else word for word in line.split()]
    before = Path(map_file).read_bytes()
    assert why in refusal(capsys, "answer", map_file, *arguments)
    assert Path(map_file).read_bytes() == before


def test_files_that_are_no_release_are_refused(map_file, tmp_path, capsys):
    damaged = tmp_path / "damaged.parquet"
    damaged.write_bytes(Path(map_file).read_bytes()[:3_000])
    text = tmp_path / "text.parquet"
    text.write_text("lon,lat\n1,2\n")
    other = tmp_path / "other.parquet"
    geopandas.GeoDataFrame({"a": [1]}, geometry=[shapely.Point(0, 0)]).to_parquet(other)
    for path, why in [
        (damaged, "damaged"),
        (text, "not a release"),
        (other, "not a release"),
        (tmp_path, "no release file"),
    ]:
        assert why in refusal(capsys, "answer", str(path), "--rectangle", "0", "0", "1", "1")


def test_mechanisms_are_listed_with_their_papers(capsys):
    assert main(["mechanisms"]) == 0
    lines = capsys.readouterr().out.splitlines()
    every = {**all_mechanisms(), **trip_mechanisms()}
    assert [line.split()[0] for line in lines] == list(every)
    for line, each in zip(lines, every.values(), strict=True):
        assert each.summary in line
        assert each.paper in line
        assert line.endswith(" (trips only)") == (not each.for_maps)
    assert main(["mechanisms", "htf"]) == 0
    out = capsys.readouterr().out
    assert [line for line in out.splitlines() if line.startswith("--")] == [
        "--epsilon", *map(flags.flag, HTF.tunables())
    ]  # fmt: skip
    assert "0 to 22, or auto; default auto" in out


def test_cities_are_listed_with_their_files(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("EXPLORER_DATA", str(tmp_path))
    monkeypatch.setenv("EXPLORER_CACHE", str(tmp_path / "cache"))
    (tmp_path / "here.csv").write_text("lon,lat\n1,2\n")
    (tmp_path / "here.city.toml").write_text(
        'title = "Here"\nfile = "here.csv"\naround = [1, 2]\nsize_km = 3\n'
    )
    (tmp_path / "bad.city.toml").write_text('title = "Bad"\nfile = "nowhere.csv"\n')
    assert main(["cities"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("madeup\n")
    assert "here\n    Here\n" in out
    assert str(tmp_path / "here.csv") in out.replace("\n    ", "")
    assert "dp-explorer cities --download" in out.replace("\n    ", " ")
    (line,) = err.splitlines()  # a warning is a line, without its place in the code
    assert line.startswith("dp-explorer: bad.city.toml is left out")
    (tmp_path / "bad.city.toml").unlink()
    assert main(["cities", "--download", "madeup"]) == 0
    assert "is here already" in capsys.readouterr().out
    absent = next(each for each in cities().values() if not each.present)
    sentence = refusal(capsys, "release", "--city", absent.key, "--epsilon", "1", "--preview", "1")
    assert f"dp-explorer cities --download {absent.key}" in sentence


def test_tables_align_what_terminals_draw_wide():
    lines = table(["name", "n"], [["東京", "1"], ["a\nb", "12.5"]]).splitlines()
    assert lines == ["name     n", "東京     1", "a b   12.5"]
