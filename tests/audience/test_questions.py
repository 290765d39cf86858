"""What visitors send is a question of the page, or a sentence."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.audience.answers import MOST_AREAS, MOST_CORNERS, MOST_CROSSED, maps_of, queries_of
from explorer.errors import InputError
from tests.publish.folders import GRID

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.dictionaries(
            st.sampled_from(["box", "shape", "maps", "areas", "x"]), inner, max_size=3
        )
    ),
    max_leaves=20,
)


def test_lines_that_cross_are_both_halves() -> None:
    found = queries_of([{"shape": [[0, 0], [4, 4], [4, 0], [0, 4]]}], GRID)
    assert found.shapes[0].is_valid
    assert found.shapes[0].area == 8


@pytest.mark.parametrize(
    "area",
    [
        {"box": [0, 0, 1]},
        {"box": [0, 0, 1, "1"]},
        {"box": [0, 0, 1, True]},
        {"box": [0, 0, 1, math.nan]},
        {"box": [0, 0, 1, math.inf]},
        {"box": [0, 0, 1, 10**400]},
        {"box": [0, 0, 1, 1e300]},
        {"box": [0, 0, 0, 5]},
        {"box": [0, 0, 9e5, 5]},
        {"shape": [[0, 0], [1, 1]]},
        {"shape": [[0, 0], [1, 1], [2, 2]]},
        {"shape": [[0, 0]] * 500},
        {"shape": "abc"},
        {},
        [],
        None,
        "box",
    ],
)
def test_what_no_page_sends_is_a_sentence(area) -> None:
    with pytest.raises(InputError):
        queries_of([area], GRID)


@settings(max_examples=50)
@given(st.lists(ANYTHING, max_size=4))
def test_nothing_else_than_a_question_or_a_sentence_comes_of_anything(areas) -> None:
    try:
        found = queries_of(areas, GRID)
    except InputError:
        return
    assert len(found) == len(areas)


def test_bodies_are_bounded() -> None:
    def body(maps, areas):
        return json.dumps({"maps": maps, "areas": areas}).encode()

    assert maps_of(body(["a", "b", "a"], [])) == (("a", "b"), [])
    for maps, areas in (
        ([], []),
        (["a"] * 20, []),
        (["a"], [1] * (MOST_AREAS + 1)),
        ([1], []),
        (["a" * 41], []),
        ("a", []),
        (["a"], {}),
    ):
        with pytest.raises(InputError):
            maps_of(body(maps, areas))
    # Deep nesting ends in Python's own limit, and in a sentence.
    with pytest.raises(InputError):
        maps_of(b"[" * 30_000)
    with pytest.raises(InputError, match=str(MOST_CORNERS)):
        queries_of([{"shape": [[i, i * i] for i in range(99)]}] * 5, GRID)


def test_shapes_that_take_long_are_refused() -> None:
    """400 corners at random took a minute of the server, before anything was computed."""
    zigzag = [[100 * i, 3000 * (i * 7 % 11)] for i in range(60)]
    with pytest.raises(InputError, match="cross each other"):
        queries_of([{"shape": zigzag}], GRID)
    assert len(queries_of([{"shape": zigzag[:MOST_CROSSED]}], GRID)) == 1
    x0, y0, x1, y1 = GRID.bounds
    whole = {"shape": [[x0, y0], [x1, y0], [x1, y1], [x0, y1]]}
    assert len(queries_of([whole] * 4, GRID)) == 4
    with pytest.raises(InputError, match="too large together"):
        queries_of([whole] * 5, GRID)
    # Boxes cost nothing.
    assert len(queries_of([{"box": [x0, y0, x1, y1]}] * 30, GRID)) == 30
