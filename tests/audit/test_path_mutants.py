"""Bugs on the ways of people's releases: each is found by what one default run does."""

from __future__ import annotations

import re

import pytest

from tests.audit.path_mutants import LATEST, PATH_MUTANTS, Found
from tests.audit.planting import BROKEN, Plant, planted

pytestmark = pytest.mark.audit


@pytest.mark.parametrize(
    ("find", "plants"), [pytest.param(*rest, id=name) for _, name, *rest in PATH_MUTANTS]
)
@pytest.mark.planted
def test_every_class_is_found_in_a_default_run(find: Found, plants: list[Plant]) -> None:
    LATEST.clear()
    with planted(*plants):
        fault = find()
    assert fault is not None
    assert not re.search(BROKEN, fault), "the bug itself does not run"


@pytest.mark.parametrize("find", dict.fromkeys(find for _, _, find, _ in PATH_MUTANTS))
@pytest.mark.planted
def test_without_them_nothing_is_found(find: Found) -> None:
    assert find() is None
