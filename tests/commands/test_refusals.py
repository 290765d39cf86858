"""What commands refuse: one sentence, exit code 2, nothing printed, booked or written."""

from pathlib import Path

import geopandas
import numpy as np
import pandas as pd
import pytest
import yaml
from shapely import box

from explorer import (
    UG,
    Areas,
    Country,
    FrequencyMatrix,
    Gravity,
    Grid,
    Ledger,
    TripDomain,
    read_points,
    read_trips,
)
from explorer.points.counts_file import save_counts
from tests.commands.refusals import refusal, typed
from tests.publish.folders import ABOUT

GRID = Grid.around(-122.42, 37.77, 20_000, shape=16)
AROUND = "--around -122.42 37.77 --size 20km"
WORDS = {
    "HERE": f"{AROUND} --shape 16",
    "TRIPS": f"trips.csv {AROUND} --grid 16",
    "COUNTRY": "--areas areas.gpkg --levels country,region --cell 4km",
    "PUBLISH": f"publish points.csv {AROUND} --shape 32 --mechanism quadtree --epsilon 0.5",
    "EVALUATE": f"evaluate points.csv {AROUND} --mechanisms ug --epsilon 1",
    "TOWN": "evaluate town.npy --mechanisms uniform,quadtree --epsilon 1 --jobs 1",
    "PREVIEW": "--epsilon 1 --preview 1",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A file of each kind that commands read."""
    folder = tmp_path_factory.mktemp("files")
    rng = np.random.default_rng(1)
    lon, lat = rng.normal(-122.42, 0.02, (2, 60)), rng.normal(37.77, 0.02, (2, 60))
    points = pd.DataFrame({"lon": lon[0], "lat": lat[0], "who": np.arange(60) % 9})
    points.to_csv(folder / "points.csv", index=False)
    points.to_parquet(folder / "parts.parquet")
    ends = {"o_lon": lon[0], "o_lat": lat[0], "d_lon": lon[1], "d_lat": lat[1]}
    pd.DataFrame({**ends, "s1_lon": lon[1], "s1_lat": lat[0], "who": np.arange(60) % 9}).to_csv(
        folder / "trips.csv", index=False
    )
    frame = geopandas.GeoDataFrame({"country": ["A", "A"], "region": ["a", "b"]}, crs=4326,
        geometry=[box(-122.6, 37.6, -122.42, 37.9), box(-122.42, 37.6, -122.2, 37.9)])  # fmt: skip
    frame.to_file(folder / "areas.gpkg")
    frame.to_parquet(folder / "land.parquet")
    (folder / "boxes.csv").write_text("name,x0,y0,x1,y1\na,0,0,100,100\n")
    (folder / "pairs.csv").write_text("o_x0,o_y0,o_x1,o_y1\n0,0,1,1\n")
    (folder / "about.yaml").write_text(yaml.safe_dump(ABOUT.facts()))
    np.save(folder / "town.npy", np.full((64, 64), 10))
    (folder / "town.city.toml").write_text('title = "A town"\nfile = "town.npy"\n')
    for name, text in {"words": "just words", "third": "scenario: 3", "far": "scenario: 1\ncity: x",
                       "large": "scenario: 1\nepsilon: 99"}.items():  # fmt: skip
        (folder / f"{name}.yaml").write_text(text)
    matrix = GRID.count(folder / "points.csv")
    save_counts(matrix, folder / "kept.exact.parquet")
    save_counts(FrequencyMatrix.from_array(np.ones((8, 8))), folder / "plain.exact.parquet")
    for name in ("map.parquet", "map.gpkg"):
        UG(epsilon=1).release(matrix, rng=1).save(folder / name)
    UG(epsilon=1).release(np.ones((8, 8), int), rng=1).save(folder / "cells.parquet")
    trips = TripDomain([GRID, GRID], ("o", "d")).count(read_trips(folder / "trips.csv"))
    Gravity(epsilon=1).release(trips, rng=1).save(folder / "trips.parquet")
    counts = Areas.read(frame, ["country", "region"]).count(read_points(points), cell=4_000)
    Country(epsilon=1, inside="ug").release(counts, rng=1).save(folder / "asked.gpkg")
    (folder / "damaged.parquet").write_bytes((folder / "map.parquet").read_bytes()[:3_000])
    return folder


REFUSED = r"""
relase => Unknown command 'relase'; did you mean 'release'?
cities --fast => Unrecognized arguments: --fast
cities --downl x => Unrecognized arguments
cities --downlod x => did you mean --download?
cities --download atlantis => There is no city 'atlantis'
cities --download new-yrok => did you mean 'new-york
cities --make-nation . => is not empty
cities --make-boundaries x.csv => name it .gpkg
serve --delta 0 => have delta 0
serve --city atlantis => There is no city 'atlantis'
serve --port 99999 => '99999' is not a port
serve --scenario nowhere.yaml => nowhere.yaml could not be read
mechanisms xyz => There is no mechanism 'xyz'
mechanisms hft => There is no mechanism 'hft' here: did you mean 'htf'?
scenario nowhere.yaml => nowhere.yaml could not be read
scenario large.yaml => The epsilon of the scenario is 99
scenario third.yaml => version 3
scenario words.yaml => This is not a scenario
scenario far.yaml => There is no city 'x' here
audit --mechanism kd => There is no mechanism 'kd'
audit --seconds nan => --seconds is nan
audit --seconds long => invalid float value
audit --pairs 0 => --pairs is 0; give a whole number, 1 or more
info points.csv => not a release
info nix => no file nix
info map.gpkg => A map is asked as Parquet
ledger --population nobody => nothing on the population
papers country --claim q4 --quick => q4
papers country --seeds 1 --quick => 2 or more
papers country --jobs 2 --quick => --jobs
papers country --reference nowhere --quick => reference

release HERE PREVIEW => either a file of points or --city
release points.csv --city madeup PREVIEW => either a file
release nowhere.csv HERE PREVIEW => no file nowhere.csv
release points.csv PREVIEW => extent is missing
release points.csv HERE --bounds 0 0 9 9 PREVIEW => declared twice
release points.csv --around 1 2 PREVIEW => --size 20km
release points.csv HERE --size 20 PREVIEW => not a length
release points.csv HERE --around 0 97 PREVIEW => not a place
release points.csv --bounds 0 0 9 9 PREVIEW => --crs-grid
release points.csv --bounds 0 0 9 9 --crs-grid 4326 PREVIEW => not measured in metres
release points.csv HERE --crs-grid 27700 PREVIEW => not go with
release points.csv --bounds 0 0 9 9 --crs-grid 27700 --size 3km PREVIEW => not go with --bounds
release points.csv HERE --shape many PREVIEW => not a shape
release points.csv HERE --shape 16384 PREVIEW => more than the
release points.csv HERE => required: --epsilon
release points.csv HERE --epsilon 0 --preview 1 => Epsilon is 0
release points.csv HERE --epsilon=1e-12 --preview 1 => Epsilon is 1e-12: give a number, 0.000001 to
release points.csv HERE --epsilon 11 --preview 1 => protects nobody
release points.csv HERE --epsilon 0,1 --preview 1 => give a number: 0.000001 to 10
release points.csv HERE PREVIEW --delta 1e-9 => have delta 0
release points.csv HERE PREVIEW --zcdp => see dp-explorer release --help
release points.csv HERE PREVIEW --height 30 => 0 to 22
release points.csv HERE PREVIEW --height x => or auto
release points.csv HERE PREVIEW --split-rule best => choose one of
release points.csv HERE PREVIEW --mechanism ug --T 4 => --T belongs to HTF, not to UG; leave it out
release points.csv HERE PREVIEW --mechanism hft => no mechanism
release points.csv HERE --epsilon 1 --preview x => --preview is 'x'
release points.csv HERE --epsilon 1 => -o map.parquet
release points.csv HERE --epsilon 1 -o new.csv => name it new.parquet
release points.csv HERE --epsilon 1 -o no/where/map.parquet => There is no folder
release points.csv HERE --epsilon 1 -o map.parquet => exists already; give another name, or --over
release parts.parquet HERE --epsilon 1 -o parts.parquet --overwrite => is what is read
release points.csv --boundary land.parquet --epsilon 1 -o land.parquet --overwrite => is what is
release points.csv HERE PREVIEW --user who => --per record
release points.csv HERE PREVIEW --contribution-bound 2 => name the column
release points.csv HERE PREVIEW --user nobody --contribution-bound 2 => no column 'nobody'
release points.csv HERE PREVIEW --lon long => no column 'long'
release --city madup PREVIEW => 'madeup'?
release --city madeup --size 3km PREVIEW => --size is not needed with --city
release --city great-britain PREVIEW => dp-explorer cities --download great-britain
release kept.exact.parquet HERE PREVIEW => --around is not needed with counts

count nowhere-*.parquet HERE -o c => No file fits
count parts.parquet HERE -o c --dask moon => --dask is 'moon'; give auto, threads
count parts.parquet HERE -o c --lon east => There is no column 'east'
count points.csv HERE -o c --gaps => --dask and --gaps are for Parquet
count points.csv HERE => Say where the counts go with -o NAME
count points.csv HERE -o kept => exists already
count kept.exact.parquet => Say where the counts go
count kept.exact.parquet -o c => counts already
count kept.exact.parquet kept.exact.parquet --rectangles boxes.csv => counts already
evaluate points.csv --mechanisms ug --epsilon 1 => give their public extent
evaluate madeup --mechanisms ug --epsilon 1 --user who => --user is not needed
TOWN --mechanisms htm => no mechanism 'htm'
TOWN --epsilon 0 => Epsilon is 0
TOWN --epsilon x => give a number
TOWN --jobs -2 => whole number of 1 or more
TOWN --workload squares => no workload 'squares'
TOWN --metric mre => no metric 'mre'
TOWN --sweep T 2 => None of these mechanisms
TOWN --sweep height 99 => Height is 99
TOWN -o table.txt => ending .parquet or .csv
TOWN --resume => give it with -o
TOWN --shape 7 => whole fraction
EVALUATE --per-box => --per-box needs boxes
EVALUATE --rectangles boxes.csv --metric mae => --metric
EVALUATE --rectangles boxes.csv --resume => --resume do not
EVALUATE --rectangles boxes.csv --polygons areas.gpkg => Polygons are asked alone
EVALUATE --rectangles boxes.csv -o x.txt => is no table

answer => required: MAP
answer nowhere.parquet --rectangle -1e3 0 1 1 => no release file
answer damaged.parquet --rectangle 0 0 1 1 => damaged
answer areas.gpkg --rectangle 0 0 1 1 => not a release
answer map.gpkg --rectangle 0 0 1 1 => A map is asked as Parquet
answer map.parquet --rectangle 0 0 1 1 -o - --format csv => needs a name
answer map.parquet => no rectangle to answer
answer map.parquet --seed 1 => see dp-explorer answer --help
answer map.parquet --rectangle 1 2 => expected 4 arguments
answer map.parquet --rectangle a 2 3 4 => invalid float value: 'a'
answer map.parquet --rectangle 0 0 1 1 --name-column a => --name-column is about
answer map.parquet --polygons a.gpkg --rectangle 0 0 1 1 => Polygons are asked alone
answer map.parquet --polygons nowhere.gpkg => no file nowhere.gpkg
answer map.parquet --rectangles boxes.csv --lonlat => --lonlat is about --rectangle
answer map.parquet --rectangle 5 0 1 1 => inside out
answer map.parquet --rectangle 0 0 4000 4000 --lonlat => not in degrees
answer map.parquet --rectangle -122.43 37.76 -122.41 37.78 => --lonlat
answer map.parquet --rectangles nowhere.geojson => no file of rectangles
answer map.parquet --rectangle 0 0 1 1 -o answers.xyz => --format
answer map.parquet --rectangle 0 0 1 1 --format xml => invalid choice
answer map.parquet --rectangle 0 0 9 9 -o x.gpkg --format csv => not written as csv
answer map.parquet --rectangle 0 0 1 1 --format csv --overwrite -o map.parquet => is what is read
answer map.parquet --rectangle 0 0 1 1 -o boxes.csv => exists already
answer map.parquet --from 0 0 1 1 => a map of one place
answer cells.parquet --rectangle 0 0 4 8 --format geojson => CSV
answer cells.parquet --rectangle 0 0 4 8 --lonlat => in cells

trips PREVIEW => either a file of trips or --made-up
trips trips.csv --made-up zipf:4:2 PREVIEW => either a file of trips
trips trips.csv PREVIEW => extent is missing
trips TRIPS --city madeup PREVIEW => not needed with --city
trips TRIPS --mechanism htf PREVIEW => HTF takes maps, not trips
trips TRIPS --q 0.5 PREVIEW => --q belongs to DAF-Homogeneity
trips TRIPS --seed 1 PREVIEW => --preview SEED
trips TRIPS --places o,s1,s2,d PREVIEW => recognised as stop 2
trips TRIPS --places o,,d PREVIEW => are no places
trips TRIPS --places o,x: PREVIEW => are no places
trips TRIPS --places o,home PREVIEW => as lon:lat
trips TRIPS --places o,o PREVIEW => named twice
trips TRIPS --grid 8,8,8 PREVIEW => names 3 shapes for 2 places
trips TRIPS --grid 2048 --places o,s1,d PREVIEW => at most 1024 x 1024 cells
trips TRIPS --user x --bound 2 PREVIEW => no column 'x'
trips TRIPS --weight n PREVIEW => no column 'n'
trips TRIPS --epsilon 1 => -o map.parquet
trips TRIPS --epsilon 1 -o new.csv => name it new.parquet
trips TRIPS --epsilon 1 -o trips.parquet => --overwrite
trips --made-up gauss PREVIEW => no set of made-up trips
trips --made-up gauss:7:1 PREVIEW => 2 to 6 axes
trips --made-up zipf:4:2 --grid 8 PREVIEW => not needed
trips TRIPS --mechanism identity --grid 128 PREVIEW => would publish 268,435,456 numbers
answer trips.parquet => nothing to answer; give --from
answer trips.parquet --rectangle 0 0 1 1 => --rectangle asks a map of one place
answer trips.parquet --via 0 0 1 1 => --via does not go with the places o, d
answer trips.parquet --from 1 0 0 1 => inside out
answer trips.parquet --from 0 0 1 1 --format geojson => write them as CSV
answer trips.parquet --from 0 0 2 2 -o t.gpkg => no single shape
answer trips.parquet --place x nowhere.csv => no place 'x'
answer trips.parquet --rectangles nowhere.csv => no file of rectangles
answer trips.parquet --lonlat --rectangles pairs.csv => --lonlat is about

country points.csv COUNTRY --epsilon 1 => -o gb.gpkg
country points.csv COUNTRY --epsilon 1 -o made.csv => made.gpkg
country points.csv COUNTRY --epsilon 1 -o asked.gpkg => exists already
country points.csv COUNTRY PREVIEW --inside nothing => nside
country points.csv COUNTRY PREVIEW --own-share much => --own-share is 'much'
country points.csv COUNTRY PREVIEW --cell 500 => not a length
country points.csv COUNTRY PREVIEW --cell 1m => cell
country points.csv COUNTRY PREVIEW --levels country,shire => shire
country points.csv COUNTRY PREVIEW --levels country, => --levels
country points.csv COUNTRY PREVIEW --areas nowhere.gpkg => nowhere.gpkg
country points.csv COUNTRY PREVIEW --areas points.csv => points.csv
country points.csv COUNTRY PREVIEW --dask auto => Parquet
country parts.parquet COUNTRY PREVIEW --dask here => --dask is 'here'
country points.csv COUNTRY PREVIEW --contribution-bound 3 => --user
country points.csv COUNTRY --epsilon 1 --preview much => --preview
country points.csv COUNTRY PREVIEW --inside ug --inside-set T=5 => UG has no setting 'T'
country points.csv COUNTRY PREVIEW --inside-set T => --inside-set is 'T'; give a name and a value
country points.csv COUNTRY PREVIEW --inside htf --inside-set T=x => T is 'x'; give a whole number
country points.csv COUNTRY PREVIEW --inside htf --inside-set T=5 --inside-set T=6 => names T twice
country points.csv COUNTRY PREVIEW --inside none --inside-set T=5 => not needed with --inside none
country points.csv COUNTRY PREVIEW --inside htf --inside-set height=99 => Height is 99
answer asked.gpkg => no rectangle
answer asked.gpkg --area Nowhere => Nowhere
answer asked.gpkg --area Nowhere --rectangle 0 0 1 1 => alone
answer asked.gpkg --area Nowhere --polygons areas.gpkg => either
answer asked.gpkg --from 0 0 1 1 => --area

federated atlantis PREVIEW => no city
federated town --epsilon 1 => -o
federated town PREVIEW --depth 30 => epth
federated town PREVIEW --people none => eople
federated town PREVIEW --shard 20 --corrupt 0.8 => honest
federated town --epsilon 1 -o f.parquet --mode summed => --preview
federated town --epsilon 1 -o f.parquet --algorithm sampling => not private
federated town --epsilon 1 -o f.csv => GeoParquet
federated town --epsilon 1 -o f.parquet --bits 9 --people-are-public => 9 bits a number are too few
federated town --epsilon 1 -o f.parquet => (--people N), or agree
federated town --epsilon 1 -o f.parquet --people all => (--people-are-public)
federated town --epsilon 1 -o f.parquet --people 40959 => more people than the 40,959

PUBLISH -o out => curator (who publishes it
PUBLISH --about about.yaml -o out --sector Fishing => choose one of
PUBLISH --about nowhere.yaml -o out => cannot be read
PUBLISH --about about.yaml -o nowhere/out => make it first
PUBLISH --about about.yaml -o points.csv => exists already
PUBLISH --about about.yaml -o out --boxes nowhere.csv => nowhere.csv
PUBLISH --about about.yaml -o out --key points.csv => no publisher's key
publish plain.exact.parquet --epsilon 1 --about about.yaml -o out => no place on the Earth
verify . => manifest.json
verify nowhere => nowhere
"""
CASES = [line.split(" => ") for line in REFUSED.splitlines() if line]


@pytest.mark.parametrize(("line", "sentence"), CASES, ids=[line for line, _ in CASES])
def test_what_cannot_be_done_is_one_sentence_and_costs_nothing(
    line, sentence, folder, monkeypatch, capsys
):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("EXPLORER_DATA", str(folder))
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    said = refusal(capsys, *typed(line, **WORDS))
    assert sentence in said
    assert said.isprintable()
    assert not Ledger().path.exists() or not Ledger().rows()
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before


def test_nothing_of_a_terminal_is_printed_back(capsys):
    assert refusal(capsys, "mechanisms", "\x1b[31mred\n").isprintable()


@pytest.mark.parametrize(("command", "rows"), [
    ("release", "lon,lat\n" + "0,0\n" * 47),
    ("trips", "o_lon,o_lat,d_lon,d_lat\n" + "0,0,0,0\n" * 47),
])  # fmt: skip
def test_a_file_without_a_usable_row_is_refused_without_counts(command, rows, tmp_path, capsys):
    Path(tmp_path / "none.csv").write_text(rows)
    line = f"{command} {tmp_path}/none.csv {AROUND} --epsilon 1 --preview 1".split()
    sentence = refusal(capsys, *line)
    assert "None of the rows can be used. Some rows at longitude 0, latitude 0" in sentence
    assert "47" not in sentence
