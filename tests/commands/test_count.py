"""`dp-explorer count`: exact counts of any number of files, and releases drawn from them."""

from pathlib import Path

import numpy as np
import pytest

from explorer.cities import nation
from explorer.cli import main
from explorer.grid.grid import Grid
from explorer.points.counts_file import load_counts
from explorer.points.partitions import counting
from explorer.points.points import Points, read_points
from explorer.releases.release import Release
from tests.commands.refusals import refusal

HERE = ["--around", "-35", "45", "--size", "640km", "--height-extent", "880km", "--shape", "64"]
GRID = Grid.around(-35.0, 45.0, 640e3, 880e3, 64)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(nation, "GROUP", 3_000)
    monkeypatch.setattr(nation, "GROUPS", 2)
    nation.write(tmp_path / "points", 20_000, users=True)
    return str(tmp_path / "points")


def test_counts_of_a_folder_and_a_release_from_them(folder, tmp_path, capsys):
    name = str(tmp_path / "counts")
    assert main(["count", folder, *HERE, "--per", "record", "-o", name]) == 0
    out, err = capsys.readouterr()
    assert "These counts are exact: keep the file to yourself" in out
    assert "20,000" not in out + err
    path = tmp_path / "counts.exact.parquet"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["counts.exact.parquet", "points"]
    matrix = load_counts(path)
    assert np.array_equal(matrix.counts, GRID.count(nation.points(20_000)).counts)

    drawn = ["--epsilon", "1", "--preview", "7", "--mechanism", "quadtree", "-o"]
    maps = [tmp_path / f"{which}.parquet" for which in "abc"]
    pattern = str(Path(folder) / "*.parquet")
    assert main(["release", str(path), *drawn, str(maps[0])]) == 0
    assert main(["release", folder, *HERE, *drawn, str(maps[1])]) == 0
    assert main(["release", pattern, *HERE, *drawn, str(maps[2])]) == 0
    assert "20,000" not in "".join(capsys.readouterr())
    first, *others = [Release.load(each) for each in maps]
    for other in others:
        assert np.array_equal(first.counts, other.counts)
        assert first.grid == other.grid


def test_a_bound_holds_over_all_files_and_workers_count_alike(folder, tmp_path):
    users = ["--user", "person", "--contribution-bound", "2"]
    for name, more in (("one", []), ("two", ["--dask", "threads"])):
        assert main(["count", folder, *HERE, *users, *more, "-o", str(tmp_path / name)]) == 0
    one, two = (load_counts(tmp_path / f"{name}.exact.parquet") for name in ("one", "two"))
    assert np.array_equal(one.counts, two.counts)
    assert (one.unit, one.contribution_bound) == ("user", 2)
    assert one.total < 20_000


def test_an_interrupted_count_goes_on(folder, tmp_path, monkeypatch, capsys):
    from explorer.points.partitions import files

    monkeypatch.setattr(files, "PART_ROWS", 3_000)
    whole = counting.Job.__call__
    done: list[str] = []

    def counted(job: counting.Job, part: files.Part):
        if len(done) == 3:
            done.append("interrupted")
            raise KeyboardInterrupt
        done.append(part.key)
        return whole(job, part)

    monkeypatch.setattr(counting.Job, "__call__", counted)
    line = ["count", folder, *HERE, "--per", "record", "-o", str(tmp_path / "counts")]
    assert main(line) == 130
    assert (tmp_path / "counts.exact.checkpoint").exists()
    assert not (tmp_path / "counts.exact.parquet").exists()
    capsys.readouterr()
    assert main(line) == 0
    assert "Going on from counts.exact.checkpoint." in capsys.readouterr().err
    assert len(set(done)) == len(done) == 1 + 7
    assert load_counts(tmp_path / "counts.exact.parquet").total <= 20_000
    assert not (tmp_path / "counts.exact.checkpoint").exists()


def test_one_table_of_text_is_counted_as_well(tmp_path, monkeypatch):
    points = nation.points(500)
    lines = [f"{x!r},{y!r}" for x, y in zip(points.x.tolist(), points.y.tolist(), strict=True)]
    csv = tmp_path / "points.csv"
    csv.write_text("\n".join(["lon,lat", *lines]))
    expected = GRID.count(read_points(csv)).counts
    # While it is read: whoever held all points would make these.
    monkeypatch.delattr(Points, "__init__")
    assert main(["count", str(csv), *HERE, "-o", str(tmp_path / "counts")]) == 0
    counts = load_counts(tmp_path / "counts.exact.parquet").counts
    assert np.array_equal(counts, expected)


@pytest.mark.parametrize("flag", [["--gaps"], ["--dask", "threads"]])
def test_a_flag_that_would_do_nothing_is_refused(flag, tmp_path, capsys):
    table = tmp_path / "points.csv"
    table.write_text("lon,lat\n-35,45\n")
    said = refusal(capsys, "count", str(table), *HERE, "-o", str(tmp_path / "counts"), *flag)
    assert "--dask and --gaps are for Parquet" in said


def test_what_is_refused(folder, tmp_path, capsys):
    name = ["-o", str(tmp_path / "counts")]
    assert "There is no file nowhere" in refusal(capsys, "count", "nowhere", *HERE, *name)
    assert "No file fits" in refusal(capsys, "count", "nowhere-*.parquet", *HERE, *name)
    assert "public extent is missing" in refusal(capsys, "count", folder, *name)
    wrong = refusal(capsys, "count", folder, *HERE, *name, "--dask", "moon")
    assert "--dask is 'moon'; give auto, threads" in wrong
    assert "--per record" in refusal(capsys, "count", folder, *HERE, *name, "--user", "person")
    said = refusal(capsys, "count", folder, *HERE, *name, "--lon", "east")
    assert "There is no column 'east'" in said
    (Path(folder) / "part-00001.parquet").unlink()
    said = refusal(capsys, "count", folder, *HERE, *name)
    assert "One file is missing between part-00000.parquet and part-00002.parquet" in said
    assert "--gaps" in said
    assert main(["count", folder, *HERE, *name, "--gaps", "--per", "record"]) == 0
    path = str(tmp_path / "counts.exact.parquet")
    capsys.readouterr()
    assert "exists already" in refusal(capsys, "count", folder, *HERE, *name, "--gaps")
    assert "are counts already" in refusal(capsys, "count", path, *HERE, "-o", folder + "x")
    drawn = ["--epsilon", "1", "--preview", "1"]
    assert "--around is not needed with counts" in refusal(capsys, "release", path, *HERE, *drawn)


def test_the_nation_is_made_by_a_command(tmp_path, capsys):
    import geopandas

    made, file = tmp_path / "nation", tmp_path / "districts.gpkg"
    line = ["cities", "--make-nation", str(made), "--rows", "2000", "--make-boundaries", str(file)]
    assert main([*line, "--people"]) == 0
    assert "2,000 made-up points" in capsys.readouterr().out
    assert len(read_points(made / "part-00000.parquet", user="person")) == 2_000
    assert list(geopandas.read_file(file).columns[:3]) == ["country", "region", "district"]
    again = refusal(capsys, "cities", "--make-nation", str(made))
    assert "is not empty" in again
    assert "name it .gpkg" in refusal(
        capsys, "cities", "--make-boundaries", str(tmp_path / "x.csv")
    )
