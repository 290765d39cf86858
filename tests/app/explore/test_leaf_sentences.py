"""What the inspector says of a choice of a cut, for every rule and every lack."""

from dataclasses import replace

import numpy as np
import pytest

from explorer.app.explore import leaf_sentences as say
from explorer.inspection import study_cut
from explorer.mechanisms import HTF
from tests.helpers import city


@pytest.fixture
def study():
    matrix = city((32, 40))
    return study_cut(matrix, HTF(epsilon=0.5).release(matrix, rng=2), 0)


def test_the_chosen_cut_the_best_the_candidates_and_their_noise(study) -> None:
    said = say.costs(study)
    for number in (study.chosen, study.best, len(study.positions), len(study.looked_at)):
        assert f" {number:,}" in said
    assert f"deviation {study.noise_sd:,.0f}" in said
    assert f"differ by {np.ptp(study.costs):,.0f}" in said


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rule": "middle"}, "looks at no cost"),
        ({"rule": "all cuts"}, "only its choice is released"),
        ({"kept": False}, "not kept in files"),
        ({"noise_sd": float("nan")}, "allows one cut"),
        ({"rule": "middle half", "allowed": (9, 30)}, "candidates from 9 to 30"),
    ],
)
def test_what_is_missing_is_said(study, change, words) -> None:
    assert words in say.costs(replace(study, **change))


def test_a_node_with_one_cut_has_no_best_of_many(study) -> None:
    one = replace(study, positions=np.array([study.chosen]), costs=np.array([4.0]))
    assert say.costs(one).endswith("no other cut, so nothing was looked at and nothing paid.")
