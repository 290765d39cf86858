"""Text tables as people have them: each line is read, or refused by its number."""

import re

import numpy as np
import pytest

from explorer import Grid, InputError, read_points, read_trips
from explorer.cli import main
from explorer.grid import delimited
from explorer.queries.files import read_rectangles
from explorer.queries.range_files import read_ranges
from tests.refusals import refuses

GRID = Grid.around(13.4, 52.5, "60km", shape=8)
ROW = "13.4,52.5,a"


def lines(rows, text, delimiter=",", end="\n"):
    """Rows of a place and a text, below their names."""
    names = delimiter.join(["lon", "lat", "text"])
    body = [delimiter.join(["13.4", "52.5", text(row)]) for row in range(rows)]
    return end.join([names, *body, ""])


def is_quote(row):
    return {40: '"Old" oak', 80: 'a "tree', 120: '"open', 160: 'closed"'}.get(row, "x")


def with_backslash(row):
    return r'"the \"old\" oak, it is"' if row % 50 == 3 else "x"


def with_breaks(row):
    return '"two\nlines, and ""more"""' if row % 7 == 3 else "x"


WHOLE = {
    "tabs": lines(200, is_quote, "\t"),
    "wrapped, tabs": lines(200, lambda row: '"a\tb"' if row == 7 else '"x"', "\t"),
    "a quote at the beginning": lines(200, is_quote),
    "backslash, no quotes": lines(200, lambda row: r"a\, b" if row % 50 == 3 else "x"),
    "backslash": lines(200, with_backslash),
    "line breaks": lines(200, with_breaks),
    "line breaks, tabs": lines(200, with_breaks, "\t"),
    "a long value": lines(200, lambda row: '"' + "b\n" * 4_000 + '"' if row == 9 else "x"),
    "commas in lines": lines(200, lambda row: '"Main St\nA, B, C"' if row == 9 else "x"),
    "inches": lines(200, lambda _: '5" pipe'),
    "carriage returns": lines(200, str, end="\r"),
    "Windows": lines(200, str, end="\r\n"),
    "no last line end": lines(200, str).rstrip("\n"),
    "blank lines": lines(200, str).replace("52.5,99", "52.5,99\n\n   ") + "\n \n\n",
    "comments": "# from a, b\n# and c\n" + lines(200, str),
    "comment with the names": "# source: made\n#" + lines(200, str),
    "long comment": "/* DATA\nkept by: a\n*/\n" + lines(200, str, "\t"),
    "spreadsheet": "sep=;\n" + lines(200, str, ";"),
    "commas in names": lines(200, str, "\t").replace("text", "a, b, c, d"),
    "same names": lines(200, lambda row: f"{row},{row},{row}").replace("text", "a,a,a"),
}


@pytest.fixture
def _small_blocks(monkeypatch):
    monkeypatch.setattr(delimited, "BLOCK", 2**10)


@pytest.mark.usefixtures("_small_blocks")
@pytest.mark.parametrize("name", WHOLE)
def test_every_record_is_read_and_counted(tmp_path, name):
    path = tmp_path / "points.csv"
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        path.write_bytes(WHOLE[name].encode(encoding))
        assert len(read_points(path)) == 200, encoding
        assert GRID.count(path).total == 200, encoding


@pytest.mark.usefixtures("_small_blocks")
@pytest.mark.parametrize(("content", "line"), [
    (lines(300, str) + "Total rows: 300\n", 302),
    (lines(300, str) + f"{ROW},b\n" + lines(300, str), 302),
    (lines(20, with_breaks) + "# a comment\n", 25),
    (lines(300, str, end="\r\n") + "\r\n\r\nend\r\n", 304),
    (lines(300, str) + f'{ROW[:-1]}"a" b, c\n', 302),
    (lines(300, lambda _: '"a, b"') + f'{ROW[:-1]}"a\n{ROW}\n', 302),
    (lines(300, str) + "12:30,52.5,x\n", 302),
    (lines(20, with_breaks) + "\nno number,52.5,x\n", 26),
    (lines(20, lambda _: "é").encode("latin1") + b"a,52.5,x\n", 22),
    (lines(300, str).encode() + "13.4,1°,é\n".encode("latin1"), 302),
])  # fmt: skip
def test_a_line_that_is_no_record_is_refused_by_its_number(tmp_path, content, line):
    path = tmp_path / "points.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    for read in (read_points, GRID.count):
        refuses(rf"\bline {line}\b(?i:.*)|^Line {line}\b", read, path)


def test_texts_are_the_same_however_they_are_quoted():
    plain = b'lon\tlat\tuser\n1\t2\tAnn\n1\t2\tthe "B"\n1\t2\tAnn\n'
    wrapped = b'lon\tlat\tuser\n1\t2\t"Ann"\n1\t2\t"the ""B"""\n1\t2\tAnn\n'
    ordinary = b'lon\tlat\tuser\n1\t2\t"Ann"\n1\t2\tthe "B"\n1\t2\tAnn\n1\t2\t"X" y\n'
    commas = wrapped.replace(b"\t", b",")
    expected = read_points(plain, user="user").user_hash
    for content in (wrapped, commas):
        assert np.array_equal(read_points(content, user="user").user_hash, expected)
    assert np.array_equal(read_points(ordinary, user="user").user_hash[:2], expected)


RECORDS = {
    "taxi": "1,2008-02-02 15:36:08,116.51172,39.92123\n1,2008-02-02 15:46:08,116.51135,39.93883\n",
    "check-ins": "0\t2010-10-19T23:55:27Z\t30.2359\t-97.7951\t22847\n" * 2,
    "two numbers": "116.5,39.9\n116.6,39.8\n",
    "whole numbers": "530000;180000;Ann\n530001;180001;Bob\n",
    "blanks": "37.75134 -122.39488 0 1213084687\n" * 2,
    "decimal commas": "Ann;13,4;52,5\nBob;13,5;52,6\n",
    "a geometry": "Ann,POINT (13.4 52.5)\nBob,POINT (13.5 52.6)\n",
    "degrees": "Ann,48°51'N\nBob,48°52'N\n",
    "month": "Ann,2-Feb-2008\nBob,3-Feb-2008\n",
    "one number": "Berlin,1234567\nParis,2345678\n",
}


@pytest.mark.parametrize("name", RECORDS)
def test_a_first_line_that_is_a_record_is_refused_and_not_repeated(tmp_path, capsys, name):
    content = RECORDS[name]
    path = tmp_path / "points.txt"
    path.write_text(content)
    values = [value for value in re.split(r"[,;\t\s]", content) if len(value) > 1]
    ways = [
        lambda: read_points(path),
        lambda: read_points(path, lon=values[-1], lat=values[-2]),
        lambda: read_points(path, user=values[0]),
        lambda: read_trips(path),
        lambda: GRID.count(path),
        lambda: read_rectangles(path, GRID),
        lambda: read_ranges(path, GRID, name_column="name"),
    ]
    for way in ways:
        with pytest.raises(InputError) as refused:
            way()
        assert not any(value in str(refused.value) for value in values), refused.value
    command = ["count", str(path), "--around", "13.4", "52.5", "--size", "9km", "-o"]
    assert main([*command, str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert not any(value in said for value in values), said


def test_the_advice_about_a_first_line_helps(tmp_path):
    for name in ("taxi", "check-ins", "two numbers", "blanks"):
        content = RECORDS[name]
        with pytest.raises(InputError) as refused:
            read_points(content.encode(), name="p.txt")
        advised = re.search(r"such as (.*)\.$", str(refused.value))
        assert advised is not None
        delimiter = next(mark for mark in "\t, " if mark in content.partition("\n")[0])
        names = advised[1].split(delimiter)
        assert len(names) == len(content.partition("\n")[0].split(delimiter)) or name == "taxi"
        path = tmp_path / "points.txt"
        path.write_text(advised[1] + "\n" + content)
        if name in ("taxi", "two numbers"):
            assert len(read_points(path)) == 2


@pytest.mark.parametrize(
    "names", ["lon,lat,2019,2020", "id,lat,lng,S000,2021", "x,y,1,2", "w_lon,w_lat,2020-01-01,5"]
)
def test_names_beside_those_of_a_place_may_be_numbers(names):
    row = ",".join(["13.4"] * (names.count(",") + 1))
    assert len(read_points(f"{names}\n{row}\n".encode(), name="p.csv")) == 1


MISSING = ["", " ", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "-", ".", "n/a", "\\N"]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_cells_without_a_number_are_missing_places(tmp_path, delimiter):
    cells = [*MISSING, "#N/A", "(null)", "  NA "]
    rows = [f"13.4{delimiter}52.5", *(f"13.4{delimiter}{cell}" for cell in cells)]
    content = f"lon{delimiter}lat\n" + "\n".join(rows) + "\n"
    path = tmp_path / "points.csv"
    path.write_text(content)
    points = read_points(path)
    assert len(points) == 1
    assert any(f"{len(cells)} rows without a coordinate" in note for note in points.notes)
    assert GRID.count(path).total == 1


@pytest.mark.parametrize(("delimiter", "text", "value"), [
    (",", " 13.4 ", 13.4), (",", "+13.4", 13.4), (",", "\u221213.4", -13.4),
    (",", "\u00a013.4", 13.4), (",", '"13,45"', 13.45), (",", '"1,234,567.5"', 1234567.5),
    (",", "1 234 567.5", 1234567.5), (",", "1'234'567", 1234567.0), ("\t", "13,4", 13.4),
    ("\t", "13,456", 13.456), ("\t", "+13,4", 13.4), ("\t", "\u221213,4", -13.4),
    (";", "1.234.567,5", 1234567.5), (";", "1\u202f234\u202f567,5", 1234567.5),
    (";", "1,5e3", 1500.0), ("|", "13,4", 13.4),
])  # fmt: skip
def test_numbers_as_people_write_them(delimiter, text, value):
    content = f"x{delimiter}y\n{text}{delimiter}6600000\n2{delimiter}6600000\n"
    points = read_points(content.encode(), name="p.csv", crs="EPSG:2154")
    assert points.x.tolist() == [value, 2.0]


@pytest.mark.parametrize(("text", "kind"), [
    ("somewhere", "a text"), ("12:30", "a date or a time"), ("52.5N", "a letter of a hemisphere"),
    ("48°51'24\"", "degrees with signs or minutes"),
    ("13.4 52.5", "two numbers"), ("POINT (13.4 52.5)", "a geometry"),
    ("13.4m", "a number with a unit"),
    ('"1,234"', "a comma that may stand for decimals or for thousands"),
])  # fmt: skip
def test_anything_else_is_named_by_its_kind_and_line(tmp_path, text, kind):
    path = tmp_path / "points.csv"
    path.write_text(f"lon,lat\n13.4,52.5\n{text},52.5\n")
    for read in (read_points, GRID.count):
        with pytest.raises(InputError, match=f"'lon' has {kind} in line 3") as refused:
            read(path)
        assert text.strip('"') not in str(refused.value)


def test_a_comma_has_one_meaning_in_a_column():
    rows = ["13,4", "13,456", "1,234.5"]
    for order in (rows, rows[::-1]):
        content = "x\ty\n" + "".join(f"{value}\t6600000\n" for value in order)
        with pytest.raises(InputError, match="another meaning than in other lines"):
            read_points(content.encode(), name="p.tsv", crs="EPSG:2154")


def test_a_title_above_the_names_is_refused_and_blanks_delimit():
    with pytest.raises(InputError, match="Line 1 of this file has one value"):
        read_points(b"Report of 2024\n\nlon,lat\n1,2\n", name="p.csv")
    refuses("divided by several blanks", read_points, b"lon  lat\n1    2\n1    3\n", name="p.txt")
    assert len(read_points(b"lon lat\n1 2\n1 3\n", name="p.txt")) == 2
    assert len(read_points(b'lon, lat, "text"\n1, 2, "a"\n1, 2, "b c"\n', name="p.csv")) == 2


def test_boxes_are_read_by_the_same_rules():
    grid = Grid.cells(16)
    box = "0,0,10,10"
    readable = [
        f'sep=,\nname,x0,y0,x1,y1\na,{box}\n"b ""c""",{box}\n',
        f'# a comment\nname\tx0\ty0\tx1\ty1\na\t{box}\n"b" c\t{box}\n'.replace(",", "\t"),
        f'name,x0,y0,x1,y1\na,{box}\n"b\nc",{box}\n',
        f'name,x0,y0,x1,y1\na,+0, 0 ,10,10\n"b" c,{box}\n',
        f'name,x0,y0,x1,y1\n"a,{box}\nb",{box}\n',
        f"name,x0,y0,x1,y1\r{box}\r{box}\r".replace("\r0", "\ra,0"),
    ]
    for content in readable:
        for encoding in ("utf-8", "utf-16"):
            boxes, names = read_rectangles(content.encode(encoding), grid)
            assert boxes.tolist() == [[0, 0, 10, 10]] * 2, content
            assert len(names) == 2
    refused = [
        (f"name,x0,y0,x1,y1\na,{box}\nb,{box},5\n", "Line 3 of this file has more values"),
        (f'name,x0,y0,x1,y1\na,{box}\n"b",c,{box},"x\n', "line 3"),
        ("name,x0,y0,x1,y1\na,0,0,10,N/A\n", "Line 2 of it lacks a number in y1"),
        ("name,x0,y0,x1,y1\n\na,0,0,10,10 m\n", "Line 3 of it has a number with a unit"),
    ]
    for content, sentence in refused:
        refuses(sentence, read_rectangles, content.encode(), grid, "it")


def test_trips_are_read_by_the_same_rules():
    names = "o_lon\to_lat\td_lon\td_lat\ttext"
    rows = ['13,4\t52,5\t13,5\t52,6\t"a" b', "13,4\tNA\t13,5\t52,6\tx", '1,0\t2,0\t3,0\t4,0\t"c']
    trips = read_trips(("\n".join([names, *rows]) + "\n").encode(), name="t.tsv")
    assert len(trips) == 2
    with pytest.raises(InputError, match="Line 5 "):
        read_trips(("\n".join([names, *rows]) + "\ntotal\n").encode(), name="t.tsv")


# What is said of a file repeats no value of a record and no exact number of rows.

SAID_FILES = [
    b"lon,lat\n1,2\n0x10,77.7\n",
    b"lon;lat\n1,5;2\nsecret;77,7\n",
    b"lon,lat\n1,2\n3,77.7,secret\n",
    b"lon,lat\n0,0\n,\n0,0\n",
    b'lon,lat\n1,"77.7 secret\n',
    b"lon,lat,id\n,77.7,secret\n,77.7,secret\n,77.7,secret\n",
    b"lon,lat\n" + b"secret 77.7" * 2_000_000,
]


@pytest.mark.parametrize("content", SAID_FILES, ids=range(len(SAID_FILES)))
def test_no_refusal_repeats_a_value_or_a_number_of_rows(content):
    rows = content.count(b"\n") - 1
    with pytest.raises(InputError) as refused:
        read_points(content, name="p.csv")
    said = str(refused.value)
    assert not re.search(r"secret|0x10|77", said), said
    assert not re.search(rf"\b{rows}\b|\d+ rows?", said.replace("0, latitude 0", "")), said


def test_no_refusal_says_how_long_a_table_is():
    table = {"lon": np.ones(1234), "lat": np.ones(1234)}
    with pytest.raises(InputError) as refused:
        read_points(table, max_rows=1000)
    assert "1,000" in str(refused.value)
    assert "234" not in str(refused.value)
    table = {name: [0.0] * 7 for name in ("o_lon", "o_lat", "d_lon", "d_lat")}
    with pytest.raises(InputError, match="None of the rows") as refused:
        read_trips(table)
    assert "7" not in str(refused.value)


def test_no_record_decides_how_another_one_is_read():
    rows = ["2,5;48,5", "3.5;49.5", "4;50,25", " 5,5 ;-51.5", "6e1;7,5e0"]
    x, y = [2.5, 3.5, 4.0, 5.5, 60.0], [48.5, 49.5, 50.25, -51.5, 7.5]
    for first in range(len(rows)):
        order = [first, *(n for n in range(len(rows)) if n != first)]
        content = "\n".join(["lon;lat", *(rows[n] for n in order)])
        points = read_points(content.encode(), name="p.csv")
        assert points.x.tolist() == [x[n] for n in order]
        assert points.y.tolist() == [y[n] for n in order]


@pytest.mark.parametrize("crs", ["+init=/etc/passwd:1", "/etc/passwd", "+proj=pipeline +step"])
def test_a_file_names_its_crs_by_code_or_description_alone(crs):
    from explorer.grid.projection import foreign_crs

    refuses("not a known CRS", foreign_crs, crs)
    assert foreign_crs("EPSG:27700").to_epsg() == 27700
    assert foreign_crs(foreign_crs("EPSG:27700").to_wkt()).to_epsg() == 27700
