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

from explorer import Areas, Grid, read_points, read_trips
from explorer.cli import main
from explorer.errors import InputError
from explorer.points.counts_file import save_counts
from explorer.releases.release import Release
from tests.commands.refusals import refusal

UTM = "EPSG:25833"
GRID = Grid.around(13.4, 52.5, "40km", shape=64)
MAP = "--around 13.4 52.5 --size 40km --shape 64 --per record"
HERE = f"{MAP} --rectangle -20000 -20000 20000 20000"
RNG = np.random.default_rng(3)
LON, LAT = RNG.uniform(13.35, 13.45, 60), RNG.uniform(52.48, 52.52, 60)
DEGREES = geopandas.GeoSeries([Point(*each) for each in zip(LON, LAT, strict=True)], crs=4326)
METRES = DEGREES.to_crs(UTM)


def without_label(shapes: geopandas.GeoSeries, path: Path) -> None:
    """Write GeoJSON that says nothing of its CRS, as GeoPandas does for one without a code."""
    features = shapes.__geo_interface__["features"]
    for feature in features:
        feature["properties"] = {"name": "a"}
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))


def points_file(folder: Path, kind: str) -> Path:
    """Points in metres, called degrees or nothing at all."""
    path = folder / f"points.{'geojson' if kind == 'assumed geojson' else 'parquet'}"
    wrong = {"assumed": 4326, "stated": 4326, "unknown": None}
    frame = geopandas.GeoDataFrame(
        geometry=METRES.set_crs(wrong[kind.split(maxsplit=1)[0]], allow_override=True)
    )
    if path.suffix == ".geojson":
        without_label(METRES, path)
        return path
    frame.to_parquet(path)
    if kind == "assumed parquet":
        table = pq.read_table(path)
        about = json.loads(table.schema.metadata[b"geo"])
        del about["columns"]["geometry"]["crs"]
        pq.write_table(table.replace_schema_metadata({"geo": json.dumps(about)}), path)
    return path


KINDS = ("assumed geojson", "assumed parquet", "stated parquet", "unknown parquet")


@pytest.mark.parametrize("kind", KINDS)
def test_a_crs_that_is_given_wins_over_what_cannot_be(kind, tmp_path, capsys):
    path = points_file(tmp_path, kind)
    sentence = refusal(capsys, "count", str(path), *HERE.split())
    # What the sentence asks for is done as it says.
    assert "--crs EPSG:27700" in sentence
    assert main(["count", str(path), *HERE.split(), "--crs", UTM]) == 0
    out, err = capsys.readouterr()
    assert re.search(r"^Q1 .* 60\.0$", out, re.MULTILINE)
    assert "taken as ETRS89 / UTM zone 33N" in err
    points = read_points(path, crs=UTM)
    assert points.crs == METRES.crs
    assert any("taken as ETRS89 / UTM zone 33N" in note for note in points.notes)
    assert GRID.count(path, crs=UTM).total == GRID.count(points).total == 60


@pytest.mark.parametrize("kind", ["geojson", "parquet"])
def test_degrees_are_not_taken_as_metres_and_the_advice_helps(kind, tmp_path, capsys):
    path = tmp_path / f"points.{kind}"
    if kind == "geojson":
        without_label(DEGREES, path)
    else:
        geopandas.GeoDataFrame(geometry=DEGREES).to_parquet(path)
    sentence = refusal(capsys, "count", str(path), *HERE.split(), "--crs", UTM)
    assert "leave out --crs" in sentence
    assert main(["count", str(path), *HERE.split()]) == 0
    assert re.search(r"^Q1 .* 60\.0$", capsys.readouterr().out, re.MULTILINE)


def test_an_honest_crs_and_another_one_are_both_named(tmp_path, capsys):
    path = tmp_path / "points.gpkg"
    geopandas.GeoDataFrame(geometry=METRES).to_file(path)
    sentence = refusal(capsys, "count", str(path), *HERE.split(), "--crs", "EPSG:25832")
    assert all(name in sentence for name in ("zone 33N", "zone 32N", "leave out --crs"))
    assert main(["count", str(path), *HERE.split()]) == 0
    assert re.search(r"^Q1 .* 60\.0$", capsys.readouterr().out, re.MULTILINE)


@pytest.mark.parametrize("ending", ["gpkg", "parquet"])
def test_degrees_in_a_file_that_says_metres(ending, tmp_path, capsys):
    path = tmp_path / f"points.{ending}"
    frame = geopandas.GeoDataFrame(geometry=DEGREES.set_crs(UTM, allow_override=True))
    frame.to_file(path) if ending == "gpkg" else frame.to_parquet(path)
    sentence = refusal(capsys, "count", str(path), *HERE.split())
    assert "--crs EPSG:4326" in sentence
    assert main(["count", str(path), *HERE.split(), "--crs", "EPSG:4326"]) == 0
    out, err = capsys.readouterr()
    assert re.search(r"^Q1 .* 60\.0$", out, re.MULTILINE)
    assert "taken as WGS 84" in err


def side_by_side(path: Path, metres: bool = True, names: tuple[str, str] = ("lng", "lat")) -> None:
    there = DEGREES.to_crs(27700)
    table = {names[0]: LON, names[1]: LAT}
    if metres:
        table |= {"easting": there.x, "northing": there.y}
    frame = pd.DataFrame(table)
    frame.to_parquet(path) if path.suffix == ".parquet" else frame.to_csv(path, index=False)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_projected_crs_takes_columns_in_metres(ending, tmp_path, capsys):
    path, crs = tmp_path / f"points.{ending}", "EPSG:27700"
    side_by_side(path)
    assert main(["count", str(path), *HERE.split(), "--crs", crs]) == 0
    out, err = capsys.readouterr()
    assert re.search(r"^Q1 .* 60\.0$", out, re.MULTILINE)
    assert "'easting' and 'northing' were taken as the place, not 'lng' and 'lat'" in err
    assert main(["count", str(path), *HERE.split()]) == 0
    out, err = capsys.readouterr()
    assert re.search(r"^Q1 .* 60\.0$", out, re.MULTILINE)
    assert "'lng' and 'lat' were taken as the place, not 'easting' and 'northing'" in err
    # Columns of degrees that are named, or stand alone, are refused; each way out is taken.
    for more in (["--lon", "lng", "--lat", "lat"], ["--lon", "lng"]):
        named = ["count", str(path), *HERE.split(), *(more if len(more) > 2 else more * 0)]
        if len(more) < 4:
            side_by_side(path, metres=False)
        sentence = refusal(capsys, *named, "--crs", crs)
        assert "leave out --crs, or name columns in that CRS with --lon, --lat" in sentence
        assert main(named) == 0
        assert re.search(r"^Q1 .* 60\.0$", capsys.readouterr().out, re.MULTILINE)


@pytest.mark.parametrize("ending", ["csv", "parquet", "geojson"])
def test_degrees_in_columns_of_any_name_are_not_metres(ending, tmp_path, capsys):
    """Registered systems have their origin far from the land that they are for."""
    path = tmp_path / f"points.{ending}"
    frame = pd.DataFrame({"X": np.append(LON, 0.0), "Y": np.append(LAT, 0.0)})
    if ending == "geojson":
        shapes = geopandas.points_from_xy(frame["X"], frame["Y"])
        without_label(geopandas.GeoSeries(shapes), path)
        path.write_text(path.read_text().replace('{"type', '{"crs": null, "type', 1))
    else:
        frame.to_parquet(path) if ending == "parquet" else frame.to_csv(path, index=False)
    sentence = refusal(capsys, "count", str(path), *HERE.split(), "--crs", "EPSG:27700")
    assert "leave out --crs" in sentence
    assert main(["count", str(path), *HERE.split()]) == 0
    out, err = capsys.readouterr()
    assert re.search(r"^Q1 .* 60\.0$", out, re.MULTILINE)
    assert "taken as degrees" in err
    # Around the origin of a CRS of one's own there are places.
    near = GRID.count({"x": [-80.0, 60.0], "y": [50.0, -40.0]}, crs=GRID.crs)
    assert near.total == 2


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_columns_of_text_are_refused_with_a_crs_as_without(ending, tmp_path, capsys):
    path = tmp_path / f"points.{ending}"
    frame = pd.DataFrame({"x": ["north", "south"], "y": ["east", "west"]})
    frame.to_parquet(path) if ending == "parquet" else frame.to_csv(path, index=False)
    plain = refusal(capsys, "count", str(path), *HERE.split())
    assert "'x'" in plain
    assert refusal(capsys, "count", str(path), *HERE.split(), "--crs", "EPSG:27700") == plain


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_columns_called_degrees_that_hold_metres_are_read_with_a_crs(ending, tmp_path, capsys):
    path = tmp_path / f"points.{ending}"
    frame = pd.DataFrame({"lon": METRES.x, "lat": METRES.y})
    frame.to_parquet(path) if ending == "parquet" else frame.to_csv(path, index=False)
    assert "--crs EPSG:27700" in refusal(capsys, "count", str(path), *HERE.split())
    assert main(["count", str(path), *HERE.split(), "--crs", UTM]) == 0
    out, err = capsys.readouterr()
    assert re.search(r"^Q1 .* 60\.0$", out, re.MULTILINE)
    assert "they cannot be degrees" in err


@pytest.mark.parametrize("ending", ["csv", "parquet", "geojson", "gpkg"])
def test_zero_zero_is_a_missing_place_in_metres_too(ending, tmp_path, capsys):
    path, origin = tmp_path / f"stops.{ending}", np.zeros(7)
    east, north = np.append(METRES.x, origin), np.append(METRES.y, origin)
    if ending in ("csv", "parquet"):
        frame = pd.DataFrame({"Easting": east, "Northing": north})
        frame.to_parquet(path) if ending == "parquet" else frame.to_csv(path, index=False)
    else:
        shapes = geopandas.points_from_xy(east, north, crs=UTM)
        geopandas.GeoDataFrame(geometry=shapes).to_file(path)
    words = f"--bounds -1000 -1000 500000 6000000 --crs-grid {UTM} --crs {UTM} --per record"
    words += " --shape 64 --rectangle -1000 -1000 500000 6000000"
    assert main(["count", str(path), *words.split()]) == 0
    out, err = capsys.readouterr()
    assert re.search(r"^Q1 .* 60\.0$", out, re.MULTILINE)
    assert "easting 0, northing 0, which stands for a missing place" in err
    assert main(["count", str(path), *words.split(), "--keep-zero"]) == 0
    out, err = capsys.readouterr()
    assert re.search(r"^Q1 .* 67\.0$", out, re.MULTILINE)
    assert "missing place" not in err
    found = read_points(path, crs=UTM)
    assert "7 rows at easting 0, northing 0" in " ".join(found.notes)
    assert len(read_points(path, crs=UTM, keep_zero=True)) == len(found) + 7 == 67


def test_trips_of_which_a_place_is_missing_or_in_degrees(tmp_path, capsys):
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
    path = tmp_path / "trips.csv"
    pd.DataFrame(degrees).to_csv(path, index=False)
    words = f"trips {path} --around 13.4 52.5 --size 40km --grid 8 --epsilon 1 --preview 1"
    words += " --per record"
    assert "leave out --crs" in refusal(capsys, *words.split(), "--crs", UTM)
    assert main(words.split()) == 0
    # Latitude first: the places are named the other way round, as the sentence says.
    turned = {name.replace("l", "L"): 10 * values for name, values in degrees.items()}
    pd.DataFrame(turned).rename(columns=lambda name: name.lower())
    swapped = {"o_lon": LAT, "o_lat": LON + 100, "d_lon": LAT, "d_lat": LON + 100}
    pd.DataFrame(swapped).to_csv(path, index=False)
    capsys.readouterr()
    sentence = refusal(capsys, *words.split())
    flag, value = shlex.split(sentence[sentence.index("--places") :].removesuffix("."))[:2]
    assert (flag, value) == ("--places", "o_lat:o_lon,...")
    away = words.replace("13.4", "113.4").split()
    assert main([*away, "--places", "o_lat:o_lon,d_lat:d_lon"]) == 0


BOXES = {"a": box(-4000, -3000, 2000, 1000), "b": box(-80, -70, 60, 90)}


@pytest.fixture
def files(tmp_path):
    """Counts, a release of them, and both."""
    matrix = GRID.count({"lon": LON, "lat": LAT})
    counts, drawn = tmp_path / "counts.exact.parquet", tmp_path / "map.parquet"
    save_counts(matrix, counts)
    words = f"release {counts} --mechanism ug --epsilon 5 --preview 1 -o {drawn}"
    assert main(words.split()) == 0
    return counts, drawn, Release.load(drawn)


def values(out: str) -> list[float]:
    """The first figure of each line of a table."""
    return [float(line.split()[1].replace(",", "")) for line in out.splitlines()[1:]]


@pytest.mark.parametrize("kind", ["geojson", "unknown", "wrong"])
def test_polygons_in_the_maps_own_crs_without_a_label(kind, files, tmp_path, capsys):
    counts, drawn, release = files
    shapes = geopandas.GeoSeries(list(BOXES.values()), crs=GRID.crs)
    path = tmp_path / f"shapes.{'geojson' if kind == 'geojson' else 'parquet'}"
    if kind == "geojson":
        without_label(shapes, path)
    else:
        label = {"unknown": None, "wrong": 4326}[kind]
        geopandas.GeoDataFrame(geometry=shapes.set_crs(label, allow_override=True)).to_parquet(path)
    right = release.answer(shapes).value
    capsys.readouterr()
    evaluated = "--mechanisms ug --epsilon 1 --seeds 1"
    for words in (f"answer {drawn}", f"count {counts}", f"evaluate {counts} {evaluated}"):
        line = [*words.split(), "--polygons", str(path)]
        assert "--crs-polygons" in refusal(capsys, *line)
        for crs in ("map", GRID.crs.to_string()):
            assert main([*line, "--crs-polygons", crs]) == 0
            out = capsys.readouterr().out
            if words.startswith("answer"):
                np.testing.assert_allclose(values(out), right, atol=0.051)
    with pytest.raises(InputError, match=r"crs=\.\.\."):
        release.answer(path) if kind != "unknown" else Grid.from_boundary(path)
    np.testing.assert_allclose(release.answer(path, crs=GRID.crs).value, right)


def test_polygons_in_degrees_that_are_called_metres(files, tmp_path, capsys):
    counts, drawn, release = files
    shapes = geopandas.GeoSeries([box(13.38, 52.49, 13.42, 52.51)], crs=4326)
    path, wrong = tmp_path / "shapes.gpkg", shapes.set_crs(GRID.crs, allow_override=True)
    geopandas.GeoDataFrame(geometry=wrong).to_file(path)
    for words in (f"answer {drawn}", f"count {counts}"):
        line = [*words.split(), "--polygons", str(path)]
        capsys.readouterr()
        assert "--crs-polygons 4326" in refusal(capsys, *line)
        assert main([*line, "--crs-polygons", "4326"]) == 0
        assert values(capsys.readouterr().out)[0] > 5
    with pytest.raises(InputError, match="crs=4326"):
        release.answer(wrong)
    np.testing.assert_allclose(release.answer(wrong, crs=4326).value, release.answer(shapes).value)


def test_a_boundary_and_areas_in_metres(tmp_path, capsys):
    points, limits = tmp_path / "points.geojson", tmp_path / "limits.geojson"
    without_label(METRES, points)
    shapes = geopandas.GeoSeries([box(*METRES.total_bounds)], crs=UTM)
    without_label(shapes, limits)
    line = f"count {points} --shape 16 --per record --rectangle -20000 -20000 20000 20000".split()
    line += ["--boundary", str(limits)]
    sentence = refusal(capsys, *line)
    assert "--crs-boundary EPSG:27700" in sentence
    # That of the points serves the boundary too, which is said; a flag of its own wins.
    for more in (["--crs", UTM], ["--crs", UTM, "--crs-boundary", UTM]):
        assert main([*line, *more]) == 0
        out, err = capsys.readouterr()
        assert re.search(r"^Q1 .* (59|60)\.0$", out, re.MULTILINE)
        assert ("--crs EPSG:25833 was taken" in err) == (len(more) == 2)
    expected = Grid.from_boundary(shapes).bounds
    assert Grid.from_boundary(limits, boundary_crs=UTM).bounds == pytest.approx(expected)
    with pytest.raises(InputError, match="boundary_crs="):
        Grid.from_boundary(limits)

    country = f"country {points} --areas {limits} --levels name --epsilon 1 --preview 1"
    country += " --inside none --per record"
    assert "--crs-areas" in refusal(capsys, *country.split())
    assert main([*country.split(), "--crs", UTM]) == 0
    assert "--crs EPSG:25833 was taken" in capsys.readouterr().err
    areas = Areas.read(limits, ["name"], crs=UTM)
    assert areas.count(METRES, cell=500).national().total == 60


def test_edges_of_great_circles_are_curved(tmp_path):
    """At 52 degrees north an edge of 140 km leaves the straight line in degrees by 0.5 km."""
    flat = geopandas.GeoDataFrame({"name": ["a"]}, geometry=[box(12.4, 52.5, 14.4, 52.6)], crs=4326)
    paths = [tmp_path / f"{kind}.parquet" for kind in ("planar", "spherical")]
    for path in paths:
        flat.to_parquet(path)
    table = pq.read_table(paths[1])
    about = json.loads(table.schema.metadata[b"geo"])
    about["columns"]["geometry"]["edges"] = "spherical"
    pq.write_table(table.replace_schema_metadata({"geo": json.dumps(about)}), paths[1])
    # A great circle through two places of one latitude is highest between them.
    half = np.radians(1.0)
    top = np.degrees(np.arctan(np.tan(np.radians(52.6)) / np.cos(half)))
    for read in (
        lambda path: Areas.read(path, ["name"]).geometry,
        lambda path: [Grid.from_boundary(path).height],
    ):
        planar, curved = (read(path)[0] for path in paths)
        if hasattr(planar, "bounds"):
            assert planar.bounds[3] == 52.6
            assert curved.bounds[3] == pytest.approx(top, abs=1e-6)
        else:
            # On the plane it is straight, and the parallel bulges to the south.
            assert planar - curved == pytest.approx(471, abs=15)
    matrix = GRID.count({"lon": np.full(100, 13.4), "lat": np.linspace(52.5, 52.61, 100)})
    from explorer import exact

    assert exact(matrix, paths[1])[0] != exact(matrix, paths[0])[0]
