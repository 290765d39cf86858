"""People from a matrix and from tables; their vectors; what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer import FrequencyMatrix, Grid, read_points
from explorer.errors import InputError
from explorer.federated.people import MOST_PLACES, People
from explorer.federated.places import morton, rounded
from tests.federated.towns import GRID, some_people, walkers


def cells_of(grid: Grid) -> np.ndarray:
    """The Morton code of every cell, (rows, cols), bit by bit."""
    rows, cols = grid.shape
    made = np.zeros(grid.shape, dtype=np.int64)
    for row in range(rows):
        for col in range(cols):
            text = "".join(f"{col >> bit & 1}{row >> bit & 1}" for bit in reversed(range(10)))
            made[row, col] = int(text, 2)
    return made


def test_codes_interleave_column_and_row() -> None:
    # Column 12 is 1100, row 5 is 0101: 10/11/00/01.
    assert morton(np.array([12]), np.array([5]))[0] == 0b10110001
    row, col = np.divmod(np.arange(64), 8)
    assert np.array_equal(morton(col, row).reshape(8, 8), cells_of(Grid.cells((8, 8))))
    assert morton(np.array([2**30]), np.array([2**30 - 1]))[0] == 2**61 + (4**30 - 1) // 3


@pytest.mark.parametrize("shape", [(8, 8), (5, 7), (1, 3), (1, 1)])
def test_each_record_of_a_matrix_is_a_person(shape: tuple[int, int]) -> None:
    counts = np.random.default_rng(1).poisson(2.0, shape)
    counts[0, 0] = 3
    matrix = FrequencyMatrix.from_array(counts)
    people = People.of_matrix(matrix)
    assert len(people) == counts.sum()
    assert people.key == matrix.key
    assert 2 ** (people.depth - 1) < max(shape) <= 2**people.depth or max(shape) == 1
    found = np.bincount(people.cells, minlength=4**people.depth)
    assert np.array_equal(found[cells_of(matrix.grid)], counts)
    assert str(len(people)) in repr(people)


def test_a_matrix_of_nobody_or_of_users_is_refused() -> None:
    with pytest.raises(InputError, match="nobody to ask"):
        People.of_matrix(FrequencyMatrix.from_array(np.zeros((4, 4), dtype=int)))
    with pytest.raises(InputError, match=r"People\.from_frame"):
        People.of_matrix(FrequencyMatrix.from_array(np.ones((4, 4)), contribution_bound=3))


@given(
    st.lists(st.integers(1, 2**20), min_size=1, max_size=30),
    st.sampled_from([1, 4, 16, 1000, MOST_PLACES]),
    st.integers(0, 2**64 - 1),
)
def test_a_vector_adds_up_to_s(visits: list[int], places: int, word: int) -> None:
    words = np.array([word], dtype=np.uint64)
    value = rounded(np.array(visits), np.array([0, len(visits)]), places, words)
    assert value.sum() == places
    assert value.min() >= 0
    # Every share is its visits' to the whole number below or above.
    assert np.all(np.abs(value - places * np.array(visits) / sum(visits)) < 1 + 1e-6)


@pytest.mark.statistical
def test_rounding_is_right_on_average() -> None:
    visits, n = np.array([5, 1, 1, 9]), 20_000
    words = np.random.default_rng(3).integers(0, 2**64, n, dtype=np.uint64)
    many = rounded(np.tile(visits, n), np.arange(n + 1) * 4, 3, words).reshape(n, 4)
    exact = 3 * visits / visits.sum()
    part = exact - np.floor(exact)
    sd = np.sqrt(part * (1 - part) / n)
    assert np.all(np.abs(many.mean(axis=0) - exact) < 5 * sd + 1e-12)


def test_neighbours_differ_in_one_vector() -> None:
    everybody = walkers(3)
    words = np.arange(len(everybody), dtype=np.uint64) << np.uint64(50)
    for person in (0, 4, len(everybody) - 1):
        fewer = everybody.without(person)
        assert len(fewer) == len(everybody)
        members = np.arange(len(everybody))
        vectors = []
        for who in (everybody, fewer):
            position, index, value = who.entries(
                members, lambda c: np.where(c < 0, -1, c), 64, words
            )
            made = np.zeros((len(members), 64), dtype=np.int64)
            np.add.at(made, (position, index), value)
            vectors.append(made)
        moved = np.abs(vectors[0] - vectors[1]).sum(axis=1)
        own = vectors[0][person].sum()
        assert own == (0 if person == 0 else everybody.places)
        assert moved.tolist() == [own if i == person else 0 for i in range(len(members))]


def test_answers_split_every_node_and_keep_the_sensitivity() -> None:
    everybody = some_people(1)
    yes = np.arange(40) % 3 == 0
    asked = everybody.proportion(yes)
    assert asked.counters == 2
    words = np.zeros(40, dtype=np.uint64)
    position, index, value = asked.entries(np.arange(40), lambda c: c // 16, 4, words)
    assert np.array_equal(index < 4, yes[position])
    assert value.tolist() == [1] * 40
    assert np.array_equal(index % 4, everybody.cells // 16)
    # One data set: what is asked of it adds up.
    assert asked.key == everybody.key
    with pytest.raises(InputError, match="one answer"):
        everybody.proportion(yes[:-1])
    with pytest.raises(InputError, match="yes or no"):
        everybody.proportion(np.array(["maybe"] * 40))


def table(**columns: object) -> pd.DataFrame:
    return pd.DataFrame({"lon": [0.5, 1.5, 1.5, 3.2, 99.0], "lat": [0.5] * 5, **columns})


def grid_of_metres() -> Grid:
    # Metres from the middle of a city: near the origin of a registered CRS they would be degrees.
    crs = "+proj=laea +lat_0=52.5 +lon_0=13.4 +datum=WGS84 +units=m"
    return Grid((0.0, 0.0, 4.0, 4.0), (4, 4), crs)


def test_rows_of_one_user_are_one_person() -> None:
    frame = pd.DataFrame(
        {
            "who": ["b", "a", "b", "b", "c"],
            "x": [0.5, 1.5, 0.7, 3.2, 99.0],
            "y": [0.5, 0.5, 0.5, 3.9, 0.5],
        }
    )
    grid = grid_of_metres()
    people = People.from_frame(frame, grid, user="who", lon="x", lat="y", crs=grid.crs)
    assert len(people) == 3
    assert people.places == 16
    assert people.offsets is not None
    assert people.visits is not None
    # In the order of their first rows: b was twice in the first cell and once in the last; c was
    # outside only, and takes part all the same.
    assert people.offsets.tolist() == [0, 2, 3, 3]
    assert people.cells.tolist() == [0, 15, 2]
    assert people.visits.tolist() == [2, 1, 1]
    one = People.from_frame(frame, grid, lon="x", lat="y", crs=grid.crs)
    assert (len(one), one.places) == (5, 1)
    assert one.cells.tolist() == [0, 2, 0, 15, -1]
    # As the grid counts them.
    inside = np.bincount(one.cells[:4], minlength=16)[cells_of(grid)]
    points = read_points(frame, lon="x", lat="y", crs=grid.crs)
    assert np.array_equal(inside, grid.count(points).counts)


def test_an_id_that_is_an_empty_text_is_nobody(tmp_path: Path) -> None:
    frame = table(who=["a", "b", " ", "c", ""])
    grid = Grid.around(1.0, 0.5, 900_000, 900_000, (8, 8))
    said = r"Row 3 has an empty id in 'who', and all such rows \(2\) would be one person"
    for each in (frame, pa.Table.from_pandas(frame)):
        with pytest.raises(InputError, match=said):
            People.from_frame(each, grid, user="who")
    frame.to_parquet(tmp_path / "f.parquet")
    with pytest.raises(InputError, match="Row 3 of those with a place has an empty id"):
        People.from_frame(tmp_path / "f.parquet", grid, user="who")
    # Without any id at all a row is left out, as for maps.
    frame["who"] = ["a", "b", None, "c", None]
    assert len(People.from_frame(frame, grid, user="who")) == 3
    frame["who"] = [1, 2, 3, 3, 0]
    assert len(People.from_frame(frame, grid, user="who")) == 4


def test_two_people_of_one_id_are_noticed_by_their_answers() -> None:
    frame = table(who=[1, 1, 2, 2, 2], smokes=["yes", "no", "no", "no", "no"])
    grid = Grid.around(1.0, 0.5, 900_000, 900_000, (8, 8))
    with pytest.raises(InputError, match="two people may share one id"):
        People.from_frame(frame, grid, user="who", attribute="smokes")
    frame["smokes"] = ["yes", "yes", "no", "no", "no"]
    people = People.from_frame(frame, grid, user="who", attribute="smokes")
    assert people.answer is not None
    assert people.answer.tolist() == [True, False]


@pytest.mark.parametrize(
    ("columns", "asked", "sentence"),
    [
        ({}, {"user": "nobody"}, "There is no column 'nobody'"),
        ({"n": [1, 0, 1, 1, 1]}, {"visits": "n"}, "no visit at all"),
        ({"n": [1, 0.5, 1, 1, 1]}, {"visits": "n"}, "weights hold"),
        ({"a": ["yes", "no", "perhaps", "no", "no"]}, {"attribute": "a"}, "holds perhaps"),
        ({"who": [1] * 5}, {"user": "who", "places": 0}, "Places a person is 0"),
        ({"who": [1] * 5}, {"user": "who", "places": 2.5}, "Places a person is 2.5"),
    ],
)
def test_tables_that_do_not_fit_are_refused(
    columns: dict[str, object], asked: dict[str, object], sentence: str
) -> None:
    grid = Grid.around(1.0, 0.5, 900_000, 900_000, (8, 8))
    with pytest.raises(InputError, match=sentence):
        People.from_frame(table(**columns), grid, **asked)


@pytest.mark.parametrize("cells", [[64], [-2], [], [0.5]])
def test_cells_that_do_not_fit_are_refused(cells: list[float]) -> None:
    with pytest.raises(InputError):
        People(np.array(cells), GRID)


@pytest.mark.parametrize(
    "named",
    [
        {"offsets": [0, 1]},
        {"offsets": [0, 2, 1, 2]},
        {"offsets": [0, 2], "visits": [1, 0]},
        {"offsets": [0, 2], "visits": [2**40, 1]},
        {"answer": [True]},
    ],
)
def test_people_that_do_not_fit_are_refused(named: dict[str, list[int]]) -> None:
    with pytest.raises(InputError):
        People(np.array([1, 2]), GRID, **{name: np.array(value) for name, value in named.items()})
