"""Axes and other whole numbers that a plan gives for its regions: checked, and copied."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from explorer.releases.nodes import Ints


def each_of(values: ArrayLike, number: int, name: str) -> Ints:
    """A whole number for each of some regions, (number,), copied; one number represents all."""
    array = np.asarray(values)
    if array.dtype.kind not in "iu" or array.shape not in ((), (number,)):
        raise ValueError(f"give one whole {name} for each of the {number} regions, or one for all")
    result = np.empty(number, dtype=np.int64)
    result[:] = array
    return result


def each_axis(axis: ArrayLike, number: int, dimensions: int) -> Ints:
    """An axis for each of some regions, (number,), copied; 0 to dimensions - 1."""
    axes = each_of(axis, number, "axis")
    if axes.min(initial=0) < 0 or axes.max(initial=0) >= dimensions:
        raise no_such_axis(dimensions)
    return axes


def no_such_axis(dimensions: int) -> ValueError:
    """What is raised for an axis that a domain does not have."""
    return ValueError(f"the axes are 0 to {dimensions - 1}")


def one_axis(axis: int, dimensions: int) -> int:
    """One axis for all regions; a list of them would cut each region its own way."""
    if np.ndim(axis) != 0:
        raise ValueError("give one axis for all regions")
    return int(each_axis(axis, 1, dimensions)[0])
