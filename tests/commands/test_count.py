"""`dp-explorer count`: exact counts of any number of files, and releases drawn from them."""

from pathlib import Path

import geopandas
import numpy as np
import pandas as pd
import pytest
import shapely

from explorer import UG, Grid, Points, Release, compare, exact, read_points
from explorer.cities import nation
from explorer.cli import main
from explorer.points.counts_file import load_counts
from explorer.points.partitions import counting, files
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


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_table_is_counted_while_it_is_read(ending, tmp_path, run, monkeypatch):
    points, path = nation.points(500), tmp_path / f"points.{ending}"
    frame = pd.DataFrame({"lon": points.x, "lat": points.y})
    frame.to_csv(path, index=False) if ending == "csv" else frame.to_parquet(path)
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


# Boxes and polygons of one's own: their true counts, and what mechanisms make of them.

MINE = "my.csv --around 13.4 52.52 --size 8km --shape 64"
BERLIN = Grid.around(13.4, 52.52, 8000, shape=64)
BOXES = [shapely.box(-1000, -500, 1000, 2000), shapely.box(-3000, -3000, -500, 0)]


@pytest.fixture
def _boxes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    lon, lat = 13.4 + rng.normal(0, 0.02, 4000), 52.52 + rng.normal(0, 0.01, 4000)
    pd.DataFrame({"lon": lon, "lat": lat}).to_csv("my.csv", index=False)
    named = geopandas.GeoDataFrame({"name": ["mid", "west"]}, geometry=BOXES, crs=BERLIN.crs)
    named.to_file("polys.gpkg")
    bounds = named.bounds.set_axis(["x0", "y0", "x1", "y1"], axis=1)
    bounds.assign(name=named.name).to_csv("boxes.csv", index=False)


def cells(printed):
    """Cells of the lines of a printed table, by their first."""
    lines = [line.split() for line in printed.out.splitlines() if line.strip()]
    return {cells[0]: cells[1:] for cells in lines}


@pytest.mark.usefixtures("_boxes")
def test_true_counts_of_boxes_and_polygons_of_points_and_of_kept_counts(run):
    true = exact(BERLIN.count(read_points("my.csv")), [box.bounds for box in BOXES])
    found = cells(run(f"count {MINE} --rectangles boxes.csv"))
    assert [found[name][-1] for name in ("mid", "west")] == [f"{each:,.1f}" for each in true]
    run(f"count {MINE} -o kept")
    out, err = run("count kept.exact.parquet --polygons polys.gpkg")
    assert f"mid   {true[0]:,.1f}" in out
    assert "the curator's own" in err
    asked = "--mechanisms ug --epsilon 1 --seeds 1 --jobs 1"
    assert run(f"evaluate kept.exact.parquet {asked}").out == run(f"evaluate {MINE} {asked}").out


@pytest.mark.usefixtures("_boxes")
def test_mechanisms_on_boxes_of_ones_own(run):
    asked = "--mechanisms ug,identity --epsilon 0.5 1 --seeds 2 --rectangles boxes.csv"
    found = cells(run(f"evaluate {MINE} {asked} -o table.parquet"))
    table = pd.read_parquet("table.parquet")
    assert list(table.columns[:4]) == ["mechanism", "epsilon", "repeat", "box"]
    assert len(table) == 2 * 2 * 2 * 2
    assert set(table.box) == {"mid", "west"}
    means = table.assign(error=table.error.abs()).groupby(["mechanism", "epsilon"]).error.mean()
    assert found["ug"] == [f"{means['ug', e]:,.1f}" for e in (0.5, 1.0)]
    matrix = BERLIN.count(read_points("my.csv"))
    same = compare(matrix, [UG], [0.5], [BOXES[0].bounds], progress=False)
    row = table[(table.mechanism == "ug") & (table.epsilon == 0.5) & (table.repeat == 0)].iloc[0]
    assert row.private == pytest.approx(same.private[0])


@pytest.mark.usefixtures("_boxes")
def test_every_single_answer(run):
    asked = "--mechanisms ug --epsilon 1 --seeds 1 --per-box --polygons polys.gpkg"
    lines = run(f"evaluate {MINE} {asked}").out.splitlines()
    assert [line.split()[3] for line in lines] == ["box", "mid", "west"]
