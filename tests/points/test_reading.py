"""Whichever way the same points come, areas and grids count the same; columns may be named."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from explorer import Areas, InputError, read_points, scan_points
from explorer.cities import nation
from explorer.points.reading import as_points, in_parts

ROWS, CELL = 12_000, 4_000.0


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Three files of the made-up nation, row groups of 2,000, with people."""
    here = tmp_path_factory.mktemp("nation") / "points"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nation, "GROUP", 2_000)
        patch.setattr(nation, "GROUPS", 2)
        assert len(nation.write(here, ROWS, users=True)) == 3
    return here


@pytest.fixture(scope="module")
def frame(folder):
    return pd.concat([pd.read_parquet(file) for file in sorted(folder.iterdir())])


@pytest.fixture(scope="module")
def areas():
    return Areas.read(nation.boundaries(), ["country", "region", "district"])


@pytest.mark.parametrize("bound", [None, 2])
def test_all_ways_give_the_same_bits(areas, folder, frame, bound):
    columns = {} if bound is None else {"user": "person"}
    whole = areas.count(read_points(frame, **columns), CELL, bound)
    files = sorted(map(str, folder.iterdir()))
    ways: dict[str, Any] = {
        "frame": frame,
        "folder": folder,
        "address": f"file://{folder}",
        "pattern": f"{folder}/*.parquet",
        "list": files,
        "scanned": scan_points(folder, **columns),
    }
    for name, way in ways.items():
        named = {} if name == "scanned" else columns
        counts = areas.count(way, CELL, bound, **named)
        assert counts.key == whole.key, name
        assert (counts.unit, counts.contribution_bound) == (whole.unit, whole.contribution_bound)
    # Some lie in the sea; of a person at most two count, over all files.
    assert 0 < whole.by_node[0] < ROWS
    if bound is not None:
        x, y = frame["lon"].to_numpy(), frame["lat"].to_numpy()
        here = frame[areas.assign(x, y) >= 0]
        assert whole.by_node[0] == here.groupby("person").head(bound).shape[0]
        apart = sum(areas.count(file, CELL, bound, user="person").by_node[0] for file in files)
        assert apart > whole.by_node[0]


def test_grids_take_them_as_well(folder, frame):
    grid = nation.grid(64)
    whole = grid.count(read_points(frame)).counts
    for way in (folder, frame, {"lon": frame["lon"], "lat": frame["lat"]}):
        assert np.array_equal(grid.count(way).counts, whole)


def test_weights_are_counted(areas, frame, tmp_path):
    heavy = frame.assign(weight=np.arange(len(frame)) % 4)
    heavy.to_parquet(tmp_path / "heavy.parquet")
    file = areas.count(tmp_path / "heavy.parquet", CELL, weight="weight")
    assert file.key == areas.count(heavy, CELL, weight="weight").key
    assert file.by_node[0] > areas.count(frame, CELL).by_node[0]


def test_workers_and_sentences(areas, folder):
    files = scan_points(folder)
    counts = files.count_areas(areas, CELL, workers="threads")
    here = areas.count(folder, CELL)
    assert counts.key == here.key
    assert counts.notes == here.notes
    assert any("lon" in sentence for sentence in here.notes)


def test_counts_say_how_points_were_read(areas, frame, tmp_path):
    gaps = frame.copy()
    gaps.iloc[:3, gaps.columns.get_loc("lon")] = np.nan
    gaps.to_csv(tmp_path / "gaps.csv", index=False)
    gaps.to_parquet(tmp_path / "gaps.parquet")
    for source in (gaps, tmp_path / "gaps.csv", tmp_path / "gaps.parquet"):
        assert any(
            "3 rows without a coordinate" in each for each in areas.count(source, CELL).notes
        )


def test_what_is_read_whole_and_what_in_parts(folder, frame):
    assert in_parts(folder)
    assert in_parts(next(folder.iterdir()))
    assert not in_parts(frame)
    assert not in_parts((frame["lon"], frame["lat"]))
    person = frame["person"].to_numpy()
    assert as_points(frame, {"user": person}).user is not None


@pytest.mark.parametrize(("given", "columns", "says"), [
    ("nowhere.parquet", {}, "nowhere.parquet"),
    ("frame", {"people": "person"}, "people="),
    ("points", {"user": "person"}, "read already"),
    ("frame", {"user": "nobody"}, "nobody"),
    ("folder", {"user": "nobody"}, "nobody"),
    (7, {}, "int"),
])  # fmt: skip
def test_refusals(areas, folder, frame, given, columns, says):
    known = {"frame": frame, "folder": folder, "points": read_points(frame)}
    with pytest.raises(InputError, match=says):
        areas.count(known.get(given, given), CELL, **columns)


def test_a_bound_needs_users(areas, folder):
    with pytest.raises(InputError, match="user"):
        areas.count(folder, CELL, 2)
