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


def test_draws_in_their_order_are_read_as_those_in_any_other() -> None:
    """To the last bit: nodes that are drawn once need no sums."""
    rng = np.random.default_rng(1)
    number, leaf = 500, np.ones(500, dtype=bool)
    parent = np.r_[-1, np.zeros(number - 1, dtype=np.int64)]
    boxes, spent = np.zeros((number, 2), dtype=np.int64), np.zeros((number, 1), dtype=np.int64)
    where = (
        np.arange(3, 40),
        np.array([40]),
        np.arange(60, 200, 3),
        np.arange(201, 400),
        np.arange(0),
    )
    each = rng.choice([0.1, 0.3, 0.0], 199)
    alike = [
        np.broadcast_to(np.array([one]), len(ids))
        for one, ids in zip([0.7, 3.1, 1 / 3], where, strict=False)
    ]
    draws = [
        Measurement("a", ids, rng.integers(-90, 90, len(ids)), variances)
        for ids, variances in zip(where, [*alike, each, np.empty(0)], strict=True)
    ]
    made = [
        Transcript(boxes, boxes + 1, parent, leaf, ("a",), spent, tuple(order)).counts()
        for order in (draws, draws[::-1])
    ]
    for one, other in zip(*made, strict=True):
        assert one.tobytes() == other.tobytes()
    assert np.count_nonzero(made[0][1]) == 37 + 1 + 47 + 199


def test_reading_counts_leaves_the_record_alone() -> None:
    record = transcript(measured("a", [0, 1], [10, 7], [2.0, 2.0]))
    first, precision = record.counts()
    first[:], precision[:] = -1, -1
    assert record.counts()[0].tolist() == [10, 7, 0, 0, 0]
    assert record.measurements[0].values.tolist() == [10, 7]
