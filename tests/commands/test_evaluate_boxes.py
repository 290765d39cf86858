"""Boxes and polygons of one's own: their true counts, and what mechanisms make of them."""

import geopandas
import numpy as np
import pandas as pd
import pytest
import shapely

from explorer import UG, Grid, compare, exact, read_points

EXTENT = "my.csv --around 13.4 52.52 --size 8km --shape 64"
GRID = Grid.around(13.4, 52.52, 8000, shape=64)
BOXES = [shapely.box(-1000, -500, 1000, 2000), shapely.box(-3000, -3000, -500, 0)]


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    lon, lat = 13.4 + rng.normal(0, 0.02, 4000), 52.52 + rng.normal(0, 0.01, 4000)
    pd.DataFrame({"lon": lon, "lat": lat}).to_csv("my.csv", index=False)
    named = geopandas.GeoDataFrame({"name": ["mid", "west"]}, geometry=BOXES, crs=GRID.crs)
    named.to_file("polys.gpkg")
    bounds = named.bounds.set_axis(["x0", "y0", "x1", "y1"], axis=1)
    bounds.assign(name=named.name).to_csv("boxes.csv", index=False)


def cells(printed):
    """Cells of the lines of a printed table, by their first."""
    lines = [line.split() for line in printed.out.splitlines() if line.strip()]
    return {cells[0]: cells[1:] for cells in lines}


def test_true_counts_of_boxes_and_polygons_of_points_and_of_kept_counts(run):
    true = exact(GRID.count(read_points("my.csv")), [box.bounds for box in BOXES])
    found = cells(run(f"count {EXTENT} --rectangles boxes.csv"))
    assert [found[name][-1] for name in ("mid", "west")] == [f"{each:,.1f}" for each in true]
    run(f"count {EXTENT} -o kept")
    out, err = run("count kept.exact.parquet --polygons polys.gpkg")
    assert f"mid   {true[0]:,.1f}" in out
    assert "the curator's own" in err
    asked = "--mechanisms ug --epsilon 1 --seeds 1 --jobs 1"
    assert run(f"evaluate kept.exact.parquet {asked}").out == run(f"evaluate {EXTENT} {asked}").out


def test_mechanisms_on_boxes_of_ones_own(run):
    asked = "--mechanisms ug,identity --epsilon 0.5 1 --seeds 2 --rectangles boxes.csv"
    found = cells(run(f"evaluate {EXTENT} {asked} -o table.parquet"))
    table = pd.read_parquet("table.parquet")
    assert list(table.columns[:4]) == ["mechanism", "epsilon", "repeat", "box"]
    assert len(table) == 2 * 2 * 2 * 2
    assert set(table.box) == {"mid", "west"}
    means = table.assign(error=table.error.abs()).groupby(["mechanism", "epsilon"]).error.mean()
    assert found["ug"] == [f"{means['ug', e]:,.1f}" for e in (0.5, 1.0)]
    matrix = GRID.count(read_points("my.csv"))
    same = compare(matrix, [UG], [0.5], [BOXES[0].bounds], progress=False)
    row = table[(table.mechanism == "ug") & (table.epsilon == 0.5) & (table.repeat == 0)].iloc[0]
    assert row.private == pytest.approx(same.private[0])


def test_every_single_answer(run):
    asked = "--mechanisms ug --epsilon 1 --seeds 1 --per-box --polygons polys.gpkg"
    lines = run(f"evaluate {EXTENT} {asked}").out.splitlines()
    assert [line.split()[3] for line in lines] == ["box", "mid", "west"]
