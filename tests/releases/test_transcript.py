"""What a transcript makes of its draws."""

import numpy as np
import pytest

from explorer.releases.transcript import Measurement, Transcript


def transcript(*measurements: Measurement) -> Transcript:
    """A root with two children, the second with two of its own."""
    parent = np.array([-1, 0, 0, 2, 2])
    boxes, spent = np.zeros((5, 2), dtype=np.int64), np.zeros((5, 1), dtype=np.int64)
    leaf = np.array([False, True, False, True, True])
    return Transcript(boxes, boxes + 1, parent, leaf, ("a",), spent, measurements)


def measured(stage: str, ids: list[int], values: list[int], variances: list[float]) -> Measurement:
    return Measurement(stage, np.array(ids), np.array(values), np.array(variances))


def test_depth_counts_the_splits_above() -> None:
    assert transcript().depth.tolist() == [0, 1, 1, 2, 2]


def test_draws_of_one_node_are_averaged_by_precision() -> None:
    one = measured("a", [0, 1, 3], [10, 7, 5], [2.0, 2.0, 4.0])
    other = measured("b", [1, 4], [1, 8], [1.0, 0.0])
    value, precision = transcript(one, other).counts()
    assert precision[:4] == pytest.approx([0.5, 1.5, 0, 0.25])
    assert value == pytest.approx([10, (7 / 2 + 1) / 1.5, 0, 5, 8])
    value, precision = transcript(one, other).counts(["b"])
    assert value == pytest.approx([0, 1, 0, 0, 8])
    assert precision[[0, 2, 3]].tolist() == [0, 0, 0]


def test_reading_counts_leaves_the_record_alone() -> None:
    record = transcript(measured("a", [0, 1], [10, 7], [2.0, 2.0]))
    first, precision = record.counts()
    first[:], precision[:] = -1, -1
    assert record.counts()[0].tolist() == [10, 7, 0, 0, 0]
    assert record.measurements[0].values.tolist() == [10, 7]
