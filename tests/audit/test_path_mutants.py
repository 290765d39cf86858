"""Bugs on the ways of people's releases: each is found by what one default run does."""

from __future__ import annotations

import re

import pytest

from tests.audit.other_mutants import OTHER_MUTANTS
from tests.audit.path_mutants import BROKEN, PATH_MUTANTS, PathMutant

pytestmark = pytest.mark.audit
ALL = [*PATH_MUTANTS, *OTHER_MUTANTS]


@pytest.mark.parametrize("mutant", ALL, ids=lambda mutant: mutant.name)
@pytest.mark.planted
def test_every_class_is_found_in_a_default_run(mutant: PathMutant) -> None:
    with mutant.around():
        fault = mutant.found()
    assert fault is not None
    assert not re.search(BROKEN, fault), "the bug itself does not run"


def test_all_seven_classes_have_a_bug() -> None:
    kinds = {mutant.kind for mutant in ALL}
    assert kinds == {"chunks", "mixed", "large", "attributes", "files", "constants", "units"}


@pytest.mark.parametrize("found", dict.fromkeys(each.found for each in ALL))
@pytest.mark.planted
def test_without_them_nothing_is_found(found) -> None:
    assert found() is None
