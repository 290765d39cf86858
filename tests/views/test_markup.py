"""Strings of files are made harmless, and small HTML pieces say their numbers as text."""

import itertools
import re

import pytest

from explorer.views.markup import (
    count_bar,
    difference_bar,
    figures_strip,
    ledger_bar,
    safe_text,
)
from explorer.views.palette import PALETTES
from explorer.views.scale import ColourScale


@pytest.mark.parametrize(
    "evil",
    [
        '<img src=x onerror="alert(1)">',
        "<script>alert(1)</script>",
        "</script><svg onload=alert(1)>",
        "&lt;img src=x onerror=alert(1)&gt;",
        "&#60;img&#62;",
        "a\u202egpj.exe",
        "line\nbreak\x00\x1b[31m",
        "{{ 7 * 7 }} `code`",
    ],
)
def test_no_markup_control_or_entity_survives(evil) -> None:
    safe = safe_text(evil)
    assert not re.search(r"[<>\"`{}\x00-\x1f\u202a-\u202e]", safe)
    assert not re.search(r"&(#|\w+;)", safe)


def test_ordinary_names_stay_as_they_are() -> None:
    for name in ("Marks & Spencer", "São Paulo", "Île-de-France", "北京", "Q1", "100 % (a/b)"):
        assert safe_text(name) == name


def test_length_is_limited() -> None:
    assert len(safe_text("x" * 10_000, 40)) == 40
    assert safe_text(None) == "None"


def test_figures_are_a_definition_list_with_escaped_values() -> None:
    text = figures_strip([("Leaves", "6,530"), ("Odd", "<b>")])
    assert text.count("<dt>") == text.count("<dd>") == 2
    assert "<dd>6,530</dd>" in text
    assert "&lt;b&gt;" in text


def test_bar_says_its_ticks_and_keeps_them_in_order() -> None:
    scale = ColourScale("log", 1200.0)
    text = count_bar("Points per 20 m cell", scale, PALETTES["cividis"])
    assert 'aria-label="Points per 20 m cell: colours for 0, 1, 10, 100, 1k"' in text
    places = [float(p) for p in re.findall(r"left:([\d.]+)%", text)]
    assert places == sorted(places)
    assert places[0] == 0


def test_ticks_that_would_collide_give_way_but_zero_stays() -> None:
    text = count_bar("x", ColourScale("log", 1e9), PALETTES["cividis"])
    places = [float(p) for p in re.findall(r"left:([\d.]+)%", text)]
    assert places[0] == 0
    assert min(b - a for a, b in itertools.pairwise(places)) >= 6.5
    signed = difference_bar("x", ColourScale("log", 7.0))
    assert ">0</span>" in signed


def test_difference_bar_is_symmetric_about_zero() -> None:
    text = difference_bar("Private − true", ColourScale("log", 1200.0))
    ticks = dict(re.findall(r'left:([\d.]+)%">([^<]+)<', text))
    by_text = {label: float(place) for place, label in ticks.items()}
    assert by_text["0"] == 50
    assert by_text["+100"] + by_text["−100"] == pytest.approx(100, abs=0.02)
    assert "ends: 1.2k or more" in text


def test_a_note_is_spoken_and_ticks_that_a_small_map_has_no_room_for_are_marked() -> None:
    scale = ColourScale("log", 900.0)
    text = count_bar("Points per cell", scale, PALETTES["cividis"], "logarithmic")
    assert 'aria-label="Points per cell (logarithmic): colours for 0, 1, 10, 100"' in text
    assert "Points per cell <small>(logarithmic)</small>" in text
    assert '<span class="start" style="left:0.00%">0</span>' in text
    signed = difference_bar("x", scale, "blue too few")
    few = re.findall(r'<span style="left:([\d.]+)%">([^<]+)<', signed)
    assert [tick for _, tick in few] == ["−100", "0", "+100"]
    assert 'class="more"' in signed


@pytest.mark.parametrize("top", [2.0, 3.0, 7.0, 40.0, 1e6, 1e9])
@pytest.mark.parametrize("kind", ["log", "linear"])
def test_every_tick_of_a_difference_stands_on_both_sides(kind, top) -> None:
    labels = re.findall(r'%">([^<]+)<', difference_bar("x", ColourScale(kind, top)))
    mirrored = {"+": "−", "−": "+"}
    assert {mirrored[label[0]] + label[1:] for label in labels if label != "0"} == {
        label for label in labels if label != "0"
    }
    assert "0" in labels


def test_ledger_is_a_bar_and_the_same_numbers_as_text() -> None:
    text = ledger_bar([("height", 0.001), ("stop test", 0.06), ("leaf <counts>", 0.039)])
    shares = [float(s) for s in re.findall(r"flex-grow:([\d.]+)", text)]
    assert sum(shares) == pytest.approx(1, abs=1e-5)
    assert "<b>0.06</b> <span>60%</span>" in text
    assert "leaf &lt;counts&gt;" in text
    assert 'aria-label="Budget spent by stage: height 0.001, stop test 0.06' in text
    assert "Nothing" in ledger_bar([])
