"""Refusals are followed: what a sentence advises is done, and helps or meets another reason."""

import os
import re
import shlex
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

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
METRES = geopandas.GeoSeries.from_xy(LON, LAT, crs=4326).to_crs(25833)

HERE = "--around 13.4 52.5 --size 40km"
DRAW = "--mechanism uniform --epsilon 1 --preview 1"
MAP = f"{HERE} --shape 32 {DRAW}"
TRIPS = f"{HERE} --grid 8 {DRAW}"


def csv(path: Path, **columns: object) -> None:
    pd.DataFrame(columns).to_csv(path, index=False)


def lines(path: Path, *changed: str) -> None:
    path.write_text("\n".join(changed) + "\n")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder of files as people have them, and the working directory."""
    monkeypatch.chdir(tmp_path)
    ends = {"lon": LON, "lat": LAT}
    csv(tmp_path / "points.csv", **ends)
    csv(tmp_path / "pairs.csv", **{"a lon": LON, "a lat": LAT, "b lon": TO_LON, "b lat": TO_LAT})
    csv(tmp_path / "metres.csv", easting=METRES.x.round(1), northing=METRES.y.round(1))
    csv(tmp_path / "mislabelled.csv", lon=METRES.x.round(1), lat=METRES.y.round(1))
    csv(tmp_path / "unnamed.csv", across=LON, up=LAT)
    csv(tmp_path / "users.csv", **ends, user_id=np.arange(N) % 40)
    csv(tmp_path / "half.csv", **ends, n=np.arange(N) / 2)
    csv(tmp_path / "noise.csv", lon=[*map(str, LON[:-1]), "somewhere"], lat=LAT)
    rows = [f"{a},{b}" for a, b in zip(LON, LAT, strict=True)]
    timed = [f"{n},2008-02-02 15:36:08,{row}" for n, row in enumerate(rows)]
    lines(tmp_path / "headerless.csv", *timed)
    lines(tmp_path / "ragged.csv", "lon,lat", *rows, "13.4,52.5,7,8")
    legs = {"leave lng": LON, "leave lat": LAT, "arrive lng": TO_LON, "arrive lat": TO_LAT}
    csv(tmp_path / "legs.csv", **legs)
    blocks = {"w_geocode": 60014001001000 + np.arange(N), "h_geocode": 60014038001000}
    csv(tmp_path / "blocks.csv", **blocks, S000=np.arange(N))
    stops = {f"{p}_{a}": v for p in ("o", "s1", "s2") for a, v in ends.items()}
    csv(tmp_path / "trips.csv", **stops, d_lon=TO_LON, d_lat=TO_LAT)
    for name, shape in (
        ("lines", LineString([(13.4, 52.5), (13.5, 52.5)])),
        ("district", box(13.3, 52.4, 13.5, 52.6)),
        ("dots", Point(13.4, 52.5)),
    ):
        geopandas.GeoSeries([shape] * 9, crs=4326).to_file(tmp_path / f"{name}.geojson")
    with zipfile.ZipFile(tmp_path / "both.zip", "w") as archive:
        for name in ("trips.csv", "points.csv"):
            archive.write(tmp_path / name, name)
    lines(tmp_path / "degrees.csv", "name,x0,y0,x1,y1", "A,13.35,52.48,13.4,52.5")
    lines(tmp_path / "turned.csv", "name,x0,y0,x1,y1", "A,500,0,-500,100")
    lines(tmp_path / "headed.csv", "name,a,b", "A,1,2")
    lines(tmp_path / "boxes.csv", "name,x0,y0,x1,y1", "A,-500,0,500,100")
    lines(tmp_path / "points.xyz", "lon,lat", *rows)
    lines(tmp_path / "empty.csv")
    return tmp_path


@dataclass(frozen=True)
class Advice:
    """A command that is refused, what its sentence says, and what is typed after that.

    Attributes
    ----------
    line : what is typed
    says : a pattern of its refusal; what its groups hold is the advice
    then : what is typed next: "{line}" is the line before, "\\1" what the sentence advised
    mend : changes a file as the sentence says
    ends : a pattern of the next refusal, for advice that meets another reason; "" for success
    """

    line: str
    says: str
    then: str = "{line}"
    mend: Callable[[Path], None] = lambda _folder: None
    ends: str = ""


def ends_of(line: str) -> Callable[[Path], None]:
    """A change of a file: its last line is another one, or none for an empty one."""

    def mend(folder: Path) -> None:
        name, _, last = line.partition(" ")
        kept = (folder / name).read_text().splitlines()[:-1]
        lines(folder / name, *kept, *([last] if last else []))

    return mend


def begins_with(name: str, first: str) -> Callable[[Path], None]:
    """A change of a file: another line stands before its first."""
    return lambda folder: lines(folder / name, first, *(folder / name).read_text().splitlines())


ADVICE = {
    # The extent.
    "an extent around": Advice(
        f"release points.csv --shape 32 {DRAW}",
        r"one of (--around) LON LAT (--size 20km)",
        r"{line} \1 13.4 52.5 \2",
    ),
    "an extent of bounds": Advice(
        f"release points.csv --shape 32 {DRAW}",
        r"(--bounds) X0 Y0 X1 Y1 (--crs-grid) EPSG",
        r"{line} \1 380000 5800000 400000 5830000 \2 EPSG:25833",
    ),
    "an extent of a boundary": Advice(
        f"release points.csv --shape 32 {DRAW}",
        r"or (--boundary) FILE",
        r"{line} \1 district.geojson",
    ),
    "a width": Advice(
        f"release points.csv --around 13.4 52.5 {DRAW}", r"with (--size 20km)", r"{line} \1"
    ),
    "a unit of length": Advice(
        f"release points.csv --around 13.4 52.5 --size 40 {DRAW}",
        r"such as (20km)",
        rf"release points.csv --around 13.4 52.5 --size \1 {DRAW}",
    ),
    "a CRS of bounds": Advice(
        f"release points.csv --bounds 380000 5800000 400000 5830000 --shape 32 {DRAW}",
        r"with (--crs-grid) EPSG:27700",
        r"{line} \1 EPSG:25833",
    ),
    "fewer cells": Advice(
        f"release points.csv {HERE} --shape 4096 {DRAW}",
        r"4,194,304 .* give fewer rows",
        f"release points.csv {HERE} --shape 2048 {DRAW}",
    ),
    "a boundary of lines": Advice(
        f"release points.csv --boundary lines.geojson --shape 32 {DRAW}",
        r"made of polygons; give a file",
        f"release points.csv --boundary district.geojson --shape 32 {DRAW}",
    ),
    # Columns.
    "one pair of two": Advice(
        f"release pairs.csv {MAP}", r"example (--lon '.*?'),? (--lat '.*?')", r"{line} \1 \2"
    ),
    "columns that are not recognised": Advice(
        f"release unnamed.csv {MAP}",
        r"with (--lon), (--lat).* from (across), (up)\.",
        r"{line} \1 \3 \2 \4",
    ),
    "a column that is not there": Advice(
        f"release points.csv {MAP} --lon longitude --lat lat",
        r"the columns are (lon), (lat)",
        rf"release points.csv {MAP} --lon \1 --lat \2",
    ),
    "metres": Advice(f"release metres.csv {MAP}", r"(--crs) EPSG:\d+", r"{line} \1 EPSG:25833"),
    "metres in columns of degrees": Advice(
        f"release mislabelled.csv {MAP}", r"(--crs) EPSG:\d+", r"{line} \1 EPSG:25833"
    ),
    "a person": Advice(
        f"release users.csv {HERE} --shape 32 --epsilon 1 -o map.parquet",
        r"give (--user \S+ --contribution-bound 10) ",
        r"{line} \1",
    ),
    "a record": Advice(
        f"release users.csv {HERE} --shape 32 --epsilon 1 -o map.parquet",
        r"or (--per record) ",
        r"{line} \1",
    ),
    "a bound": Advice(
        f"release users.csv {MAP} --user user_id", r"(--contribution-bound 10) ", r"{line} \1"
    ),
    "no bound": Advice(f"release users.csv {MAP} --user user_id", r"(--per record) ", r"{line} \1"),
    "whose": Advice(
        f"release users.csv {MAP} --contribution-bound 3", r"(--user) COLUMN", r"{line} \1 user_id"
    ),
    "fractions of records": Advice(
        f"release half.csv {MAP} --weight n",
        r"whole number of 0 or more",
        mend=lambda folder: csv(folder / "half.csv", lon=LON, lat=LAT, n=np.arange(N)),
    ),
    # Lines of text.
    "a word for a number": Advice(
        f"release noise.csv {MAP}",
        r"line 201 .* mend that line",
        mend=ends_of("noise.csv 13.4,52.5"),
    ),
    "a word that is no record": Advice(
        f"release noise.csv {MAP}", r"line 201 .* delete it", mend=ends_of("noise.csv")
    ),
    "a line that is too long": Advice(
        f"release ragged.csv {MAP}", r"Line 202 .* mend that", mend=ends_of("ragged.csv 13.4,52.5")
    ),
    "a line that is no record": Advice(
        f"release ragged.csv {MAP}", r"Line 202 .* delete it", mend=ends_of("ragged.csv")
    ),
    "no line of names": Advice(
        f"release headerless.csv {MAP}",
        r"line of names above it, .* such as (id,time,lon,lat)",
        mend=begins_with("headerless.csv", "id,time,lon,lat"),
    ),
    "no line of names of trips": Advice(
        f"trips headerless.csv {TRIPS} --places o",
        r"write a line of names above it, one for each value",
        mend=begins_with("headerless.csv", "id,time,o_lon,o_lat"),
    ),
    "a layer that is not there": Advice(
        f"release both.zip {MAP} --layer places.csv",
        r"'points\.csv'\); name one",
        f"release both.zip {MAP} --layer points.csv",
    ),
    "an empty file": Advice(
        f"release empty.csv {MAP}", r"empty|no columns|No columns", f"release points.csv {MAP}"
    ),
    "another ending": Advice(
        f"release points.xyz {MAP}",
        r"'\.xyz' is not read; give points as CSV",
        f"release points.csv {MAP}",
    ),
    "lines for points": Advice(
        f"release lines.geojson {MAP}",
        r"points were expected; give points",
        f"release dots.geojson {MAP}",
    ),
    # Settings.
    "no name": Advice(
        f"release points.csv {HERE} --shape 32 --epsilon 1", r"with (-o map\.parquet)", r"{line} \1"
    ),
    "a name of another kind": Advice(
        f"release points.csv {HERE} --shape 32 --epsilon 1 -o map.csv",
        r"name it (map\.parquet)",
        rf"release points.csv {HERE} --shape 32 --epsilon 1 -o \1",
    ),
    "a word that is nearly right": Advice(
        f"release points.csv {HERE} --mechanism unifrom --epsilon 1 --preview 1",
        r"did you mean '(.*?)'",
        rf"release points.csv {HERE} --mechanism \1 --epsilon 1 --preview 1",
    ),
    "a flag that is nearly right": Advice(
        f"release points.csv {HERE} {DRAW} --shap 32",
        r"did you mean (--shape)\?",
        rf"release points.csv {HERE} {DRAW} \1 32",
    ),
    "a parameter to leave out": Advice(
        f"release points.csv {MAP} --height 3", r"(leave it out)", f"release points.csv {MAP}"
    ),
    "a parameter of another mechanism": Advice(
        f"release points.csv {MAP} --height 3",
        r"choose (--mechanism \w+)",
        rf"release points.csv {HERE} --epsilon 1 --preview 1 --height 3 \1",
    ),
    "delta": Advice(
        f"release points.csv {MAP} --delta 1e-10",
        r"delta 0 .* leave it out",
        f"release points.csv {MAP}",
    ),
    "a seed": Advice(
        f"release points.csv {HERE} --mechanism uniform --epsilon 1 --seed 3",
        r"is (--preview) SEED",
        rf"release points.csv {HERE} --mechanism uniform --epsilon 1 \1 3",
    ),
    "an epsilon in words": Advice(
        f"release points.csv {HERE} --epsilon ten --preview 1",
        r"give a number: \S+ to (\d+)",
        rf"release points.csv {HERE} --mechanism uniform --epsilon \1 --preview 1",
    ),
    # Questions.
    "counts to a file": Advice(f"count points.csv {HERE}", r"with (-o) NAME", r"{line} \1 kept"),
    "counts of boxes": Advice(
        f"count points.csv {HERE}", r"(--rectangles) FILE", r"{line} \1 boxes.csv"
    ),
    "boxes in degrees": Advice(
        f"count points.csv {HERE} --rectangles degrees.csv",
        r"longitude and latitude as GeoJSON",
        f"count points.csv {HERE} --rectangles district.geojson",
    ),
    "a box in degrees": Advice(
        f"count points.csv {HERE} --rectangle 13.35 52.48 13.4 52.5",
        r"add (--lonlat)",
        r"{line} \1",
    ),
    "boxes of other columns": Advice(
        f"count points.csv {HERE} --rectangles headed.csv",
        r"the columns (name,x0,y0,x1,y1)",
        mend=lambda folder: lines(folder / "headed.csv", "name,x0,y0,x1,y1", "A,1,2,3,4"),
    ),
    "a box inside out": Advice(
        f"count points.csv {HERE} --rectangles turned.csv",
        r"west before east",
        mend=ends_of("turned.csv A,-500,0,500,100"),
    ),
    "boxes to evaluate": Advice(
        f"evaluate points.csv {HERE} --mechanisms uniform --epsilon 1 --seeds 1 --per-box",
        r"give (--rectangles) FILE",
        r"{line} \1 boxes.csv",
    ),
    # Trips.
    "ends of trips": Advice(
        f"trips legs.csv {TRIPS}",
        r"name the two as (lon:lat)",
        r"{line} --places 'leave lng:leave lat,arrive lng:arrive lat'",
    ),
    "one file of an archive": Advice(
        f"trips both.zip {TRIPS}", r"(--layer \S*trips\.csv)", r"{line} \1"
    ),
    "one file of points of an archive": Advice(
        f"release both.zip {MAP}", r"(--layer) ", r"{line} \1 points.csv"
    ),
    "codes of areas": Advice(
        f"trips blocks.csv {TRIPS} --weight S000",
        r"codes .* of areas, add the coordinates of the areas' centres",
        mend=lambda folder: csv(
            folder / "blocks.csv",
            w_geocode=np.arange(N),
            h_geocode=np.arange(N),
            S000=np.arange(N),
            o_lon=LON,
            o_lat=LAT,
            d_lon=TO_LON,
            d_lat=TO_LAT,
        ),
    ),
    "a place that is not there": Advice(
        f"trips trips.csv {TRIPS} --places o,home",
        r"name the two as (lon:lat)",
        rf"trips trips.csv {TRIPS} --places o,d_lon:d_lat",
    ),
    "a place twice": Advice(
        f"trips trips.csv {TRIPS} --places o,o",
        r"each place of a trip once",
        f"trips trips.csv {TRIPS} --places o",
    ),
    "cells that fit": Advice(
        f"trips trips.csv {HERE} {DRAW} --places o,s1,s2,d --grid 256",
        r"at most (\d+ x \d+) cells",
        rf"trips trips.csv {HERE} {DRAW} --places o,s1,s2,d --grid '\1'",
    ),
    "places that fit": Advice(
        f"trips trips.csv {HERE} {DRAW} --places o,s1,s2,d --grid 1024",
        r"or (fewer) places",
        f"trips trips.csv {HERE} {DRAW} --places o,s1,d --grid 1024",
    ),
    "a shape for each place": Advice(
        f"trips trips.csv {HERE} {DRAW} --grid 8,8,8",
        r"give one for all, or one for each",
        f"trips trips.csv {HERE} {DRAW} --grid 8,8",
    ),
    "too many parts of trips": Advice(
        f"trips trips.csv {HERE} --epsilon 1 --preview 1 --mechanism identity --grid 128",
        r"choose a (coarser grid)",
        f"trips trips.csv {HERE} --epsilon 1 --preview 1 --mechanism identity --grid 16",
    ),
    "a mechanism of maps": Advice(
        f"trips trips.csv {HERE} --epsilon 1 --preview 1 --mechanism htf --grid 8",
        r"choose one of identity, (uniform)",
        rf"trips trips.csv {HERE} --epsilon 1 --preview 1 --mechanism \1 --grid 8",
    ),
    "a command of maps": Advice(
        f"trips trips.csv {HERE} --epsilon 1 --preview 1 --mechanism htf --grid 8",
        r"use dp-explorer (release)",
        rf"\1 trips.csv {HERE} --epsilon 1 --preview 1 --mechanism htf --shape 8",
        ends=r"More than one pair of columns",
    ),
}


def said(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize("name", ADVICE)
def test_advice_helps(name, folder, capsys):
    advice = ADVICE[name]
    assert main(shlex.split(advice.line)) == 2
    refused = said(capsys)
    found = re.search(advice.says, refused)
    assert found is not None, refused
    advice.mend(folder)
    again = found.expand(advice.then).replace("{line}", advice.line)
    code = main(shlex.split(again))
    if advice.ends:
        assert code == 2
        assert re.search(advice.ends, second := said(capsys)), second
        assert second != refused
    else:
        assert code == 0, said(capsys)


STOPS = f"trips trips.csv {TRIPS} --places o,s1,s2,d -o trips.parquet"
BOX = "-5000 -5000 5000 5000"


@pytest.mark.parametrize(("flags", "says", "then"), [
    ("", r"give (--from) X0 Y0 X1 Y1", rf"\1 {BOX}"),
    (f"--rectangle {BOX}", r"with (--from), (--via), (--to) X0", rf"\1 {BOX} \3 {BOX}"),
    (f"--via {BOX}", r"(once for each)", f"--via {BOX} --via {BOX}"),
    (f"--via {BOX}", r"(leave it out)", f"--to {BOX}"),
    (f"--to {BOX} --lonlat", r"not degrees|degrees", f"--to {BOX}"),
])  # fmt: skip
def test_advice_about_questions_to_trips_helps(flags, says, then, capsys):
    assert main(shlex.split(STOPS)) == 0
    assert main(["answer", "trips.parquet", *flags.split()]) == 2
    refused = said(capsys)
    found = re.search(says, refused)
    assert found is not None, refused
    assert main(["answer", "trips.parquet", *found.expand(then).split()]) == 0, said(capsys)


def test_a_file_that_exists_is_replaced_with_the_flag_that_is_named(capsys):
    line = ["release", "points.csv", *MAP.split(), "-o", "map.parquet"]
    assert main(line) == 0
    assert main(line) == 2
    found = re.search("--overwrite", said(capsys))
    assert main([*line, found[0]]) == 0


def test_a_cap_is_raised_by_the_setting_that_is_named(capsys, monkeypatch):
    monkeypatch.setenv("EXPLORER_EPSILON_CAP", "0.5")
    line = f"release points.csv {HERE} --mechanism uniform --epsilon 1 -o map.parquet".split()
    assert main(line) == 2
    found = re.search(r"raise the cap \((EXPLORER_\w+)\)", refused := said(capsys))
    assert found is not None, refused
    monkeypatch.setenv(found[1], "2")
    assert main(line) == 0


def test_a_large_epsilon_is_allowed_by_the_setting_that_is_named(capsys):
    """That of the 2020 Census; it is read when a process begins."""
    line = f"release points.csv {HERE} --mechanism uniform --epsilon 17.14 --preview 1".split()
    assert main(line) == 2
    found = re.search(r"EXPLORER_\w+", refused := said(capsys))
    assert found is not None, refused
    done = subprocess.run(
        [sys.executable, "-m", "explorer", *line],
        env={**os.environ, found[0]: "20", "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_a_column_of_weights_that_is_named_is_counted_when_it_is_given(folder, capsys):
    """Advice of a command that is not refused."""
    csv(folder / "flows.csv", lon=LON, lat=LAT, **{"number of trips": np.full(N, 50)})
    line = f"count flows.csv {HERE} --rectangles boxes.csv"
    lines(folder / "boxes.csv", "name,x0,y0,x1,y1", "A,-20000,-20000,20000,20000")
    assert main(shlex.split(line)) == 0
    out, err = capsys.readouterr()
    assert f"{N:,}" in out
    found = re.search(r"--weight '.*?'|--weight \S+", err)
    assert found is not None, err
    assert main(shlex.split(f"{line} {found[0]}")) == 0
    assert f"{50 * N:,}" in capsys.readouterr().out
