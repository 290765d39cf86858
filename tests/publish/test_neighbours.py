"""Nothing that a curator gives away is a function of a hash of the exact counts.

Two releases of one ledger are published by the commands of README, a third is saved, and all that
came of it is searched: files and what is packed in them, pages for others, what commands print and
log. What is searched for is what can be computed by someone who knows all records: hashes of the
counts, and whatever follows from them and from public facts. Then, with equal draws, everything has
to be the same for two data sets that differ in one record.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import hmac
import io
import itertools
import json
import logging
import re
import secrets
import sqlite3
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pyogrio
import pytest
import yaml
from PIL import Image

from explorer.cli import main
from explorer.grid.grid import Grid
from explorer.mechanisms import Uniform
from explorer.points.matrix import FrequencyMatrix
from explorer.points.points import Points, read_points
from explorer.points.populations import population_of_records
from explorer.privacy import ledger as ledger_module
from explorer.privacy import once
from explorer.privacy.drawn import DrawnReleases
from explorer.privacy.ledger import Ledger
from tests.audience.running import Running, key_of
from tests.publish.folders import ABOUT

PLACES = np.round(np.random.default_rng(1).normal([-122.42, 37.77], 0.02, (300, 2)), 6)
GRID = Grid.around(-122.42, 37.77, "20km", shape=8)
DRAW = [*("--around", "-122.42", "37.77", "--size", "20km", "--shape", "8")]
DRAW += ["--mechanism", "uniform"]
#: Digits by which a hash is recognised: 32 bits of one of a hundred, 48 bits of one of many.
SHORT, LONG = 8, 12


def command(said: io.StringIO, *typed: str) -> None:
    with redirect_stdout(said), redirect_stderr(said):
        assert main(list(typed)) == 0, said.getvalue()


def inputs(places: Any) -> None:
    lines = [f"{lon:.6f},{lat:.6f}" for lon, lat in places]
    Path("riders.csv").write_text("\n".join(["lon,lat", *lines]) + "\n")
    Path("about.yaml").write_text(yaml.safe_dump(ABOUT.facts()))


def given_away(places: Any) -> dict[str, bytes]:
    """All that others may get to see, by where it is."""
    inputs(places)
    said = io.StringIO()
    handler = logging.StreamHandler(said)
    logging.getLogger().addHandler(handler)
    try:
        for epsilon, name in (("0.1", "one"), ("0.2", "two")):
            about = ["--about", "about.yaml", "-o", name]
            command(said, "publish", "riders.csv", *DRAW, "--epsilon", epsilon, *about)
        command(said, "count", "riders.csv", *DRAW[:-2], "-o", "riders")
        counts = ["riders.exact.parquet", "--mechanism", "uniform", "--epsilon", "0.3"]
        command(said, "release", *counts, "-o", "map.parquet")
        # Without a name: of counts, and of records in memory.
        matrix = GRID.count(points_of(places))
        Uniform(epsilon=0.1).release(matrix, ledger=Ledger())
        Ledger(population=population_of_records(points_of(places))).book("any", 1, "htf")
        for form in ("table", "csv", "json"):
            command(said, "ledger", "--format", form)
        command(said, "info", "map.parquet", "--format", "json")
        command(said, "info", "riders.exact.parquet", "--format", "json")
        command(said, "verify", "two", "--json")
    finally:
        logging.getLogger().removeHandler(handler)
    found = {"what is printed and logged": said.getvalue().encode()}
    for path in (Path("map.parquet"), *Path("one").iterdir(), *Path("two").iterdir()):
        found[str(path)] = path.read_bytes()
    return found | served(Path("one"), Path("two"))


def served(*folders: Path) -> dict[str, bytes]:
    """Pages and files of a server for others, with their headers."""
    keys = [key_of(folder) for folder in folders]
    paths = ["/", "/compare", "/health"]
    for key, folder in zip(keys, folders, strict=True):
        paths += [f"/map/{key}", f"/report/{key}", f"/leaf/{key}?at=0,0"]
        paths += [f"/files/{key}/{each.name}" for each in folder.iterdir()]
    running, found = Running(*folders), {}
    try:
        for path in paths:
            answer = running.get(path)
            assert answer.code == 200, path
            found[path] = str(dict(answer.headers)).encode() + b"\n" + answer.body
            found[f"{path} alone"] = answer.body
        found["answers"] = running.ask(keys, [[-3000, -3000, 2000, 1000]]).body
    finally:
        running.stop()
    return found


def points_of(places: Any) -> Points:
    return Points(*np.ascontiguousarray(places.T))


# What can be computed from the records.


def counted(places: Any) -> FrequencyMatrix:
    """The counts that someone who guesses the records computes."""
    lines = [f"{lon:.6f},{lat:.6f}" for lon, lat in places]
    Path("guess.csv").write_text("\n".join(["lon,lat", *lines]) + "\n")
    return GRID.count(read_points("guess.csv"))


def digests(places: Any) -> set[str]:
    """Hashes of the counts and of the records."""
    matrix, records = counted(places), points_of(places)
    plain = [matrix.key, GRID.count(records).key, population_of_records(records).split()[1]]
    contents = [text.encode() for text in plain] + [bytes.fromhex(matrix.key)]
    contents += [np.ascontiguousarray(matrix.counts, kind).tobytes() for kind in ("<i8", "<i4")]
    contents += [Path("guess.csv").read_bytes(), records.x.tobytes() + records.y.tobytes()]
    kinds = ("sha256", "sha1", "md5", "blake2b")
    hashed = {hashlib.new(kind, each).hexdigest() for kind in kinds for each in contents}
    return {*plain, *hashed}


def chained(places: Any, public: dict[str, bytes]) -> Iterator[str]:
    """Tokens and rows of the ledger as they follow from a guess and from what is published."""
    key = counted(places).key
    bookings = [json.loads(public[f"{name}/manifest.json"])["booking"] for name in ("one", "two")]
    befores = {each["row"] for each in bookings}
    for booking, epsilon in zip(bookings, (0.1, 0.2), strict=True):
        what = repr(Uniform(epsilon=epsilon))
        names = booking["population"], f"counts {key}"
        for number, name in itertools.product(range(1, 5), names):
            asked = json.dumps([name, key, "point", 1, what, number - 1])
            token = hashlib.sha256(asked.encode()).hexdigest()[:32]
            yield token
            facts = [number, name, key, booking["time"], booking["mechanism"]]
            row = [*facts, booking["units"], what, None, token]
            for before, values in itertools.product(befores, (row, [*row, "", None])):
                yield hashlib.sha256(json.dumps([before, *values]).encode()).hexdigest()
        for before in befores:
            for secret in (before.encode(), bytes.fromhex(before)):
                yield hmac.new(secret, key.encode(), "sha256").hexdigest()


# The search.


def unpacked(content: bytes) -> Iterator[bytes]:
    """Content, and what is packed in it."""
    yield content
    if content[:2] == b"\x1f\x8b":
        yield from unpacked(gzip.decompress(content))
    elif content[:4] == b"PK\x03\x04":
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for name in archive.namelist():
                yield name.encode()
                yield from unpacked(archive.read(name))
    elif content[:4] == b"PAR1":
        file = pq.ParquetFile(io.BytesIO(content))
        yield repr(file.schema_arrow.metadata).encode()
        yield repr(file.read().to_pydict()).encode()
    elif content[:6] == b"SQLite":
        with sqlite3.connect(":memory:") as connection:
            connection.deserialize(content)
            yield "\n".join(connection.iterdump()).encode()
    elif content[:4] == b"\x89PNG":
        image = Image.open(io.BytesIO(content))
        yield repr(image.info).encode()
        yield image.tobytes()
    for match in re.finditer(rb"base64,([A-Za-z0-9+/=]+)", content):
        yield from unpacked(base64.b64decode(match[1]))


def windows(text: bytes, digits: bytes, length: int) -> set[bytes]:
    """All parts of a length of runs of some signs."""
    found: set[bytes] = set()
    for run in re.findall(rb"[" + digits + rb"]{" + str(length).encode() + rb",}", text):
        found.update(run[at : at + length] for at in range(len(run) - length + 1))
    return found


def leaks(public: dict[str, bytes], hashes: Iterable[str], length: int) -> list[str]:
    """Where a hash stands: as digits, as bytes, or in base64."""
    wanted = set(hashes)
    digits = {each[:length].encode() for each in wanted}
    raw = {bytes.fromhex(each)[:8] for each in wanted}
    coded = {base64.b64encode(each)[:10].replace(b"+", b"-").replace(b"/", b"_") for each in raw}
    found = []
    for where, content in public.items():
        for part in unpacked(content):
            url_safe = part.replace(b"+", b"-").replace(b"/", b"_")
            if windows(part.lower(), b"0-9a-f", length) & digits:
                found.append(f"{where}: hexadecimal digits")
            if windows(url_safe, b"A-Za-z0-9_-", 10) & coded:
                found.append(f"{where}: base64")
            found += [f"{where}: bytes" for each in raw if each in part]
    return found


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder in which commands run, with a ledger of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EXPLORER_LEDGER", str(tmp_path / "private" / "ledger.sqlite3"))


@pytest.mark.usefixtures("place")
def test_nothing_that_is_given_away_is_a_function_of_a_hash_of_counts() -> None:
    public = given_away(PLACES)
    assert len(public) > 40
    found = [leaks(public, digests(guess), SHORT) for guess in (PLACES, PLACES[1:])]
    found += [leaks(public, chained(guess, public), LONG) for guess in (PLACES, PLACES[1:])]
    assert found == [[]] * 4


def _parquet(text: str) -> bytes:
    file = pa.BufferOutputStream()
    pq.write_table(pa.table({"a": [text]}), file, compression="zstd", use_dictionary=False)
    return bytes(file.getvalue())


def _zip(text: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("sheet.xml", text * 9)
    return file.getvalue()


@pytest.mark.parametrize(
    "hide",
    [
        lambda key: f"map-{key[:8].upper()}.png".encode(),
        lambda key: gzip.compress(key.encode() * 9),
        lambda key: (
            b"<a href='data:x;base64," + base64.b64encode(gzip.compress(key.encode())) + b"'>"
        ),
        lambda key: base64.urlsafe_b64encode(bytes.fromhex(key)),
        lambda key: b"\x00" + bytes.fromhex(key)[:16],
        *(_parquet, _zip),
    ],
)
def test_the_search_finds_what_is_hidden(hide: Any) -> None:
    key = hashlib.sha256(b"counts").hexdigest()
    content = hide(key)
    assert leaks({"file": content}, [key], SHORT)
    assert not leaks({"file": content}, [hashlib.sha256(b"others").hexdigest()], SHORT)


# Equal draws.


def same_draws(places: Any, folder: Path, release: Any, monkeypatch: Any) -> dict[str, Any]:
    """What is published of records when draws, clock and random bytes are given."""
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("EXPLORER_LEDGER", str(folder / "private" / "ledger.sqlite3"))
    inputs(places)
    turn = itertools.count()

    def random(number: int = 32) -> str:
        return hashlib.sha256(f"{next(turn)}".encode()).hexdigest()[: 2 * number]

    monkeypatch.setattr(secrets, "token_hex", random)
    monkeypatch.setattr(ledger_module, "now", lambda: "2026-11-27T09:00:00.000+00:00")

    def draw(ledger: Ledger, matrix: Any, made: Any, _progress: Any = None) -> Any:
        ledger.book(matrix, release.units, made.key, repr(made))
        DrawnReleases(ledger.path).keep(str(ledger.token), release, "riders", "a draw")
        return release

    monkeypatch.setattr(once, "draw", draw)
    said = io.StringIO()
    key = ["--key", str(folder.parent / "publisher.key")]
    for name in ("one", "two"):
        about = ["--about", "about.yaml", "-o", name, *key]
        command(said, "publish", "riders.csv", *DRAW, "--epsilon", "0.5", *about)
    command(said, "ledger", "--format", "json")
    found: dict[str, Any] = {"printed": said.getvalue()}
    for path in (*Path("one").iterdir(), *Path("two").iterdir()):
        found[str(path)] = path.read_bytes()
    return found


def test_with_equal_draws_neighbours_publish_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pyogrio.set_gdal_config_options({"OGR_CURRENT_DATE": "2026-11-27T09:00:00.000Z"})
    release = Uniform(epsilon=0.5).release(FrequencyMatrix(np.full((8, 8), 5), GRID))
    try:
        one, other = (
            same_draws(places, tmp_path / name, release, monkeypatch)
            for name, places in (("all", PLACES), ("one less", PLACES[1:]))
        )
    finally:
        pyogrio.set_gdal_config_options({"OGR_CURRENT_DATE": None})
    assert one.keys() == other.keys()
    assert [name for name in one if one[name] != other[name]] == []
