"""Counting goes on where it was interrupted, and only there."""

import numpy as np
import pytest

from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.points.partitions import counting, scan_points
from explorer.points.partitions import files as looking
from tests.points.partitions.test_counting import GRID, table, written


@pytest.mark.parametrize("bound", [None, 2])
@pytest.mark.parametrize("often", [True, False])
def test_an_interrupted_count_goes_on(tmp_path, monkeypatch, bound, often):
    monkeypatch.setattr(looking, "PART_ROWS", 900)
    monkeypatch.setattr(counting, "CHECKPOINT_EVERY", 0.0 if often else 1e9)
    files = scan_points(written(tmp_path / "points", table()), user="who")
    kept = tmp_path / "counts.exact.part"
    done: list[float] = []

    def stop(share: float) -> None:
        done.append(share)
        if len(done) in (4, 9):
            raise KeyboardInterrupt

    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            files.count(GRID, bound, stop, checkpoint=kept)
        assert kept.exists()
    matrix, notes = files.count(GRID, bound, stop, checkpoint=kept)
    whole, said = files.count(GRID, bound)
    assert np.array_equal(matrix.counts, whole.counts)
    assert notes == said
    # Every part was counted once over all three runs.
    assert len(done) == len(files.parts)
    assert done == sorted(done)
    assert list(tmp_path.iterdir()) == [tmp_path / "points"]


def test_another_grid_other_points_and_damage_are_refused(tmp_path):
    folder = written(tmp_path / "points", table())
    files = scan_points(folder)
    kept = tmp_path / "counts.exact.part"

    def interrupted(_: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        files.count(GRID, progress=interrupted, checkpoint=kept)
    other = Grid.around(10.0, 50.0, 21e3, shape=8)
    changed = scan_points([folder / "0.parquet", folder / "1.parquet"])
    for points, grid in ((files, other), (changed, GRID)):
        with pytest.raises(InputError, match="begun with other points, another grid"):
            points.count(grid, checkpoint=kept)
    kept.write_bytes(kept.read_bytes()[:200])
    with pytest.raises(InputError, match="is damaged"):
        files.count(GRID, checkpoint=kept)
