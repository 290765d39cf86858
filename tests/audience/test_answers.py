"""What is said of areas is what the release says, with its range, in numbers and in words."""

from __future__ import annotations

import html
import json
import re

import numpy as np
import pytest
import shapely

from explorer.audience import pages
from explorer.audience.answers import answered, described, place_of, queries_of
from explorer.audience.releases import ServedRelease
from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.grid.range_queries import RangeQueries
from explorer.mechanisms import mechanism
from explorer.points.matrix import FrequencyMatrix
from explorer.publish.published import Boxes
from explorer.releases.answers import Z95
from explorer.testing import towns
from tests.publish.folders import GRID, drawn, published

BOX = [-3000.0, -2000.0, 4000.0, 1000.0]
AREAS = [{"box": BOX}, {"shape": [[0, 0], [5000, 0], [0, 5000]]}, {"box": [12000, 0, 13000, 500]}]


def exhibit(release=None, key="a" * 10, **changes) -> ServedRelease:
    return ServedRelease(key, published(release, **changes), {})


def said(*exhibits, areas=AREAS):
    queries = queries_of(areas, exhibits[0].release.grid)
    return json.loads(answered(queries, exhibits))


@pytest.mark.parametrize("name", ["quadtree", "htf", "mosaic"])
def test_numbers_are_those_of_the_release(name) -> None:
    one = exhibit(drawn(name))
    rows = said(one)["maps"][one.key]
    answers = one.release.answer(queries_of(AREAS, GRID))
    low, high = answers.interval()
    for row, value, sd, a, b in zip(rows, answers.value, answers.sd, low, high, strict=True):
        found = [row[each] for each in ("value", "sd", "low", "high")]
        assert found == pytest.approx([value, sd, a, b], abs=1e-3)
        assert row["exact"] == answers.sd_exact
    assert "outside the map" in rows[2]["said"]


@pytest.mark.parametrize(
    ("value", "half", "words"),
    [
        (1000.0, 10.0, "precise: off by 1 % at most"),
        (1000.0, 1.0, "precise: off by less than 1 % at most"),
        (100.0, 30.0, "rough number: it may be off by 30 %"),
        (10.0, 9.0, "noise is about as large"),
        (-5.0, 9.0, "noise is about as large"),
    ],
)
def test_how_far_off_is_said_in_words(value, half, words) -> None:
    from explorer.audience.answers import range_in_words, size_in_words

    assert words in size_in_words(value, half)
    said = range_in_words(value, half, True).replace(",", "")
    low, high = re.findall(r"\d+", said)[:2]
    assert int(low) == max(round(value - half), 0)
    assert int(high) == round(value + half)


def test_a_difference_of_two_maps_has_the_noise_of_both() -> None:
    before, after = exhibit(), exhibit(drawn("htf", 2.0), "b" * 10)
    found = said(before, after)
    for row, (one, other) in enumerate(zip(*found["maps"].values(), strict=True)):
        difference = found["differences"][row]
        assert difference["value"] == pytest.approx(other["value"] - one["value"], abs=2e-3)
        half = Z95 * np.hypot(one["sd"], other["sd"])
        assert difference["high"] - difference["value"] == pytest.approx(half, abs=1e-2)
        alike = abs(difference["value"]) <= half
        assert ("Noise alone could" in difference["said"]) == alike


def test_a_map_with_another_projection_is_asked_about_the_same_place() -> None:
    shifted = Grid.around(-30.05, 40.02, "30km", shape=(32, 24))
    counts = FrequencyMatrix(towns(shifted.shape).counts, shifted)
    release = mechanism("quadtree")(epsilon=1.0).release(counts)
    first, other = exhibit(), exhibit(release, "b" * 10)
    value = said(first, other)["maps"][other.key][0]["value"]
    # Its four corners are four corners there, but for a few metres.
    lon, lat = GRID.to_lonlat(*shapely.get_coordinates(shapely.box(*BOX)).T)
    there = release.answer([shapely.Polygon(np.stack([lon, lat], 1))], crs=4326)
    assert value == pytest.approx(there.value[0], rel=1e-3)
    assert abs(value - release.answer([BOX]).value[0]) > 0.01 * abs(value)


@pytest.mark.parametrize("inside", ["uniform", "interpolated"])
def test_a_small_area_of_the_map_is_the_leaf_under_a_place(inside) -> None:
    one = exhibit(drawn("htf").spread(inside))
    boxes = one.release.boxes()
    for x, y in ((0.0, 0.0), (-9999.0, 9999.0), (9999.9, -10000.0)):
        leaf = place_of({"at": f"{x},{y}"}, one)
        x0, y0, x1, y1 = boxes[leaf]
        assert x0 <= x < x1
        assert y0 <= y < y1
    found = json.loads(described(one, leaf))
    assert found["leaf"] == leaf + 1
    assert found["box"] == boxes[leaf].tolist()
    value = one.release.counts[leaf]
    assert dict(found["facts"])["Records, with noise"] == f"{round(value):,}".replace("-", "−")
    assert "true" not in json.dumps(found).lower()


@pytest.mark.parametrize("at", ["10000,0", "0,-10001", "1e9,0", "nan,0", "", "1", "a,b"])
def test_a_place_beside_the_map_is_a_sentence(at) -> None:
    with pytest.raises(InputError):
        place_of({"at": at}, exhibit())


def test_a_publishers_own_areas_stand_on_the_page() -> None:
    triangle = shapely.Polygon([(0, 0), (5000, 0), (0, 5000)])
    hole = triangle.buffer(900).difference(triangle)
    shapes = [None, triangle, hole, shapely.Point(0, 0).buffer(900, 64)]
    edges = [each.bounds if each is not None else BOX for each in shapes]
    boxes = Boxes(RangeQueries(np.array(edges), shapes), ["Old <b>town", "T", "With a hole", "O"])
    one = exhibit(boxes=boxes)
    page = pages.map_page(one, [one]).decode()
    found = re.search(r'data-setting="([^"]+)"', page)
    assert found is not None
    assert json.loads(html.unescape(found[1]))["maps"][0]["own"] == [
        {"name": "Old ‹b›town", "box": BOX},
        {"name": "T", "shape": [[0, 0], [5000, 0], [0, 5000]]},
    ]
