"""Figures for programs, what comes on standard input, what a file is, completion: C6."""

import io
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import geopandas
import numpy as np
import pandas as pd
import pytest
import shapely

from explorer import Gravity, Grid, TripMatrix
from explorer.cli import main
from explorer.commands import COMMANDS
from explorer.commands.completion import SHELLS
from explorer.commands.flags import flag
from explorer.country.mechanism import Country
from explorer.federated.mechanism import Federated
from explorer.grid.values import nearest
from explorer.mechanisms import UG, all_mechanisms
from explorer.points.matrix import FrequencyMatrix
from explorer.privacy.ledger import Ledger
from explorer.releases.release import Release
from tests.country.nation import nation, people

HERE = ["--around", "13.4", "52.5", "--size", "4km", "--shape", "64"]
BOXES = ["--rectangle", "-1000", "-900", "500", "600", "--rectangle", "0", "0", "1500", "1500"]


pytestmark = pytest.mark.usefixtures("here")


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with points, their counts and a map, in which commands run."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    lon, lat = 13.4 + 0.01 * rng.normal(size=3000), 52.5 + 0.005 * rng.normal(size=3000)
    pd.DataFrame({"lon": lon.round(6), "lat": lat.round(6)}).to_csv("points.csv", index=False)
    assert main(["count", "points.csv", *HERE, "-o", "kept"]) == 0
    assert main(["release", "kept.exact.parquet", "--epsilon", "1", "--preview", "7",
                 "--mechanism", "ug", "-o", "map.parquet"]) == 0  # fmt: skip
    return tmp_path


@pytest.fixture
def piped(monkeypatch):
    """Put bytes on standard input."""

    def put(content: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    return put


def trips_file(name: str) -> None:
    """Write a release of trips between two places of 4 x 4 cells."""
    trips = TripMatrix.from_coordinates(12 * [[0, 1, 3, 2]], [4, 4])
    Gravity(epsilon=1).release(trips, rng=7).save(name)


def said(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    """What a command prints; its sentence where it is refused."""
    capsys.readouterr()
    found = main(arguments)
    out, err = capsys.readouterr()
    assert found == code, err
    if code:
        assert out == ""
        assert len(err.splitlines()) == 1, err
    return err if code else out


def test_answers_are_the_same_in_every_form(capsys):
    release = Release.load("map.parquet")
    boxes = np.array([[-1000, -900, 500, 600], [0, 0, 1500, 1500]], float)
    wanted = release.answer(boxes)
    for ending in ("csv", "json", "geojson", "parquet", "gpkg", "txt"):
        printed = said(capsys, "answer", "map.parquet", *BOXES, "-o", f"a.{ending}")
        assert printed == f"2 answers were written to a.{ending}.\n"
    frames = {
        "csv": pd.read_csv("a.csv"),
        "json": pd.DataFrame(json.loads(Path("a.json").read_text())),
        "parquet": geopandas.read_parquet("a.parquet"),
        "gpkg": geopandas.read_file("a.gpkg"),
        "geojson": geopandas.read_file("a.geojson"),
    }
    low, high = wanted.interval()
    for ending, frame in frames.items():
        for name, column in (("value", wanted.value), ("noise_sd", wanted.sd), ("low", low),
                             ("high", high), ("leaves", release.touched(boxes))):  # fmt: skip
            assert np.allclose(frame[name], column, rtol=1e-12), (ending, name)
        assert frame["name"].tolist() == ["Q1", "Q2"]
    for ending in ("csv", "json", "parquet", "gpkg"):
        assert np.array_equal(frames[ending][["x0", "y0", "x1", "y1"]], boxes), ending
    for ending in ("parquet", "gpkg"):
        assert frames[ending].crs == release.grid.crs
        assert np.allclose(frames[ending].bounds, boxes)
    assert "Q2" in Path("a.txt").read_text()
    # Printed, they are what is written.
    for form in ("csv", "json", "geojson"):
        printed = said(capsys, "answer", "map.parquet", *BOXES, "--format", form)
        assert printed == Path(f"a.{form}").read_text()


def test_polygons_and_trips_have_every_form_that_can_hold_them(capsys):
    grid = Release.load("map.parquet").grid
    shapes = geopandas.GeoDataFrame(
        {"name": ["mine"]}, geometry=geopandas.points_from_xy([0], [0]).buffer(700), crs=grid.crs
    )
    shapes.to_file("zone.gpkg")
    for ending in ("json", "parquet", "gpkg", "csv"):
        said(capsys, "answer", "map.parquet", "--polygons", "zone.gpkg", "-o", f"z.{ending}")
    assert geopandas.read_parquet("z.parquet").area.iloc[0] == pytest.approx(shapes.area.iloc[0])
    assert set(json.loads(Path("z.json").read_text())[0]) == {
        "name", "value", "noise_sd", "low", "high", "leaves"
    }  # fmt: skip

    trips_file("trips.parquet")
    asked = ["answer", "trips.parquet", "--from", "0", "0", "2", "2"]
    said(capsys, *asked, "-o", "t.parquet")
    row = pd.read_parquet("t.parquet").iloc[0]
    assert (row["from_x1"], np.isnan(row["to_x0"])) == (2, True)
    record = json.loads(said(capsys, *asked, "--format", "json"))[0]
    assert record["to_x0"] is None
    assert record["value"] == pytest.approx(row["value"])
    assert "no single shape" in said(capsys, *asked, "-o", "t.gpkg", code=2)
    assert not Path("t.gpkg").exists()


@pytest.mark.parametrize("typed", [False, True], ids=["of a file", "typed"])
def test_rectangles_in_degrees_are_asked_as_they_lie_on_the_map(capsys, typed):
    # Far from the middle, at 60 degrees, the box around this one is larger by a thirtieth.
    edges = (9.7, 60.12, 10.3, 60.13)
    grid = Grid.around(10.0, 60.0, "40km", shape=100)
    counts = np.random.default_rng(3).poisson(5, (100, 100))
    release = UG(epsilon=1).release(FrequencyMatrix.from_array(counts, grid), rng=7)
    release.save("north.parquet")
    thin = geopandas.GeoDataFrame({"name": ["Q1"]}, geometry=[shapely.box(*edges)], crs=4326)
    thin.to_file("thin.geojson")
    asked = ["--rectangles", "thin.geojson"]
    if typed:
        asked = ["--rectangle", *map(str, edges), "--lonlat"]
    (row,) = json.loads(said(capsys, "answer", "north.parquet", *asked, "--format", "json"))
    assert row["value"] == pytest.approx(release.answer(thin).value[0], rel=1e-6)
    around = [*asked, "--bounding-boxes", "--format", "json"]
    (row,) = json.loads(said(capsys, "answer", "north.parquet", *around))
    assert row["value"] > 1.02 * release.answer(thin).value[0]


def test_polygons_off_the_map_are_told(capsys):
    far = geopandas.GeoDataFrame(geometry=[shapely.box(0, 0, 1, 1)], crs=4326)
    far.to_file("far.geojson")
    assert main(["answer", "map.parquet", "--polygons", "far.geojson"]) == 0
    assert "1 polygon lies outside the map" in capsys.readouterr().err


def test_an_ending_and_a_format_that_contradict_each_other_are_refused(capsys):
    asked = ["answer", "map.parquet", *BOXES]
    assert ".gpkg or" not in said(capsys, *asked, "-o", "x.xlsx", code=2).split("name it")[0]
    assert "not written as csv" in said(capsys, *asked, "-o", "x.gpkg", "--format", "csv", code=2)
    assert not list(Path().glob("x.*"))
    assert "needs a name" in said(capsys, *asked, "-o", "-", "--format", "csv", code=2)


@pytest.mark.parametrize("form", ["csv", "json"])
def test_tables_are_printed_for_programs(capsys, form):
    def frame(*arguments: str) -> pd.DataFrame:
        text = said(capsys, *arguments, "--format", form)
        return pd.DataFrame(json.loads(text)) if form == "json" else pd.read_csv(io.StringIO(text))

    assert frame("mechanisms").key.tolist()[:2] == ["identity", "uniform"]
    assert frame("mechanisms", "htf").parameter.tolist()[:2] == ["epsilon", "height"]
    assert "madeup" in frame("cities").key.tolist()
    truth = frame("count", "kept.exact.parquet", *BOXES)
    evaluated = frame("evaluate", "kept.exact.parquet", "--mechanisms", "ug,ag", "--epsilon", "1",
                      "--seeds", "2", *BOXES)  # fmt: skip
    assert len(evaluated) == 2 * 2 * 2
    of = evaluated[(evaluated.mechanism == "ug") & (evaluated["repeat"] == 0)]
    assert np.allclose(truth.EXACT, of.true, rtol=1e-12)
    runs = frame("evaluate", "kept.exact.parquet", "--mechanisms", "ug", "--epsilon", "1",
                 "--seeds", "1", "--jobs", "1")  # fmt: skip
    assert {"mechanism", "metric", "value"} <= set(runs)


def test_points_and_boxes_come_on_standard_input(capsys, piped):
    piped(Path("points.csv").read_bytes())
    # A pipe has no name, which the counts keep.
    said(capsys, "count", "-", *HERE, "-o", "again", "--population", "points")
    assert Path("again.exact.parquet").read_bytes() == Path("kept.exact.parquet").read_bytes()
    wanted = said(capsys, "answer", "map.parquet", *BOXES, "--format", "csv")
    for ending in ("csv", "geojson"):
        said(capsys, "answer", "map.parquet", *BOXES, "-o", f"b.{ending}")
        piped(Path(f"b.{ending}").read_bytes())
        found = said(capsys, "answer", "map.parquet", "--rectangles", "-", "--format", "csv")
        assert found == wanted
    piped(Path("map.parquet").read_bytes())
    assert said(capsys, "answer", "-", *BOXES, "--format", "csv") == wanted
    frame = geopandas.read_file("b.geojson")
    frame.to_file("b.gpkg")
    piped(Path("b.gpkg").read_bytes())
    assert len(json.loads(said(capsys, "answer", "map.parquet", "--polygons", "-",
                               "--format", "json"))) == 2  # fmt: skip
    # A program of its own, with a real pipe.
    with Path("points.csv").open("rb") as points:
        done = subprocess.run(
            [sys.executable, "-m", "explorer", "count", "-", *HERE, *BOXES, "--format", "json"],
            stdin=points, capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert [row["name"] for row in json.loads(done.stdout)] == ["Q1", "Q2"]


def test_what_came_on_standard_input_is_gone_at_the_end(here, capsys, piped, monkeypatch):
    folder = here / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    piped(Path("points.csv").read_bytes())
    said(capsys, "count", "-", *HERE, "-o", "a")
    piped(b"lon,lat\nno,numbers\n")
    said(capsys, "count", "-", *HERE, "-o", "b", code=2)
    assert list(folder.iterdir()) == []


def test_standard_input_is_read_once_and_must_hold_something(capsys, piped):
    piped(b"x")
    assert "read once" in said(capsys, "answer", "-", "--rectangles", "-", code=2)
    piped(b"lon,lat\n13.4,52.5\n")
    assert ": standard input is damaged or not a release" in said(capsys, "info", "-", code=2)
    piped(b" \n")
    assert "Nothing came in" in said(capsys, "answer", "map.parquet", "--rectangles", "-", code=2)


def test_info_says_what_releases_of_every_kind_are(capsys):
    def info(path: str) -> dict[str, object]:
        table = said(capsys, "info", path)
        found = json.loads(said(capsys, "info", path, "--format", "json"))
        for name in set(found) - {"ledger"}:
            assert name.replace("_", " ") in table
        return dict(found)

    grid = info("map.parquet")
    assert (grid["mechanism"], grid["epsilon"], grid["cells"]) == ("ug", 1, [64, 64])
    assert str(grid["status"]).startswith("preview")
    assert grid["centre_lonlat"] == [13.4, 52.5]
    assert sum(row["epsilon"] for row in grid["ledger"]) == pytest.approx(1)
    release = UG(epsilon=0.5, c=5).release([[9, 0], [8, 1]])
    release.save("mine.parquet")
    mine = info("mine.parquet")
    assert str(mine["status"]).startswith("release")
    assert mine["changed_parameters"] == {"c": 5.0}

    trips_file("trips.parquet")
    trips = info("trips.parquet")
    assert trips["kind"] == "trips"
    assert list(trips["places"]) == ["from", "to"]

    areas = nation()
    country = Country(epsilon=1, inside="identity").release(areas.count(people(), cell=500), rng=1)
    country.save("country.gpkg")
    of_areas = info("country.gpkg")
    assert (of_areas["kind"], of_areas["lowest_areas"]) == ("areas", len(areas))
    assert of_areas["levels"] == list(areas.levels)

    town = np.zeros((64, 64), dtype=int)
    town[10:14, 20:30] = 500
    Federated(epsilon=1, shard=1_000).release(town, rng=1).save("people.parquet")
    of_people = info("people.parquet")
    assert (of_people["kind"], of_people["unit_of_privacy"]) == ("distributed", "client")


def test_info_of_counts_says_what_is_booked_and_no_count(capsys):
    matrix = FrequencyMatrix.from_array([[9, 0], [8, 1]])
    Ledger().book(matrix.key, 10**11, "ug")
    from explorer.points.counts_file import load_counts, save_counts

    save_counts(matrix, "m.exact.parquet")
    found = json.loads(said(capsys, "info", "m.exact.parquet", "--format", "json"))
    assert found["epsilon_booked_here"] == 0.1
    assert "records_in_all" not in found
    total = f"{int(load_counts('kept.exact.parquet').counts.sum()):,}"
    assert total not in said(capsys, "info", "kept.exact.parquet")


def test_info_refuses_what_is_no_release(capsys):
    assert "not a release" in said(capsys, "info", "points.csv", code=2)
    assert "no file nix" in said(capsys, "info", "nix", code=2)
    # What `save` writes for other tools is named as such, not as a file of another command.
    Release.load("map.parquet").save("map.gpkg")
    for command in (["info", "map.gpkg"], ["answer", "map.gpkg", *BOXES]):
        assert "A map is asked as Parquet" in said(capsys, *command, code=2)


def test_degrees_as_typed_are_refused_with_the_flag(capsys):
    typed = ["--rectangle", "13.39", "52.49", "13.41", "52.51"]
    assert "--lonlat" in said(capsys, "answer", "map.parquet", *typed, code=2)


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_completes_commands_flags_and_mechanisms(shell, capsys):
    script = said(capsys, "completion", shell)
    for each in (*COMMANDS, *all_mechanisms()):
        assert each in script
    for kind in all_mechanisms().values():
        for name in kind.tunables():
            # Shells write flags with their dashes, and fish without them.
            assert re.search(rf"\b{re.escape(flag(name).lstrip('-'))}\b", script), name


def test_bash_completes_what_was_begun(tmp_path, capsys):
    script = tmp_path / "complete.bash"
    script.write_text(said(capsys, "completion", "bash"))

    def completed(*words: str) -> list[str]:
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


@pytest.mark.parametrize(("arguments", "sentence"), [
    (["mechanisms", "hft"], "There is no mechanism 'hft' here: did you mean 'htf'?"),
    (["cities", "--download", "new-yrok"], "did you mean 'new-york"),
    (["release", "--city", "madup", "--epsilon", "1", "-o", "x.parquet"], "'madeup'?"),
])  # fmt: skip
def test_a_mistyped_name_is_answered_with_the_one_that_was_meant(capsys, arguments, sentence):
    assert sentence in said(capsys, *arguments, code=2)
    assert nearest("zzz", ["htf"]) == ""


def test_the_whole_job_is_three_commands(capsys):
    """Count, evaluate on boxes of one's own, release and answer polygons."""
    grid = Release.load("map.parquet").grid
    squares = geopandas.GeoDataFrame(
        {"name": ["north", "south"]},
        geometry=geopandas.points_from_xy([0, 0], [900, -900]).buffer(800, cap_style="square"),
        crs=grid.crs,
    )
    squares.to_crs(4326).to_file("zones.geojson")
    assert main(["count", "points.csv", *HERE, "-o", "job"]) == 0
    rows = json.loads(said(capsys, "evaluate", "job.exact.parquet", "--mechanisms", "ug,htf",
                           "--epsilon", "1", "--seeds", "2", "--polygons", "zones.geojson",
                           "--per-box", "--format", "json"))  # fmt: skip
    assert {row["box"] for row in rows} == {"north", "south"}
    assert main(["release", "job.exact.parquet", "--mechanism", "ug", "--epsilon", "1",
                 "-o", "job.parquet"]) == 0  # fmt: skip
    answers = json.loads(said(capsys, "answer", "job.parquet", "--polygons", "zones.geojson",
                              "--format", "json"))  # fmt: skip
    truth = {row["box"]: row["true"] for row in rows}
    for row in answers:
        # Noise alone is below five of its deviations; the rest is spread inside leaves of UG.
        true = truth[row["name"]]
        assert abs(row["value"] - true) < 5 * row["noise_sd"] + 0.1 * true


def _until(true: Callable[[], object]) -> None:
    began = time.monotonic()
    while not true():
        assert time.monotonic() - began < 60
        time.sleep(0.02)


@pytest.mark.skipif(os.name != "posix", reason="no shell outlives the process there")
def test_nothing_of_standard_input_is_left_when_the_command_is_killed(here):
    folder = here / "temporary"
    folder.mkdir()
    command = subprocess.Popen(
        [sys.executable, "-m", "explorer", "count", "-", *HERE, "-o", "other"],
        stdin=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(folder)},
    )
    command.stdin.write(b"lon,lat\n" + b"13.4,52.5\n" * 20_000)
    command.stdin.flush()
    _until(lambda: any(f.stat().st_size for f in folder.glob("*/standard-input*")))
    command.kill()
    command.wait(30)
    command.stdin.close()
    _until(lambda: not [*folder.iterdir()])


def test_standard_input_is_read_where_there_is_no_shell(here, piped, monkeypatch):
    def none(*_: object, **__: object) -> None:
        raise FileNotFoundError("/bin/sh")

    monkeypatch.setattr("explorer.commands.standard_input.subprocess.Popen", none)
    piped(b"lon,lat\n13.4,52.5\n")
    assert main(["count", "-", *HERE, "-o", "other"]) == 0
    assert (here / "other.exact.parquet").exists()
