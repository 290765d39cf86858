"""Figures for programs, what comes on standard input, what a file is, completion."""

import io
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import geopandas
import numpy as np
import pandas as pd
import pytest
import shapely

from explorer import (
    UG,
    Country,
    Federated,
    FrequencyMatrix,
    Gravity,
    Grid,
    Ledger,
    Release,
    TripMatrix,
    all_mechanisms,
)
from explorer.commands import COMMANDS
from explorer.commands.completion import SHELLS
from explorer.commands.flags import flag
from explorer.points.counts_file import load_counts, save_counts
from tests.commands.refusals import refusal
from tests.country.nation import nation, people

HERE = "--around 13.4 52.5 --size 4km --shape 64"
GRID = Grid.around(13.4, 52.5, 4_000, shape=64)
BOXES = "--rectangle -1000 -900 500 600 --rectangle 0 0 1500 1500"
ANSWER = f"answer map.parquet {BOXES}"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """A folder with points, their counts and a map, in which commands run."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    lon, lat = 13.4 + 0.01 * rng.normal(size=3000), 52.5 + 0.005 * rng.normal(size=3000)
    pd.DataFrame({"lon": lon.round(6), "lat": lat.round(6)}).to_csv("points.csv", index=False)
    counts = GRID.count(tmp_path / "points.csv")
    save_counts(counts, "kept.exact.parquet")
    UG(epsilon=1).release(counts, rng=7).save("map.parquet")
    return tmp_path


@pytest.fixture
def piped(monkeypatch):
    """Put bytes on standard input."""

    def put(content):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    return put


def trips_file(name):
    """Write a release of trips between two places of 4 x 4 cells."""
    trips = TripMatrix.from_coordinates(12 * [[0, 1, 3, 2]], [4, 4])
    Gravity(epsilon=1).release(trips, rng=7).save(name)


def test_answers_are_the_same_in_every_form(run):
    release = Release.load("map.parquet")
    boxes = np.array([[-1000, -900, 500, 600], [0, 0, 1500, 1500]], float)
    wanted = release.answer(boxes)
    for ending in ("csv", "json", "geojson", "parquet", "gpkg", "txt"):
        printed = run(f"{ANSWER} -o a.{ending}").out
        assert printed == f"2 answers were written to a.{ending}.\n"
    frames = {
        "csv": pd.read_csv("a.csv"),
        "json": pd.DataFrame(json.loads(Path("a.json").read_text())),
        "parquet": geopandas.read_parquet("a.parquet"),
        "gpkg": geopandas.read_file("a.gpkg"),
        "geojson": geopandas.read_file("a.geojson"),
    }
    low, high = wanted.interval()
    columns = {"value": wanted.value, "noise_sd": wanted.sd, "low": low, "high": high,
               "leaves": release.touched(boxes)}  # fmt: skip
    for ending, frame in frames.items():
        for name, column in columns.items():
            assert np.allclose(frame[name], column, rtol=1e-12), (ending, name)
        assert frame["name"].tolist() == ["Q1", "Q2"]
        if ending != "geojson":
            assert np.array_equal(frame[["x0", "y0", "x1", "y1"]], boxes), ending
        if ending in ("parquet", "gpkg"):
            assert frame.crs == release.grid.crs
            assert np.allclose(frame.bounds, boxes)
    assert "Q2" in Path("a.txt").read_text()
    # Printed, they are what is written.
    for form in ("csv", "json", "geojson"):
        assert run(f"{ANSWER} --format {form}").out == Path(f"a.{form}").read_text()


def test_polygons_and_trips_have_every_form_that_can_hold_them(run):
    circle = geopandas.points_from_xy([0], [0]).buffer(700)
    geopandas.GeoDataFrame({"name": ["mine"]}, geometry=circle, crs=GRID.crs).to_file("zone.gpkg")
    for ending in ("json", "parquet", "gpkg", "csv"):
        run(f"answer map.parquet --polygons zone.gpkg -o z.{ending}")
    assert geopandas.read_parquet("z.parquet").area.iloc[0] == pytest.approx(circle.area[0])
    names = set(json.loads(Path("z.json").read_text())[0])
    assert names == {"name", "value", "noise_sd", "low", "high", "leaves"}

    trips_file("trips.parquet")
    run("answer trips.parquet --from 0 0 2 2 -o t.parquet")
    row = pd.read_parquet("t.parquet").iloc[0]
    assert (row["from_x1"], np.isnan(row["to_x0"])) == (2, True)
    (record,) = json.loads(run("answer trips.parquet --from 0 0 2 2 --format json").out)
    assert record["to_x0"] is None
    assert record["value"] == pytest.approx(row["value"])


@pytest.mark.parametrize("asked", [
    "--rectangles thin.geojson", "--rectangle 9.7 60.12 10.3 60.13 --lonlat",
])  # fmt: skip
def test_rectangles_in_degrees_are_asked_as_they_lie_on_the_map(asked, run):
    # Far from the middle, at 60 degrees, the box around this one is larger by a thirtieth.
    grid = Grid.around(10.0, 60.0, "40km", shape=100)
    counts = np.random.default_rng(3).poisson(5, (100, 100))
    release = UG(epsilon=1).release(FrequencyMatrix.from_array(counts, grid), rng=7)
    release.save("north.parquet")
    thin = geopandas.GeoDataFrame(geometry=[shapely.box(9.7, 60.12, 10.3, 60.13)], crs=4326)
    thin.to_file("thin.geojson")
    (row,) = json.loads(run(f"answer north.parquet {asked} --format json").out)
    assert row["value"] == pytest.approx(release.answer(thin).value[0], rel=1e-6)
    asked += " --bounding-boxes --format json"
    (row,) = json.loads(run(f"answer north.parquet {asked}").out)
    assert row["value"] > 1.02 * release.answer(thin).value[0]
    assert "1 polygon lies outside the map" in run("answer map.parquet --polygons thin.geojson").err


@pytest.mark.parametrize("form", ["csv", "json"])
def test_tables_are_printed_for_programs(run, form):
    def frame(line):
        text = run(f"{line} --format {form}").out
        return pd.DataFrame(json.loads(text)) if form == "json" else pd.read_csv(io.StringIO(text))

    assert frame("mechanisms").key.tolist()[:2] == ["identity", "uniform"]
    assert frame("mechanisms htf").parameter.tolist()[:2] == ["epsilon", "height"]
    assert "madeup" in frame("cities").key.tolist()
    truth = frame(f"count kept.exact.parquet {BOXES}")
    evaluate = "evaluate kept.exact.parquet --epsilon 1 --mechanisms"
    evaluated = frame(f"{evaluate} ug,ag --seeds 2 {BOXES}")
    assert len(evaluated) == 2 * 2 * 2
    of = evaluated[(evaluated.mechanism == "ug") & (evaluated["repeat"] == 0)]
    assert np.allclose(truth.EXACT, of.true, rtol=1e-12)
    assert {"mechanism", "metric", "value"} <= set(frame(f"{evaluate} ug --seeds 1 --jobs 1"))


def test_points_and_boxes_come_on_standard_input(run, piped):
    piped(Path("points.csv").read_bytes())
    # A pipe has no name, which the counts keep.
    run(f"count - {HERE} -o again --population points")
    assert load_counts("again.exact.parquet").key == load_counts("kept.exact.parquet").key
    wanted = run(f"{ANSWER} --format csv").out
    for ending in ("csv", "geojson"):
        run(f"{ANSWER} -o b.{ending}")
        piped(Path(f"b.{ending}").read_bytes())
        assert run("answer map.parquet --rectangles - --format csv").out == wanted
    piped(Path("map.parquet").read_bytes())
    assert run(f"answer - {BOXES} --format csv").out == wanted
    geopandas.read_file("b.geojson").to_file("b.gpkg")
    piped(Path("b.gpkg").read_bytes())
    assert len(json.loads(run("answer map.parquet --polygons - --format json").out)) == 2
    # A program of its own, with a real pipe.
    line = [sys.executable, *f"-m explorer count - {HERE} {BOXES} --format json".split()]
    with Path("points.csv").open("rb") as points:
        done = subprocess.run(line, stdin=points, capture_output=True, check=True)
    assert [row["name"] for row in json.loads(done.stdout)] == ["Q1", "Q2"]


def test_what_came_on_standard_input_is_gone_at_the_end(here, run, capsys, piped, monkeypatch):
    folder = here / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    piped(Path("points.csv").read_bytes())
    run(f"count - {HERE} -o a")
    piped(b"lon,lat\nno,numbers\n")
    refusal(capsys, *f"count - {HERE} -o b".split())
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(("content", "line", "sentence"), [
    (b"x", "answer - --rectangles -", "read once"),
    (b"lon,lat\n13.4,52.5\n", "info -", ": standard input is damaged or not a release"),
    (b" \n", "answer map.parquet --rectangles -", "Nothing came in"),
])  # fmt: skip
def test_standard_input_is_read_once_and_must_hold_something(
    content, line, sentence, piped, capsys
):
    piped(content)
    assert sentence in refusal(capsys, *line.split())


def test_info_says_what_releases_of_every_kind_are(run):
    def info(path):
        table = run(f"info {path}").out
        found = json.loads(run(f"info {path} --format json").out)
        for name in set(found) - {"ledger"}:
            assert name.replace("_", " ") in table
        return found

    grid = info("map.parquet")
    assert (grid["mechanism"], grid["epsilon"], grid["cells"]) == ("ug", 1, [64, 64])
    assert grid["status"].startswith("preview")
    assert grid["centre_lonlat"] == [13.4, 52.5]
    assert sum(row["epsilon"] for row in grid["ledger"]) == pytest.approx(1)
    UG(epsilon=0.5, c=5).release([[9, 0], [8, 1]]).save("mine.parquet")
    assert info("mine.parquet")["status"].startswith("release")
    assert info("mine.parquet")["changed_parameters"] == {"c": 5.0}
    trips_file("trips.parquet")
    trips = info("trips.parquet")
    assert (trips["kind"], list(trips["places"])) == ("trips", ["from", "to"])
    areas = nation()
    counts = areas.count(people(), cell=500)
    Country(epsilon=1, inside="identity").release(counts, rng=1).save("country.gpkg")
    of_areas = info("country.gpkg")
    assert (of_areas["kind"], of_areas["lowest_areas"]) == ("areas", len(areas))
    assert of_areas["levels"] == list(areas.levels)
    Federated(epsilon=1, shard=1_000).release(np.full((16, 16), 80), rng=1).save("people.parquet")
    of_people = info("people.parquet")
    assert (of_people["kind"], of_people["unit_of_privacy"]) == ("distributed", "client")


def test_info_of_counts_says_what_is_booked_and_no_count(run):
    matrix = FrequencyMatrix.from_array([[9, 0], [8, 1]])
    Ledger().book(matrix.key, 10**11, "ug")
    save_counts(matrix, "m.exact.parquet")
    found = json.loads(run("info m.exact.parquet --format json").out)
    assert found["epsilon_booked_here"] == 0.1
    assert "records_in_all" not in found
    assert f"{load_counts('kept.exact.parquet').total:,}" not in run("info kept.exact.parquet").out


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_completes_commands_flags_and_mechanisms(shell, run):
    script = run(f"completion {shell}").out
    for each in (*COMMANDS, *all_mechanisms()):
        assert each in script
    for kind in all_mechanisms().values():
        for name in kind.tunables():
            # Shells write flags with their dashes, and fish without them.
            assert re.search(rf"\b{re.escape(flag(name).lstrip('-'))}\b", script), name


def test_bash_completes_what_was_begun(tmp_path, run):
    script = tmp_path / "complete.bash"
    script.write_text(run("completion bash").out)

    def completed(*words):
        typed = " ".join(f"'{word}'" for word in words)
        code = (
            f"source {script}; COMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}; "
            "$(complete -p dp-explorer | sed 's/.*-F \\([^ ]*\\).*/\\1/'); "
            'printf "%s\\n" "${COMPREPLY[@]}"'
        )
        done = subprocess.run(["bash", "-c", code], capture_output=True, text=True, check=True)
        return done.stdout.split()

    assert completed("dp-explorer", "ans") == ["answer"]
    assert completed("dp-explorer", "release", "--stop-c") == ["--stop-count"]
    kinds = completed("dp-explorer", "release", "--mechanism", "kd")
    assert kinds == ["kd-standard", "kd-hybrid", "kd-cell"]


def test_the_whole_job_is_three_commands(run):
    """Count, evaluate on polygons of one's own, release and answer them."""
    squares = geopandas.points_from_xy([0, 0], [900, -900]).buffer(800, cap_style="square")
    zones = geopandas.GeoDataFrame({"name": ["north", "south"]}, geometry=squares, crs=GRID.crs)
    zones.to_crs(4326).to_file("zones.geojson")
    run(f"count points.csv {HERE} -o job")
    asked = "--mechanisms ug --epsilon 1 --seeds 2 --polygons zones.geojson --per-box"
    rows = json.loads(run(f"evaluate job.exact.parquet {asked} --format json").out)
    truth = {row["box"]: row["true"] for row in rows}
    assert set(truth) == {"north", "south"}
    run("release job.exact.parquet --mechanism ug --epsilon 1 -o job.parquet")
    answers = run("answer job.parquet --polygons zones.geojson --format json").out
    for row in json.loads(answers):
        # Noise alone is below five of its deviations; the rest is spread inside leaves of UG.
        true = truth[row["name"]]
        assert abs(row["value"] - true) < 5 * row["noise_sd"] + 0.1 * true


def until(true):
    began = time.monotonic()
    while not true():
        assert time.monotonic() - began < 60
        time.sleep(0.02)


@pytest.mark.skipif(os.name != "posix", reason="no shell outlives the process there")
def test_nothing_of_standard_input_is_left_when_the_command_is_killed(here):
    folder = here / "temporary"
    folder.mkdir()
    line = [sys.executable, "-m", "explorer", "count", "-", *HERE.split(), "-o", "other"]
    settings = {**os.environ, "TMPDIR": str(folder)}
    with subprocess.Popen(line, stdin=subprocess.PIPE, env=settings) as command:
        command.stdin.write(b"lon,lat\n" + b"13.4,52.5\n" * 20_000)
        command.stdin.flush()
        until(lambda: any(f.stat().st_size for f in folder.glob("*/standard-input*")))
        command.kill()
    until(lambda: not [*folder.iterdir()])


def test_standard_input_is_read_where_there_is_no_shell(here, run, piped, monkeypatch):
    def none(*_, **__):
        raise FileNotFoundError("/bin/sh")

    monkeypatch.setattr("explorer.commands.files.subprocess.Popen", none)
    piped(b"lon,lat\n13.4,52.5\n")
    run(f"count - {HERE} -o other")
    assert (here / "other.exact.parquet").exists()
