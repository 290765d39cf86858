"""`dp-explorer count`: exact counts of any number of files, and releases drawn from them."""

from pathlib import Path

import geopandas
import numpy as np
import pytest

from explorer.cities import nation
from explorer.cli import main
from explorer.grid.grid import Grid
from explorer.points.counts_file import load_counts
from explorer.points.partitions import counting, files
from explorer.points.points import Points, read_points
from explorer.releases.release import Release
from tests.commands.refusals import refusal

EXTENT = "--around -35 45 --size 640km --height-extent 880km --shape 64"
GRID = Grid.around(-35.0, 45.0, 640e3, 880e3, 64)
COUNT = f"count points {EXTENT} -o counts"


@pytest.fixture
def _points(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(nation, "GROUP", 3_000)
    monkeypatch.setattr(nation, "GROUPS", 2)
    nation.write(tmp_path / "points", 20_000, users=True)


@pytest.mark.usefixtures("_points")
def test_counts_of_a_folder_and_a_release_from_them(run):
    printed = run(f"{COUNT} --per record")
    assert "These counts are exact: keep the file to yourself" in printed.out
    assert "20,000" not in "".join(printed)
    assert sorted(p.name for p in Path().iterdir()) == ["counts.exact.parquet", "points"]
    matrix = load_counts("counts.exact.parquet")
    assert np.array_equal(matrix.counts, GRID.count(nation.points(20_000)).counts)

    drawn, maps = "--epsilon 1 --preview 7 --mechanism quadtree -o map.parquet --overwrite", []
    for source in ("counts.exact.parquet", f"points {EXTENT}", f"points/*.parquet {EXTENT}"):
        assert "20,000" not in "".join(run(f"release {source} {drawn}"))
        maps.append(Release.load("map.parquet"))
    for other in maps[1:]:
        assert np.array_equal(maps[0].counts, other.counts)
        assert maps[0].grid == other.grid


@pytest.mark.usefixtures("_points")
def test_a_bound_holds_over_all_files_and_workers_count_alike(run):
    found = []
    for more in ("", "--dask threads --overwrite"):
        run(f"{COUNT} --user person --contribution-bound 2 {more}")
        found.append(load_counts("counts.exact.parquet"))
    one, two = found
    assert np.array_equal(one.counts, two.counts)
    assert (one.unit, one.contribution_bound) == ("user", 2)
    assert one.total < 20_000


@pytest.mark.usefixtures("_points")
def test_an_interrupted_count_goes_on(run, monkeypatch):
    monkeypatch.setattr(files, "PART_ROWS", 3_000)
    whole, done = counting.Job.__call__, []

    def counted(job, part):
        if len(done) == 3:
            done.append("interrupted")
            raise KeyboardInterrupt
        done.append(part.key)
        return whole(job, part)

    monkeypatch.setattr(counting.Job, "__call__", counted)
    assert main([*COUNT.split(), "--per", "record"]) == 130
    assert Path("counts.exact.checkpoint").exists()
    assert not Path("counts.exact.parquet").exists()
    assert "Going on from counts.exact.checkpoint." in run(f"{COUNT} --per record").err
    assert len(set(done)) == len(done) == 1 + 7
    assert load_counts("counts.exact.parquet").total <= 20_000
    assert not Path("counts.exact.checkpoint").exists()


@pytest.mark.usefixtures("_points")
def test_a_gap_between_files_is_refused_or_insisted_on(run, capsys):
    Path("points/part-00001.parquet").unlink()
    said = refusal(capsys, *COUNT.split())
    assert "One file is missing between part-00000.parquet and part-00002.parquet" in said
    assert "--gaps" in said
    run(f"{COUNT} --gaps --per record")


def test_one_table_of_text_is_counted_while_it_is_read(tmp_path, run, monkeypatch):
    points, path = nation.points(500), tmp_path / "points.csv"
    lines = [f"{x!r},{y!r}" for x, y in zip(points.x.tolist(), points.y.tolist(), strict=True)]
    path.write_text("\n".join(["lon,lat", *lines]))
    expected = GRID.count(read_points(path)).counts
    monkeypatch.delattr(Points, "__init__")  # who held all points would make these
    run(f"count {path} {EXTENT} -o {tmp_path}/counts")
    assert np.array_equal(load_counts(tmp_path / "counts.exact.parquet").counts, expected)


def test_the_nation_is_made_by_a_command(tmp_path, run):
    made, file = tmp_path / "nation", tmp_path / "districts.gpkg"
    line = f"cities --make-nation {made} --rows 2000 --make-boundaries {file} --people"
    assert "2,000 made-up points" in run(line).out
    assert len(read_points(made / "part-00000.parquet", user="person")) == 2_000
    assert list(geopandas.read_file(file).columns[:3]) == ["country", "region", "district"]
