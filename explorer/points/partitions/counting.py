"""Counting part by part: pure functions of row groups, added up once for each part.

A part is counted to the atoms that occur in it and their counts. Whole numbers add up in any
order, so one thread, several, and workers that die and begin anew all give the same bits.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path, PurePath

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid.degrees import scaled
from explorer.grid.geometry_values import floats, point_coordinates
from explorer.grid.grid import Progress
from explorer.grid.parquet import unreadable
from explorer.grid.plans import GridPlan, Plan
from explorer.points.clipping import RULE
from explorer.points.partitions.adding import JUDGED, Counted, Sum
from explorer.points.partitions.checkpoint import Checkpoint
from explorer.points.partitions.files import FileSet, Part, Wanted
from explorer.points.partitions.listing import Listing
from explorer.points.partitions.people import People
from explorer.points.partitions.rows import owners, refuse, turned, usable
from explorer.points.row_weights import whole_weights
from explorer.points.tally import Tally

Ints = NDArray[np.int64]

# Rows at a time: what a batch takes stays in the caches, 4 MB a column is too much.
BATCH = 2**17
#: Seconds between two checkpoints.
CHECKPOINT_EVERY = 10.0


class Job:
    """All that counting a part needs, in one value that is sent to a worker once."""

    def __init__(self, files: FileSet, plan: Plan, bound: int | None) -> None:
        self.listing: Listing = files.listing
        self.wanted: Wanted = files.wanted
        self.plan, self.bound = plan, bound

    def __call__(self, part: Part) -> Counted:
        """Count one part: a pure function, which may run any number of times, anywhere."""
        tally, people, rows = Tally(self.plan.size), People(), 0
        judged = np.zeros(JUDGED, np.int64)
        for batch in self._batches(part):
            x, y, user, records = self._cleaned(batch, judged)
            if self.bound is not None and user is not None:
                people.add(user, self.plan.atoms(x, y), records)
            elif records is None and isinstance(self.plan, GridPlan):
                # A grid's cells are never so many that they are in no vector.
                self.plan.count(x, y, tally.dense())
            else:
                tally.add(self.plan.atoms(x, y), records)
            rows += batch.num_rows
        if rows != part.rows:
            raise unreadable(PurePath(self.listing.paths[part.file]).name)
        return Counted(*tally.sparse(), judged, people.held())

    def _batches(self, part: Part) -> Iterator[pa.RecordBatch]:
        path = self.listing.paths[part.file]
        with self.listing.open(path) as opened:
            try:
                # Long names repeated in every row stay a dictionary and cannot fill the memory.
                # Points are short, and as a dictionary take five times as long.
                texts = None if self.wanted.user is None else [self.wanted.user]
                file = pq.ParquetFile(opened, read_dictionary=texts, memory_map=False)
                # Two columns of numbers gain nothing from threads, which cost a fifth of the time.
                yield from file.iter_batches(
                    BATCH,
                    row_groups=list(part.groups),
                    columns=self.wanted.names,
                    use_threads=len(self.wanted.names) > 2,
                )
            except InputError:
                raise
            except (pa.ArrowException, OSError, ValueError, KeyError) as error:
                raise unreadable(PurePath(path).name) from error

    def _cleaned(
        self, batch: pa.RecordBatch, judged: Ints
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], Ints | None, Ints | None]:
        """Places, users and records of the usable rows, as `read_points` has them."""
        wanted = self.wanted
        if wanted.column is not None:
            x, y = point_coordinates(batch[wanted.column.name], wanted.column)
        else:
            x, y = scaled(wanted.place, *(floats(batch[name]) for name in wanted.place))
        user, known = owners(batch, wanted, judged)
        x, y, keep = usable(x, y, wanted, known, judged)
        records = None
        if wanted.weight is not None:
            records = whole_weights(floats(batch[wanted.weight])[keep])
        return turned(x, wanted.degrees), y, None if user is None else user[keep], records


def count_plan(
    files: FileSet,
    plan: Plan,
    bound: int | None = None,
    progress: Progress | None = None,
    workers: str | None = None,
    checkpoint: str | Path | None = None,
) -> Counted:
    """Count the points of files on a plan; see `PointFiles.count` for all of it."""
    job = Job(files, plan, bound)
    total = Sum(plan.size, bound)
    kept = None if checkpoint is None else Checkpoint(Path(checkpoint), _key(files, plan, bound))
    if kept is not None:
        kept.fill(total)
    left = [part for part in files.parts if part.key not in total.added]
    done = sum(part.rows for part in files.parts) - sum(part.rows for part in left)
    saved = time.monotonic()
    try:
        with contextlib.closing(_counted(job, left, workers)) as results:
            for part, counted in results:
                total.add(part.key, counted)
                done += part.rows
                if progress is not None:
                    progress(done / max(files.rows, 1))
                if kept is not None and time.monotonic() - saved > CHECKPOINT_EVERY:
                    kept.save(total)
                    saved = time.monotonic()
    except BaseException:
        # An interrupt as well: what is counted is counted.
        if kept is not None and total.added:
            kept.save(total)
        raise
    found = total.total()
    refuse(files.wanted, found.judged)
    if kept is not None:
        kept.remove()
    return found


def _counted(
    job: Job, parts: Iterable[Part], workers: str | None
) -> Generator[tuple[Part, Counted], None, None]:
    if workers is None:
        yield from ((part, job(part)) for part in parts)
        return
    from explorer.points.partitions.workers import count_by_dask

    yield from count_by_dask(job, list(parts), workers)


def _key(files: FileSet, plan: Plan, bound: int | None) -> str:
    return f"{files.key} {plan.key} {bound}" + (f" by rule {RULE}" if bound is not None else "")
