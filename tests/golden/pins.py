"""Keys, draws and links as they are now: what other versions must find again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from explorer import FrequencyMatrix
from explorer.evaluate import plan, workloads
from explorer.privacy.curator import Curator
from explorer.privacy.noise import PreviewNoise, noise_source
from explorer.scenario import Scenario
from tests.golden.cases import placed
from tests.golden.screens import SCREENS, plain

UNITS = 10**12


def matrix_keys() -> dict[str, Any]:
    """The names of five data sets in the ledger, with their extents."""
    return {
        name: {"key": each.key, "bound": each.contribution_bound, "grid": each.grid.to_dict()}
        for name, each in placed().items()
    }


def task_keys() -> dict[str, Any]:
    """The names of finished runs in a store, of the present version of the software."""
    found = {}
    settings = ["mosaic", ("htf", {"stop_rule": "per epsilon"}), ("ug", {"grid_size": 9})]
    for name, each in placed().items():
        asked = workloads(["random", "sq2", "total"], each.shape)
        for task in plan(settings, [0.1, 1.0], seeds=[3]):
            found[f"{task.mechanism} {task.epsilon} on {name}"] = task.key(each, asked)
    return found


def preview(stages: Iterable[str]) -> dict[str, Any]:
    """Names of regions on their way from the root, and what each stage draws for them."""
    counts = np.arange(63).reshape(7, 9)
    curator = Curator(FrequencyMatrix.from_array(counts), 4 * UNITS, PreviewNoise(7))
    first = curator.open(UNITS)
    halves = first.split(1, np.array([5]))
    quarters = halves.select(np.array([True, False])).grid(np.array([2, 2]))
    cells = quarters.select(np.array([False, True, True, False])).grid(np.array([4, 3]))
    second = curator.open(UNITS).grid(np.array([3, 2]))
    regions = {"first": first, "halves": halves, "quarters": quarters, "cells": cells}
    regions["second pass"] = second
    found: dict[str, Any] = {
        f"keys of {name}": [f"{key:016x}" for key in each.keys.tolist()]
        for name, each in regions.items()
    }
    keys = np.concatenate([each.keys for each in regions.values()])
    units = np.resize(np.array([UNITS // 10, UNITS // 3, UNITS]), len(keys))
    values = np.arange(len(keys)) * 10
    for seed in (0, 7, 2**31 - 1):
        noise = PreviewNoise(seed)
        for stage in stages:
            drawn = noise.laplace(values, 3, units, keys, stage)
            found[f"seed {seed}, {stage}"] = drawn.tolist()
        among = np.arange(0, 5 * len(keys) + 1, 5)
        costs = np.resize(np.array([40, 9, 23, 11, 10]), among[-1])
        chosen = noise.lowest(costs, among, 2, units, keys, "split")
        found[f"seed {seed}, lowest"] = chosen.tolist()
        above = noise.above(values, 150, 2, units // 10, keys, "structure")
        found[f"seed {seed}, above"] = above.tolist()
    measured = curator.count(second, np.full(len(second), UNITS // 2), "a stage")
    found["counts of the second pass"] = measured.tolist()
    third = curator.open(UNITS)
    found["a cut"] = curator.cut(third, np.array([1]), UNITS // 4, "search", 2).tolist()
    found["a median"] = curator.median(third, np.array([0]), UNITS // 4).tolist()
    found["seed of a generator"] = [str(noise_source(np.random.default_rng(5)).seed)]
    return found


def links() -> dict[str, Any]:
    """Twenty links with what is in them."""
    found = {}
    for name in SCREENS:
        scenario = Scenario.from_dict(plain(name))
        found[name] = {"link": scenario.to_link(), "plain": scenario.to_dict()}
    return found
