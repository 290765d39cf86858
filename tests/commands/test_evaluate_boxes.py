"""Boxes and polygons of one's own: their true counts, and what mechanisms make of them."""

import geopandas
import numpy as np
import pandas as pd
import pytest
import shapely

from explorer import UG, Grid, compare, exact, read_points
from explorer.cli import main
from explorer.points.counts_file import load_counts

EXTENT = ["--around", "13.4", "52.52", "--size", "8km", "--shape", "64"]
MINE = ["evaluate", "my.csv", *EXTENT]
BOXES = ["--rectangles", "boxes.csv"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("own")
    rng = np.random.default_rng(3)
    lon, lat = 13.4 + rng.normal(0, 0.02, 4000), 52.52 + rng.normal(0, 0.01, 4000)
    pd.DataFrame({"lon": lon, "lat": lat}).to_csv(made / "my.csv", index=False)
    boxes = [shapely.box(-1000, -500, 1000, 2000), shapely.box(-3000, -3000, -500, 0)]
    grid = Grid.around(13.4, 52.52, 8000, shape=64)
    named = geopandas.GeoDataFrame({"name": ["mid", "west"]}, geometry=boxes, crs=grid.crs)
    named.to_file(made / "polys.gpkg")
    rows = [f"{name},{','.join(map(str, box.bounds))}" for name, box in named.to_numpy()]
    (made / "boxes.csv").write_text("\n".join(["name,x0,y0,x1,y1", *rows]))
    return made


def said(capsys: pytest.CaptureFixture[str]) -> dict[str, list[str]]:
    """Cells of the lines of a printed table, by their first."""
    lines = [line.split() for line in capsys.readouterr().out.splitlines() if line.strip()]
    return {cells[0]: cells[1:] for cells in lines}


def test_true_counts_of_boxes_and_polygons(folder, capsys):
    points = read_points(folder / "my.csv")
    matrix = Grid.around(13.4, 52.52, 8000, shape=64).count(points)
    true = exact(matrix, [[-1000, -500, 1000, 2000], [-3000, -3000, -500, 0]])
    assert (
        main(["count", str(folder / "my.csv"), *EXTENT, "--rectangles", str(folder / "boxes.csv")])
        == 0
    )
    found = said(capsys)
    assert [found[name][-1] for name in ("mid", "west")] == [f"{each:,.1f}" for each in true]
    counts = str(folder / "kept")
    assert main(["count", str(folder / "my.csv"), *EXTENT, "-o", counts, "--overwrite"]) == 0
    capsys.readouterr()
    kept = f"{counts}.exact.parquet"
    assert main(["count", kept, "--polygons", str(folder / "polys.gpkg")]) == 0
    told = capsys.readouterr()
    assert f"mid   {true[0]:,.1f}" in told.out
    assert "the curator's own" in told.err


def test_mechanisms_on_boxes_of_ones_own(folder, capsys, tmp_path):
    out = tmp_path / "table.parquet"
    asked = ["--mechanisms", "ug,identity", "--epsilon", "0.5", "1", "--seeds", "2"]
    boxes = ["--rectangles", str(folder / "boxes.csv")]
    assert main(["evaluate", str(folder / "my.csv"), *EXTENT, *asked, *boxes, "-o", str(out)]) == 0
    found = said(capsys)
    table = pd.read_parquet(out)
    assert list(table.columns[:4]) == ["mechanism", "epsilon", "repeat", "box"]
    assert len(table) == 2 * 2 * 2 * 2
    assert set(table.box) == {"mid", "west"}
    means = table.assign(error=table.error.abs()).groupby(["mechanism", "epsilon"]).error.mean()
    assert found["ug"] == [f"{means['ug', e]:,.1f}" for e in (0.5, 1.0)]
    matrix = Grid.around(13.4, 52.52, 8000, shape=64).count(read_points(folder / "my.csv"))
    same = compare(matrix, [UG], [0.5], [[-1000, -500, 1000, 2000]], progress=False)
    row = table[(table.mechanism == "ug") & (table.epsilon == 0.5) & (table.repeat == 0)].iloc[0]
    assert row.private == pytest.approx(same.private[0])


def test_every_single_answer(folder, capsys):
    asked = ["--mechanisms", "ug", "--epsilon", "1", "--seeds", "1", "--per-box"]
    shapes = ["--polygons", str(folder / "polys.gpkg")]
    assert main(["evaluate", str(folder / "my.csv"), *EXTENT, *asked, *shapes]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[3] for line in lines] == ["box", "mid", "west"]


def test_counts_that_were_kept_and_points_are_evaluated(folder, capsys):
    asked = ["--mechanisms", "ug", "--epsilon", "1", "--seeds", "1", "--jobs", "1"]
    assert main(["count", str(folder / "my.csv"), *EXTENT, "-o", str(folder / "two")]) == 0
    kept = folder / "two.exact.parquet"
    assert load_counts(kept).grid.shape == (64, 64)
    capsys.readouterr()
    assert main(["evaluate", str(kept), *asked]) == 0
    of_counts = capsys.readouterr().out
    assert main(["evaluate", str(folder / "my.csv"), *EXTENT, *asked]) == 0
    assert capsys.readouterr().out == of_counts


@pytest.mark.parametrize(("words", "sentence"), [
    (["count", "my.csv", *EXTENT], "Say where the counts go with -o NAME"),
    (["evaluate", "my.csv"], "give their public extent"),
    ([*MINE, "--per-box"], "--per-box needs boxes"),
    ([*MINE, *BOXES, "--metric", "mae"], "--metric"),
    ([*MINE, *BOXES, "--resume"], "--resume do not"),
    (
        ["evaluate", "my.csv", *EXTENT, "--rectangles", "boxes.csv", "--polygons", "polys.gpkg"],
        "Polygons are asked alone",
    ),
    ([*MINE, *BOXES, "-o", "x.txt"], "is no table"),
    (["evaluate", "madeup", "--user", "who"], "--user is not needed"),
])  # fmt: skip
def test_what_cannot_be_asked(folder, words, sentence, capsys):
    files = {"my.csv", "boxes.csv", "polys.gpkg", "x.txt"}
    more = ["--mechanisms", "ug", "--epsilon", "1"] if words[0] == "evaluate" else []
    assert main([str(folder / each) if each in files else each for each in words] + more) == 2
    told = capsys.readouterr().err
    assert sentence in told
    assert "Traceback" not in told


def test_counts_are_not_counted_again(folder, capsys):
    assert main(["count", str(folder / "my.csv"), *EXTENT, "-o", str(folder / "three")]) == 0
    kept = str(folder / "three.exact.parquet")
    for words in ([kept], [kept, "-o", "x"], [kept, kept, "--rectangles", "boxes.csv"]):
        assert main(["count", *words]) == 2
        # Without anything to ask and without a name, that is what is missing.
        missing = "Say where the counts go" if words == [kept] else "counts already"
        assert missing in capsys.readouterr().err
