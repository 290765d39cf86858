"""Each map has its bar, what is said twice is spoken once, and two bars never lie on each other."""

from explorer.app.kit.maps import MapBars
from explorer.views.markup import count_bar, difference_bar
from explorer.views.palette import PALETTES
from explorer.views.scale import ColourScale

COUNTS = count_bar("Points", ColourScale("log", 900.0), PALETTES["cividis"], "logarithmic")
ERRORS = difference_bar("Private − true", ColourScale("log", 900.0), "blue too few")


def bars(*texts: str) -> MapBars:
    made = MapBars(len(texts))
    for number, text in enumerate(texts):
        made.explain(number, text)
    return made


def spoken(made: MapBars) -> list[bool]:
    return ["role" in pane.object and "aria-hidden" not in pane.object[:25] for pane in made.panes]


def test_what_two_maps_have_in_common_is_shown_on_both_and_spoken_once() -> None:
    made = bars(COUNTS, COUNTS, ERRORS)
    assert all(COUNTS in pane.object for pane in made.panes[:2])
    assert spoken(made) == [True, False, True]


def test_a_bar_is_spoken_when_the_map_that_had_it_before_is_hidden() -> None:
    made = bars(COUNTS, COUNTS)
    made.arrange([False, True], swiped=False)
    assert spoken(made)[1]
    made.arrange([True, True], swiped=False)
    assert spoken(made) == [True, False]


def test_of_maps_in_one_place_different_bars_stand_apart_and_equal_ones_lie_on_each_other() -> None:
    made = bars(COUNTS, COUNTS)
    made.arrange([True, True], swiped=True)
    assert [pane.css_classes for pane in made.panes] == [[], []]
    made.explain(1, ERRORS)
    # Both stand on the upper map: it would cover what is on the lower one.
    first, second = (pane.object for pane in made.panes)
    assert first == ""
    assert COUNTS in second
    assert ERRORS in second
    made.arrange([True, True], swiped=False)
    assert [pane.object for pane in made.panes] == [COUNTS, ERRORS]
    assert [pane.css_classes for pane in made.panes] == [[], []]


def test_what_bars_cover_lies_in_the_corners_of_a_map_and_ends_with_it() -> None:
    made = bars(COUNTS, ERRORS)
    scale, bar = made.taken(452)
    assert scale[:2] == (0, 0)
    assert 0.4 * 452 < bar[0] < bar[2] == 452
    # Two bars in one frame have a half each.
    made.arrange([True, True], swiped=True)
    _, right, left = made.taken(452)
    assert left[2] <= 226 <= right[0]
    # Of a map that is too narrow for it the bar stands below.
    assert len(made.taken(200)) == 1
    assert made.taken(700, wide=True)[1][3] > made.taken(700)[1][3]
