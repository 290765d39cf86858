"""A city of the catalogue: its public grid, and its points when they are asked for."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid.description import Shape, declared_grid
from explorer.grid.extent import as_shape
from explorer.grid.grid import Grid, Progress
from explorer.grid.kept import cache_folder
from explorer.points.counting import Placed
from explorer.points.matrix import FrequencyMatrix
from explorer.points.partitions import PointFiles, is_parquet, scan_points
from explorer.points.points import Points, read_points
from explorer.points.populations import of_people
from explorer.points.reading import TextPoints, look_at_text


@dataclass(frozen=True)
class Download:
    """A file of the net: only the catalogue names any, and only one of the right checksum is kept.

    Parameters
    ----------
    url : str
    checksum : str
        "sha256:..." of the content, or "git:...", the id that Git gives the content: SHA-1 of
        "blob", its length, a zero byte and itself.
    name : str
        Name of the file here.
    """

    url: str
    checksum: str
    name: str

    def path(self) -> Path:
        """Return where the file is or would be."""
        return cache_folder() / self.name

    def fetch(self) -> Path:
        """Return the path of the file, downloaded and checked if it was not there yet.

        Raises
        ------
        InputError
            Without the extra ``download``, without a connection, or for another checksum; then
            nothing is kept.
        """
        path = self.path()
        if path.is_file():
            return path
        try:
            import pooch
        except ImportError as error:
            raise InputError(
                'Downloads need one more package; install it with: pip install "dp-explorer'
                '[download]"'
            ) from error
        # Under another name until it is checked: a broken download is never taken for the file.
        part = path.with_name(path.name + ".part")
        part.unlink(missing_ok=True)
        try:
            pooch.retrieve(self.url, known_hash=None, fname=part.name, path=part.parent)
        except Exception as error:  # whatever the network, the server or the disk can do
            part.unlink(missing_ok=True)
            raise InputError(
                f"{self.name} could not be downloaded ({type(error).__name__}); check the "
                "connection and the free space, and try again."
            ) from error
        if file_checksum(part, self.checksum.partition(":")[0]) != self.checksum:
            part.unlink()
            raise InputError(
                f"{self.name} is not the file it should be (its checksum differs); it was not kept."
            )
        return part.replace(path)


def file_checksum(path: Path, kind: str) -> str:
    """Return "sha256:..." or "git:..." of a file."""
    if kind == "sha256":
        digest = hashlib.sha256()
    elif kind == "git":
        # Not for secrecy: it is the name under which the file's own repository knows it.
        digest = hashlib.sha1(usedforsecurity=False)
        digest.update(f"blob {path.stat().st_size}\0".encode())
    else:
        raise InputError(f"The checksum kind {kind!r} is unknown; use sha256 or git.")
    with path.open("rb") as opened:
        for block in iter(lambda: opened.read(2**20), b""):
            digest.update(block)
    return f"{kind}:{digest.hexdigest()}"


@dataclass(frozen=True)
class City:
    """Points and the public grid they are looked at with.

    Parameters
    ----------
    key : str
        Short name for the command line and for links.
    title, description, source : str
        For a screen: a name, one sentence on what it is good for, one on where it is from.
    extent : mapping
        The public extent: "around" and "size_km", or "bounds" and "crs", or "boundary" (a file),
        as in `data/README.md`; empty for a matrix, which is its own extent.
    cells : int or (rows, columns)
        Default shape of the grid; one number counts the cells of the longer side.
    file : Path or None
        The local file, if there is one.
    columns : mapping
        What `read_points` is given: lon, lat, crs, user, weight, time.
    downloads : tuple of Download
        Where the points come from when there is no local file.
    make : callable, optional
        Makes the points instead.
    """

    key: str
    title: str
    description: str = ""
    source: str = ""
    extent: Mapping[str, Any] = field(default_factory=dict, compare=False)
    cells: Shape = 1024
    file: Path | None = None
    columns: Mapping[str, Any] = field(default_factory=dict, compare=False)
    downloads: tuple[Download, ...] = ()
    make: Callable[[], Points] | None = field(default=None, compare=False, repr=False)

    @property
    def present(self) -> bool:
        """Whether `load` needs no download."""
        return (
            self.file is not None
            or self.make is not None
            or all(download.path().is_file() for download in self.downloads)
        )

    @property
    def is_matrix(self) -> bool:
        """Whether the file is a matrix of counts, without points and without a place."""
        return self.file is not None and self.file.suffix == ".npy"

    @property
    def has_users(self) -> bool:
        """Whether records know their user, so that a contribution bound can be given."""
        return "user" in self.columns

    def grid(self, shape: Shape | None = None) -> Grid:
        """Return the public grid.

        Parameters
        ----------
        shape : int or (rows, columns), optional
            One number counts the cells of the longer side, and cells are squares.
        """
        if self.file is not None and self.is_matrix:
            finest = as_shape(_open_matrix(self.file).shape)
            return Grid.cells(finest if shape is None else shape, name=self.title)
        return declared_grid(self.extent, self.cells if shape is None else shape, self.title)

    def load(
        self,
        shape: Shape | None = None,
        contribution_bound: int | None = None,
        progress: Progress | None = None,
    ) -> tuple[Points | None, FrequencyMatrix]:
        """Return the points (``None`` for a matrix) and their counts on the public grid.

        Parameters
        ----------
        shape : int or (rows, columns), optional
            As for `grid`. A matrix can be made coarser by whole factors, never finer.
        contribution_bound : int, optional
            At most this many records of each user; needs a city that `has_users`.
        progress : callable, optional
            Called with the fraction counted.

        Raises
        ------
        InputError
            If the file is not what its description says, or cannot be downloaded.
        """
        points, matrix, _ = self._load(shape, contribution_bound, progress, keep=False)
        return points, matrix

    def count(
        self,
        shape: Shape | None = None,
        contribution_bound: int | None = None,
        progress: Progress | None = None,
    ) -> tuple[FrequencyMatrix, tuple[str, ...]]:
        """As `load` with what reading said in place of the points, which are not held where they
        are Parquet or text.

        The counts are the same to the last bit.
        """
        columns = {name: value for name, value in self.columns.items() if name != "time"}
        columns["name"] = self.title
        looked: PointFiles | TextPoints | None = None
        if self.make is None and self.file is not None:
            parquet = is_parquet(self.file)
            looked = (
                scan_points(self.file, **columns) if parquet else look_at_text(self.file, columns)
            )
        if looked is not None:
            matrix, notes = looked.count(self.grid(shape), contribution_bound, progress)
            return of_people(matrix, (self.key,)), notes
        points, matrix = self.load(shape, contribution_bound, progress)
        return matrix, () if points is None else points.notes

    def load_placed(
        self,
        shape: Shape | None = None,
        contribution_bound: int | None = None,
        progress: Progress | None = None,
    ) -> tuple[Points | None, FrequencyMatrix, Placed | None]:
        """As `load`, and where all records on the grid lie."""
        return self._load(shape, contribution_bound, progress, keep=True)

    def _load(
        self, shape: Shape | None, bound: int | None, progress: Progress | None, *, keep: bool
    ) -> tuple[Points | None, FrequencyMatrix, Placed | None]:
        if self.file is not None and self.is_matrix:
            if bound is not None:
                raise InputError(f"{self.title} is a matrix without users; leave out the bound.")
            matrix = _coarser(_open_matrix(self.file), self.grid(shape))
            return None, of_people(matrix, (self.key,)), None
        grid = self.grid(shape)
        points = self._points()
        if keep:
            return points, *points.place_on(grid, bound, progress)
        per = "record" if bound is None else "user"
        return points, grid.count(points, bound, progress, per=per), None

    def _points(self) -> Points:
        return replace(self._read(), populations=(self.key,))

    def _read(self) -> Points:
        if self.make is not None:
            return self.make()
        paths = [self.file] if self.file else [download.fetch() for download in self.downloads]
        parts = [_read(path, self.columns, self.title) for path in paths]
        if len(parts) == 1:
            return parts[0]
        return _joined(parts, self.title)


def _joined(parts: list[Points], title: str) -> Points:
    """Files of one city one after the other, with every column."""
    if any(part.crs != parts[0].crs for part in parts):
        raise InputError(f"The files of {title} have different CRSs: give them the same.")
    joined: dict[str, Any] = {}
    for name in ("user", "weight", "time"):
        columns = [getattr(part, name) for part in parts]
        there = [column is not None for column in columns]
        if any(there) and not all(there):
            raise InputError(f"Only some files of {title} have a column for {name}: mend them.")
        joined[name] = np.concatenate(columns) if all(there) else None
    if joined["user"] is not None:
        # Codes count from 0 in each file; what they are hashes of is the same in all.
        hashes = np.concatenate([_hashes(part, title) for part in parts])
        joined["user_hash"], joined["user"] = np.unique(hashes, return_inverse=True)
    return Points(
        np.concatenate([part.x for part in parts]),
        np.concatenate([part.y for part in parts]),
        parts[0].crs,
        name=title,
        notes=tuple(dict.fromkeys(note for part in parts for note in part.notes)),
        **joined,
    )


def _hashes(part: Points, title: str) -> NDArray[np.uint64]:
    """What the user of each row is known by in all files, (n,)."""
    if part.user is None or part.user_hash is None:
        raise InputError(f"Users of {title} cannot be matched across files: use one file.")
    return part.user_hash[part.user]


def _read(path: Path, columns: Mapping[str, Any], title: str) -> Points:
    if path.suffix == ".json" and path.open("rb").read(1) == b"[":
        return _read_triples(path, title)
    points = read_points(path, **columns)
    return replace(points, name=title)


def _read_triples(path: Path, title: str) -> Points:
    """Read [[longitude, latitude, records], ...], as examples of web maps have them."""
    try:
        triples = np.array(json.loads(path.read_text("utf8")), dtype=float)
        lon, lat, records = triples.T
    except (OSError, ValueError) as error:
        raise InputError(
            f"{path.name} could not be read as rows of longitude, latitude and number."
        ) from error
    return read_points({"lon": lon, "lat": lat}, lon="lon", lat="lat", weight=records, name=title)


def _open_matrix(path: Path) -> NDArray[Any]:
    """Return a matrix of counts as a view of its file, so that its size is known before reading."""
    try:
        counts = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise InputError(
            f"{path.name} could not be read as a matrix; write it with numpy.save."
        ) from error
    if not isinstance(counts, np.ndarray) or counts.ndim != 2:
        raise InputError(f"{path.name} is not a table of rows and columns; give counts per cell.")
    as_shape(counts.shape)
    return counts


def _coarser(counts: NDArray[Any], grid: Grid) -> FrequencyMatrix:
    """Return counts added up in blocks, so that they have the shape of the grid."""
    rows, cols = grid.shape
    if counts.shape[0] % rows or counts.shape[1] % cols:
        raise InputError(
            f"{grid.name} has {counts.shape[0]} x {counts.shape[1]} cells and cannot be given "
            f"{rows} x {cols}; choose a whole fraction of them."
        )
    # Looked at before adding up: a sum could hide a fraction or a negative number.
    whole = FrequencyMatrix.from_array(counts).counts
    blocks = whole.reshape(rows, whole.shape[0] // rows, cols, -1)
    return FrequencyMatrix.from_array(blocks.sum(axis=(1, 3)), grid)
