"""Polygons in an evaluation: a rectangle has the figures of its box, another shape its area's."""

from __future__ import annotations

import numpy as np
import pytest
import shapely

from explorer import QuadTree, exact
from explorer.evaluate import Workload, evaluate, metrics, workloads
from explorer.grid.range_queries import RangeQueries
from tests.helpers import city

MATRIX = city((32, 32), 4000)
ASKED = workloads(["random", "q4"], MATRIX.shape, n=50)


@pytest.mark.parametrize("mechanism", ["ug", "htf", "privlet", "quadtree"])
def test_a_rectangle_given_as_a_polygon_has_the_figures_of_the_box(mechanism):
    boxes = np.array([[1.25, 2.5, 20.75, 17.125], [0, 0, 8, 9], [-3, 4.5, 6, 11]])
    polygons = RangeQueries(boxes, shapely.box(*boxes.T))
    mixed = RangeQueries(boxes, [None, *shapely.box(*boxes[1:].T)])
    asked = {"boxes": boxes, "polygons": polygons, "mixed": mixed}
    # Among others, so that the rows of one workload are not those of another.
    own = [Workload.of(name, each, MATRIX.grid) for name, each in asked.items()]
    table = evaluate(MATRIX, [mechanism], [0.5], [ASKED[0], *own], [0, 1], jobs=1)
    values = table.pivot(index=["seed", "metric"], columns="workload", values="value")
    assert len(values) == 2 * len(metrics.names())
    for name in ("polygons", "mixed"):
        assert values[name].to_numpy() == pytest.approx(values["boxes"].to_numpy(), rel=1e-9)


def test_a_polygon_is_measured_by_its_area():
    triangle = shapely.Polygon([(2, 2), (14.5, 3), (6, 15)])
    asked = Workload.of("triangle", triangle, MATRIX.grid)
    table = evaluate(MATRIX, ["quadtree"], [0.5], [*ASKED, asked], [4], jobs=1)
    private = QuadTree(epsilon=0.5).release(MATRIX, rng=4).answer(triangle).value
    wanted = metrics.measure(exact(MATRIX, triangle), private, MATRIX.total)
    rows = table[table.workload == "triangle"]
    found = dict(zip(rows.metric, rows.value, strict=True))
    assert found == pytest.approx(wanted, rel=1e-9)
