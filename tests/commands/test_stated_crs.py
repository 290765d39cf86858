"""What a person says of a CRS, what the file says, and what both advise: refusals are followed."""

import json
import re
import shlex
from pathlib import Path

import geopandas
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from shapely.geometry import Point, box

from explorer import UG, Areas, Grid, InputError, Release, exact, read_points, read_trips
from explorer.cli import main
from explorer.points.counts_file import save_counts
from tests.commands.refusals import refusal
from tests.refusals import refuses

UTM, BRITISH = "EPSG:25833", "EPSG:27700"
GRID = Grid.around(13.4, 52.5, "40km", shape=64)
HERE = "--around 13.4 52.5 --size 40km --shape 64 --per record"
HERE += " --rectangle -20000 -20000 20000 20000"
RNG = np.random.default_rng(3)
LON, LAT = RNG.uniform(13.35, 13.45, 60), RNG.uniform(52.48, 52.52, 60)
DEGREES = geopandas.GeoSeries([Point(*each) for each in zip(LON, LAT, strict=True)], crs=4326)
METRES = DEGREES.to_crs(UTM)


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def without_label(shapes, path):
    """Write GeoJSON that says nothing of its CRS, as GeoPandas does for one without a code."""
    features = shapes.__geo_interface__["features"]
    for feature in features:
        feature["properties"] = {"name": "a"}
    Path(path).write_text(json.dumps({"type": "FeatureCollection", "features": features}))


def described(path, **changes):
    """Change what a GeoParquet file says of its geometry; None takes a fact away."""
    table = pq.read_table(path)
    about = json.loads(table.schema.metadata[b"geo"])
    column = about["columns"]["geometry"]
    column |= changes
    about["columns"]["geometry"] = {
        k: v for k, v in column.items() if changes.get(k, 1) is not None
    }
    pq.write_table(table.replace_schema_metadata({"geo": json.dumps(about)}), path)


def save(path, **columns):
    """Columns as a table, or as shapes of the first two in the CRS of UTM."""
    frame = pd.DataFrame(columns)
    if path.endswith(("geojson", "gpkg")):
        shapes = geopandas.points_from_xy(frame.iloc[:, 0], frame.iloc[:, 1], crs=UTM)
        geopandas.GeoDataFrame(geometry=shapes).to_file(path)
    else:
        frame.to_parquet(path) if path.endswith("parquet") else frame.to_csv(path, index=False)


@pytest.fixture
def counted(run):
    """A function that counts the places of a file and returns what was said."""

    def counted(path, more="", number=60):
        out, err = run(f"count {path} {HERE} {more}")
        assert re.search(rf"^Q1 .* {number}\.0$", out, re.MULTILINE)
        return err

    return counted


@pytest.fixture
def refused(capsys):
    return lambda path, more="": refusal(capsys, *f"count {path} {HERE} {more}".split())


def points_in_metres(kind):
    """Points in metres, called degrees or nothing at all."""
    path = f"points.{'geojson' if kind == 'assumed geojson' else 'parquet'}"
    if path.endswith("geojson"):
        without_label(METRES, path)
        return path
    label = None if kind == "unknown parquet" else 4326
    geopandas.GeoDataFrame(geometry=METRES.set_crs(label, allow_override=True)).to_parquet(path)
    if kind == "assumed parquet":
        described(path, crs=None)
    return path


KINDS = ["assumed geojson", "assumed parquet", "stated parquet", "unknown parquet"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_crs_that_is_given_wins_over_what_cannot_be(kind, counted, refused):
    path = points_in_metres(kind)
    # What the sentence asks for is done as it says.
    assert "--crs EPSG:27700" in refused(path)
    assert "taken as ETRS89 / UTM zone 33N" in counted(path, f"--crs {UTM}")
    points = read_points(path, crs=UTM)
    assert points.crs == METRES.crs
    assert any("taken as ETRS89 / UTM zone 33N" in note for note in points.notes)
    assert GRID.count(path, crs=UTM).total == GRID.count(points).total == 60


@pytest.mark.parametrize("kind", ["geojson", "parquet"])
def test_degrees_are_not_taken_as_metres_and_the_advice_helps(kind, counted, refused):
    path = f"points.{kind}"
    if kind == "geojson":
        without_label(DEGREES, path)
    else:
        geopandas.GeoDataFrame(geometry=DEGREES).to_parquet(path)
    assert "leave out --crs" in refused(path, f"--crs {UTM}")
    counted(path)


def test_an_honest_crs_and_another_one_are_both_named(counted, refused):
    geopandas.GeoDataFrame(geometry=METRES).to_file("points.gpkg")
    sentence = refused("points.gpkg", "--crs EPSG:25832")
    assert all(name in sentence for name in ("zone 33N", "zone 32N", "leave out --crs"))
    counted("points.gpkg")


@pytest.mark.parametrize("ending", ["gpkg", "parquet"])
def test_degrees_in_a_file_that_says_metres(ending, counted, refused):
    path = f"points.{ending}"
    frame = geopandas.GeoDataFrame(geometry=DEGREES.set_crs(UTM, allow_override=True))
    frame.to_file(path) if ending == "gpkg" else frame.to_parquet(path)
    assert "--crs EPSG:4326" in refused(path)
    assert "taken as WGS 84" in counted(path, "--crs EPSG:4326")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_projected_crs_takes_columns_in_metres(ending, counted, refused):
    path, there = f"points.{ending}", DEGREES.to_crs(BRITISH)
    degrees = {"lng": LON, "lat": LAT}
    save(path, **degrees, easting=there.x, northing=there.y)
    taken = "'easting' and 'northing' were taken as the place, not 'lng' and 'lat'"
    assert taken in counted(path, f"--crs {BRITISH}")
    assert "'lng' and 'lat' were taken as the place, not 'easting' and 'north" in counted(path)
    # Columns of degrees that are named, or stand alone, are refused; each way out is taken.
    advice = "leave out --crs, or name columns in that CRS with --lon, --lat"
    named = "--lon lng --lat lat"
    assert advice in refused(path, f"{named} --crs {BRITISH}")
    counted(path, named)
    save(path, **degrees)
    assert advice in refused(path, f"--crs {BRITISH}")
    counted(path)


@pytest.mark.parametrize("ending", ["csv", "parquet", "geojson"])
def test_degrees_in_columns_of_any_name_are_not_metres(ending, counted, refused):
    """Registered systems have their origin far from the land that they are for."""
    path, x, y = f"points.{ending}", np.append(LON, 0.0), np.append(LAT, 0.0)
    if ending == "geojson":
        without_label(geopandas.GeoSeries(geopandas.points_from_xy(x, y)), path)
        text = Path(path).read_text()
        Path(path).write_text(text.replace('{"type', '{"crs": null, "type', 1))
    else:
        save(path, X=x, Y=y)
    assert "leave out --crs" in refused(path, f"--crs {BRITISH}")
    assert "taken as degrees" in counted(path)
    # Around the origin of a CRS of one's own there are places.
    assert GRID.count({"x": [-80.0, 60.0], "y": [50.0, -40.0]}, crs=GRID.crs).total == 2


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_columns_of_text_are_refused_with_a_crs_as_without(ending, refused):
    path = f"points.{ending}"
    save(path, x=["north", "south"], y=["east", "west"])
    assert "'x'" in (plain := refused(path))
    assert refused(path, f"--crs {BRITISH}") == plain


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_columns_called_degrees_that_hold_metres_are_read_with_a_crs(ending, counted, refused):
    path = f"points.{ending}"
    save(path, lon=METRES.x, lat=METRES.y)
    assert "--crs EPSG:27700" in refused(path)
    assert "they cannot be degrees" in counted(path, f"--crs {UTM}")


@pytest.mark.parametrize("ending", ["csv", "parquet", "geojson", "gpkg"])
def test_zero_zero_is_a_missing_place_in_metres_too(ending, run):
    path, origin = f"stops.{ending}", np.zeros(7)
    save(path, Easting=np.append(METRES.x, origin), Northing=np.append(METRES.y, origin))
    area = "-1000 -1000 500000 6000000"
    line = f"count {path} --bounds {area} --crs-grid {UTM} --crs {UTM} --per record --shape 64"
    for more, number in (("", 60), (" --keep-zero", 67)):
        out, err = run(f"{line} --rectangle {area}{more}")
        assert re.search(rf"^Q1 .* {number}\.0$", out, re.MULTILINE)
        assert ("easting 0, northing 0, which stands for a missing place" in err) == (not more)
    found = read_points(path, crs=UTM)
    assert "7 rows at easting 0, northing 0" in " ".join(found.notes)
    assert len(read_points(path, crs=UTM, keep_zero=True)) == len(found) + 7 == 67


def test_trips_of_which_a_place_is_missing_or_in_degrees(run, capsys):
    east, north = METRES.x.to_numpy(), METRES.y.to_numpy()
    metres = {"from_x": east, "from_y": north, "to_x": east[::-1], "to_y": north[::-1]}
    degrees = {"from_lon": LON, "from_lat": LAT, "to_lon": LON[::-1], "to_lat": LAT[::-1]}
    missing = {name: np.append(values, [0.0] * 2) for name, values in metres.items()}
    found = read_trips(missing, crs=UTM)
    assert len(found) == 60
    assert "2 rows at easting 0, northing 0" in " ".join(found.notes)
    assert len(read_trips(missing, crs=UTM, keep_zero=True)) == 62
    both = read_trips({**degrees, **metres}, crs=UTM)
    assert both.x[0].min() > 300_000
    assert "'from_x' and 'from_y'" in both.notes[0]
    save("trips.csv", **degrees)
    line = "trips trips.csv --around 13.4 52.5 --size 40km --grid 8 --epsilon 1 --preview 1"
    assert "leave out --crs" in refusal(capsys, *line.split(), "--crs", UTM)
    run(line)
    # Latitude first: the places are named the other way round, as the sentence says.
    save("trips.csv", o_lon=LAT, o_lat=LON + 100, d_lon=LAT, d_lat=LON + 100)
    sentence = refusal(capsys, *line.split())
    flag, value = shlex.split(sentence[sentence.index("--places") :].removesuffix("."))[:2]
    assert (flag, value) == ("--places", "o_lat:o_lon,...")
    run(f"{line.replace('13.4', '113.4')} --places o_lat:o_lon,d_lat:d_lon")


@pytest.fixture
def release():
    """A release of counts, and files of both."""
    matrix = GRID.count({"lon": LON, "lat": LAT})
    save_counts(matrix, "counts.exact.parquet")
    UG(epsilon=5).release(matrix, rng=1).save("map.parquet")
    return Release.load("map.parquet")


def first_values(out):
    return [float(line.split()[1].replace(",", "")) for line in out.splitlines()[1:]]


@pytest.mark.parametrize("kind", ["geojson", "unknown", "wrong"])
def test_polygons_in_the_maps_own_crs_without_a_label(kind, release, run, capsys):
    boxes = [box(-4000, -3000, 2000, 1000), box(-80, -70, 60, 90)]
    shapes = geopandas.GeoSeries(boxes, crs=GRID.crs)
    path = f"shapes.{'geojson' if kind == 'geojson' else 'parquet'}"
    if kind == "geojson":
        without_label(shapes, path)
    else:
        label = {"unknown": None, "wrong": 4326}[kind]
        geopandas.GeoDataFrame(geometry=shapes.set_crs(label, allow_override=True)).to_parquet(path)
    right = release.answer(shapes).value
    evaluate = "evaluate counts.exact.parquet --mechanisms ug --epsilon 1 --seeds 1"
    for command in ("answer map.parquet", "count counts.exact.parquet", evaluate):
        line = f"{command} --polygons {path}"
        assert "--crs-polygons" in refusal(capsys, *line.split())
        assert main([*line.split(), "--crs-polygons", GRID.crs.to_string()]) == 0
        out = run(f"{line} --crs-polygons map").out
        if command.startswith("answer"):
            np.testing.assert_allclose(first_values(out), right, atol=0.051)
    with pytest.raises(InputError, match=r"crs=\.\.\."):
        release.answer(path) if kind != "unknown" else Grid.from_boundary(path)
    np.testing.assert_allclose(release.answer(path, crs=GRID.crs).value, right)


def test_polygons_in_degrees_that_are_called_metres(release, run, capsys):
    shapes = geopandas.GeoSeries([box(13.38, 52.49, 13.42, 52.51)], crs=4326)
    wrong = shapes.set_crs(GRID.crs, allow_override=True)
    geopandas.GeoDataFrame(geometry=wrong).to_file("shapes.gpkg")
    for command in ("answer map.parquet", "count counts.exact.parquet"):
        line = f"{command} --polygons shapes.gpkg"
        assert "--crs-polygons 4326" in refusal(capsys, *line.split())
        assert first_values(run(f"{line} --crs-polygons 4326").out)[0] > 5
    refuses("crs=4326", release.answer, wrong)
    np.testing.assert_allclose(release.answer(wrong, crs=4326).value, release.answer(shapes).value)


def test_a_boundary_and_areas_in_metres(run, capsys):
    without_label(METRES, "points.geojson")
    shapes = geopandas.GeoSeries([box(*METRES.total_bounds)], crs=UTM)
    without_label(shapes, "limits.geojson")
    line = "count points.geojson --shape 16 --per record --boundary limits.geojson"
    line += " --rectangle -20000 -20000 20000 20000"
    assert "--crs-boundary EPSG:27700" in refusal(capsys, *line.split())
    # That of the points serves the boundary too, which is said; a flag of its own wins.
    for more in ("", f" --crs-boundary {UTM}"):
        out, err = run(f"{line} --crs {UTM}{more}")
        assert re.search(r"^Q1 .* (59|60)\.0$", out, re.MULTILINE)
        assert ("--crs EPSG:25833 was taken" in err) == (not more)
    expected = Grid.from_boundary(shapes).bounds
    found = Grid.from_boundary("limits.geojson", boundary_crs=UTM).bounds
    assert found == pytest.approx(expected)
    refuses("boundary_crs=", Grid.from_boundary, "limits.geojson")

    country = "country points.geojson --areas limits.geojson --levels name --epsilon 1 --preview 1"
    country += " --inside none --per record"
    assert "--crs-areas" in refusal(capsys, *country.split())
    assert "--crs EPSG:25833 was taken" in run(f"{country} --crs {UTM}").err
    areas = Areas.read("limits.geojson", ["name"], crs=UTM)
    assert areas.count(METRES, cell=500).national().total == 60


def test_edges_of_great_circles_are_curved():
    """At 52 degrees north an edge of 140 km leaves the straight line in degrees by 0.5 km."""
    flat = geopandas.GeoDataFrame({"name": ["a"]}, geometry=[box(12.4, 52.5, 14.4, 52.6)], crs=4326)
    for path in ("planar.parquet", "spherical.parquet"):
        flat.to_parquet(path)
    described("spherical.parquet", edges="spherical")
    planar, curved = (Areas.read(f"{kind}.parquet", ["name"]).geometry[0].bounds[3]
                      for kind in ("planar", "spherical"))  # fmt: skip
    assert planar == 52.6
    # A great circle through two places of one latitude is highest between them.
    top = np.degrees(np.arctan(np.tan(np.radians(52.6)) / np.cos(np.radians(1.0))))
    assert curved == pytest.approx(top, abs=1e-6)
    heights = [Grid.from_boundary(f"{kind}.parquet").height for kind in ("planar", "spherical")]
    # On the plane it is straight, and the parallel bulges to the south.
    assert heights[0] - heights[1] == pytest.approx(471, abs=15)
    matrix = GRID.count({"lon": np.full(100, 13.4), "lat": np.linspace(52.5, 52.61, 100)})
    assert exact(matrix, "spherical.parquet")[0] != exact(matrix, "planar.parquet")[0]
