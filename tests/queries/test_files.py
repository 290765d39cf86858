"""Rectangles to a file and back; files of others; files that are not what they should be."""

import io
import json

import geopandas
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer import Grid, InputError, TripDomain
from explorer.queries.files import (
    read_place,
    read_rectangles,
    read_trip_boxes,
    write_rectangles,
    write_trip_boxes,
)
from tests.refusals import refuses

CITY = Grid.around(-122.42, 37.77, 20_000)
GRIDS = {
    "city": CITY,
    "country": Grid.from_bounds(0, 0, 700_000, 1_300_000, "EPSG:27700", shape=64),
    "antimeridian": Grid.around(179.95, -17.0, 40_000),
    "north pole": Grid.around(0.0, 90.0, 500_000),
    "south pole": Grid.around(120.0, -90.0, 500_000),
}
CELLS = Grid.cells((40, 60))


def some_boxes(grid, n=40, seed=5):
    """Random rectangles on a grid, among them the whole of it."""
    x0, y0, x1, y1 = grid.bounds
    places = np.random.default_rng(seed).uniform((x0, y0), (x1, y1), (n, 2, 2))
    boxes = np.concatenate([places.min(axis=1), places.max(axis=1)], axis=1)
    return np.vstack([boxes, [grid.bounds]])


def edited(text, change):
    document = json.loads(text)
    for feature in document["features"]:
        change(feature)
    return json.dumps(document).encode()


@pytest.mark.parametrize("name", GRIDS)
def test_geojson_of_ours_comes_back_exactly(name):
    grid = GRIDS[name]
    boxes = some_boxes(grid)
    names = [f"box {i}" for i in range(len(boxes))]
    text = write_rectangles(boxes, names, grid, "geojson")
    back, called = read_rectangles(text.encode(), grid)
    assert np.abs(back - boxes).max() <= 1e-6
    assert called == names


def test_geojson_comes_back_within_a_cell_without_our_notes():
    boxes = some_boxes(CITY)
    text = write_rectangles(boxes, ["x"] * len(boxes), CITY, "geojson")
    back, _ = read_rectangles(edited(text, lambda f: f.update(properties={})), CITY)
    # Chords of at most 2 km of curves bulge by c^2 tan(lat) / 8R; 20 km / 16 is below that.
    assert np.abs(back - boxes).max() < 2_000**2 / (8 * 6.371e6) * np.tan(np.radians(38)) + 1e-3
    assert np.abs(back - boxes).max() > 1e-6  # it was not read from the notes


def test_a_shape_that_was_moved_counts_and_its_notes_do_not():
    box = np.array([[1_000.0, 2_000.0, 3_000.0, 4_000.0]])
    text = write_rectangles(box, ["moved"], CITY, "geojson")

    def move(feature):
        ring = np.array(feature["geometry"]["coordinates"][0]) + np.array([0.01, 0.0])
        feature["geometry"]["coordinates"] = [ring.tolist()]

    back, _ = read_rectangles(edited(text, move), CITY)
    assert back[0, 0] - box[0, 0] == pytest.approx(0.01 * 111_320 * 0.79, rel=0.01)
    assert back[0, 1] == pytest.approx(box[0, 1], abs=5.0)


def test_exact_edges_are_for_the_same_crs_only():
    other = Grid.around(-122.40, 37.77, 20_000)
    box = np.array([[-500.0, -500.0, 500.0, 500.0]])
    text = write_rectangles(box, ["a"], CITY, "geojson")
    back, _ = read_rectangles(text.encode(), other)
    shift = -0.02 * 111_320 * np.cos(np.radians(37.77))
    assert back[0] == pytest.approx(box[0] + [shift, 0, shift, 0], abs=3.0)


def test_notes_that_are_not_numbers_are_ignored():
    box = np.array([[0.0, 0.0, 500.0, 500.0]])
    text = write_rectangles(box, ["a"], CITY, "geojson")
    for bad in ("12", None, True, [1], 10**400):
        changed = edited(text, lambda f, bad=bad: f["properties"].update(x0=bad))
        back, _ = read_rectangles(changed, CITY)
        assert back == pytest.approx(box, abs=0.1)


def test_other_programs_read_our_geojson():
    boxes = some_boxes(CITY)
    private = np.arange(len(boxes)) + 0.5
    private[3] = np.nan
    columns = {"private": private, "leaves": np.arange(len(boxes))}
    text = write_rectangles(boxes, ["="] * len(boxes), CITY, "geojson", columns)
    json.loads(text, parse_constant=pytest.fail)
    frame = geopandas.read_file(io.BytesIO(text.encode()))
    assert frame.crs.to_epsg() == 4326
    assert frame.geometry.is_valid.all()
    assert np.isnan(frame["private"][3])
    assert frame["leaves"].tolist() == list(range(len(boxes)))
    assert np.abs(frame.to_crs(CITY.crs).bounds.to_numpy() - boxes).max() < 0.2


def test_shapes_of_others_give_their_bounding_box():
    feature = {
        "type": "Feature",
        "id": 7,
        "geometry": {
            "type": "MultiPolygon",
            "coordinates": [
                [[[-122.45, 37.7, 12.0], [-122.44, 37.7, 12.0], [-122.45, 37.71, 12.0]]],
                [[[-122.41, 37.8], [-122.40, 37.79], [-122.42, 37.75], [-122.41, 37.8]]],
            ],
        },
    }
    back, names = read_rectangles(json.dumps(feature).encode(), CITY)
    x, y = CITY.from_lonlat([-122.45, -122.40], [37.7, 37.8])
    assert back[0, [0, 2]] == pytest.approx(x, abs=40)  # meridians converge a little
    assert back[0, [1, 3]] == pytest.approx(y, abs=1)
    assert names == ["Q1"]


coordinate = st.floats(-1e9, 1e9, allow_nan=False)
text = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp", "Zs", "Cf", "Co", "Cn"]))


@given(
    st.lists(st.tuples(coordinate, coordinate, coordinate, coordinate, text), min_size=1),
    st.sampled_from([CITY, CELLS]),
)
def test_csv_of_ours_comes_back_exactly(rows, grid):
    boxes = np.array([[min(a, c), min(b, d), max(a, c), max(b, d)] for a, b, c, d, _ in rows])
    # Far from looking like degrees, which CSV refuses on a map.
    boxes += [1e9, 1e9, 2e9, 2e9]
    names = [name[:100] for *_, name in rows]
    written = write_rectangles(boxes, names, grid, "csv")
    back, called = read_rectangles(written.encode(), grid)
    assert np.array_equal(back, boxes)
    assert called == [name or f"Q{i + 1}" for i, name in enumerate(names)]


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", "'=1", "\t=1", "\r=1", "''@x"])
def test_no_name_is_a_formula(name):
    box = [[1_000.0, 1_000.0, 2_000.0, 2_000.0]]
    columns = {"=evil": [-3.5], "note": [name]}
    lines = write_rectangles(box, [name], CITY, "csv", columns).split("\n", 1)
    assert lines[0] == "name,x0,y0,x1,y1,'=evil,note"
    cell = lines[1].lstrip('"')
    assert cell.startswith("'" + name.strip())
    assert ",-3.5," in lines[1]  # numbers stay numbers
    written = "\n".join(lines)
    assert read_rectangles(written.encode(), CITY)[1] == [name.strip()]


def test_csv_as_spreadsheets_write_it():
    written = "\ufeffName;West;South;East;North\n\nDépôt;1000,5;2000;3000;4000,25\n;1;2;3e3;4e3\n"
    for encoding in ("utf-8", "latin-1"):
        content = written.lstrip("\ufeff" if encoding == "latin-1" else "").encode(encoding)
        boxes, names = read_rectangles(content, CITY)
        assert boxes.tolist() == [[1000.5, 2000, 3000, 4000.25], [1, 2, 3000, 4000]]
        assert names == ["Dépôt", "Q2"]
    tabs = b"y1\ty0\tx1\tx0\n4\t3\t2\t1\n"
    assert read_rectangles(tabs, CELLS)[0].tolist() == [[1, 3, 2, 4]]


def test_names_from_files_are_one_short_line():
    name = "a\x1b[31m\u202eb\n" + "c" * 500
    content = f'name,x0,y0,x1,y1\n"{name}",5000,5000,6000,6000\n'.encode()
    _, (called,) = read_rectangles(content, CITY)
    assert called.isprintable()
    assert len(called) == 100
    numbered = edited(
        write_rectangles([[0, 0, 9, 9]], [""], CITY, "geojson"),
        lambda f: f["properties"].update(name=12),
    )
    assert read_rectangles(numbered, CITY)[1] == ["12"]


def polygon(*corners: tuple):
    return {
        "type": "Feature",
        "properties": {},
        "geometry": {"type": "Polygon", "coordinates": [corners]},
    }


def collection(*features: object, **more: object):
    return json.dumps({"type": "FeatureCollection", "features": features, **more}).encode()


SQUARE = polygon((-122.4, 37.7), (-122.3, 37.7), (-122.3, 37.8), (-122.4, 37.7))

BAD = {
    "empty": (b" \n", "is empty"),
    "half": (collection(SQUARE)[:-9], "not complete GeoJSON"),
    "deep": (b"[" * 200_000, "not complete GeoJSON"),
    "list": (b"[1, 2]", "not a GeoJSON FeatureCollection"),
    "geometry": (b'{"type": "Point", "coordinates": [1, 2]}', "not a GeoJSON FeatureCollection"),
    "features": (b'{"type": "FeatureCollection", "features": 3}', "not a GeoJSON"),
    "no feature": (collection(SQUARE, 3), "Feature 2 of the file is without a shape"),
    "point": (
        collection({"type": "Feature", "geometry": {"type": "Point", "coordinates": [1, 2]}}),
        "is Point, not a polygon",
    ),
    "text": (collection(polygon("ab", "cd", "ef")), "not pairs of numbers"),
    "nan": (collection(polygon((0, 0), (1, 1), (float("nan"), 2))), "not pairs of numbers"),
    "metres": (collection(polygon((0, 0), (5e3, 0), (5e3, 5e3))), "not in degrees"),
    "crs": (
        collection(SQUARE, crs={"properties": {"name": "urn:ogc:def:crs:EPSG::27700"}}),
        "in a CRS of its own",
    ),
    "antipode": (
        collection(polygon((57.5, -37.8), (57.7, -37.8), (57.6, -37.7))),
        "projection has no place",
    ),
    "header": (b"a,b\n1,2\n", "neither GeoJSON nor CSV with the columns name,x0,y0,x1,y1"),
    "utf-16": ("name,x0,y0,x1,y1\n".encode("utf-16"), "holds no rectangle"),
    "long field": (b'x0,y0,x1,y1\n"' + b"9" * 200_000, "in line 2 of this file is not closed"),
    "no rows": (b"name,x0,y0,x1,y1\n\n", "holds no rectangle"),
    "word": (b"name,x0,y0,x1,y1\na,1,2,3,x\n", "Line 2 of the file has a text and no number in y1"),
    "short": (b"name,x0,y0,x1,y1\na,1,2,3,4\nb,1,2\n", "Line 3 of the file lacks a number in x1"),
    "inside out": (b"name,x0,y0,x1,y1\nhere,1,2,0,4000\n", "'here' in the file is inside out"),
    "degrees": (b"west,south,east,north\n-122.43,37.76,-122.41,37.78\n", "look like degrees"),
    "too many": (b"x0,y0,x1,y1\n" + b"0,0,1,1\n" * 100_001, "more than the 100,000"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_one_sentence(name, tmp_path):
    content, why = BAD[name]
    with pytest.raises(InputError, match=why) as caught:
        read_rectangles(content, CITY)
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(".")
    path = tmp_path / "boxes"
    path.write_bytes(content)
    refuses(why.replace("the file", "boxes"), read_rectangles, path, CITY)


def test_shapes_that_are_no_rectangles_are_told_once():
    said = []
    box = polygon((-122.4, 37.7), (-122.3, 37.7), (-122.3, 37.8), (-122.4, 37.8))
    holed = polygon(*box["geometry"]["coordinates"][0])
    holed["geometry"]["coordinates"].append([(-122.37, 37.74), (-122.34, 37.74), (-122.34, 37.76)])
    read_rectangles(collection(box, box), CITY, note=said.append)
    read_rectangles(b"x0,y0,x1,y1\n1,2,3,4\n", CITY, note=said.append)
    assert not said
    read_rectangles(collection(box, SQUARE, holed), CITY, note=said.append)
    read_rectangles(collection(box, SQUARE), CITY, note=said.append)
    assert said == [
        "2 of 3 shapes are not rectangles on this map: their bounding boxes are asked.",
        "1 of 2 shapes is not a rectangle on this map: its bounding box is asked.",
    ]
    bad = polygon(*box["geometry"]["coordinates"][0])
    bad["geometry"]["coordinates"].append([(1, "x")])
    refuses("not pairs of numbers", read_rectangles, collection(bad), CITY)


@pytest.mark.parametrize("name", GRIDS)
def test_what_we_wrote_is_a_rectangle_on_every_map(name):
    grid = GRIDS[name]
    text = write_rectangles(some_boxes(grid), ["x"] * 41, grid, "geojson")
    said = []
    read_rectangles(text.encode(), grid, note=said.append)
    assert not said
    if name.endswith("pole"):
        return  # there edges of degrees are other edges, and the boxes around them are larger
    read_rectangles(edited(text, lambda f: f.update(properties={})), grid, note=said.append)
    assert not said


def test_a_matrix_without_a_place_has_no_geojson():
    refuses("CSV", read_rectangles, collection(SQUARE), CELLS)
    refuses("CSV", write_rectangles, [[0, 0, 1, 1]], ["a"], CELLS, "geojson")
    # Small numbers are cells there, not degrees.
    assert read_rectangles(b"x0,y0,x1,y1\n1,2,3,4\n", CELLS)[0].tolist() == [[1, 2, 3, 4]]


def test_what_cannot_be_written_is_refused():
    box = [[0.0, 0.0, 1.0, 1.0]]
    refuses("choose geojson or csv", write_rectangles, box, ["a"], CITY, "xml")
    refuses("one value for each", write_rectangles, box, ["a", "b"], CITY, "csv")
    refuses("one value for each", write_rectangles, box, ["a"], CITY, "csv", {"sd": [1.0, 2.0]})
    refuses("not a finite number", write_rectangles, [[0.0, 0.0, np.nan, 1.0]], ["a"], CITY, "csv")
    refuses("write CSV instead", write_rectangles, [[3e7, 3e7, 4e7, 4e7]], ["far"], CITY, "geojson")


# Files of boxes on several places: read, written, refused.

PARIS = Grid.around(2.35, 48.86, 10_000, shape=16)
DOMAIN = TripDomain([PARIS, PARIS], ("o", "d"))
NAN = [np.nan] * 4


def test_what_is_written_is_read_back():
    boxes = np.array([[[0, 0, 1, 2.5], NAN], [NAN, [-5, -4, 3, 2]], [NAN, NAN]], dtype=float)
    text = write_trip_boxes(boxes, ["=a", "b", "c"], DOMAIN, {"value": np.array([1.5, np.nan, 3])})
    assert text.splitlines()[0] == "name,o_x0,o_y0,o_x1,o_y1,d_x0,d_y0,d_x1,d_y1,value"
    assert text.splitlines()[2] == "b,,,,,-5.0,-4.0,3.0,2.0,"
    found, names = read_trip_boxes(text.encode(), DOMAIN)
    assert np.array_equal(found, boxes, equal_nan=True)
    assert names == ["=a", "b", "c"]


def test_other_words_decimal_commas_and_a_place_left_out():
    text = "to_x0;to_y0;to_x1;to_y1;Name\n0,5;0;1000;2000;\n;;;;b\n;;;;\n"
    found, names = read_trip_boxes(text.encode(), DOMAIN)
    assert np.array_equal(found, [[NAN, [0.5, 0, 1000, 2000]], [NAN, NAN]], equal_nan=True)
    # A row of nothing at all, as spreadsheets leave them, is no question.
    assert names == ["Q1", "b"]


@pytest.mark.parametrize(("text", "why"), [
    ("name,x0,y0,x1,y1\na,0,0,1,1\n", "no CSV with columns of places such as name,o_x0"),
    ("via_x0,via_y0,via_x1,via_y1\n0,0,1,1\n", "no place 'via'"),
    ("o_x0,o_y0,o_x1\n0,0,1\n", "lacks some of o_x0, o_y0, o_x1, o_y1"),
    ("o_x0,o_y0,o_x1,o_y1\n0,0,1,\n", "Line 2 of it.csv lacks a number in o_y1"),
    ("o_x0,o_y0,o_x1,o_y1\n0,0,-1,1\n", "'Q1' in it.csv is inside out"),
    ("o_x0,o_y0,o_x1,o_y1\n2.3,48.8,2.4,48.9\n", "look like degrees"),
    ("o_x0,o_y0,o_x1,o_y1\n", "holds no rectangle"),
    ("o_x0,o_y0,o_x1,o_y1,from_x0,from_y0,from_x1,from_y1\n0,0,1,1,0,0,1,1\n", "boxes of o twice"),
])  # fmt: skip
def test_what_is_refused(text, why):
    refuses(why, read_trip_boxes, text.encode(), DOMAIN, "it.csv")


def geojson(*geometries: object):
    features = [
        {"type": "Feature", "properties": {"name": f"n{i}"}, "geometry": each}
        for i, each in enumerate(geometries)
    ]
    return json.dumps({"type": "FeatureCollection", "features": features}).encode()


def test_a_feature_without_a_shape_is_anywhere():
    ring = [[2.34, 48.85], [2.36, 48.85], [2.36, 48.87], [2.34, 48.87], [2.34, 48.85]]
    square = {"type": "Polygon", "coordinates": [ring]}
    alone = read_place(geojson(square), PARIS)[0]
    empty = {"type": "Polygon", "coordinates": []}
    found, names = read_place(geojson(None, square, empty), PARIS)
    assert np.array_equal(found, [NAN, alone[0], NAN], equal_nan=True)
    assert names == ["n0", "n1", "n2"]
    assert np.isnan(read_place(geojson(None), PARIS)[0]).all()
    with pytest.raises(InputError, match="not a polygon"):
        read_place(geojson(None, {"type": "Point", "coordinates": [2, 48]}), PARIS)
    refuses("not complete GeoJSON", read_place, b'{"type": ', PARIS)
