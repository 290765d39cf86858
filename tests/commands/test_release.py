"""`dp-explorer release`: the release of the Python API, booked, and nothing exact on screen."""

import io
import re
import sys
from pathlib import Path

import geopandas
import numpy as np
import pytest
import shapely

from explorer.cli import main
from explorer.commands import flags
from explorer.errors import InputError
from explorer.grid.extent import as_metres
from explorer.grid.grid import Grid
from explorer.mechanisms import HTF, all_mechanisms, duration
from explorer.points.points import read_points
from explorer.privacy import bars
from explorer.privacy.ledger import Ledger
from explorer.releases.release import Release
from explorer.releases.units import to_units
from tests.commands.refusals import refusal, typed

LON, LAT = -122.42, 37.77
HERE = ["--around", str(LON), str(LAT), "--size", "20km", "--shape", "64"]
GRID = Grid.around(LON, LAT, 20_000, shape=64)
N = 4_711


@pytest.fixture
def points(tmp_path):
    """A CSV of N points on the map, and of 913 rows without a place."""
    rng = np.random.default_rng(1)
    lon, lat = LON + rng.normal(0, 0.02, N), LAT + rng.normal(0, 0.02, N)
    user = rng.integers(0, 300, N)
    lines = [f"{a:.6f},{b:.6f},{u}" for a, b, u in zip(lon, lat, user, strict=True)]
    path = tmp_path / "points.csv"
    path.write_text("\n".join(["lon,lat,who", *lines, *["0,0,1"] * 913]) + "\n")
    return str(path)


@pytest.fixture
def map_file(points, tmp_path, capsys):
    path = str(tmp_path / "map.parquet")
    assert main(["release", points, *HERE, "--epsilon", "1", "--preview", "7", "-o", path]) == 0
    capsys.readouterr()
    return path


def test_release_is_that_of_the_python_api(map_file, points):
    matrix = GRID.count(read_points(points))
    expected = HTF(epsilon=1).release(matrix, rng=7)
    release = Release.load(map_file)
    assert release.preview
    assert release.grid == GRID
    assert np.array_equal(release.counts, expected.counts)
    assert np.array_equal(release.boxes(), expected.boxes())


def test_flags_reach_the_mechanism(points, tmp_path):
    path = tmp_path / "map.parquet"
    typed = "--height 7 --T 2 --stop-rule per-epsilon --stop-factor 1e1 --split-rule all-cuts"
    more = ["--inference", "Least Squares", "--stop-extent", "4.0", "--first-axis", "longer"]
    arguments = [*HERE, "--epsilon", "0.5", "--preview", "7", "-o", str(path), *more]
    assert main(["release", points, *arguments, *typed.split()]) == 0
    release = Release.load(path)
    assert release.mechanism == "htf"
    wanted = {
        "height": 7, "T": 2, "stop_rule": "per epsilon", "stop_factor": 10.0,
        "split_rule": "all cuts", "inference": "least squares", "stop_extent": 4,
        "first_axis": "longer",
    }  # fmt: skip
    assert {name: release.parameters[name] for name in wanted} == wanted


@pytest.mark.parametrize("key", all_mechanisms())
def test_help_shows_the_parameters_of_the_named_mechanism_alone(key, capsys):
    with pytest.raises(SystemExit):
        main(["release", "--mechanism", key, "--help"])
    shown = " ".join(capsys.readouterr().out.split()).replace("- ", "-")
    chosen = all_mechanisms()[key]
    for name in flags.owners():
        assert (f" {flags.flag(name)} VALUE " in shown) == (name in chosen.tunables()), name
    for name in chosen.tunables():
        told = " ".join(flags.described(chosen.param[name]).split()).replace("- ", "-")
        assert told in shown, name


def test_help_without_a_mechanism_says_where_parameters_are(capsys):
    with pytest.raises(SystemExit):
        main(["release", "--help"])
    shown = " ".join(capsys.readouterr().out.split())
    assert "dp-explorer mechanisms NAME" in shown
    assert "--stop-count" not in shown
    assert "No exact count of the points" in shown


@pytest.mark.parametrize("key", all_mechanisms())
def test_every_mechanism_releases_with_all_its_flags(key, points, tmp_path):
    path = tmp_path / "map.parquet"
    chosen = all_mechanisms()[key]
    typed: list[str] = []
    for name in chosen.tunables():
        default = chosen.param[name].default
        text = "auto" if default is None else str(default).replace(" ", "-")
        typed += [flags.flag(name), text]
    arguments = ["--mechanism", key, "--epsilon", "1", "--preview", "7", "-o", str(path)]
    assert main(["release", points, *HERE, *arguments, *typed]) == 0
    release = Release.load(path)
    assert release.mechanism == key
    assert dict(release.parameters) == {n: chosen.param[n].default for n in chosen.tunables()}


def test_a_release_is_booked_and_told(points, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("EXPLORER_EPSILON_CAP", "0.5")
    for number, spent in enumerate(["0.2 spent", "0.4 spent"]):
        path = tmp_path / f"map{number}.parquet"
        assert main(["release", points, *HERE, "--epsilon", "0.2", "-o", str(path)]) == 0
        out = capsys.readouterr().out
        assert f"epsilon {spent} on points so far" in out
        assert str(path) in out
        release = Release.load(path)
        assert not release.preview
        assert release.summary() in out
    assert "0.1 left of the cap" in out
    sentence = refusal(
        capsys, "release", points, *HERE, "--epsilon", "0.2", "-o", str(tmp_path / "third.parquet")
    )
    assert "lower epsilon to 0.1" in sentence
    assert not (tmp_path / "third.parquet").exists()
    assert [row.units for row in Ledger().rows()] == [to_units(0.2)] * 2


def test_previews_and_no_ledger_book_nothing(points, tmp_path, capsys):
    assert main(["release", points, *HERE, "--epsilon", "1", "--preview", "3"]) == 0
    out = capsys.readouterr().out
    assert "must not be published" in out
    assert "Not saved" in out
    path = str(tmp_path / "map.parquet")
    assert main(["release", points, *HERE, "--epsilon", "1", "--no-ledger", "-o", path]) == 0
    assert "not booked" in capsys.readouterr().out
    assert not Ledger().path.exists()


def test_nothing_printed_is_an_exact_count(points, capsys):
    assert main(["release", points, *HERE, "--epsilon", "0.1", "--preview", "7"]) == 0
    out, err = capsys.readouterr()
    assert "Some rows at longitude 0, latitude 0" in err
    assert "'lon' and 'lat' were taken" in err
    found = re.findall(r"\d+", (out + err).replace(",", ""))
    exact = int(GRID.count(read_points(points)).total)
    assert "913" not in found
    assert str(N) not in found
    assert str(N + 913) not in found
    assert str(exact) not in found


def test_users_are_protected_when_asked_for(points, tmp_path):
    path = tmp_path / "map.parquet"
    arguments = ["--user", "who", "--contribution-bound", "2", "--epsilon", "1", "--preview", "1"]
    assert main(["release", points, *HERE, *arguments, "-o", str(path)]) == 0
    release = Release.load(path)
    assert (release.unit, release.contribution_bound) == ("user", 2)
    # 300 users of two records each; the total's noise has a deviation below 300.
    assert abs(release.total - 600) < 300


def test_extents_of_each_kind(points, tmp_path):
    path = str(tmp_path / "map.parquet")
    common = ["--epsilon", "1", "--preview", "1", "--overwrite", "-o", path]

    def grid(*extent: str) -> Grid:
        assert main(["release", points, *extent, *common]) == 0
        return Release.load(path).grid

    wide = grid("--around", "-122.42", "37.77", "--size", "20km", "--height-extent", "500m",
                "--shape", "8x16")  # fmt: skip
    assert (wide.shape, wide.width, wide.height) == ((8, 16), 20_000, 500)
    bounds = ("--bounds", "540000", "4170000", "560000", "4190000", "--shape", "32")
    for named in ("EPSG:32610", "32610"):
        placed = grid(*bounds, "--crs-grid", named)
        assert placed == Grid.from_bounds(540_000, 4_170_000, 560_000, 4_190_000, 32610, 32)
    limits = tmp_path / "limits.geojson"
    box = shapely.box(-122.5, 37.7, -122.4, 37.8)
    geopandas.GeoSeries([box], crs=4326).to_file(limits, driver="GeoJSON")
    assert grid("--boundary", str(limits), "--shape", "16") == Grid.from_boundary(limits, 16)
    assert main(["release", points, *HERE[:5], *common]) == 0
    assert Release.load(path).grid.shape == (1024, 1024)


def test_a_city_of_the_catalogue(capsys):
    arguments = ["--city", "madeup", "--shape", "128", "--mechanism", "uniform"]
    assert main(["release", *arguments, "--epsilon", "1", "--preview", "1"]) == 0
    assert "128 x 128 cells" in capsys.readouterr().out


BAD_RELEASES = {
    "no points": ("release --epsilon 1 --preview 1", "either a file of points or --city"),
    "points and city": ("release P --city madeup --epsilon 1 --preview 1", "either a file"),
    "missing file": ("release nowhere.csv HERE --epsilon 1 --preview 1", "no file nowhere.csv"),
    "no extent": ("release P --epsilon 1 --preview 1", "extent is missing"),
    "two extents": ("release P HERE --bounds 0 0 9 9 --epsilon 1 --preview 1", "declared twice"),
    "no size": ("release P --around 1 2 --epsilon 1 --preview 1", "--size 20km"),
    "size without unit": ("release P HERE --size 20 --epsilon 1 --preview 1", "not a length"),
    "negative size": ("release P HERE --size -3km --epsilon 1 --preview 1", "not a length"),
    "no size at all": ("release P HERE --size 0km --epsilon 1 --preview 1", "not an area"),
    "too large": ("release P HERE --size 1e9km --epsilon 1 --preview 1", "half the Earth"),
    "no place": ("release P HERE --around 0 97 --epsilon 1 --preview 1", "not a place"),
    "nan place": ("release P HERE --around nan 9 --epsilon 1 --preview 1", "not a place"),
    "bounds without CRS": ("release P --bounds 0 0 9 9 --epsilon 1 --preview 1", "--crs-grid"),
    "CRS in degrees": (
        "release P --bounds 0 0 9 9 --crs-grid 4326 --epsilon 1 --preview 1",
        "not measured in metres",
    ),
    "CRS unknown": (
        "release P --bounds 0 0 9 9 --crs-grid EPSG:99999999 --epsilon 1 --preview 1",
        "not a known CRS",
    ),
    "CRS beside around": ("release P HERE --crs-grid 27700 --epsilon 1 --preview 1", "not go with"),
    "size beside bounds": (
        "release P --bounds 0 0 9 9 --crs-grid 27700 --size 3km --epsilon 1 --preview 1",
        "--size does not go with --bounds",
    ),
    "shape of words": ("release P HERE --shape many --epsilon 1 --preview 1", "not a shape"),
    "shape 0": ("release P HERE --shape 0 --epsilon 1 --preview 1", "whole numbers of 1 or more"),
    "shape of three": ("release P HERE --shape 2x2x2 --epsilon 1 --preview 1", "not a shape"),
    "shape too large": ("release P HERE --shape 16384 --epsilon 1 --preview 1", "more than the"),
    "epsilon 0": ("release P HERE --epsilon 0 --preview 1", "Epsilon is 0"),
    "epsilon below 0": ("release P HERE --epsilon -1e-3 --preview 1", "Epsilon is -0.001"),
    "epsilon nan": ("release P HERE --epsilon nan --preview 1", "Epsilon is nan"),
    "epsilon 1e-12": (
        "release P HERE --epsilon=1e-12 --preview 1",
        "Epsilon is 1e-12: give a number, 0.000001 to 10.",
    ),
    "epsilon -inf": ("release P HERE --epsilon -inf --preview 1", "Epsilon is -inf"),
    "epsilon 11": ("release P HERE --epsilon 11 --preview 1", "protects nobody"),
    "epsilon of words": (
        "release P HERE --epsilon 0,1 --preview 1",
        "give a number: 0.000001 to 10",
    ),
    "height 30": ("release P HERE --height 30 --epsilon 1 --preview 1", "0 to 22"),
    "height 2.5": ("release P HERE --height 2.5 --epsilon 1 --preview 1", "whole number"),
    "height of words": ("release P HERE --height x --epsilon 1 --preview 1", "or auto"),
    "T 0": ("release P HERE --T 0 --epsilon 1 --preview 1", "T is 0"),
    "no such rule": ("release P HERE --split-rule best --epsilon 1 --preview 1", "choose one of"),
    "other's flag": (
        "release P HERE --mechanism ug --T 4 --epsilon 1 --preview 1",
        "--T belongs to HTF, not to UG; leave it out, or choose --mechanism htf",
    ),
    "no mechanism": ("release P HERE --mechanism hft --epsilon 1 --preview 1", "no mechanism"),
    "preview of words": ("release P HERE --epsilon 1 --preview x", "--preview is 'x'"),
    "no output": ("release P HERE --epsilon 1", "-o map.parquet"),
    "output of a kind": ("release P HERE --epsilon 1 -o map.csv", "name it map.parquet"),
    "no folder": ("release P HERE --epsilon 1 -o no/where/map.parquet", "There is no folder"),
    "user alone": ("release P HERE --user who --epsilon 1 --preview 1", "--per record"),
    "bound alone": (
        "release P HERE --contribution-bound 2 --epsilon 1 --preview 1",
        "name the column",
    ),
    "bound 0": (
        "release P HERE --user who --contribution-bound 0 --epsilon 1 --preview 1",
        "whole number of 1 or more",
    ),
    "no column": ("release P HERE --lon long --epsilon 1 --preview 1", "no column 'long'"),
    "no user column": (
        "release P HERE --user nobody --contribution-bound 2 --epsilon 1 --preview 1",
        "no column 'nobody'",
    ),
    "unknown city": ("release --city atlantis --epsilon 1 --preview 1", "no city 'atlantis'"),
    "extent of a city": (
        "release --city madeup --size 3km --epsilon 1 --preview 1",
        "--size is not needed with --city",
    ),
    "bound of a city": (
        "release --city madeup --contribution-bound 2 --epsilon 1 --preview 1 --shape 8",
        "user",
    ),
}


@pytest.mark.parametrize("name", BAD_RELEASES)
def test_a_bad_release_is_one_sentence_and_costs_nothing(name, points, capsys):
    line, why = BAD_RELEASES[name]
    assert why in refusal(capsys, *typed(line, P=[points], HERE=HERE))
    assert not Ledger().path.exists()


def test_advice_is_given_as_flags(tmp_path, capsys):
    path = tmp_path / "trips.csv"
    path.write_text("o_lon,o_lat,d_lon,d_lat\n1,2,3,4\n")
    sentence = refusal(capsys, "release", str(path), *HERE, "--epsilon", "1", "--preview", "1")
    assert "--lon o_lon, --lat o_lat" in sentence
    path.write_text("lon,lat\n37.77,-122.42\n37.78,-122.43\n")
    sentence = refusal(capsys, "release", str(path), *HERE, "--epsilon", "1", "--preview", "1")
    assert "--lon lat, --lat lon" in sentence


def test_a_file_of_no_points_is_refused_without_counts(tmp_path, capsys):
    path = tmp_path / "nobody.csv"
    path.write_text("lon,lat\n" + "0,0\n" * 47)
    sentence = refusal(capsys, "release", str(path), *HERE, "--epsilon", "1", "--preview", "1")
    assert "None of the rows can be used. Some rows at longitude 0, latitude 0" in sentence
    assert "47" not in sentence


def test_flags_without_effect_are_told(points, capsys):
    arguments = ["--epsilon", "1", "--preview", "1", "--stop-factor", "4", "--T", "2"]
    assert main(["release", points, *HERE, *arguments]) == 0
    err = capsys.readouterr().err
    assert "--stop-factor has no effect" in err
    assert "--T has" not in err


def test_a_file_is_replaced_only_when_asked_for(points, map_file, capsys):
    before = Path(map_file).read_bytes()
    arguments = ["release", points, *HERE, "--epsilon", "1", "-o", map_file]
    assert "--overwrite" in refusal(capsys, *arguments)
    assert Path(map_file).read_bytes() == before
    assert main([*arguments, "--overwrite"]) == 0
    assert Path(map_file).read_bytes() != before
    assert not Release.load(map_file).preview


@pytest.mark.parametrize("name", ["points.parquet", "boundary.parquet"])
def test_what_is_read_is_never_replaced(name, points, tmp_path, capsys):
    path = tmp_path / name
    if name.startswith("points"):
        path.write_bytes(Path(points).read_bytes())
    else:
        area = shapely.box(-122.5, 37.7, -122.3, 37.9)
        geopandas.GeoDataFrame(geometry=[area], crs=4326).to_parquet(path)
    read = [str(path), *HERE] if name.startswith("points") else [points, "--boundary", str(path)]
    before = path.read_bytes()
    arguments = ["release", *read, "--epsilon", "1", "-o", str(path), "--overwrite"]
    assert "is what is read" in refusal(capsys, *arguments)
    assert path.read_bytes() == before
    assert not Ledger().path.exists()


def test_one_population_has_one_cap_over_extents_shapes_and_copies(
    points, tmp_path, capsys, monkeypatch
):
    monkeypatch.setenv("EXPLORER_EPSILON_CAP", "0.5")
    copy = tmp_path / "elsewhere" / "Points.csv"
    copy.parent.mkdir()
    copy.write_text(Path(points).read_text())
    counts = str(tmp_path / "counted.exact.parquet")
    assert main(["count", points, *HERE, "-o", counts]) == 0
    how = ["--mechanism", "uniform", "--epsilon", "0.3", "-o"]
    assert main(["release", points, *HERE, *how, str(tmp_path / "first.parquet")]) == 0
    for asked in (
        ["release", points, *HERE, "--shape", "16"],
        ["release", str(copy), *HERE],
        ["release", counts],
        ["release", points, *HERE, "--user", "who", "--contribution-bound", "2"],
    ):
        again = [*asked, *how, str(tmp_path / "again.parquet")]
        capsys.readouterr()
        assert "spent epsilon 0.3 of a cap of 0.5" in refusal(capsys, *again)
    named = [*HERE, "--population", "others", *how, str(tmp_path / "named.parquet")]
    assert "spent epsilon 0.3" in refusal(capsys, "release", points, *named), "the same counts"
    assert main(["release", points, *named, "--shape", "16"]) == 0


def test_a_release_that_cannot_be_saved_is_kept_beside_the_ledger(
    points, tmp_path, capsys, monkeypatch
):
    save, path = Release.save, tmp_path / "map.parquet"

    def full(release: Release, where: Path) -> None:
        if Path(where) == path:
            raise InputError("There is no room.")
        save(release, where)

    monkeypatch.setattr(Release, "save", full)
    asked = [*HERE, "--mechanism", "uniform", "--epsilon", "0.3", "-o", str(path)]
    said = refusal(capsys, "release", points, *asked)
    (kept,) = (tmp_path / "ledger.drawn").glob("*.parquet")
    assert "There is no room. What was drawn and paid for is kept as" in said
    assert str(kept) in said.replace("\n", "")
    assert Release.load(kept).epsilon == 0.3
    assert not path.exists()


def test_a_weight_without_a_user_says_what_is_protected(points, capsys):
    asked = [*HERE, "--mechanism", "uniform", "--epsilon", "1", "--preview", "1"]
    assert main(["release", points, *asked, "--weight", "who"]) == 0
    assert "a row of weight 50 has 50 times epsilon" in capsys.readouterr().err
    assert main(["release", points, *asked]) == 0
    assert "times epsilon" not in capsys.readouterr().err


@pytest.mark.parametrize(("text", "metres"), [("20km", 2e4), ("1.5 KM", 1500), ("5e2m", 500)])
def test_lengths(text, metres):
    assert as_metres(text, "--size") == metres


def test_a_long_release_has_a_bar_in_a_terminal(points, tmp_path, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    monkeypatch.setattr(bars, "DELAY", 0)
    asked = ["release", points, *HERE, "--mechanism", "identity", "--epsilon", "1"]
    assert main([*asked, "--preview", "3", "-o", str(tmp_path / "map.parquet")]) == 0
    assert "Drawing Identity" in shown.getvalue()


def test_what_takes_long_says_so_before_it_is_booked(points, monkeypatch, tmp_path):
    monkeypatch.setattr(duration, "MANY", 4_000)
    order = []
    monkeypatch.setattr("explorer.commands.drawing.note", order.append)
    book = Ledger.book

    def booked(self, *asked):
        order.append("booked")
        return book(self, *asked)

    monkeypatch.setattr(Ledger, "book", booked)
    ask = ["release", points, *HERE, "--epsilon", "0.5", "--mechanism", "identity"]
    assert main([*ask, "-o", str(tmp_path / "map.parquet")]) == 0
    said = next(each for each in order if "numbers here" in each)
    assert said == "Identity draws 4,096 numbers here, which takes about 0 s."
    assert order.index(said) < order.index("booked")
    order.clear()
    assert main([*ask, "--preview", "3"]) == 0
    assert not any("numbers here" in each for each in order), "a preview takes no time"
