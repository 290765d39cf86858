"""`dp-explorer trips`, and `answer` for its releases: those of the Python API, nothing exact."""

import csv
import io
import re

import numpy as np
import pytest

from explorer.cli import main
from explorer.commands import flags
from explorer.grid.grid import Grid
from explorer.grid.places import TripDomain
from explorer.mechanisms import EUG, Gravity, trip_mechanisms
from explorer.privacy.ledger import Ledger
from explorer.releases.release import Release
from explorer.releases.units import to_units
from explorer.trips.trips import read_trips
from tests.commands.refusals import refusal, typed

LON, LAT = -122.42, 37.77
HERE = ["--around", str(LON), str(LAT), "--size", "20km", "--grid", "16"]
GRID = Grid.around(LON, LAT, 20_000, shape=16)
N = 4_711


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A CSV of N trips with a stop, half of which have none, and of 913 rows at 0, 0."""
    rng = np.random.default_rng(1)
    lon, lat = LON + rng.normal(0, 0.02, (3, N)), LAT + rng.normal(0, 0.02, (3, N))
    lines = ["o_lon,o_lat,d_lon,d_lat,s1_lon,s1_lat,who"]
    for i in range(N):
        ends = [f"{lon[p, i]:.6f},{lat[p, i]:.6f}" for p in range(3)]
        lines.append(",".join([*ends[:2], ends[2] if i % 2 else ",", str(i % 300)]))
    lines += ["0,0,0,0,0,0,1"] * 913
    path = tmp_path_factory.mktemp("trips") / "trips.csv"
    path.write_text("\n".join(lines) + "\n")
    return str(path)


@pytest.fixture(scope="module")
def trips_file(table, tmp_path_factory):
    path = str(tmp_path_factory.mktemp("release") / "trips")
    assert main(["trips", table, *HERE, "--epsilon", "1", "--preview", "7", "-o", path]) == 0
    return f"{path}.parquet"


def test_trips_are_those_of_the_python_api(trips_file, table):
    domain = TripDomain([GRID, GRID], ("o", "d"))
    expected = Gravity(epsilon=1).release(domain.count(read_trips(table)), rng=7)
    release = Release.load(trips_file)
    assert release.preview
    assert release.domain == domain
    assert np.array_equal(release.counts, expected.counts)
    assert np.array_equal(release.lower, expected.lower)


def test_stops_grids_of_their_own_persons_and_parameters(table, tmp_path):
    path = tmp_path / "trips.parquet"
    arguments = ["--places", "o,s1,d_lon:d_lat", "--grid", "16,8x4,16", "--mechanism", "eug"]
    more = ["--border-term", "corrected", "--user", "who", "--bound", "2", "--epsilon", "2"]
    line = ["trips", table, *HERE[:-2], *arguments, *more, "--preview", "3", "-o", str(path)]
    assert main(line) == 0
    release = Release.load(path)
    small = Grid.around(LON, LAT, 20_000, shape=(8, 4))
    domain = TripDomain([GRID, small, GRID], ("o", "s1", "d"))
    trips = read_trips(table, ("o", "s1", "d"), user="who")
    made = EUG(epsilon=2, border_term="corrected")
    expected = made.release(domain.count(trips, 2), rng=3)
    assert release.domain == domain
    assert (release.unit, release.contribution_bound) == ("user", 2)
    assert np.array_equal(release.counts, expected.counts)


def test_rows_stand_for_several_trips(tmp_path, capsys):
    rows = [f"{LON},{LAT},{LON + 0.01 * (i % 9)},{LAT},{i % 40}" for i in range(300)]
    path, saved = tmp_path / "flows.csv", tmp_path / "flows.parquet"
    path.write_text("\n".join(["h_lng,h_lat,w_lng,w_lat,S000", *rows]) + "\n")
    line = ["trips", str(path), *HERE, "--places", "h,w", "--epsilon", "1", "--preview", "7"]
    assert main(line) == 0
    assert "'S000'" in (err := capsys.readouterr().err)
    assert "--weight S000" in err
    assert main([*line, "--weight", "S000", "-o", str(saved)]) == 0
    assert "a row of weight 50 has 50 times epsilon" in capsys.readouterr().err
    trips = read_trips(path, "h,w", weight="S000")
    domain = TripDomain([GRID, GRID], ("h", "w"))
    assert domain.count(trips).total == sum(i % 40 for i in range(300))
    expected = Gravity(epsilon=1).release(domain.count(trips), rng=7)
    assert np.array_equal(Release.load(saved).counts, expected.counts)
    assert "no column 'n'" in refusal(capsys, *line, "--weight", "n")


def test_a_release_is_booked_and_its_file_kept(table, tmp_path, capsys):
    path = tmp_path / "trips.parquet"
    line = ["trips", table, *HERE, "--epsilon", "0.2", "-o", str(path)]
    assert main(line) == 0
    out, err = capsys.readouterr()
    assert "epsilon 0.2 spent on " in out
    assert not Release.load(path).preview
    assert [row.units for row in Ledger().rows()] == [to_units(0.2)]
    before = path.read_bytes()
    assert "--overwrite" in refusal(capsys, *line)
    assert path.read_bytes() == before
    # Nothing that was printed is an exact count.
    assert "Some rows at longitude 0, latitude 0" in err
    found = set(re.findall(r"\d+", (out + err).replace(",", "")))
    total = TripDomain([GRID, GRID]).count(read_trips(table)).total
    assert not found & {str(N), "913", str(N + 913), str(total)}


@pytest.mark.parametrize("key", trip_mechanisms())
def test_every_mechanism_of_trips_draws_made_up_ones(key, capsys):
    # 10^6 cells: Identity can be drawn, too.
    line = ["trips", "--made-up", "zipf:3:3", "--epsilon", "1", "--preview", "1"]
    kinds = trip_mechanisms()
    assert main([*line, "--mechanism", key]) == 0
    out = capsys.readouterr().out
    assert f"by {kinds[key].key} with epsilon 1" in out
    assert "Not saved" in out


def test_every_parameter_has_a_flag(capsys):
    for key, each in trip_mechanisms().items():
        with pytest.raises(SystemExit):
            main(["trips", "--mechanism", key, "--help"])
        shown = capsys.readouterr().out
        assert all(f"{flags.flag(name)} VALUE" in shown for name in each.tunables()), key


def test_the_extent_of_a_city(table, capsys):
    line = ["trips", table, "--city", "madeup", "--grid", "8", "--epsilon", "1", "--preview", "1"]
    assert main(line) == 0
    # Port Amber lies in the Atlantic, where none of these trips is.
    assert "8 x 8 x 8 x 8 cells" in capsys.readouterr().out


BAD_TRIPS = {
    "no trips": ("--epsilon 1 --preview 1", "either a file of trips or --made-up"),
    "both": ("T --made-up zipf:4:2 --epsilon 1 --preview 1", "either a file of trips"),
    "missing file": ("nowhere.csv HERE --epsilon 1 --preview 1", "no file nowhere.csv"),
    "no extent": ("T --epsilon 1 --preview 1", "extent is missing"),
    "two extents": ("T HERE --city madeup --epsilon 1 --preview 1", "not needed with --city"),
    "no city": ("T --city atlantis --epsilon 1 --preview 1", "no city 'atlantis'"),
    "a map's": ("T HERE --mechanism htf --epsilon 1 --preview 1", "HTF takes maps, not trips"),
    "no mechanism": ("T HERE --mechanism x --epsilon 1 --preview 1", "no mechanism 'x'"),
    "other's flag": ("T HERE --q 0.5 --epsilon 1 --preview 1", "--q belongs to DAF-Homogeneity"),
    "no such stop": ("T HERE --places o,s1,s2,d --epsilon 1 --preview 1", "recognised as stop 2"),
    "one place of EUG's kind": (
        "T HERE --places o --mechanism quadtree --epsilon 1 --preview 1 --height 99",
        "0 to 11",
    ),
    "no place": ("T HERE --places o,,d --epsilon 1 --preview 1", "are no places"),
    "half a pair": ("T HERE --places o,x: --epsilon 1 --preview 1", "are no places"),
    "unknown place": ("T HERE --places o,home --epsilon 1 --preview 1", "as lon:lat"),
    "twice": ("T HERE --places o,o --epsilon 1 --preview 1", "named twice"),
    "shapes": ("T HERE --grid 8,8,8 --epsilon 1 --preview 1", "names 3 shapes for 2 places"),
    "shape": ("T HERE --grid 8,x --epsilon 1 --preview 1", "not a shape"),
    "too many cells": (
        "T HERE --grid 2048 --places o,s1,d --epsilon 1 --preview 1",
        "at most 1024 x 1024 cells",
    ),
    "user alone": ("T HERE --user who --epsilon 1 --preview 1", "--per record"),
    "bound alone": ("T HERE --bound 2 --epsilon 1 --preview 1", "name the column"),
    "no user": ("T HERE --user x --bound 2 --epsilon 1 --preview 1", "no column 'x'"),
    "epsilon": ("T HERE --epsilon 0 --preview 1", "Epsilon is 0"),
    "no output": ("T HERE --epsilon 1", "-o map.parquet"),
    "output": ("T HERE --epsilon 1 -o trips.csv", "name it trips.parquet"),
    "made-up name": ("--made-up gauss --epsilon 1 --preview 1", "no set of made-up trips"),
    "made-up axes": ("--made-up gauss:7:1 --epsilon 1 --preview 1", "2 to 6 axes"),
    "made-up extent": ("--made-up zipf:4:2 --grid 8 --epsilon 1 --preview 1", "not needed"),
    "too many parts": (
        "T HERE --mechanism identity --grid 128 --epsilon 1 --preview 1",
        "would publish 268,435,456 numbers",
    ),
}


@pytest.mark.parametrize("name", BAD_TRIPS)
def test_bad_trips_are_one_sentence_and_cost_nothing(name, table, capsys):
    line, why = BAD_TRIPS[name]
    assert why in refusal(capsys, "trips", *typed(line, T=[table], HERE=HERE))
    assert not Ledger().path.exists()


def test_a_file_of_no_trips_is_refused_without_counts(tmp_path, capsys):
    path = tmp_path / "nobody.csv"
    path.write_text("o_lon,o_lat,d_lon,d_lat\n" + "0,0,0,0\n" * 47)
    sentence = refusal(capsys, "trips", str(path), *HERE, "--epsilon", "1", "--preview", "1")
    assert "None of the rows can be used. Some rows at longitude 0, latitude 0" in sentence
    assert "47" not in sentence


def answers(capsys: pytest.CaptureFixture[str], *line: str) -> list[dict[str, str]]:
    capsys.readouterr()
    assert main(["answer", *line, "--format", "csv"]) == 0
    return list(csv.DictReader(io.StringIO(capsys.readouterr().out)))


def test_answers_are_those_of_the_python_api(trips_file, tmp_path, capsys):
    release = Release.load(trips_file)
    box, nan = [-2000.0, -1000.0, 500.0, 3000.0], [np.nan] * 4
    typed = [str(edge) for edge in box]
    rows = answers(capsys, trips_file, "--from", *typed)
    assert float(rows[0]["value"]) == release.answer([[box, nan]]).value[0]
    assert (rows[0]["o_x0"], rows[0]["d_x0"]) == ("-2000.0", "")
    rows = answers(capsys, trips_file, "--to", *typed, "--from", "0", "0", "900", "900")
    expected = release.answer([[[0, 0, 900, 900], box]])
    assert float(rows[0]["value"]) == expected.value[0]
    assert float(rows[0]["noise_sd"]) == expected.sd[0]
    # What was written is a file of boxes, and may be one place's.
    path = tmp_path / "boxes.csv"
    ask = ["answer", trips_file, "--to", *typed, "-o", str(path)]
    assert main(ask) == 0
    again = answers(capsys, trips_file, "--rectangles", str(path))
    assert float(again[0]["value"]) == release.answer([[nan, box]]).value[0]
    place = tmp_path / "place.csv"
    place.write_text("x0,y0,x1,y1\n0,0,900,900\n-2000,-1000,500,3000\n")
    rows = answers(capsys, trips_file, "--place", "o", str(place), "--place", "to", str(place))
    both = np.array([[0, 0, 900, 900], box])
    expected = release.answer(np.stack([both, both], axis=1))
    assert [float(row["value"]) for row in rows] == expected.value.tolist()


def test_a_table_says_anywhere_and_what_lies_outside(trips_file, capsys):
    far = ["--from", "90000", "0", "91000", "1"]
    assert main(["answer", trips_file, *far]) == 0
    out, err = capsys.readouterr()
    assert re.search(r"^Q1 +90000 0 91000 1 +anywhere +0\.0 ", out, re.MULTILINE)
    assert "1 question asks for a place outside its grid" in err
    degrees = ["--to", "-122.44", "37.75", "-122.40", "37.79", "--lonlat"]
    assert main(["answer", trips_file, *degrees]) == 0
    assert re.search(r"^Q1 +anywhere +-1", capsys.readouterr().out, re.MULTILINE)


@pytest.mark.parametrize(("line", "why"), [
    ("", "nothing to answer; give --from"),
    ("--rectangle 0 0 1 1", "--rectangle asks a map of one place"),
    ("--via 0 0 1 1", "--via does not go with the places o, d"),
    ("--from 1 0 0 1", "inside out"),
    ("--from nan 0 0 1", "not a finite number"),
    ("--from 0 0 1 1 --format geojson", "write them as CSV"),
    ("--place x nowhere.csv", "no place 'x'"),
    ("--place o nowhere.csv", "no file of rectangles nowhere.csv"),
    ("--rectangles nowhere.csv", "no file of rectangles"),
    ("--lonlat --rectangles F", "--lonlat is about"),
])  # fmt: skip
def test_bad_questions_are_one_sentence(line, why, trips_file, tmp_path, capsys):
    file = tmp_path / "boxes.csv"
    file.write_text("o_x0,o_y0,o_x1,o_y1\n0,0,1,1\n")
    assert why in refusal(capsys, "answer", trips_file, *typed(line, F=[str(file)]))


def test_a_map_is_not_asked_about_places(tmp_path, capsys):
    path = str(tmp_path / "map.parquet")
    line = ["release", "--city", "madeup", "--shape", "16", "--mechanism", "uniform"]
    assert main([*line, "--epsilon", "1", "--preview", "1", "-o", path]) == 0
    capsys.readouterr()
    assert "a map of one place" in refusal(capsys, "answer", path, "--from", "0", "0", "1", "1")
