"""Areas in colours: rings as a browser takes them, geometry sent once, colours alone after that."""

from __future__ import annotations

import numpy as np
import shapely
from bokeh.document import Document
from bokeh.document.events import ColumnDataChangedEvent
from bokeh.models import Range1d

from explorer.views.choropleth import AreaNumbers, Choropleth, Outlined, Shapes
from explorer.views.figures import ground

HOLED = shapely.Polygon([(0, 0), (4, 0), (4, 4), (0, 4)], [[(1, 1), (2, 1), (2, 2), (1, 2)]])
PARTS = shapely.MultiPolygon([shapely.box(5, 0, 6, 1), shapely.box(5, 2, 6, 3)])
SHAPES = np.array([HOLED, PARTS, shapely.box(1, 1, 2, 2)], dtype=object)


def numbers(value) -> AreaNumbers:
    nothing = np.zeros(len(value))
    names = [f"A{i}" for i in range(len(value))]
    return AreaNumbers(np.array(value, np.uint8), names, nothing, nothing, nothing)


def drawn() -> Choropleth:
    fig = ground(Range1d(0, 6), Range1d(0, 4), "Areas", side=100)
    shown = Choropleth(fig, print)
    Document().add_root(fig)
    return shown


def test_parts_and_holes_keep_their_rings() -> None:
    shapes = Shapes.of(SHAPES)
    assert [[len(part) for part in area] for area in shapes.xs] == [[2], [1, 1], [1]]
    np.testing.assert_array_equal(shapes.xs[0][0][0], [0, 4, 4, 0, 0])
    np.testing.assert_array_equal(shapes.ys[0][0][1], [1, 1, 2, 2, 1])
    assert shapes.bounds.tolist()[1] == [5, 0, 6, 3]
    # Every area back from its rings is the area.
    for area, xs, ys in zip(SHAPES, shapes.xs, shapes.ys, strict=True):
        parts = [
            shapely.Polygon(*[(rings[0]), rings[1:]])
            for rings in (
                [np.column_stack(ring) for ring in zip(*part, strict=True)]
                for part in zip(xs, ys, strict=True)
            )
        ]
        assert shapely.union_all(parts).equals(area)


def test_a_place_is_in_one_area_or_in_none() -> None:
    outlined = Outlined(Shapes.of(SHAPES), np.array([0, 1]))
    assert outlined.at(3, 3) == 0
    assert outlined.at(5.5, 2.5) == 1
    assert outlined.at(1.5, 1.5) is None, "a hole"
    assert outlined.at(5.5, 1.5) is None


def test_a_change_of_colours_sends_colours_alone() -> None:
    shown = drawn()
    outlined = Outlined(Shapes.of(SHAPES), np.array([0, 1]))
    shown.show(outlined, numbers([3, 200]))
    assert len(shown.source.data["xs"]) == 2
    sent: list[str] = []

    def note(event) -> None:
        if isinstance(event, ColumnDataChangedEvent):
            sent.extend(event.cols or shown.source.data)

    shown.source.document.on_change(note)
    shown.show(outlined, numbers([9, 9]))
    assert sent == ["value"]
    shown.show(outlined, numbers([9, 9]))
    assert sent == ["value"], "what is the same is not sent"
    shown.show(Outlined(outlined.shapes, np.array([2])), numbers([1]))
    assert "xs" in sent
    assert len(shown.source.data["value"]) == 1


def test_finer_outlines_take_the_place_of_some_and_the_chosen_area_has_its_own() -> None:
    coarse = Shapes.of(SHAPES)
    both = coarse.with_finer(Shapes.of(shapely.segmentize(SHAPES, 0.5)), np.array([1]))
    assert len(both.xs[1][0][0]) > len(coarse.xs[1][0][0]) == 5
    assert both.xs[0] is coarse.xs[0]
    assert coarse.near((4.5, 0, 5.5, 0.5)).tolist() == [1]
    border = drawn().chosen
    border.show(coarse, 1)
    assert len(border.source.data["xs"][0]) == 2
