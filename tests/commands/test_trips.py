"""`dp-explorer trips`, and `answer` for its releases: those of the Python API, nothing exact."""

import csv
import io
import re
from pathlib import Path

import numpy as np
import pytest

from explorer import EUG, Gravity, Grid, Ledger, Release, TripDomain, read_trips
from explorer.cli import main
from explorer.commands import flags
from explorer.mechanisms import trip_mechanisms
from explorer.releases.units import to_units

LON, LAT, N = -122.42, 37.77, 4_711
AROUND = "--around -122.42 37.77 --size 20km"
GRID = Grid.around(LON, LAT, 20_000, shape=16)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A CSV of N trips with a stop, half of which have none, and of 913 rows at 0, 0."""
    folder = tmp_path_factory.mktemp("trips")
    rng = np.random.default_rng(1)
    lon, lat = LON + rng.normal(0, 0.02, (3, N)), LAT + rng.normal(0, 0.02, (3, N))
    lines = ["o_lon,o_lat,d_lon,d_lat,s1_lon,s1_lat,who"]
    for i in range(N):
        ends = [f"{lon[p, i]:.6f},{lat[p, i]:.6f}" for p in range(3)]
        lines.append(",".join([*ends[:2], ends[2] if i % 2 else ",", str(i % 300)]))
    (folder / "table.csv").write_text("\n".join([*lines, *["0,0,0,0,0,0,1"] * 913]) + "\n")
    line = f"trips {folder}/table.csv {AROUND} --grid 16 --epsilon 1 --preview 7 -o {folder}/trips"
    assert main(line.split()) == 0
    return folder


@pytest.fixture(autouse=True)
def _there(folder, monkeypatch):
    monkeypatch.chdir(folder)


def test_trips_are_those_of_the_python_api():
    domain = TripDomain([GRID, GRID], ("o", "d"))
    expected = Gravity(epsilon=1).release(domain.count(read_trips("table.csv")), rng=7)
    release = Release.load("trips.parquet")
    assert release.preview
    assert release.domain == domain
    assert np.array_equal(release.counts, expected.counts)
    assert np.array_equal(release.lower, expected.lower)


def test_stops_grids_of_their_own_persons_and_parameters(run):
    run(f"trips table.csv {AROUND} --places o,s1,d_lon:d_lat --grid 16,8x4,16 --mechanism eug "
        "--border-term corrected --user who --bound 2 --epsilon 2 --preview 3 -o stops.parquet",
    )  # fmt: skip
    release = Release.load("stops.parquet")
    small = Grid.around(LON, LAT, 20_000, shape=(8, 4))
    domain = TripDomain([GRID, small, GRID], ("o", "s1", "d"))
    trips = read_trips("table.csv", ("o", "s1", "d"), user="who")
    expected = EUG(epsilon=2, border_term="corrected").release(domain.count(trips, 2), rng=3)
    assert release.domain == domain
    assert (release.unit, release.contribution_bound) == ("user", 2)
    assert np.array_equal(release.counts, expected.counts)


def test_rows_stand_for_several_trips(run):
    rows = [f"{LON},{LAT},{LON + 0.01 * (i % 9)},{LAT},{i % 40}" for i in range(300)]
    Path("flows.csv").write_text("\n".join(["h_lng,h_lat,w_lng,w_lat,S000", *rows]) + "\n")
    line = f"trips flows.csv {AROUND} --grid 16 --places h,w --epsilon 1 --preview 7"
    assert "--weight S000" in run(line).err
    said = run(f"{line} --weight S000 -o flows.parquet").err
    assert "a row of weight 50 has 50 times epsilon" in said
    trips = read_trips("flows.csv", "h,w", weight="S000")
    domain = TripDomain([GRID, GRID], ("h", "w"))
    assert domain.count(trips).total == sum(i % 40 for i in range(300))
    expected = Gravity(epsilon=1).release(domain.count(trips), rng=7)
    assert np.array_equal(Release.load("flows.parquet").counts, expected.counts)


def test_a_release_is_booked_and_shows_no_exact_count(run):
    printed = run(f"trips table.csv {AROUND} --grid 16 --epsilon 0.2 -o booked.parquet")
    assert "epsilon 0.2 spent on " in printed.out
    assert not Release.load("booked.parquet").preview
    assert [row.units for row in Ledger().rows()] == [to_units(0.2)]
    assert "Some rows at longitude 0, latitude 0" in printed.err
    numbers = set(re.findall(r"\d+", "".join(printed).replace(",", "")))
    total = TripDomain([GRID, GRID]).count(read_trips("table.csv")).total
    assert not numbers & {str(N), "913", str(N + 913), str(total)}


@pytest.mark.parametrize("key", trip_mechanisms())
def test_every_mechanism_draws_made_up_trips_and_shows_its_flags(key, run, capsys):
    # 10^6 cells: Identity can be drawn, too.
    out = run(f"trips --made-up zipf:3:3 --epsilon 1 --preview 1 --mechanism {key}").out
    assert f"by {trip_mechanisms()[key].key} with epsilon 1" in out
    assert "Not saved" in out
    with pytest.raises(SystemExit):
        main(["trips", "--mechanism", key, "--help"])
    shown = capsys.readouterr().out
    names = trip_mechanisms()[key].tunables()
    assert all(f"{flags.flag(name)} VALUE" in shown for name in names)


def test_the_extent_of_a_city(run):
    # Port Amber lies in the Atlantic, where none of these trips is.
    out = run("trips table.csv --city madeup --grid 8 --epsilon 1 --preview 1").out
    assert "8 x 8 x 8 x 8 cells" in out


def test_answers_are_those_of_the_python_api(run):
    def answers(line):
        text = run(f"answer trips.parquet {line} --format csv").out
        return list(csv.DictReader(io.StringIO(text)))

    release = Release.load("trips.parquet")
    box, nan = [-2000.0, -1000.0, 500.0, 3000.0], [np.nan] * 4
    typed = " ".join(map(str, box))
    (row,) = answers(f"--from {typed}")
    assert float(row["value"]) == release.answer([[box, nan]]).value[0]
    assert (row["o_x0"], row["d_x0"]) == ("-2000.0", "")
    (row,) = answers(f"--to {typed} --from 0 0 900 900")
    expected = release.answer([[[0, 0, 900, 900], box]])
    assert float(row["value"]) == expected.value[0]
    assert float(row["noise_sd"]) == expected.sd[0]
    # What was written is a file of boxes, and may be one place's.
    run(f"answer trips.parquet --to {typed} -o boxes.csv")
    (row,) = answers("--rectangles boxes.csv")
    assert float(row["value"]) == release.answer([[nan, box]]).value[0]
    Path("place.csv").write_text("x0,y0,x1,y1\n0,0,900,900\n-2000,-1000,500,3000\n")
    rows = answers("--place o place.csv --place to place.csv")
    both = np.array([[0, 0, 900, 900], box])
    expected = release.answer(np.stack([both, both], axis=1))
    assert [float(row["value"]) for row in rows] == expected.value.tolist()


def test_a_table_says_anywhere_and_what_lies_outside(run):
    out, err = run("answer trips.parquet --from 90000 0 91000 1")
    assert re.search(r"^Q1 +90000 0 91000 1 +anywhere +0\.0 ", out, re.MULTILINE)
    assert "1 question asks for a place outside its grid" in err
    out = run("answer trips.parquet --to -122.44 37.75 -122.40 37.79 --lonlat").out
    assert re.search(r"^Q1 +anywhere +-1", out, re.MULTILINE)
