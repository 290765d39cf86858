"""Numbers from outside are finite floats or a sentence."""

import math
from fractions import Fraction

import pytest

from explorer.app.kit.numbers import finite
from explorer.errors import InputError


@pytest.mark.parametrize(("value", "number"), [(2, 2.0), ("0.5", 0.5), (Fraction(1, 4), 0.25)])
def test_what_a_float_can_hold_is_one(value, number) -> None:
    assert finite(value, "A number") == number


@pytest.mark.parametrize(
    "value", [10**400, pytest.param(10**5000, id="huge"), math.nan, -math.inf, None, "x", [1], 1j]
)
def test_all_else_is_one_sentence_with_its_name(value) -> None:
    with pytest.raises(InputError, match=r"^The width is not a .*\.$"):
        finite(value, "The width")
