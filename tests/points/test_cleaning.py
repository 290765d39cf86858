"""Rows without a usable place are counted by reason and said in sentences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.errors import InputError
from explorer.points.cleaning import (
    BEYOND,
    FINE,
    INFINITE,
    MISSING,
    NO_LATITUDE,
    ORIGIN,
    REASONS,
    SWAPPED,
    ZERO,
    judge,
    left_out,
    refuse_columns,
    sentences,
)

NAN, INF = np.nan, np.inf
CASES = [
    (1.0, 2.0, FINE, FINE),
    (-180.0, -90.0, FINE, FINE),
    (360.0, 90.0, FINE, FINE),
    (0.0, 51.5, FINE, FINE),
    (-73.9, 0.0, FINE, FINE),
    (0.0, 0.0, ZERO, ORIGIN),
    (-0.0, 0.0, ZERO, ORIGIN),
    (NAN, 1.0, MISSING, MISSING),
    (INF, NAN, MISSING, MISSING),
    (1.0, -INF, INFINITE, INFINITE),
    (51.5, 120.0, SWAPPED, FINE),
    (400.0, 10.0, BEYOND, FINE),
    (-181.0, -91.0, BEYOND, FINE),
    (-122.0, 95.0, NO_LATITUDE, FINE),
    (51.5, 361.0, BEYOND, FINE),
]


@pytest.mark.parametrize("degrees", [True, False])
def test_each_row_gets_its_reason(degrees):
    x, y, in_degrees, in_metres = (np.array(values) for values in zip(*CASES, strict=True))
    reasons, rows = judge(x, y, degrees)
    assert reasons.tolist() == (in_degrees if degrees else in_metres).tolist()
    assert rows.tolist() == np.bincount(reasons, minlength=REASONS).tolist()
    # By itself, where a row that is fine is judged in a shorter way.
    alone = [judge(x[i : i + 1], y[i : i + 1], degrees)[0][0] for i in range(len(x))]
    assert alone == reasons.tolist()


@given(st.lists(st.tuples(st.floats(), st.floats()), max_size=20))
def test_what_is_fine_is_a_place_on_the_earth(places):
    x, y = np.array(places, float).reshape(-1, 2).T
    reasons, rows = judge(x.copy(), y.copy(), True)
    fine = reasons == FINE
    assert rows.sum() == x.size
    assert np.all((x[fine] >= -180) & (x[fine] <= 360) & (np.abs(y[fine]) <= 90))


def test_one_sentence_for_each_reason_that_occurs():
    assert sentences(np.array([9, 1, 0, 540, 0, 0, 0, 2])) == [
        "1 row without a coordinate (null or not a number) was left out.",
        "540 rows at longitude 0, latitude 0, which stands for a missing place, were left out.",
        "2 rows at easting 0, northing 0, which stands for a missing place, were left out.",
    ]
    assert left_out(1234, "without a user") == "1,234 rows without a user were left out."


def test_columns_that_are_mostly_impossible_are_refused():
    for counts, said in [
        ([1, 0, 0, 0, 0, 9, 0], "look swapped; give lon='b', lat='a'"),
        ([1, 0, 0, 0, 9, 0, 0], "not degrees; say what they are with crs="),
        # Beyond 90 alone is a slip of the latitude, not another CRS.
        ([1, 1, 1, 1, 0, 1, 1], "no longitude and latitude"),
        ([1, 0, 0, 0, 1, 1, 1], "no longitude and latitude"),
    ]:
        with pytest.raises(InputError, match=said):
            refuse_columns(np.array(counts), "a", "b")
    for counts in ([9, 0, 0, 0, 4, 4, 1], [0, 5, 5, 5, 0, 0, 0], [0] * 7):
        refuse_columns(np.array(counts), "a", "b")


@pytest.mark.parametrize("degrees", [True, False])
def test_zero_is_kept_where_it_is_asked_for(degrees):
    x, y = np.array([[0.0, 5.0, NAN, 0.0], [0.0, 5.0, 0.0, 7.0]])
    assert judge(x, y, degrees, keep_zero=True)[1][[FINE, MISSING]].tolist() == [3, 1]
    assert judge(x, y, degrees)[1][[FINE, MISSING]].tolist() == [2, 1]
