"""What is counted part by part is what is counted in memory, to the last bit."""

from pathlib import Path

import geopandas
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from explorer.cities import nation
from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.grid.plans import GridPlan, PairPlan
from explorer.points.partitions import counting, scan_points
from explorer.points.partitions import files as looking
from explorer.points.points import Points, read_points
from tests.helpers import around

GRID = Grid.around(10.0, 50.0, 20e3, shape=(40, 60))


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch):
    monkeypatch.setattr(looking, "PART_ROWS", 900)
    monkeypatch.setattr(counting, "BATCH", 250)


def table(n: int = 12_000, **more) -> pa.Table:
    """Places with all that files have: gaps, zeros, longitudes above 180."""
    points = around(GRID, n)
    lon, lat = points.x.copy(), points.y.copy()
    lon[5], lat[6] = np.nan, np.inf
    lon[7] = lat[7] = 0.0
    lat[8] = 91.0
    rng = np.random.default_rng(4)
    columns = {
        "lon": pa.array(lon, mask=np.arange(n) == 11),
        "lat": lat,
        "who": pa.array(rng.integers(0, n // 6, n), mask=rng.random(n) < 0.01),
        "name": [f"user {who}" for who in rng.integers(0, n // 6, n)],
        "times": rng.integers(0, 4, n),
    }
    return pa.table(columns | more)


def written(folder: Path, whole: pa.Table, files: int = 3) -> Path:
    """The rows in files one after the other, in small row groups."""
    folder.mkdir()
    step = -(-whole.num_rows // files)
    for i in range(files):
        part = whole.slice(i * step, step)
        pq.write_table(part, folder / f"{i}.parquet", row_group_size=370)
    return folder


@pytest.mark.parametrize(
    ("user", "bound"), [(None, None), ("who", None), ("who", 1), ("who", 3), ("name", 3)]
)
@pytest.mark.parametrize("weight", ["times", None])
def test_equal_to_reading_all_at_once(tmp_path, bound, user, weight):
    whole = table()
    folder = written(tmp_path / "points", whole)
    points = read_points(whole, user=user, weight=weight)
    files = scan_points(folder, user=user, weight=weight)
    per = "record" if bound is None else None
    expected = GRID.count(points, bound, per=per)
    matrix, notes = files.count(GRID, bound)
    assert np.array_equal(matrix.counts, expected.counts)
    assert (matrix.key, matrix.unit, matrix.contribution_bound) == (
        *(expected.key, expected.unit, expected.contribution_bound),
    )
    assert notes == points.notes
    assert np.array_equal(GRID.count(files, bound, per=per).counts, expected.counts)
    assert 0 < matrix.total < whole.num_rows * 3


def test_points_of_a_file_are_never_held(tmp_path, monkeypatch):
    path = tmp_path / "points.parquet"
    pq.write_table(table(), path)
    columns = {"user": "who", "weight": "times"}
    expected = GRID.count(read_points(path, **columns), 2).counts
    sizes: list[int] = []
    atoms = GridPlan.atoms

    def watched(plan: GridPlan, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        sizes.append(len(x))
        return atoms(plan, x, y)

    monkeypatch.setattr(GridPlan, "atoms", watched)
    # Whoever held all points would make these.
    monkeypatch.delattr(Points, "__init__")
    for way in (path, str(path)):
        assert np.array_equal(GRID.count(way, 2, **columns).counts, expected)
    assert max(sizes) <= counting.BATCH
    assert len(sizes) > 40


def test_shapes_and_other_projections_are_counted_too(tmp_path):
    points = around(GRID, 5_000)
    frame = geopandas.GeoDataFrame(geometry=geopandas.points_from_xy(points.x, points.y), crs=4326)
    frame.to_parquet(tmp_path / "wkb.parquet")
    frame.to_parquet(tmp_path / "struct.parquet", geometry_encoding="geoarrow")
    expected = GRID.count(read_points(frame)).counts
    for name in ("wkb", "struct"):
        assert np.array_equal(
            GRID.count(scan_points(tmp_path / f"{name}.parquet")).counts, expected
        )
    x, y = GRID.from_lonlat(points.x, points.y)
    pq.write_table(pa.table({"x": x, "y": y}), tmp_path / "metres.parquet")
    own = scan_points(tmp_path / "metres.parquet", crs=GRID.crs)
    true = GRID.count(Points(x, y, GRID.crs))
    assert np.array_equal(GRID.count(own).counts, true.counts)


def test_what_reading_refuses_counting_refuses(tmp_path):
    swapped = pa.table({"lon": [50.0, 51.0], "lat": [100.0, 110.0]})
    none = pa.table({"lon": [0.0], "lat": [0.0]})
    for number, (wrong, sentence) in enumerate(
        [(swapped, "the two look swapped"), (none, "None of the rows can be used")]
    ):
        path = tmp_path / f"{number}.parquet"
        pq.write_table(wrong, path)
        for count in (lambda p: GRID.count(scan_points(p)), read_points):
            with pytest.raises(InputError, match=sentence):
                count(path)
    folder = written(tmp_path / "points", table(times=np.full(12_000, 0.5)))
    with pytest.raises(InputError, match="fractions"):
        scan_points(folder, weight="times").count_on(GRID)
    with pytest.raises(InputError, match="needs to know the user"):
        scan_points(folder).count_on(GRID, 2)
    with pytest.raises(InputError, match="no CRS"):
        scan_points(folder).count_on(Grid.cells(4))
    for bound in (0, True, 1.5):
        with pytest.raises(InputError, match="whole number of 1 or more"):
            scan_points(folder, user="who").count_on(GRID, bound)


def test_progress_grows_to_one(tmp_path):
    said: list[float] = []
    scan_points(written(tmp_path / "points", table())).count_on(GRID, progress=said.append)
    assert said == sorted(said)
    assert len(said) > 10
    assert said[-1] == 1.0


class Halves:
    """Two areas: west and east of ten degrees, inside the grid."""

    key = "halves"

    def __len__(self) -> int:
        return 2

    def assign(self, x: np.ndarray, y: np.ndarray, crs: object) -> np.ndarray:
        off = (np.abs(y - 50.0) > 0.05) | (np.abs(x - 10.0) > 0.1)
        return np.where(off, -1, (x >= 10.0).astype(np.int32))


def test_pairs_of_areas_and_cells_add_up_to_both(tmp_path):
    whole = table()
    files = scan_points(written(tmp_path / "points", whole))
    points = read_points(whole)
    areas = Halves()
    # So fine that a vector of all pairs would not be made.
    fine = Grid.around(10.0, 50.0, 20e3, shape=2048)
    for grid in (GRID, Grid(fine.bounds, (2048, 2048), fine.crs)):
        plan = PairPlan(grid, areas)
        counted = files.count_atoms(plan)
        area, cell = plan.parts(counted.atoms)
        inside = areas.assign(points.x, points.y, None)
        there = GridPlan(grid, points.crs).atoms(points.x, points.y)
        for which in (0, 1):
            own = np.bincount(
                cell[area == which], counted.counts[area == which], grid.shape[0] * grid.shape[1]
            )
            alone = Points(points.x[inside == which], points.y[inside == which])
            assert np.array_equal(own.reshape(grid.shape), grid.count(alone).counts)
        assert counted.counts.sum() == np.sum((inside >= 0) & (there >= 0))
    assert PairPlan(GRID, areas).key != GridPlan(GRID).key
    small = Grid.around(10.0, 50.0, 5e3, shape=64)
    with pytest.raises(InputError, match="does not hold all areas"):
        files.count_atoms(PairPlan(small, areas))


def test_rows_of_the_made_up_nation(tmp_path, monkeypatch):
    monkeypatch.setattr(nation, "GROUP", 4_000)
    nation.write(tmp_path / "nation", 30_000, users=True)
    grid = nation.grid(256)
    files = scan_points(tmp_path / "nation", user="person")
    assert np.array_equal(files.count_on(grid).counts, grid.count(nation.points(30_000)).counts)
    bounded = files.count_on(grid, 2)
    assert bounded.total < files.count_on(grid).total
    assert bounded.unit == "user"
