"""The bar of the causes: numbers as text, parts to scale, opposite signs on both sides."""

import re

import pytest

from explorer.views.error_bar import CLIPPING, NOISE, UNIFORMITY, error_bar, error_key


def rects(markup: str) -> dict[str, tuple[float, float]]:
    """Begin and end of each part, by colour: of its fill, or of its outline."""
    found = re.findall(r'<rect x="([\d.]+)" [^>]*?width="([\d.]+)" [^>]*?="(#\w+)"', markup)
    return {colour: (float(x), float(x) + float(width)) for x, width, colour in found}


def contrast(one: str, other: str) -> float:
    """Of two colours, as WCAG 2.2 defines it."""
    lights = []
    for colour in (one, other):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        lights.append(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] + 0.05)
    return max(lights) / min(lights)


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


def test_clipping_is_a_third_part_where_there_is_a_bound() -> None:
    markup = error_bar(10.0, 20.0, -60.0)
    assert texts(markup) == ["+10", "+20", "−60"]
    parts = rects(markup)
    assert parts[NOISE] == pytest.approx((50, 58))
    assert parts[UNIFORMITY] == pytest.approx((58, 74))
    assert parts[CLIPPING] == pytest.approx((2, 50))
    assert CLIPPING not in error_bar(10.0, 20.0)
    assert CLIPPING not in error_key(clipping=False)
    assert error_bar(1.0, 2.0, float("nan")) == '<div class="causes">…</div>'


def test_shares_have_decimals() -> None:
    assert texts(error_bar(0.124, -0.001, -3.0, decimals=2)) == ["+0.12", "0.00", "−3.00"]


@pytest.mark.parametrize("ground", ["#ffffff", "#f1f3f5", "#121212", "#1c2127"])
@pytest.mark.parametrize("colour", [NOISE, UNIFORMITY, CLIPPING])
def test_parts_are_seen_on_light_and_dark_ground(colour: str, ground: str) -> None:
    assert contrast(colour, ground) >= 3


def test_parts_are_told_apart_without_colours() -> None:
    plain = re.sub(r"#\w{6}", "#000000", error_bar(10.0, 10.0, 10.0))
    bars = re.findall(r"<rect x=\"([\d.]+)\" ([^>]*)/>", plain)
    looks: dict[str, list[str]] = {}
    for x, look in bars:
        looks.setdefault(x, []).append(re.sub(r'width="[\d.]+"', "", look))
    assert len(looks) == 3
    assert len({"".join(look) for look in looks.values()}) == 3
