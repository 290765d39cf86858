"""Workloads on trips: boxes of the reference, checked by their hashes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from explorer.evaluate.workloads import TRIP_NAMES, trip_workload
from explorer.papers.trip_bench import TripSets

SHAPES = {
    "sf:o,d:64": (64,) * 4, "sf:o,s2,d:64": (64,) * 6, "sf:o:1024": (1024,) * 2,
    "sf:o,d:1024": (1024,) * 4, "gauss:2:.05": (1000,) * 2, "gauss:3:.05": (100,) * 3,
    "gauss:6:.2": (10,) * 6,
}  # fmt: skip


def digest(boxes: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(boxes).tobytes()).hexdigest()[:16]


@pytest.mark.parametrize("key", SHAPES)
def test_boxes_that_need_no_trips_are_those_of_the_reference(
    key: str, reference_data: Callable[[str], Path]
) -> None:
    kept = json.loads(reference_data("trips/workloads.json").read_text())["rows"][key]["boxes"]
    for name in TRIP_NAMES:
        if not name.startswith("near"):
            boxes = trip_workload(name, SHAPES[key]).boxes
            assert boxes.dtype == np.int64
            assert digest(boxes) == kept[name]["sha"], name


@pytest.mark.parametrize("key", ["nyc:o,d:64", "san:o,d:64"])
def test_boxes_near_trips_are_those_of_the_reference(
    key: str, reference_data: Callable[[str], Path], real_data: Callable[[str], Path]
) -> None:
    kept = json.loads(reference_data("trips/workloads.json").read_text())["rows"][key]
    real_data("nyc_green_taxi_2013-08_raw.parquet"), real_data("santiago_taxi_od.parquet")
    found = TripSets().of(key)
    assert found.matrix.total == kept["N"]
    assert len(found.matrix.cells) == kept["occupied"]
    for each in found.workloads:
        assert digest(each.boxes) == kept["boxes"][each.name]["sha"], each.name
        assert found.truths[each.name].sum() == kept["boxes"][each.name]["truth_sum"], each.name


def test_boxes_lie_where_they_should() -> None:
    shape, cells = (7, 20, 1, 3), np.array([[0, 19, 0, 2], [3, 3, 0, 0]])
    for name in TRIP_NAMES:
        boxes = trip_workload(name, shape, cells, np.array([1, 5]), n=50).boxes
        assert boxes.shape == (50, 2, 4)
        assert np.all(boxes[:, 0] >= 0)
        assert np.all(boxes[:, 1] <= shape)
        assert np.all(boxes[:, 1] > boxes[:, 0])
    one = trip_workload("place", shape, n=50).boxes
    whole = np.all((one[:, 1] - one[:, 0] == shape).reshape(-1, 2, 2), axis=2)
    assert np.all(whole.any(axis=1))
    near = trip_workload("near25", shape, cells, np.array([1, 5]), n=50).boxes
    held = np.any(np.all((near[:, None, 0] <= cells) & (cells < near[:, None, 1]), axis=2), axis=1)
    assert held.all()
