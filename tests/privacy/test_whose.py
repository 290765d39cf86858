"""Whose budget a release is booked on: counts know it, however they were counted and spelled."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from explorer import Grid, PrivTree, read_points, scan_points
from explorer.cities.catalogue import find
from explorer.cli import main
from explorer.errors import InputError
from explorer.federated.people import People
from explorer.grid.areas.areas import Areas
from explorer.grid.places import TripDomain
from explorer.mechanisms import Uniform
from explorer.points.counts_file import load_counts, save_counts
from explorer.points.matrix import FrequencyMatrix
from explorer.points.points import Points
from explorer.points.populations import population_name, population_of_file
from explorer.privacy.ledger import Ledger, PopulationWarning
from explorer.releases.units import to_units
from explorer.trips.trips import read_trips

pytestmark = pytest.mark.filterwarnings("ignore:The column 'user_id'", "ignore:Less than 1")
EXTENT = (13.25, 52.43, 13.55, 52.61)
AROUND = ["--around", "13.4", "52.52", "--size", "20km"]


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with points in parts, and a ledger with a cap of 1 in another."""
    monkeypatch.setenv("EXPLORER_LEDGER", str(tmp_path / "private" / "ledger.sqlite3"))
    monkeypatch.setenv("EXPLORER_EPSILON_CAP", "1")
    here = tmp_path / "here"
    (here / "riders").mkdir(parents=True)
    rng = np.random.default_rng(1)
    for number in range(3):
        frame = pd.DataFrame(
            {
                "user_id": rng.integers(0, 50, 200),
                "lon": rng.normal(13.4, 0.03, 200),
                "lat": rng.normal(52.52, 0.02, 200),
            }
        )
        frame.to_parquet(here / "riders" / f"part-{number}.parquet")
        if number == 0:
            frame.to_csv(here / "my.csv", index=False)
            frame[["lon", "lat"]].to_csv(here / "points.csv", index=False)
            frame.assign(to_lon=frame.lon, to_lat=frame.lat).to_csv(here / "ways.csv", index=False)
    monkeypatch.chdir(here)
    return here


def test_the_cap_of_readmes_eight_lines_is_that_of_the_people() -> None:
    points = read_points("my.csv", user="user_id")

    def draw(cell: str, bound: int) -> None:
        matrix = Grid.of(EXTENT, cell=cell).count(points, contribution_bound=bound)
        PrivTree(0.5).release(matrix, ledger=Ledger())

    draw("40m", 10)
    draw("41m", 10)
    for cell, bound in (("42m", 10), ("43m", 10), ("44m", 10), ("40m", 9), ("40m", 10)):
        with pytest.raises(InputError, match="spent epsilon 1 of a cap of 1"):
            draw(cell, bound)


GRID = Grid.around(13.4, 52.52, "20km", shape=8)


def _areas_frame() -> Any:
    import geopandas
    from shapely import box

    return geopandas.GeoDataFrame({"d": ["a"]}, geometry=[box(13, 52, 14, 53)], crs=4326)


def _areas() -> Any:
    return Areas.read(_areas_frame(), levels=("d",))


def _counts_file(matrix: FrequencyMatrix) -> FrequencyMatrix:
    save_counts(matrix, "kept.exact.parquet")
    return load_counts("kept.exact.parquet")


WAYS: dict[str, tuple[Callable[[], Any], set[str]]] = {
    "a file on a grid": (lambda: GRID.count("my.csv"), {"my"}),
    "points that were read": (lambda: GRID.count(read_points("points.csv")), {"points"}),
    "a text that is not held": (lambda: GRID.count("points.csv"), {"points"}),
    "a title is no name": (lambda: GRID.count(read_points("my.csv", name="Other")), {"my"}),
    "one of several files": (lambda: GRID.count("riders/part-1.parquet"), {"part-1"}),
    "a folder": (lambda: GRID.count("riders"), {"riders", "part-0", "part-1", "part-2"}),
    "scanned files": (
        lambda: GRID.count(scan_points(["riders/part-0.parquet", "riders/part-1.parquet"])),
        {"part-0", "part-1"},
    ),
    "points with a name": (
        lambda: GRID.count(Points(np.array([13.4]), np.array([52.52]), name=" Riders ")),
        {"riders"},
    ),
    "a bound": (
        lambda: GRID.count(read_points("my.csv", user="user_id"), contribution_bound=3).unclipped,
        {"my"},
    ),
    "areas": (lambda: _areas().count("my.csv", cell=500), {"my"}),
    "areas on a map": (lambda: _areas().count("my.csv", cell=500).national(), {"my"}),
    "trips": (
        lambda: TripDomain([GRID, GRID]).count(
            read_trips("ways.csv", [("lon", "lat"), ("to_lon", "to_lat")])
        ),
        {"ways"},
    ),
    "people": (lambda: People.of_matrix(GRID.count("my.csv")), {"my"}),
    "counts that were saved": (lambda: _counts_file(GRID.count("my.csv")), {"my"}),
    "a city": (lambda: find("madeup").count(16)[0], {"madeup"}),
    "points of a city": (lambda: GRID.count(find("madeup").load(16)[0]), {"madeup"}),
}


@pytest.mark.parametrize("way", WAYS)
def test_counts_know_whose_records_they_are(way: str) -> None:
    count, names = WAYS[way]
    assert {population_name(name) for name in count().populations} == names


def test_records_in_memory_without_a_name_are_known_by_themselves() -> None:
    places = np.array([13.4, 13.41]), np.array([52.52, 52.53])
    Uniform(epsilon=0.9).release(GRID.count(Points(*places)), ledger=Ledger())
    finer = Grid.around(13.4, 52.52, "20km", shape=9)
    with pytest.raises(InputError, match="of a cap of 1"):
        Uniform(epsilon=0.9).release(finer.count(Points(*places)), ledger=Ledger())


def test_plain_counts_under_a_cap_are_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = FrequencyMatrix.from_array(np.eye(4, dtype=int))
    with pytest.warns(PopulationWarning, match="Ledger\\(population=") as caught:
        Uniform(epsilon=0.1).release(matrix, ledger=Ledger())
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error", PopulationWarning)
        Uniform(epsilon=0.1).release(matrix, ledger=Ledger(population="riders"))
        Uniform(epsilon=0.1).release(GRID.count(Points(np.ones(1), np.ones(1))), rng=1)
        monkeypatch.delenv("EXPLORER_EPSILON_CAP")
        Uniform(epsilon=0.1).release(matrix, ledger=Ledger())


def test_several_populations_pay_each_the_whole_and_no_more() -> None:
    both, one, other = (Ledger(population=names) for names in (["a", "b"], "a", "b"))
    one.book("k1", to_units(0.4), "htf")
    other.book("k2", to_units(0.5), "htf")
    both.book("k3", to_units(0.3), "htf")
    assert (one.spent("x"), other.spent("x")) == (to_units(0.7), to_units(0.8))
    assert both.spent("x") == to_units(0.8)
    with pytest.raises(InputError, match="“b”, one of 2"):
        Ledger(population=["b", "a"]).book("k4", to_units(0.25), "htf")
    one.book("k4", to_units(0.25), "htf")
    # The same counts under another name are both of them.
    assert Ledger(population="c").spent("k3") >= to_units(0.95)
    assert Ledger(population="c").spent("k5") == 0


def test_what_is_taken_back_is_taken_back_from_all() -> None:
    both = Ledger(population=["a", "b"], token="0" * 32)
    both.lower(both.book("k", to_units(0.9), "htf"), to_units(0.1))
    assert Ledger(population="a").spent("x") == Ledger(population="b").spent("x") == to_units(0.1)


RELEASE = ["--mechanism", "uniform", "--epsilon", "0.9"]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
@pytest.mark.parametrize("later", [0, 1])
def test_files_that_are_counted_together_pay_each(order: Any, later: int, capsys: Any) -> None:
    files = [f"riders/part-{number}.parquet" for number in order]
    extent = [*AROUND, "--shape", "8", "--per", "record"]
    assert main(["count", *files, *extent, "-o", "both"]) == 0
    assert main(["release", "both.exact.parquet", *RELEASE, "-o", "map.parquet"]) == 0
    capsys.readouterr()
    per = ["--per", "record"]
    one = ["release", f"riders/part-{later}.parquet", *AROUND, "--shape", "9", *per, *RELEASE]
    assert main([*one, "-o", "one.parquet"]) == 2
    assert "spent epsilon 0.9 of a cap of 1" in capsys.readouterr().err
    # Nobody else pays.
    assert Ledger(population="part-2").spent("") == 0


def test_a_country_of_several_files_is_booked_on_all() -> None:
    _areas_frame().to_file("areas.gpkg")
    files = ["riders/part-1.parquet", "riders/part-0.parquet"]
    how = ["--areas", "areas.gpkg", "--levels", "d", "--epsilon", "0.9", "--inside", "none"]
    command = ["country", *files, *how, "--per", "record", "--cell", "2km"]
    assert main([*command, "-o", "c.parquet"]) == 0
    for name in ("part-0", "part-1"):
        assert Ledger(population=name).spent("") == to_units(0.9)


SPELLINGS = [
    *("riders", "riders/", "./riders", "../here/riders", "linked", "riders/*"),
    *("riders/part-*.parquet", "riders/part-?.parquet", "riders/part-[012].parquet"),
]
INSIDE = [".", "part-*.parquet", "part-?.parquet", "*.parquet", "../riders", "./"]


@pytest.mark.parametrize("inside", [False, True])
def test_the_same_files_have_one_cap_however_they_are_spelled(
    inside: bool, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place / "linked").symlink_to("riders")
    spellings = [*SPELLINGS, str(place / "riders"), f"file://{place}/riders/part-*.parquet"]
    if inside:
        monkeypatch.chdir(place / "riders")
        spellings = INSIDE
    Uniform(epsilon=0.9).release(GRID.count(spellings[0]), ledger=Ledger())
    for number, spelling in enumerate(spellings):
        finer = Grid.around(13.4, 52.52, "20km", shape=9 + number)
        with pytest.raises(InputError, match=r"spent epsilon 0\.9 of a cap of 1"):
            Uniform(epsilon=0.9).release(finer.count(spelling), ledger=Ledger())
    (row,) = Ledger().rows()
    assert row.population == "riders"


@pytest.mark.parametrize("first", ["riders/part-1.parquet", "riders", "riders/part-[12].parquet"])
def test_a_folder_and_a_file_in_it_add_up(first: str) -> None:
    counted = {name: GRID.count(name) for name in ("riders", "riders/part-1.parquet")}
    Uniform(epsilon=0.6).release(GRID.count(first), ledger=Ledger())
    for matrix in counted.values():
        assert Ledger().spent(matrix) == to_units(0.6)
    # A file that was in no release has paid nothing.
    spent = Ledger().spent(GRID.count("riders/part-0.parquet"))
    assert spent == (to_units(0.6) if first == "riders" else 0)
    # A copy of a file elsewhere is the same file.
    Path("other").mkdir()
    shutil.copyfile("riders/part-1.parquet", "other/part-1.parquet")
    assert Ledger().spent(GRID.count("other/part-1.parquet")) == to_units(0.6)


def test_parts_of_a_folder_do_not_pay_for_each_other() -> None:
    for number in range(3):
        part = GRID.count(f"riders/part-{number}.parquet")
        Uniform(epsilon=0.5).release(part, ledger=Ledger())
    Uniform(epsilon=0.3).release(GRID.count("riders"), ledger=Ledger())
    assert Ledger().spent(GRID.count("riders")) == to_units(0.8)


@pytest.mark.parametrize(
    ("name", "population"),
    [
        ("https://host/data/Riders.csv?token=1", "riders"),
        ("s3://bucket/riders/part-*.parquet", "riders"),
        ("s3://bucket/riders/", "riders"),
        ("s3://bucket/*.parquet", "bucket"),
        ("riders.exact.parquet", "riders"),
        ("C:\\data\\Riders.csv", "riders"),
    ],
)
def test_names_of_files(name: str, population: str) -> None:
    assert population_of_file(name) == population


@pytest.mark.parametrize(
    "text",
    [
        "Riders", "RIDERS", " riders ", "rid\u200bers", "rid\u00aders", "\ufeffriders",
        "ri\u2060ders", "riders\u200e", "rid\ufe0fers", "rid\U000e0041ers", "ｒｉｄｅｒｓ",
        "riders.", "riders. .", "rid\u034fers", "riders\u3164", "\x07riders",
    ],
)  # fmt: skip
def test_names_that_look_the_same_are_the_same(text: str) -> None:
    assert population_name(text) == "riders"


@pytest.mark.parametrize("text", ["r\u0456ders", "ride\u0301rs", "riders 2", "rider s"])
def test_other_names(text: str) -> None:
    assert population_name(text) != "riders"
    # Composed or not is one name.
    assert population_name("caf\u00e9") == population_name("cafe\u0301")


@pytest.mark.parametrize("text", ["\u200b", "...", "\u3164 \u00ad"])
def test_a_name_of_what_cannot_be_seen_is_none(text: str) -> None:
    with pytest.raises(InputError, match="population has a name"):
        Ledger(population=text)


def test_the_name_is_no_part_of_the_key_and_of_no_release() -> None:
    places = np.array([13.4, 13.41]), np.array([52.52, 52.53])
    one, other = (GRID.count(Points(*places, name=name)) for name in ("Riders", "Walkers"))
    assert one.populations != other.populations
    assert one.key == other.key
    Uniform(epsilon=0.1).release(one, ledger=Ledger()).save("map.parquet")
    assert b"riders" not in Path("map.parquet").read_bytes().lower()


@pytest.mark.parametrize("units", [True, 0.5, 0, -1, 1.0, float("nan"), None, "1", 10**19])
def test_what_no_booking_costs_is_refused(units: Any) -> None:
    with pytest.raises(InputError, match="whole number above 0"):
        Ledger(population="a").book("k", units, "htf")
    assert Ledger().rows() == []
