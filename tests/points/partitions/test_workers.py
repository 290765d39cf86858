"""Workers that die change no bit; nothing is counted twice; nothing is drawn or kept there."""

import os
import signal
import sys
from pathlib import Path

import dask
import distributed
import numpy as np
import pytest

from explorer import InputError, scan_points
from explorer.points.partitions import files as looking
from explorer.points.partitions import workers
from explorer.points.partitions.counting import JUDGED, Counted, Held, Sum
from tests.points.partitions.test_counting import GRID, table, written
from tests.refusals import refuses

QUIET = {"silence_logs": 50, "scheduler_kwargs": {"dashboard_address": "127.0.0.1:0"}}

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.setattr(looking, "PART_ROWS", 900)
    return scan_points(written(tmp_path / "points", table()), user="who")


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """A worker that was killed takes long to come back where everything else is running, too."""
    monkeypatch.setattr(workers, "ALONE", 240)
    monkeypatch.setattr(workers, "PATIENCE", 240)


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, **QUIET
    ) as made:
        yield made


def test_killed_workers_change_no_bit(files, cluster, tmp_path):
    alone, said = files.count(GRID, 2)
    killed = []
    done = []

    def kill(share):
        done.append(share)
        if len(done) in (1, 7):
            for nanny in cluster.workers.values():
                # Nannies give up on workers that die before they are there.
                if nanny.pid is not None and nanny.worker_address in cluster.scheduler.workers:
                    os.kill(nanny.pid, signal.SIGKILL)
                    killed.append(nanny.pid)

    kept = tmp_path / "counts.exact.part"
    counted, notes = files.count(GRID, 2, kill, workers=cluster.scheduler_address, checkpoint=kept)
    assert np.array_equal(counted.counts, alone.counts)
    assert notes == said
    assert len(set(killed)) >= 3, "too few workers were killed: the test shows nothing"
    assert len(done) == len(files.parts)
    assert done[-1] == 1.0
    assert not kept.exists()


def test_workers_load_nothing_that_draws_noise(files, cluster):
    # Inside, so that it is sent as it stands: workers would import this module for its name.
    def loaded():
        import sys

        return [name for name in sys.modules if name in ("opendp", "explorer.privacy.noise")]

    files.count(GRID, workers=cluster.scheduler_address)
    with distributed.Client(cluster.scheduler_address, set_as_default=False) as client:
        assert set(map(tuple, client.run(loaded).values())) == {()}


def test_a_part_that_kills_its_workers_is_given_up(files, monkeypatch):
    monkeypatch.setattr(workers, "ALLOWED_FAILURES", 0)

    def dies(_):
        import os

        os._exit(1)

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=None, **QUIET
        ) as made,
        pytest.raises(InputError, match="The workers died too often over one part"),
    ):
        list(workers.count_by_dask(dies, list(files.parts[:1]), made.scheduler_address))


def test_a_scheduler_without_workers_is_one_sentence(files, monkeypatch):
    monkeypatch.setattr(workers, "PATIENCE", 1)
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=None, **QUIET) as empty,
        pytest.raises(InputError, match="has no workers; start some"),
    ):
        files.count(GRID, workers=empty.scheduler_address)


def test_an_error_of_a_part_is_one_sentence_and_ends_the_rest(files, cluster):
    address = cluster.scheduler_address
    Path(files.listing.paths[1]).unlink()
    refuses(r"1\.parquet cannot be opened", files.count, GRID, workers=address)
    with distributed.Client(address, set_as_default=False) as client:
        # What was sent is taken away again.
        left = client.run(lambda dask_worker: list(dask_worker.plugins))
        assert not [name for names in left.values() for name in names if "counting" in name]


def test_no_scheduler_and_no_dask_are_one_sentence(files, monkeypatch):
    monkeypatch.setattr(workers, "PATIENCE", 1)
    for address in ("tcp://127.0.0.1:9", "nonsense"):
        refuses("There is no Dask scheduler at", files.count, GRID, workers=address)
    monkeypatch.setitem(sys.modules, "distributed", None)
    refuses(r"pip install distributed", files.count, GRID, workers="auto")


def test_a_part_that_comes_twice_is_added_once():
    total = Sum(4, None)
    one = Counted(np.array([1]), np.array([5]), np.ones(JUDGED, np.int64), Held.none())
    for key in ("0:0-1", "0:0-1", "1:0-0"):
        total.add(key, one.packed())
    assert total.total().counts.tolist() == [10]
    assert total.total().judged[0] == 2
