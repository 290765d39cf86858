"""All that leaves with a release: what an audit compares between two data sets.

Nothing is taken on trust: fields, whatever else an object has (``__dict__``, ``__slots__``,
kept results of cached properties), every property, what is answered, said and pickled, and every
byte of every file that it writes.
"""

from __future__ import annotations

import hashlib
import inspect
import pickle
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from explorer.errors import InputError

FILES = ("map.parquet", "map.gpkg", "map.geojson")
"""Of every kind that is written; the first alone of what is large."""
LARGE = 5_000
"""Leaves from which on a release is large."""
_CALLED = (
    *("density", "boxes", "stages", "summary", "in_file", "areas", "_repr_html_", "__repr__"),
)
_SLOW = ("__geo_interface__",)  # what a file of GeoJSON says: asked where one is written
_PLAIN = frozenset((str, int, float, bool, bytes))
#: GDAL's own setting: the hour of writing, which GeoPackage keeps and which decides how often it
#: writes its first page (once in some hundred files one time more), is the same for all data.
HOUR = {"OGR_CURRENT_DATE": "2000-01-01T00:00:00.000Z"}


@dataclass(frozen=True, eq=False)
class Surface:
    """What can be learnt from a release without its data."""

    itself: Any  # the release
    said: Mapping[str, Any]  # its properties, answers and words, and a hash of its pickle, by name
    files: Mapping[str, bytes]  # name and bytes of every file that it wrote
    told: tuple[Any, ...] = ()  # what was told on the way, such as its progress


def surface(release: Any, files: bool = False, reported: tuple[Any, ...] = ()) -> Surface:
    """Look at a release from all sides; `files`: whether it is saved, too.

    What is no release, such as numbers that someone publishes, has no more sides than it shows.
    """
    is_map = hasattr(release, "domain") and hasattr(release, "answer")
    in_full = files and not _is_large(release)
    pickled = hashlib.blake2b(pickle.dumps(release)).hexdigest()
    # Before anything is asked: asking leaves its results on the object.
    attribute_names = sorted(getattr(release, "__dict__", ()))
    contents = {"pickle": pickled, "held": attribute_names} | _properties(release, in_full)
    if hasattr(release, "save"):
        contents |= {n: _called(getattr(release, n)) for n in _CALLED if hasattr(release, n)}
    if is_map:
        contents["answer"] = _called(lambda: release.answer(_boxes(release)))
    return Surface(release, contents, _written(release) if files else {}, reported)


def _is_large(release: Any) -> bool:
    return hasattr(release, "tree") and len(release.tree.leaves) > LARGE


def _properties(release: Any, in_full: bool) -> dict[str, Any]:
    names = [
        name
        for name, what in inspect.getmembers_static(type(release))
        if isinstance(what, property | cached_property) and (in_full or name not in _SLOW)
    ]
    return {name: _called(partial(getattr, release, name)) for name in names}


def _called(ask: Callable[[], Any]) -> Any:
    """What comes of a question, a table as its text; a refusal is an answer, too."""
    try:
        answer = ask()
    except InputError as error:
        return str(error)
    return answer.to_csv() if hasattr(answer, "to_csv") else answer


def _boxes(release: Any) -> Any:
    """Boxes of a domain of every size: all of it, one cell, and some with edges inside cells."""
    sides = np.array(release.domain.shape, dtype=np.float64)
    parts = ((0, 1), (0, 0.5), (0.3, 0.31), (0.24, 0.77), (0.66, 1))
    cells = np.array([[low * sides, high * sides] for low, high in parts])
    return release.domain.from_cells(cells)


def _written(release: Any) -> dict[str, bytes]:
    """Name and bytes of all that is in a folder after saving; a refused kind writes nothing."""
    names = FILES[:1] if _is_large(release) else FILES
    result: dict[str, bytes] = {}
    with tempfile.TemporaryDirectory() as folder, _at_one_hour():
        for name in names:
            with warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("always")
                refused = _called(partial(release.save, Path(folder) / name))
            result[f"{name}, refused"] = str(refused).encode()
            messages = [str(warning.message).replace(folder, "") for warning in warned]
            result[f"{name}, warnings"] = "\n".join(messages).encode()
        for path in sorted(Path(folder).rglob("*")):
            if path.is_file():
                result[path.name] = path.read_bytes()
    return result


@contextmanager
def _at_one_hour() -> Iterator[None]:
    """Let all files be written at the same hour."""
    import pyogrio

    pyogrio.set_gdal_config_options(HOUR)
    try:
        yield
    finally:
        pyogrio.set_gdal_config_options(dict.fromkeys(HOUR))


def difference(one: Any, other: Any, name: str = "the release") -> str | None:
    """Where two published things differ, or None if they are the same to the last bit."""
    if one is other:
        return None
    if type(one) is not type(other):
        return name
    if type(one) in _PLAIN:
        # The written form tells 0.0 from -0.0, and finds NaN equal to another NaN.
        return None if repr(one) == repr(other) else name
    if isinstance(one, np.ndarray):
        same = one.dtype == other.dtype and one.shape == other.shape
        if same and one.dtype == object:
            return difference(one.tolist(), other.tolist(), name)
        if not same or one.tobytes() != other.tobytes():
            return name
        if type(one) is np.ndarray:
            return None
    parts, others = _parts(one, other), _parts(other, one)
    if parts is None or others is None:
        return None if parts is others and repr(one) == repr(other) else name
    if parts.keys() != others.keys():
        return name
    for key, part in parts.items():
        # Most parts are one and the same small thing: no call, no name.
        if part is not others[key]:
            where = difference(part, others[key], f"{name}.{key}")
            if where is not None:
                return where
    return None


def _parts(whole: Any, beside: Any) -> Mapping[Any, Any] | None:
    """What something consists of, by name or number; None if it has no parts.

    `beside` is what it is compared with: what one of the two has computed and kept, both are asked.
    """
    kind: Any = type(whole)
    parts: dict[Any, Any] = {}
    if isinstance(whole, tuple | list):
        parts |= enumerate(whole)
    elif isinstance(whole, Mapping):
        parts |= whole
    attributes: dict[str, Any] = getattr(whole, "__dict__", None) or {}
    attribute_names = attributes.keys() | (getattr(beside, "__dict__", None) or {}).keys()
    computed = _computed_names(kind) & attribute_names
    parts |= {name: part for name, part in attributes.items() if name not in computed}
    parts |= {name: _called(partial(getattr, whole, name)) for name in sorted(computed)}
    for name in _slot_names(kind):
        if hasattr(whole, name):
            parts[name] = getattr(whole, name)
    if parts or isinstance(whole, tuple | list | Mapping) or is_dataclass(whole):
        return parts
    return None


@cache
def _slot_names(kind: type) -> tuple[str, ...]:
    """Fields of a dataclass, and slots of any class."""
    names: list[str] = [field.name for field in fields(kind)] if is_dataclass(kind) else []
    for base in kind.__mro__:
        slots = vars(base).get("__slots__", ())
        names += [slots] if isinstance(slots, str) else slots
    return tuple(name for name in dict.fromkeys(names) if name not in ("__dict__", "__weakref__"))


@cache
def _computed_names(kind: type) -> frozenset[str]:
    """What a class computes once and keeps."""
    return frozenset(
        name
        for base in kind.__mro__
        for name, value in vars(base).items()
        if isinstance(value, cached_property)
    )
