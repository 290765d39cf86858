"""Refusals are followed: what a sentence advises is done, and helps or meets another reason."""

import os
import re
import shlex
import subprocess
import sys
import zipfile

import geopandas
import numpy as np
import pandas as pd
import pytest
from shapely import LineString, Point, box

from explorer.cli import main

N = 200
RNG = np.random.default_rng(1)
LON, TO_LON = RNG.uniform(13.35, 13.45, (2, N)).round(6)
LAT, TO_LAT = RNG.uniform(52.48, 52.52, (2, N)).round(6)
ENDS = {"lon": LON, "lat": LAT}
METRES = geopandas.GeoSeries.from_xy(LON, LAT, crs=4326).to_crs(25833)
HERE = "--around 13.4 52.5 --size 40km"
DRAW = "--mechanism uniform --epsilon 1 --preview 1"
MAP, TRIPS = f"{HERE} --shape 32 {DRAW}", f"{HERE} --grid 8 {DRAW}"


def csv(name, **columns):
    pd.DataFrame(columns).to_csv(name, index=False)


def lines(name, *changed):
    with open(name, "w") as file:  # noqa: PTH123
        file.write("\n".join(changed) + "\n")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder of files as people have them, and the working directory."""
    monkeypatch.chdir(tmp_path)
    csv("points.csv", **ENDS)
    csv("pairs.csv", **{"a lon": LON, "a lat": LAT, "b lon": TO_LON, "b lat": TO_LAT})
    csv("metres.csv", easting=METRES.x.round(1), northing=METRES.y.round(1))
    csv("mislabelled.csv", lon=METRES.x.round(1), lat=METRES.y.round(1))
    csv("turned_over.csv", lat=LON + 100, lon=LAT)
    csv("unnamed.csv", across=LON, up=LAT)
    csv("users.csv", **ENDS, user_id=np.arange(N) % 40)
    csv("half.csv", **ENDS, n=np.arange(N) / 2)
    csv("noise.csv", lon=[*map(str, LON[:-1]), "somewhere"], lat=LAT)
    rows = [f"{a},{b}" for a, b in zip(LON, LAT, strict=True)]
    lines("headerless.csv", *(f"{n},2008-02-02 15:36:08,{row}" for n, row in enumerate(rows)))
    lines("ragged.csv", "lon,lat", *rows, "13.4,52.5,7,8")
    legs = {"leave lng": LON, "leave lat": LAT, "arrive lng": TO_LON, "arrive lat": TO_LAT}
    csv("legs.csv", **legs)
    csv("blocks.csv", w_geocode=60014001001000 + np.arange(N), h_geocode=60014038001000, S000=1)
    stops = {f"{p}_{a}": v for p in ("o", "s1", "s2") for a, v in ENDS.items()}
    csv("trips.csv", **stops, d_lon=TO_LON, d_lat=TO_LAT)
    for name, shape in (("lines", LineString([(13.4, 52.5), (13.5, 52.5)])),
                        ("district", box(13.3, 52.4, 13.5, 52.6)),
                        ("dots", Point(13.4, 52.5))):  # fmt: skip
        geopandas.GeoSeries([shape] * 9, crs=4326).to_file(f"{name}.geojson")
    with zipfile.ZipFile("both.zip", "w") as archive:
        for name in ("trips.csv", "points.csv"):
            archive.write(name)
    lines("degrees.csv", "name,x0,y0,x1,y1", "A,13.35,52.48,13.4,52.5")
    lines("turned.csv", "name,x0,y0,x1,y1", "A,500,0,-500,100")
    lines("headed.csv", "name,a,b", "A,1,2")
    lines("boxes.csv", "name,x0,y0,x1,y1", "A,-20000,-20000,20000,20000")
    lines("points.xyz", "lon,lat", *rows)
    lines("empty.csv")
    return tmp_path


def ends_with(folder, name, *last):
    lines(name, *(folder / name).read_text().splitlines()[:-1], *last)


def begins_with(folder, name, first):
    lines(name, first, *(folder / name).read_text().splitlines())


#: Changes of a file as a sentence asks for them.
MENDS = {
    "@whole": lambda _: csv("half.csv", **ENDS, n=np.arange(N)),
    "@number": lambda folder: ends_with(folder, "noise.csv", "13.4,52.5"),
    "@deleted": lambda folder: ends_with(folder, "noise.csv"),
    "@shorter": lambda folder: ends_with(folder, "ragged.csv", "13.4,52.5"),
    "@gone": lambda folder: ends_with(folder, "ragged.csv"),
    "@names": lambda folder: begins_with(folder, "headerless.csv", "id,time,lon,lat"),
    "@places": lambda folder: begins_with(folder, "headerless.csv", "id,time,o_lon,o_lat"),
    "@head": lambda _: lines("headed.csv", "name,x0,y0,x1,y1", "A,1,2,3,4"),
    "@turned": lambda folder: ends_with(folder, "turned.csv", "A,-500,0,500,100"),
    "@centres": lambda _: csv("blocks.csv", w_geocode=np.arange(N), h_geocode=np.arange(N),
                              S000=np.arange(N), o_lon=LON, o_lat=LAT, d_lon=TO_LON,
                              d_lat=TO_LAT),
}  # fmt: skip
#: What is typed, what its refusal says (groups hold the advice), and what is typed next: behind
#: "+" the same line with more, behind "@" the same line after a change of the file. What meets
#: another reason names that one.
ADVICE = r"""
release points.csv --shape 32 DRAW => one of (--around) LON LAT (--size 20km) => + \1 13.4 52.5 \2
release points.csv --shape 32 DRAW => (--bounds) X0 Y0 X1 Y1 (--crs-grid) EPSG
  => + \1 380000 5800000 400000 5830000 \2 EPSG:25833
release points.csv --shape 32 DRAW => or (--boundary) FILE => + \1 district.geojson
release points.csv --around 13.4 52.5 DRAW => with (--size 20km) => + \1
release points.csv --around 13.4 52.5 --size 40 DRAW => such as (20km) => + --size \1
release points.csv --bounds 380000 5800000 400000 5830000 --shape 32 DRAW
  => with (--crs-grid) EPSG:27700 => + \1 EPSG:25833
release points.csv HERE --shape 4096 DRAW => 4,194,304 .* give fewer rows => + --shape 2048
release points.csv --boundary lines.geojson --shape 32 DRAW => made of polygons; give a file
  => + --boundary district.geojson
release pairs.csv MAP => example (--lon '.*?'),? (--lat '.*?') => + \1 \2
release unnamed.csv MAP => with (--lon), (--lat).* from (across), (up)\. => + \1 \3 \2 \4
release points.csv MAP --lon longitude --lat lat => columns are (lon), (lat) => + --lon \1 --lat \2
release turned_over.csv MAP => look swapped; give (--lon lat), (--lat lon)
  => + --around 113.4 52.5 \1 \2
release metres.csv MAP => (--crs) EPSG:\d+ => + \1 EPSG:25833
release mislabelled.csv MAP => (--crs) EPSG:\d+ => + \1 EPSG:25833
release users.csv HERE --shape 32 --epsilon 1 -o map.parquet
  => give (--user \S+ --contribution-bound 10) => + \1
release users.csv HERE --shape 32 --epsilon 1 -o map.parquet => or (--per record) => + \1
release users.csv MAP --user user_id => (--contribution-bound 10) => + \1
release users.csv MAP --user user_id => (--per record) => + \1
release users.csv MAP --contribution-bound 3 => (--user) COLUMN => + \1 user_id
release half.csv MAP --weight n => whole number of 0 or more => @whole
release noise.csv MAP => line 201 .* mend that line => @number
release noise.csv MAP => line 201 .* delete it => @deleted
release ragged.csv MAP => Line 202 .* mend that => @shorter
release ragged.csv MAP => Line 202 .* delete it => @gone
release headerless.csv MAP => line of names above it, .* such as (id,time,lon,lat) => @names
trips headerless.csv TRIPS --places o => write a line of names above it, one for each => @places
release both.zip MAP --layer places.csv => '(points\.csv)'\); name one => + --layer \1
release empty.csv MAP => empty|no columns|No columns => release points.csv MAP
release points.xyz MAP => '\.xyz' is not read; give points as CSV => release points.csv MAP
release lines.geojson MAP => points were expected; give points => release dots.geojson MAP
release points.csv HERE --shape 32 --epsilon 1 => with (-o map\.parquet) => + \1
release points.csv HERE --shape 32 --epsilon 1 -o map.csv => name it (map\.parquet) => + -o \1
release points.csv MAP --mechanism unifrom => did you mean '(.*?)' => + --mechanism \1
release points.csv HERE DRAW --shap 32 => did you mean (--shape)\?
  => release points.csv HERE DRAW \1 32
release points.csv MAP --height 3 => (leave it out) => release points.csv MAP
release points.csv MAP --height 3 => choose (--mechanism \w+) => + \1
release points.csv MAP --delta 1e-10 => delta 0 .* leave it out => release points.csv MAP
release points.csv HERE --mechanism uniform --epsilon 1 --seed 3 => is (--preview) SEED
  => release points.csv HERE --mechanism uniform --epsilon 1 \1 3
release points.csv MAP --epsilon ten => give a number: \S+ to (\d+) => + --epsilon \1
count points.csv HERE => with (-o) NAME => + \1 kept
count points.csv HERE => (--rectangles) FILE => + \1 boxes.csv
count points.csv HERE --rectangles degrees.csv => longitude and latitude as GeoJSON
  => + --rectangles district.geojson
count points.csv HERE --rectangle 13.35 52.48 13.4 52.5 => add (--lonlat) => + \1
count points.csv HERE --rectangles headed.csv => the columns (name,x0,y0,x1,y1) => @head
count points.csv HERE --rectangles turned.csv => west before east => @turned
evaluate points.csv HERE --mechanisms uniform --epsilon 1 --seeds 1 --per-box
  => give (--rectangles) FILE => + \1 boxes.csv
trips legs.csv TRIPS => name the two as (lon:lat)
  => + --places 'leave lng:leave lat,arrive lng:arrive lat'
trips both.zip TRIPS => (--layer \S*trips\.csv) => + \1
release both.zip MAP => (--layer) => + \1 points.csv
trips blocks.csv TRIPS --weight S000 => codes .* of areas, add the coordinates of .* => @centres
trips trips.csv TRIPS --places o,home => name the two as (lon:lat) => + --places o,d_lon:d_lat
trips trips.csv TRIPS --places o,o => each place of a trip once => + --places o
trips trips.csv HERE DRAW --places o,s1,s2,d --grid 256 => at most (\d+ x \d+) => + --grid '\1'
trips trips.csv HERE DRAW --places o,s1,s2,d --grid 1024 => or (fewer) places => + --places o,s1,d
trips trips.csv HERE DRAW --grid 8,8,8 => give one for all, or one for each => + --grid 8,8
trips trips.csv HERE --epsilon 1 --preview 1 --mechanism identity --grid 128
  => choose a (coarser grid) => + --grid 16
trips trips.csv HERE --epsilon 1 --preview 1 --mechanism htf --grid 8
  => choose one of identity, (uniform) => + --mechanism \1
trips trips.csv HERE --epsilon 1 --preview 1 --mechanism htf --grid 8 => use dp-explorer (release)
  => \1 trips.csv HERE --preview 1 --epsilon 1 --shape 8 => More than one pair of columns
"""
CASES = [case.split(" => ") for case in ADVICE.replace("\n  =>", " =>").splitlines() if case]


def typed(line):
    for name, words in (("HERE", HERE), ("DRAW", DRAW), ("MAP", MAP), ("TRIPS", TRIPS)):
        line = re.sub(rf"\b{name}\b", words, line)
    return shlex.split(line)


def said(capsys):
    return capsys.readouterr().err.splitlines()[-1]


def advised(pattern, capsys):
    refused = said(capsys)
    found = re.search(pattern, refused)
    assert found is not None, refused
    return found


@pytest.mark.parametrize("case", CASES, ids=[f"{case[0]}: {case[1]}" for case in CASES])
def test_advice_helps(case, folder, capsys):
    line, says, then, *other = case
    assert main(typed(line)) == 2
    found = advised(says, capsys)
    if then in MENDS:
        MENDS[then](folder)
        then = "+"
    again = found.expand(then.replace("+", line, 1) if then[0] == "+" else then)
    code = main(typed(again))
    if other:
        assert code == 2
        assert advised(other[0], capsys).string != found.string
    else:
        assert code == 0, said(capsys)


BOX = "-5000 -5000 5000 5000"


@pytest.mark.parametrize(("flags", "says", "then"), [
    ("", r"give (--from) X0 Y0 X1 Y1", rf"\1 {BOX}"),
    (f"--rectangle {BOX}", r"with (--from), (--via), (--to) X0", rf"\1 {BOX} \3 {BOX}"),
    (f"--via {BOX}", r"(once for each)", f"--via {BOX} --via {BOX}"),
    (f"--via {BOX}", r"(leave it out)", f"--to {BOX}"),
    (f"--to {BOX} --lonlat", r"not degrees|degrees", f"--to {BOX}"),
])  # fmt: skip
def test_advice_about_questions_to_trips_helps(flags, says, then, capsys):
    assert main(typed("trips trips.csv TRIPS --places o,s1,s2,d -o trips.parquet")) == 0
    assert main(["answer", "trips.parquet", *flags.split()]) == 2
    found = advised(says, capsys)
    assert main(["answer", "trips.parquet", *found.expand(then).split()]) == 0, said(capsys)


def test_the_settings_that_are_named_help(capsys, monkeypatch):
    """The cap is raised; an epsilon as that of the 2020 Census is read when a process begins."""
    monkeypatch.setenv("EXPLORER_EPSILON_CAP", "0.5")
    line = typed("release points.csv HERE --mechanism uniform --epsilon 1 -o map.parquet")
    assert main(line) == 2
    monkeypatch.setenv(advised(r"raise the cap \((EXPLORER_\w+)\)", capsys)[1], "2")
    assert main(line) == 0
    line = typed("release points.csv HERE --mechanism uniform --epsilon 17.14 --preview 1")
    assert main(line) == 2
    path = {"PYTHONPATH": os.pathsep.join(sys.path)}
    settings = {**os.environ, advised(r"EXPLORER_\w+", capsys)[0]: "20", **path}
    done = subprocess.run(
        [sys.executable, "-m", "explorer", *line], env=settings, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_a_column_of_weights_that_is_named_is_counted_when_it_is_given(capsys):
    """Advice of a command that is not refused."""
    csv("flows.csv", **ENDS, **{"number of trips": np.full(N, 50)})
    line = "count flows.csv HERE --rectangles boxes.csv"
    assert main(typed(line)) == 0
    out, err = capsys.readouterr()
    assert f"{N:,}" in out
    flag = re.search(r"--weight '.*?'|--weight \S+", err)[0]
    assert main(typed(f"{line} {flag}")) == 0
    assert f"{50 * N:,}" in capsys.readouterr().out
