"""The bar of the budget that fills up."""

import re

import pytest

from explorer.views.budget import LEFT, budget_bar


def parts(bar: str) -> list[float]:
    return [float(found) for found in re.findall(r"flex-grow:([\d.]+)", bar)]


def test_stages_and_what_is_left_fill_the_bar() -> None:
    bar = budget_bar([("height", 0.01), ("stop <test>", 0.04), ("leaves", 0.0)], 0.1)
    assert parts(bar) == pytest.approx([0.1, 0.4, 0.5])
    assert "left <b>0.05</b>" in bar
    assert "stop &lt;test&gt; <b>0.04</b>" in bar
    assert "0.05 of 0.1 spent so far" in bar


def test_a_budget_that_is_spent_leaves_nothing_not_even_the_last_bit() -> None:
    bar = budget_bar([("cells", 0.1 - 1e-13)], 0.1)
    assert parts(bar) == pytest.approx([1.0])
    assert bar.count(LEFT) == 1, "in the list below, not in the bar"
    assert "left <b>0</b>" in bar
