"""Texts of files are made harmless, and small HTML pieces say their numbers as text."""

import itertools
import re

import pytest

from explorer.views.figures import legend
from explorer.views.markup import (
    CLIPPING,
    LEFT,
    NOISE,
    UNIFORMITY,
    budget_bar,
    count_bar,
    difference_bar,
    error_bar,
    error_key,
    figures_strip,
    ledger_bar,
    node_card,
    safe_text,
    swatches,
)
from explorer.views.palette import PALETTES
from explorer.views.scale import ColourScale
from explorer.views.tables import Cell, details, progress, table
from explorer.views.texts import prose

EVIL = "<evil> \"'"


@pytest.mark.parametrize(
    "evil",
    [
        '<img src=x onerror="alert(1)">',
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


def test_ordinary_names_stay_as_they_are_and_long_ones_are_cut() -> None:
    for name in ("Marks & Spencer", "São Paulo", "Île-de-France", "北京", "Q1", "100 % (a/b)"):
        assert safe_text(name) == name
    assert len(safe_text("x" * 10_000, 40)) == 40
    assert safe_text(None) == "None"


@pytest.mark.parametrize(
    "shown",
    [
        figures_strip([(EVIL, EVIL)]),
        count_bar(EVIL, ColourScale("log", 9.0), PALETTES["cividis"], EVIL),
        difference_bar(EVIL, ColourScale("log", 9.0), EVIL),
        ledger_bar([(EVIL, 0.5)]),
        budget_bar([(EVIL, 0.5)], 1.0),
        node_card(EVIL, EVIL, EVIL, [(EVIL, EVIL, EVIL)], [(EVIL, 1.0)], EVIL),
        swatches([("#fff", "colour")], EVIL),
        table(EVIL, [(EVIL, EVIL)], [[Cell(EVIL, EVIL)]]),
        progress(EVIL, 3, 10, EVIL),
        details(EVIL, ""),
        legend([("#123456", "dash", EVIL)]),
    ],
)
def test_texts_of_files_are_text(shown) -> None:
    assert "evil" in shown
    assert "<evil>" not in shown
    assert not re.search(r'="[^"]*evil[^"]*"\'', shown), "an attribute was closed"


def test_words_of_a_lesson_are_shown_and_never_executed() -> None:
    text = prose("**a** <script>x</script> [b](javascript:c) ![d](http://e/f)\n\n1. g")
    assert "<strong>a</strong>" in text
    assert "<li>g</li>" in text
    for harmful in ("<script", "<img", 'href="javascript'):
        assert harmful not in text


def ticks(text: str) -> dict[str, float]:
    found = re.findall(r'left:([\d.]+)%">([^<]+)<', text)
    return {tick: float(place) for place, tick in found}


def test_bars_of_colours_say_their_ticks_and_none_covers_another() -> None:
    text = count_bar("Points", ColourScale("log", 1200.0), PALETTES["cividis"], "logarithmic")
    assert 'aria-label="Points (logarithmic): colours for 0, 1, 10, 100, 1k"' in text
    places = list(ticks(count_bar("x", ColourScale("log", 1e9), PALETTES["cividis"])).values())
    assert places[0] == 0
    assert min(b - a for a, b in itertools.pairwise(places)) >= 6.5


@pytest.mark.parametrize("top", [2.0, 7.0, 1200.0, 1e9])
@pytest.mark.parametrize("kind", ["log", "linear"])
def test_a_bar_of_differences_is_symmetric_about_zero(kind, top) -> None:
    places = ticks(difference_bar("Private − true", ColourScale(kind, top)))
    assert places["0"] == pytest.approx(50, abs=0.3)
    for tick, place in places.items():
        if tick != "0":
            mirrored = tick.translate(str.maketrans("+−", "−+"))
            assert places[mirrored] + place == pytest.approx(100, abs=0.6)


def test_budgets_are_bars_and_the_same_numbers_as_text() -> None:
    def shares(text: str) -> list[float]:
        return [float(share) for share in re.findall(r"flex-grow:([\d.]+)", text)]

    text = ledger_bar([("height", 0.001), ("stop test", 0.06), ("counts", 0.039)])
    assert sum(shares(text)) == pytest.approx(1, abs=1e-5)
    assert "<b>0.06</b> <span>60%</span>" in text
    assert 'aria-label="Budget spent by stage: height 0.001, stop test 0.06' in text
    assert "Nothing" in ledger_bar([])
    bar = budget_bar([("height", 0.01), ("stop", 0.04), ("leaves", 0.0)], 0.1)
    assert shares(bar) == pytest.approx([0.1, 0.4, 0.5])
    assert "left <b>0.05</b>" in bar
    assert "0.05 of 0.1 spent so far" in bar
    # What is spent but for the last bit leaves nothing: there is no part for it.
    spent = budget_bar([("cells", 0.1 - 1e-13)], 0.1)
    assert shares(spent) == pytest.approx([1.0])
    assert spent.count(LEFT) == 1, "in the list below, not in the bar"


def test_progress_has_a_name_a_value_and_words() -> None:
    shown = progress("Progress", 3, 10, "3 of 10")
    assert 'aria-label="Progress"' in shown
    assert 'aria-valuemax="10" aria-valuenow="3" aria-valuetext="3 of 10"' in shown
    assert "width:30.0%" in shown
    assert 'aria-valuemax="1" aria-valuenow="0"' in progress("Progress", 0, 0, "")


# The bar of the parts of an error.


def rects(markup: str) -> dict[str, tuple[float, float]]:
    """Begin and end of each part, by colour: of its fill, or of its outline."""
    found = re.findall(r'<rect x="([\d.]+)" [^>]*?width="([\d.]+)" [^>]*?="(#\w+)"', markup)
    return {colour: (float(x), float(x) + float(width)) for x, width, colour in found}


def texts(markup: str) -> list[str]:
    return re.findall(r"</i>([^<]+)</span>", markup)


@pytest.mark.parametrize(
    ("errors", "words", "noise", "spread"),
    [
        ((-300.0, 100.0), ["−300", "+100"], (2, 50), (50, 66)),
        ((30.0, 10.0), ["+30", "+10"], (50, 86), (86, 98)),
        ((-30.0, -10.0), ["−30", "−10"], (14, 50), (2, 14)),
        ((0.0, -0.2), ["0", "0"], (50, 50), (50, 50)),
    ],
)
def test_parts_of_an_error_lie_on_their_side_of_zero(errors, words, noise, spread) -> None:
    markup = error_bar(*errors)
    assert texts(markup) == words
    parts = rects(markup)
    if any(round(each) for each in errors):
        assert (parts[NOISE], parts[UNIFORMITY]) == (pytest.approx(noise), pytest.approx(spread))


def test_clipping_is_a_third_part_where_there_is_a_bound() -> None:
    markup = error_bar(10.0, 20.0, -60.0)
    assert texts(markup) == ["+10", "+20", "−60"]
    parts = [rects(markup)[colour] for colour in (NOISE, UNIFORMITY, CLIPPING)]
    assert rounded(parts) == [(50, 58), (58, 74), (2, 50)]
    assert CLIPPING not in error_bar(10.0, 20.0) + error_key(clipping=False)
    for unknown in ((float("nan"), 1.0), (1.0, 2.0, float("nan"))):
        assert error_bar(*unknown) == '<div class="causes">…</div>'
    assert texts(error_bar(0.124, -0.001, -3.0, decimals=2)) == ["+0.12", "0.00", "−3.00"]


def rounded(parts: list[tuple[float, float]]) -> list[tuple[float, float]]:
    return [(round(a, 6), round(b, 6)) for a, b in parts]


def test_parts_of_an_error_are_told_apart_without_colours() -> None:
    plain = re.sub(r"#\w{6}", "#000000", error_bar(10.0, 10.0, 10.0))
    looks: dict[str, str] = {}
    for x, look in re.findall(r"<rect x=\"([\d.]+)\" ([^>]*)/>", plain):
        looks[x] = looks.get(x, "") + re.sub(r'width="[\d.]+"', "", look)
    assert len(looks) == len(set(looks.values())) == 3
