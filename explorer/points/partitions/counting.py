"""Counting part by part: pure functions of row groups, added up once for each part.

A part is counted to the atoms that occur in it and their counts. Whole numbers add up in any
order, so one thread, several, and workers that die and begin anew all give the same bits.
"""

from __future__ import annotations

import contextlib
import time
import zipfile
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid.grid import Progress
from explorer.grid.parquet import unreadable
from explorer.grid.plans import GridPlan, Plan
from explorer.grid.whole_file import write_whole
from explorer.points.cleaning import JUDGED, RECORDS, whole_weights
from explorer.points.clipping import RULE, Pairs, PersonCells, added_up, starts
from explorer.points.counting import Counted
from explorer.points.partitions.listing import Listing, Part
from explorer.points.sources.parquet import UNREADABLE
from explorer.points.sources.tables import Batches, coordinates, numbers
from explorer.points.tally import Numbers, Tally
from explorer.points.wanted import Wanted

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Held:
    """Records of persons, added up by atom. Exact: for the curator alone.

    Attributes
    ----------
    identity : (p, 2) int64
        Of each person, see `explorer.points.identity`.
    sums : sequence of (person, atom, records), (m,) each
        Places in ``identity``, and how many records they have in an atom, 1 or more; a pair may be
        in several of them.
    """

    identity: Ints
    sums: Sequence[Sequence[NDArray[np.integer]]] = ()

    @classmethod
    def none(cls) -> Held:
        """No person."""
        return cls(np.empty((0, 2), np.int64))

    def wide(self) -> Iterator[Pairs]:
        """The sums in 64 bits."""
        for person, atom, records in self.sums:
            yield person.astype(np.int64), atom.astype(np.int64), records.astype(np.int64)

    def joined(self) -> Pairs:
        """Each pair once."""
        return added_up(list(self.wide()))

    def packed(self) -> Held:
        """The same added up, in 32 bits where that is enough: what a worker sends."""
        return Held(self.identity, [[_small(values) for values in self.joined()]])


def _small(values: Ints) -> NDArray[np.integer]:
    return values.astype(np.uint32) if values.max(initial=0) < 2**32 else values


# Rows at a time: what a batch takes stays in the caches, 4 MB a column is too much.
BATCH = 2**17
#: Seconds between two checkpoints.
CHECKPOINT_EVERY = 10.0
_COUNTED = ("atoms", "counts", "judged")
_HELD = ("identity", "person", "atom", "records")


class Sum:
    """What parts add up to, each of them once, in any order.

    Parameters
    ----------
    size : how many atoms there may be
    bound : records of each user at most, or None
    """

    def __init__(self, size: int, bound: int | None) -> None:
        self.added: set[str] = set()
        self._size, self._bound = size, bound
        self._tally, self._judged = Tally(size), np.zeros(JUDGED, np.int64)
        # Of users, who are numbered as they come.
        self._users, self._cells = Numbers(), PersonCells()

    def count(
        self, batches: Batches, selection: Wanted, plan: Plan, progress: Progress | None = None
    ) -> int:
        """Add the rows of batches, and return how many there were.

        Raises
        ------
        InputError
            For weights that are not whole, once all rows are read: what is wrong with the place of
            most rows is said first.
        """
        fault: InputError | None = None
        rows = 0
        for done, batch in batches:
            user, has_owner = selection.owners(batch, self._judged)
            x, y = coordinates(batch, selection.place, selection.column)
            rows += x.size
            x, y, keep = selection.usable(x, y, has_owner, self._judged)
            records = None
            try:
                if selection.weight is not None:
                    records = whole_weights(
                        numbers(batch[selection.weight], selection.weight)[keep]
                    )
            except InputError as error:
                fault = fault or error
                continue
            self._judged[RECORDS] += x.size if records is None else records.sum()
            if self._bound is not None and user is not None:
                self._cells.add(self._users.of(user[keep]), plan.atoms(x, y), records)
            elif records is None and isinstance(plan, GridPlan):
                # A grid's cells are never so many that they are in no vector.
                plan.count(x, y, self._tally.dense())
            else:
                self._tally.add(plan.atoms(x, y), records)
            if progress is not None:
                progress(done)
        if fault is not None:
            selection.refuse(self._judged)
            raise fault
        return rows

    def add(self, key: str, counted: Counted) -> None:
        """Add a part; one that was added before changes nothing."""
        if key not in self.added:
            self.restore({key}, counted)

    def restore(self, added: set[str], counted: Counted) -> None:
        """Add what several parts added up to before."""
        self.added |= added
        self._tally.add(counted.atoms.astype(np.int64), counted.counts.astype(np.int64))
        self._judged += counted.judged
        number = self._users.of(counted.held.identity)
        for person, atom, records in counted.held.wide():
            self._cells.add_pairs((number[person], atom, records))

    def so_far(self) -> Counted:
        """All that was added, to be added to later."""
        held = Held(self._users.identities, self._cells.sums)
        return Counted(*self._tally.sparse(), self._judged.copy(), held)

    def total(self) -> Counted:
        """What all parts count to."""
        if self._bound is None:
            return self.so_far()
        atoms, counts, unclipped = self._cells.clipped(
            self._bound, lambda users: starts(self._users.identities[users]), self._size
        )
        return Counted(atoms, counts, self._judged.copy(), unclipped=unclipped)


class Checkpoint:
    """A file with the keys of counted parts and their sum. Exact: it stays with the curator.

    Parameters
    ----------
    path : Path
    key : what is counted on what; a file with another key is refused
    """

    def __init__(self, path: Path, key: str) -> None:
        self._path, self._key = path, key

    def fill(self, total: Sum) -> None:
        """Add what the file holds, if it is there.

        Raises
        ------
        InputError
            If it is damaged, or was begun with other points or another grid.
        """
        if not self._path.exists():
            return
        try:
            with np.load(self._path, allow_pickle=False) as saved:
                key, added = str(saved["key"]), [str(part) for part in saved["added"]]
                arrays = {name: np.asarray(saved[name], np.int64) for name in _COUNTED}
                # Without a contribution bound nothing is held, and older files do not name it.
                user_arrays = [np.asarray(saved[name], np.int64) for name in _HELD if name in saved]
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise InputError(
                f"{self._path.name} is damaged, so counting cannot go on from it; remove it to "
                "begin anew."
            ) from error
        # Older versions counted fewer things of the rows.
        if key != self._key or len(arrays["judged"]) != JUDGED:
            raise InputError(
                f"{self._path.name} was begun with other points, another grid or another bound, "
                "or by another version; give those again, or remove it to begin anew."
            )
        people = Held(user_arrays[0], [user_arrays[1:]]) if user_arrays else Held.none()
        total.restore(set(added), Counted(**arrays, held=people))

    def save(self, total: Sum) -> None:
        """Replace the file by what is added up now, see `write_whole`."""
        now = total.so_far()
        arrays = {name: getattr(now, name) for name in _COUNTED}
        if len(now.held.identity):
            user_arrays = now.held.identity, *now.held.joined()
            arrays |= dict(zip(_HELD, user_arrays, strict=True))

        def write(part: Path) -> None:
            # By its opened file: numpy adds an ending to a name without one.
            with part.open("wb") as opened:
                added = np.array(sorted(total.added), dtype=np.str_)
                np.savez(opened, key=np.array(self._key), added=added, **arrays)

        write_whole(self._path, write)

    def remove(self) -> None:
        """Take the file away: all is counted."""
        self._path.unlink(missing_ok=True)


class Job:
    """All that counting a part needs, in one value that is sent to a worker once."""

    def __init__(self, files: Any, plan: Plan, bound: int | None) -> None:
        self.listing: Listing = files.listing
        self.wanted: Wanted = files.wanted
        self.plan, self.bound = plan, bound

    def __call__(self, part: Part) -> Counted:
        """Count one part: a pure function, which may run any number of times, anywhere."""
        total = Sum(self.plan.size, self.bound)
        rows = total.count(self._batches(part), self.wanted, self.plan)
        if rows != part.rows:
            raise unreadable(PurePath(self.listing.paths[part.file]).name)
        return total.so_far()

    def _batches(self, part: Part) -> Batches:
        path = self.listing.paths[part.file]
        try:
            # Long names repeated in every row stay a dictionary and cannot fill the memory.
            # Points are short, and as a dictionary take five times as long.
            texts = None if self.wanted.user is None else [self.wanted.user]
            with self.listing.open(path) as opened:
                # Two columns of numbers gain nothing from threads, which cost a fifth of the time.
                for batch in pq.ParquetFile(opened, read_dictionary=texts).iter_batches(
                    BATCH,
                    row_groups=list(part.groups),
                    columns=self.wanted.names,
                    use_threads=len(self.wanted.names) > 2,
                ):
                    yield 1.0, batch
        except UNREADABLE as error:
            if isinstance(error, InputError):
                raise
            raise unreadable(PurePath(path).name, error) from error


def count_plan(
    files: Any,
    plan: Plan,
    bound: int | None = None,
    progress: Progress | None = None,
    workers: str | None = None,
    checkpoint: str | Path | None = None,
) -> Counted:
    """Count the points of files on a plan; see `PointFiles.count` for all of it."""
    job = Job(files, plan, bound)
    total = Sum(plan.size, bound)
    progress_file = None
    if checkpoint is not None:
        key = f"{files.key} {plan.key} {bound}" + ("" if bound is None else f" by rule {RULE}")
        progress_file = Checkpoint(Path(checkpoint), key)
        progress_file.fill(total)
    left = [part for part in files.parts if part.key not in total.added]
    done = sum(part.rows for part in files.parts) - sum(part.rows for part in left)
    saved = time.monotonic()
    results: Generator[tuple[Part, Counted]] = ((part, job(part)) for part in left)
    if workers is not None:
        from explorer.points.partitions.workers import count_by_dask

        results = count_by_dask(job, left, workers)
    try:
        with contextlib.closing(results):
            for part, counted in results:
                total.add(part.key, counted)
                done += part.rows
                if progress is not None:
                    progress(done / max(files.rows, 1))
                if progress_file is not None and time.monotonic() - saved > CHECKPOINT_EVERY:
                    progress_file.save(total)
                    saved = time.monotonic()
    except BaseException:
        # An interrupt as well: what is counted is counted.
        if progress_file is not None and total.added:
            progress_file.save(total)
        raise
    counted = total.total()
    files.wanted.refuse(counted.judged)
    if progress_file is not None:
        progress_file.remove()
    return counted
