"""Large arrays begin at a large page, small ones are numpy's; all are arrays like others."""

from __future__ import annotations

import pickle
import sys

import numpy as np
import pytest

from explorer.grid.aligned import aligned, roomy


def begin(array) -> int:
    return array.__array_interface__["data"][0]


@pytest.mark.parametrize("make", [aligned, roomy])
@pytest.mark.parametrize(
    ("shape", "dtype"), [(2**19, np.int64), ((700, 400, 2), np.int64), (2**21 + 5, np.int8)]
)
def test_a_large_array_begins_at_a_large_page(make, shape, dtype) -> None:
    found = make(shape, dtype)
    assert found.shape == (shape if isinstance(shape, tuple) else (shape,))
    assert found.dtype == dtype
    assert found.flags.c_contiguous
    assert found.flags.writeable
    if sys.platform == "linux":
        assert begin(found) % 2**21 == 0
    found[:] = 7
    # What is saved of it is the array, not the room around it.
    assert len(pickle.dumps(found)) < found.nbytes + 500


@pytest.mark.parametrize("shape", [0, 3, (0, 2), (5, 2), np.int64(4)])
def test_small_arrays_have_their_shape(shape) -> None:
    found = aligned(shape, np.float64)
    assert roomy(shape, np.int64).shape == found.shape == np.empty(shape).shape
    # An array of none has no first number: numpy lets it begin anywhere.
    assert not found.size or begin(found) % 64 == 0
