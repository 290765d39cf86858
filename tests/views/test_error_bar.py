"""The bar of the two causes: numbers as text, parts to scale, opposite signs on both sides."""

import re

import pytest

from explorer.views.error_bar import NOISE, UNIFORMITY, error_bar


def rects(markup: str) -> dict[str, tuple[float, float]]:
    """Begin and end of each part, by colour."""
    found = re.findall(
        r'<rect x="([\d.]+)" y="1" width="([\d.]+)" height="6" fill="(#\w+)"', markup
    )
    return {colour: (float(x), float(x) + float(width)) for x, width, colour in found}


def texts(markup: str) -> list[str]:
    return re.findall(r"</i>([^<]+)</span>", markup)


def test_opposite_signs_lie_on_either_side_of_zero() -> None:
    markup = error_bar(-300.0, 100.0)
    assert texts(markup) == ["−300", "+100"]
    parts = rects(markup)
    assert parts[NOISE] == pytest.approx((2, 50))
    assert parts[UNIFORMITY] == pytest.approx((50, 66))
    assert "M18.0 0V8" in markup


@pytest.mark.parametrize("sign", [1, -1])
def test_equal_signs_are_stacked(sign) -> None:
    parts = rects(error_bar(sign * 30.0, sign * 10.0))
    ends = sorted(abs(x - 50) for part in parts.values() for x in part)
    assert ends == pytest.approx([0, 36, 36, 48])


def test_nothing_and_not_known() -> None:
    assert texts(error_bar(0.0, -0.2)) == ["0", "0"]
    assert all(end - begin == 0 for begin, end in rects(error_bar(0.0, 0.0)).values())
    assert error_bar(float("nan"), 1.0) == '<div class="causes">…</div>'
