"""Releases are those of the versions before: trees, draws, answers and what they spent."""

from __future__ import annotations

import json

import numpy as np
import pytest

from explorer import Mechanism
from explorer.mechanisms import all_mechanisms
from tests.golden import kept
from tests.golden.cases import SMALL, Case, cases, matrix, settings
from tests.golden.measure import alike, differences, digest, golden, packed, unpacked

FOLDER = kept.NUMBERS / "releases"


def groups(large: bool = False) -> list[tuple[str, str]]:
    """Each mechanism with each of its pinned settings; what is newer than the values is not."""
    found = []
    for path in sorted((kept.NUMBERS / ("large" if large else "releases")).glob("*.json")):
        names = dict.fromkeys(key.rsplit(", ", 3)[0] for key in kept.read(path))
        found += [(path.stem, name.removeprefix(f"{path.stem}, ")) for name in names]
    return found


def changes(kind: str, name: str, large: bool = False) -> list[str]:
    """What is not as it was, in words."""
    pinned = kept.read(kept.NUMBERS / ("large" if large else "releases") / f"{kind}.json")
    before = {
        key: value for key, value in pinned.items() if key.rsplit(", ", 3)[0] == f"{kind}, {name}"
    }
    now: dict[str, Case] = {each.key: each for each in cases(kind, large) if each.name == name}
    assert before.keys() == now.keys(), "a pinned setting is gone"
    return [
        f"{key}: {change}"
        for key, case in now.items()
        for change in differences(before[key], json.loads(json.dumps(golden(case))))
    ]


def test_the_matrices_are_those_of_the_golden_values() -> None:
    assert {shape: digest(matrix(shape).counts) for shape in SMALL} == {
        (64, 64): "79290c7b2c8211f4",
        (48, 37): "eccd07c85f9dae6f",
        (1, 9): "c9c5047086c7a5c8",
    }


@pytest.mark.parametrize(("kind", "name"), groups())
def test_small_releases(kind: str, name: str) -> None:
    assert changes(kind, name) == []


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "name"), groups(large=True))
def test_large_releases(kind: str, name: str) -> None:
    assert changes(kind, name, large=True) == []


@pytest.mark.parametrize("kind", all_mechanisms().values())
def test_every_mechanism_and_every_option_is_pinned(kind: type[Mechanism]) -> None:
    pinned = kept.read(FOLDER / f"{kind.key}.json")
    missing = [each.key for each in cases(kind.key) if each.key not in pinned]
    assert missing == [], "add them: python -m tests.golden.make --numbers releases large"
    assert {} in list(settings(kind))


def test_a_change_of_any_value_is_seen() -> None:
    values = next(iter(kept.read(FOLDER / "kd-cell.json").values()))
    assert differences(values, values) == []
    for name in values:
        assert differences(values, {**values, name: packed(np.zeros(20))}), name
    for name in ("answers", "noise"):
        numbers = unpacked(values[name]).copy()
        numbers[7] += 3e-9 * abs(numbers).max()
        assert differences(values, {**values, name: packed(numbers)}) == [f"{name} moved"]
    assert [alike(1.0, 1.0 + off) for off in (3e-9, 3e-10)] == [False, True]
