"""What is no table and no layer is named for what it is; archives are opened with limits."""

import gzip
import io
import tarfile
import zipfile

import geopandas
import numpy as np
import pandas as pd
import pytest
import shapely

from explorer import Areas, Grid, InputError, read_points
from explorer.grid import containers
from explorer.grid.extent import boundary_bounds
from explorer.queries.range_files import read_polygons, read_ranges
from tests.refusals import refuses

CSV = b"lon,lat\n4.9,52.3\n5.0,52.4\n"
SQUARES = geopandas.GeoDataFrame(
    {"name": ["West", "East"]},
    geometry=[shapely.box(4.8, 52.2, 4.9, 52.4), shapely.box(4.9, 52.2, 5.0, 52.4)],
    crs=4326,
)


def archive(**files: bytes):
    """A zip of files, whose names have _ for a dot and __ for a slash."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, content in files.items():
            opened.writestr(name.replace("__", "/").replace("_", "."), content)
    return packed.getvalue()


def tar():
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as opened:
        about = tarfile.TarInfo("points.csv")
        about.size = len(CSV)
        opened.addfile(about, io.BytesIO(CSV))
    return packed.getvalue()


@pytest.mark.parametrize(("content", "sentence"), [
    (b"%PDF-1.7 ...", "a PDF document"), (b"\x89PNG\r\n\x1a\n....", "a picture"),
    (b"<!DOCTYPE html><html><body>Please log in</body></html>", "a web page"),
    (b'<?xml version="1.0"?><osm version="0.6"></osm>', "XML of another kind"),
    (b"7z\xbc\xaf\x27\x1c....", "a 7z archive; unpack it"),
    (b"\x89HDF\r\n\x1a\n", "HDF5 or netCDF"), (b"\x80\x04\x95...", "a pickle of Python"),
    (tar(), "a tar archive; unpack it"),
    (gzip.compress(gzip.compress(CSV)), "compressed twice"),
    (gzip.compress(CSV)[:-9], "damaged or incomplete"),
    (archive(inner_zip=archive(points_csv=CSV)), "holds another archive"),
    (archive(readme_md=b"hello"), "holds no file of points"),
    (archive(word__document_xml=b"<a/>", Content_xml=b""), "office program"),
], ids=lambda value: value if isinstance(value, str) else "")  # fmt: skip
def test_what_is_no_table_is_named(content, sentence, tmp_path):
    (tmp_path / "points.csv").write_bytes(content)
    for source in (tmp_path / "points.csv", content):
        with pytest.raises(InputError, match=sentence) as refused:
            read_points(source, name="points.csv")
        assert "\n" not in str(refused.value)
    with pytest.raises(InputError):
        boundary_bounds(tmp_path / "points.csv")


def test_a_file_that_names_one_outside_of_the_archive_is_refused():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as opened:
        opened.writestr("../points.csv", CSV)
    with pytest.raises(InputError, match="names a file outside of itself"):
        read_points(packed.getvalue(), name="points.zip")


def test_a_locked_archive_is_one_sentence():
    content = bytearray(archive(points_csv=CSV))
    for record, at in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        content[content.index(record) + at] |= 1
    refuses("locked by a password", read_points, bytes(content), name="points.zip")


def test_what_unpacks_to_too_much_is_refused_before_it_does():
    rows = CSV + b"4.9,52.3\n" * 100_000
    for content in (archive(points_csv=rows), gzip.compress(rows)):
        assert len(read_points(content)) == 100_002
        refuses("unpacks to more than 1 MB", containers.recognised, content, most=800_000)


def test_one_of_several_files_is_named():
    two = archive(may_csv=CSV, june_csv=CSV[:17], read_txt=b"about these\n")
    refuses(r"2 files .* \('may.csv', 'june.csv'\)", read_points, two)
    assert len(read_points(two, layer="june.csv")) == 1
    assert len(read_points(two, layer="may")) == 2
    assert len(read_points(archive(_hidden_csv=b"", a__points_csv=CSV, read_txt=b"about\n"))) == 2


DRIVERS = {"shp": "ESRI Shapefile", "fgb": "FlatGeobuf", "gdb": "OpenFileGDB", "kml": "LIBKML",
           "gpkg": "GPKG", "geojson": "GeoJSON", "parquet": ""}  # fmt: skip


@pytest.mark.parametrize("ending", DRIVERS)
@pytest.mark.parametrize("is_zipped", [False, True])
def test_polygons_are_read_from_them_everywhere(ending, is_zipped, tmp_path):
    folder, column = tmp_path / "in", "Name" if ending == "kml" else "name"
    folder.mkdir()
    path, frame = folder / f"wards.{ending}", SQUARES.rename(columns={"name": column})
    frame.to_file(path, driver=DRIVERS[ending]) if DRIVERS[ending] else frame.to_parquet(path)
    if is_zipped:
        with zipfile.ZipFile(tmp_path / "wards.zip", "w") as opened:
            for each in folder.rglob("*"):
                if each.is_file():
                    opened.write(each, each.relative_to(folder).as_posix())
        path = tmp_path / "wards.zip"
    areas = Areas.read(path, [column])
    assert sorted(areas.paths) == [(), ("East",), ("West",)]
    assert areas.notes == ()
    inside = areas.lowest[areas.assign([4.85, 4.95], [52.3, 52.3])]
    assert [areas.paths[area] for area in inside] == [("West",), ("East",)]
    assert Areas.read(str(path), [column]).key == areas.key
    (x0, y0, x1, y1), _ = boundary_bounds(path)
    assert (x1 - x0, y1 - y0) == pytest.approx((13_600, 22_250), rel=0.01)
    shapes, names = read_polygons(path, column)
    assert sorted(names) == ["East", "West"]
    assert np.allclose(shapes.area, 0.02)
    if path.is_file() and path.suffix != ".shp":
        assert Areas.read(path.read_bytes(), [column]).paths == areas.paths
        grid = Grid.around(4.9, 52.3, "40km", shape=8)
        assert len(read_ranges(path, grid).boxes) == 2


def test_a_layer_of_polygons_stands_behind_the_path(tmp_path):
    path = tmp_path / "city.gpkg"
    SQUARES.to_file(path, layer="wards")
    SQUARES[:1].to_file(path, layer="parks")
    refuses("such as ::wards behind the path", boundary_bounds, path)
    assert len(Areas.read(f"{path}::wards", ["name"]).paths) == 1 + 2
    assert len(read_polygons(f"{path}::parks")[1]) == 1
    grid = Grid.around(4.9, 52.3, "40km", shape=8)
    assert len(read_ranges(f"{path}::parks", grid).boxes) == 1


def test_tables_without_geometry_are_no_layers(tmp_path):
    import pyogrio

    path = tmp_path / "city.gpkg"
    SQUARES.to_file(path, layer="wards")
    pyogrio.write_dataframe(pd.DataFrame({"name": ["a"]}), path, layer="notes", append=True)
    assert len(Areas.read(path, ["name"]).paths) == 1 + 2
