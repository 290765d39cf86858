"""`dp-explorer release`: the release of the Python API, booked, and nothing exact on screen."""

import io
import re
import sys
from pathlib import Path

import geopandas
import numpy as np
import pytest
import shapely

from explorer import HTF, Grid, InputError, Ledger, Release, all_mechanisms, read_points
from explorer.cli import main
from explorer.commands import flags
from explorer.mechanisms import duration
from explorer.privacy import bars
from explorer.releases.units import to_units
from tests.commands.refusals import refusal, typed

LON, LAT, N = -122.42, 37.77, 4_711
HERE = "points.csv --around -122.42 37.77 --size 20km --shape 64"
GRID = Grid.around(LON, LAT, 20_000, shape=64)


@pytest.fixture(autouse=True)
def points(tmp_path, monkeypatch):
    """A CSV of N points on the map, and of 913 rows without a place."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    lon, lat = LON + rng.normal(0, 0.02, N), LAT + rng.normal(0, 0.02, N)
    rows = zip(lon, lat, rng.integers(0, 300, N), strict=True)
    lines = ["lon,lat,who", *(f"{a:.6f},{b:.6f},{u}" for a, b, u in rows), *["0,0,1"] * 913]
    Path("points.csv").write_text("\n".join(lines) + "\n")


def test_release_is_that_of_the_python_api(run):
    printed = run("release HERE --epsilon 1 --preview 7 -o map.parquet", HERE=HERE)
    matrix = GRID.count(read_points("points.csv"))
    expected = HTF(epsilon=1).release(matrix, rng=7)
    release = Release.load("map.parquet")
    assert release.preview
    assert release.grid == GRID
    assert np.array_equal(release.counts, expected.counts)
    assert np.array_equal(release.boxes(), expected.boxes())
    # Nothing that is printed is an exact count.
    assert "Some rows at longitude 0, latitude 0" in printed.err
    assert "'lon' and 'lat' were taken" in printed.err
    numbers = set(re.findall(r"\d+", "".join(printed).replace(",", "")))
    assert not numbers & {"913", str(N), str(N + 913), str(int(matrix.total))}


def test_flags_reach_the_mechanism(run):
    typed = "--height 7 --T 2 --stop-rule per-epsilon --stop-factor 1e1 --split-rule all-cuts"
    typed += " --inference LEAST --stop-extent 4.0 --first-axis longer"
    line = f"release HERE --epsilon 0.5 --preview 7 -o map.parquet {typed}"
    run(line, HERE=HERE, LEAST="Least-Squares")
    release = Release.load("map.parquet")
    wanted = {
        "height": 7, "T": 2, "stop_rule": "per epsilon", "stop_factor": 10.0,
        "split_rule": "all cuts", "inference": "least squares", "stop_extent": 4,
        "first_axis": "longer",
    }  # fmt: skip
    assert {name: release.parameters[name] for name in wanted} == wanted
    said = run("release HERE --epsilon 1 --preview 1 --stop-factor 4 --T 2", HERE=HERE).err
    assert "--stop-factor has no effect" in said
    assert "--T has" not in said


@pytest.mark.parametrize("key", all_mechanisms())
def test_every_mechanism_has_help_and_releases_with_all_its_flags(key, run, capsys):
    with pytest.raises(SystemExit):
        main(["release", "--mechanism", key, "--help"])
    shown = " ".join(capsys.readouterr().out.split()).replace("- ", "-")
    chosen = all_mechanisms()[key]
    for name in flags.owners():
        assert (f" {flags.flag(name)} VALUE " in shown) == (name in chosen.tunables()), name
    typed, defaults = "", {}
    for name in chosen.tunables():
        told = " ".join(flags.described(chosen.param[name]).split()).replace("- ", "-")
        assert told in shown, name
        defaults[name] = default = chosen.param[name].default
        text = "auto" if default is None else str(default).replace(" ", "-")
        typed += f" {flags.flag(name)} {text}"
    run(f"release HERE --mechanism {key} --epsilon 1 --preview 7 -o m.parquet{typed}", HERE=HERE)
    release = Release.load("m.parquet")
    assert release.mechanism == key
    assert dict(release.parameters) == defaults


def test_a_release_is_booked_and_told(run, capsys, monkeypatch):
    monkeypatch.setenv("EXPLORER_EPSILON_CAP", "0.5")
    for number, spent in enumerate(["0.2 spent", "0.4 spent"]):
        out = run(f"release HERE --epsilon 0.2 -o map{number}.parquet", HERE=HERE).out
        assert f"epsilon {spent} on points so far" in out
        release = Release.load(f"map{number}.parquet")
        assert not release.preview
        assert release.summary() in out
    assert "0.1 left of the cap" in out
    third = refusal(capsys, *typed("release HERE --epsilon 0.2 -o third.parquet", HERE=HERE))
    assert "lower epsilon to 0.1" in third
    assert not Path("third.parquet").exists()
    assert [row.units for row in Ledger().rows()] == [to_units(0.2)] * 2


def test_previews_and_no_ledger_book_nothing(run):
    out = run("release HERE --epsilon 1 --preview 3", HERE=HERE).out
    assert "must not be published" in out
    assert "Not saved" in out
    out = run("release HERE --epsilon 1 --no-ledger -o map.parquet", HERE=HERE).out
    assert "not booked" in out
    assert not Ledger().path.exists()


def test_extents_of_each_kind(run):
    def grid(extent):
        run(f"release points.csv {extent} --epsilon 1 --preview 1 --overwrite -o map.parquet")
        return Release.load("map.parquet").grid

    wide = grid("--around -122.42 37.77 --size 20km --height-extent 500m --shape 8x16")
    assert (wide.shape, wide.width, wide.height) == ((8, 16), 20_000, 500)
    for crs in ("EPSG:32610", "32610"):
        placed = grid(f"--bounds 540000 4170000 560000 4190000 --shape 32 --crs-grid {crs}")
        assert placed == Grid.from_bounds(540_000, 4_170_000, 560_000, 4_190_000, 32610, 32)
    box = shapely.box(-122.5, 37.7, -122.4, 37.8)
    geopandas.GeoSeries([box], crs=4326).to_file("limits.geojson", driver="GeoJSON")
    limits = Grid.from_boundary("limits.geojson", 16)
    assert grid("--boundary limits.geojson --shape 16") == limits
    assert grid("--around -122.42 37.77 --size 20km").shape == (1024, 1024)
    city = "release --city madeup --shape 128 --mechanism uniform --epsilon 1 --preview 1"
    assert "128 x 128 cells" in run(city).out


def test_a_file_is_replaced_when_asked_for(run):
    for more in ("--preview 7", "--overwrite"):
        run(f"release HERE --epsilon 1 -o map.parquet {more}", HERE=HERE)
    assert not Release.load("map.parquet").preview


def test_one_population_has_one_cap_over_extents_shapes_and_copies(run, capsys, monkeypatch):
    monkeypatch.setenv("EXPLORER_EPSILON_CAP", "0.5")
    Path("elsewhere").mkdir()
    Path("elsewhere/Points.csv").write_text(Path("points.csv").read_text())
    run("count HERE -o counted.exact.parquet", HERE=HERE)
    how = "--mechanism uniform --epsilon 0.3 -o"
    run(f"release HERE {how} first.parquet", HERE=HERE)
    for asked in (
        f"{HERE} --shape 16",
        HERE.replace("points.csv", "elsewhere/Points.csv"),
        "counted.exact.parquet",
        f"{HERE} --user who --contribution-bound 2",
    ):
        sentence = refusal(capsys, *f"release {asked} {how} again.parquet".split())
        assert "spent epsilon 0.3 of a cap of 0.5" in sentence
    named = f"release {HERE} --population others {how} named.parquet"
    assert "spent epsilon 0.3" in refusal(capsys, *named.split()), "the same counts"
    run(f"{named} --shape 16")


def test_a_release_that_cannot_be_saved_is_kept_beside_the_ledger(tmp_path, capsys, monkeypatch):
    save, path = Release.save, Path("map.parquet")

    def full(release, where):
        if Path(where).name == path.name:
            raise InputError("There is no room.")
        save(release, where)

    monkeypatch.setattr(Release, "save", full)
    line = f"release {HERE} --mechanism uniform --epsilon 0.3 -o map.parquet"
    said = refusal(capsys, *line.split())
    (kept,) = (tmp_path / "ledger.drawn").glob("*.parquet")
    assert "There is no room. What was drawn and paid for is kept as" in said
    assert str(kept) in said.replace("\n", "")
    assert Release.load(kept).epsilon == 0.3
    assert not path.exists()


def test_a_weight_without_a_user_says_what_is_protected(run):
    asked = f"release {HERE} --mechanism uniform --epsilon 1 --preview 1"
    assert "a row of weight 50 has 50 times epsilon" in run(f"{asked} --weight who").err
    assert "times epsilon" not in run(asked).err


def test_a_long_release_has_a_bar_in_a_terminal(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    monkeypatch.setattr(bars, "DELAY", 0)
    line = f"release {HERE} --mechanism identity --epsilon 1 --preview 3 -o map.parquet"
    assert main(line.split()) == 0
    assert "Drawing Identity" in shown.getvalue()


def test_what_takes_long_says_so_before_it_is_booked(run, monkeypatch):
    monkeypatch.setattr(duration, "MANY", 4_000)
    order = []
    monkeypatch.setattr("explorer.commands.drawing.note", order.append)
    book = Ledger.book
    monkeypatch.setattr(Ledger, "book", lambda *asked: order.append("booked") or book(*asked))
    asked = f"release {HERE} --epsilon 0.5 --mechanism identity"
    run(f"{asked} -o map.parquet")
    said = next(each for each in order if "numbers here" in each)
    assert said.startswith("Identity draws 4,096 numbers here, which takes about")
    assert order.index(said) < order.index("booked")
    order.clear()
    run(f"{asked} --preview 3")
    assert not any("numbers here" in each for each in order), "a preview takes no time"
