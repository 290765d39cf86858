"""Scenarios of people who keep their places: there and back, refused, and as a script that runs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from explorer.app import Federated as Page
from explorer.app.state.federated import FederatedState
from explorer.cities.catalogue import cities
from explorer.errors import InputError
from explorer.federated.mechanism import Federated
from explorer.scenario import Box, Choice, Scenario, presets, to_python
from tests.app.federated import people
from tests.scenario.frame import as_the_page_begins, cells_of, ids, refuses, run, there_and_back
from tests.scenarios import people_scenarios

OTHER = {
    "federated": {
        "algorithm": "paper",
        "people": 20_000,
        "shard": 500,
        "dropped": 0.2,
        "corrupt": 0.1,
        "depth": 5,
        "c": 0.3,
        "b": 3.0,
        "k": 3.0,
        "sigma": "both rounds",
        "given_up": "closed",
    }
}


@pytest.fixture
def small_city(tmp_path, monkeypatch) -> None:
    """A town of people is a city of the catalogue."""
    people.put_into_catalogue(tmp_path, monkeypatch)


@settings(max_examples=40)
@given(people_scenarios())
def test_it_comes_back_from_yaml_link_and_plain_values(one) -> None:
    there_and_back(one)


def test_what_is_left_out_is_that_of_the_page() -> None:
    one = as_the_page_begins("federated", FederatedState())
    assert len(one.boxes_on(people.counts().grid)) == 2
    assert Choice.read(Federated()) == Choice("federated")


def test_a_file_says_how_people_are_asked_and_what_is_marked() -> None:
    one = Scenario(
        page="federated",
        contribution_bound=1,
        mechanisms=[{"federated": {"people": None, "shard": 500}}],
        seed=None,
        look={"right": "difference", "grey": False},
    )
    assert (
        one.to_yaml()
        == """\
scenario: 1
page: federated
city: madeup
side: 1024
contribution_bound: 1
mechanisms:
- federated:
    people: null
    shard: 500
epsilon: 1.0
release: true
look:
  right: difference
  grey: false
"""
    )
    assert repr(one.made()[0]) == repr(Federated(epsilon=1.0, people=None, shard=500))


def _federated(**settings) -> dict:
    return {"mechanisms": [{"federated": settings}]}


BAD = [
    ({"side": 64}, "grid side of a scenario is 64: choose one of 256"),
    ({"contribution_bound": 5}, "contribution bound of a scenario is 5: choose one of 0, 1"),
    ({"epsilon": 99}, "The epsilon of the scenario is 99"),
    ({"places": "o,d"}, "Only a scenario of the page trips has places"),
    ({"mechanisms": ["htf"]}, "HTF is not for people: choose one of federated"),
    ({"mechanisms": ["federated"] * 2}, "page federated has one mechanism"),
    ({"page": "explore", "mechanisms": ["federated"]}, "Federated is not for maps"),
    ({"page": "compare", "mechanisms": ["htf", "federated"]}, "Federated is not for maps"),
    (_federated(mode="masked"), "The setting mode of Federated is no choice of a screen"),
    (_federated(algorithm="best"), "Algorithm is 'best': choose one of people, mended"),
    (_federated(people=0), "People is 0: give a whole number"),
    (_federated(shard=1), "Shard is 1: give a whole number"),
    (_federated(dropped=2), "Dropped is 2: give a number, 0 to 0.9"),
    (_federated(corrupt=-1), "Corrupt is -1: give a number"),
    (_federated(depth=30), "Depth is 30: give a whole number, 1 to 11"),
    (_federated(c=0), "c is 0: give a number"),
    (_federated(b="much"), "b is 'much'"),
    (_federated(bits=0), "Bits is 0: give a whole number, 1 to 62"),
    (_federated(k=-1), "k is -1: give a number"),
    (_federated(sigma="all"), "Noise of the threshold is 'all': choose one of next round"),
    (_federated(rounds=3), "Federated has no parameter 'rounds'"),
    ({"sweep": {"seeds": 3}}, "page federated has no error curves: leave the sweep out"),
    ({"look": {"grey": "no"}}, "look 'grey' of a scenario is 'no': give true or false"),
    ({"look": {"scale_from": "data"}}, "look of a scenario has an entry 'scale_from'"),
    ({"page": "explore", "look": {"grey": True}}, "has an entry 'grey' that is unknown"),
]


@pytest.mark.parametrize(("change", "said"), BAD, ids=ids(BAD))
def test_what_does_not_belong_together_is_one_sentence(change, said) -> None:
    refuses("federated", change, said)


def test_the_presets_of_people_show_what_they_say() -> None:
    found = {key: each for key, each in presets().items() if each.page == "federated"}
    assert list(found) == ["10-nobody-sees-a-place", "11-algorithm-2-as-printed"]
    first, second = (each.made()[0] for each in found.values())
    assert repr(first) == repr(Federated(epsilon=1.0))
    assert second.algorithm == "paper"
    matrix = cities()["madeup"].load(1024)[1]
    people, printed = (each.with_(mode="summed").release(matrix, rng=1) for each in (first, second))
    assert len(people.heard) >= 4, "there are rounds to play"
    assert all(len(row.split) for row in people.heard[:-1])
    assert {people.paying, printed.paying} == {"once", "everyone"}
    assert (printed.facts["c"], printed.facts["b"]) == (0.1, 2.0)
    # "The same budget draws more": the ratio of squared errors is .6 in the build note.
    off = [float(np.sum((each.density() - matrix.counts) ** 2)) for each in (people, printed)]
    assert off[0] < 0.8 * off[1]


# Scripts and notebooks.


@pytest.mark.usefixtures("small_city")
def test_the_script_draws_the_preview_of_the_page(capsys) -> None:
    boxes = [Box(8, 9, 30, 30.5, "Town"), Box(0, 0, 3, 3, 'The "old" one')]
    one = Scenario(
        page="federated", city=people.KEY, side=256, mechanisms=[OTHER], epsilon=0.7, seed=4,
        boxes=boxes,
    )  # fmt: skip
    page = Page(scenario=one)
    names = run(to_python(page.scenarios.present()))
    shown = page.screen
    np.testing.assert_array_equal(names["release"].density(), shown.release.density())
    assert names["release"].parameters == shown.release.parameters
    assert names["answers"].value.tolist() == shown.answers.private.tolist()
    assert names["true"].tolist() == shown.answers.true.tolist()
    assert names["matrix"].key == page.parts.data.matrix.key
    printed = capsys.readouterr().out.splitlines()
    rounds = len(shown.release.heard)
    assert "Preview" in printed[0]
    assert printed[1] == "round 1: 20,000 people, 4 numbers each"
    assert printed[rounds + 1].startswith(f"Town: private {shown.answers.private[0]:,.1f} ")
    assert len(printed) == 1 + rounds + 2


def test_bits_that_somebody_chose_are_simulated_shard_by_shard() -> None:
    text = to_python(Scenario(page="federated", mechanisms=[{"federated": {"bits": 20}}]))
    assert "bits=20" in text
    assert "summed" not in text


def test_the_script_says_who_is_asked_and_how_a_release_is_drawn() -> None:
    one = Scenario(page="federated", seed=None, mechanisms=[OTHER])
    text = to_python(one)
    assert text.startswith("# Federated on Port Amber with epsilon 1\n")
    assert "city.load(1024)" in text
    assert 'Federated(epsilon=1.0, algorithm="paper", people=20000, shard=500' in text
    assert "release(matrix, ledger=Ledger())" in text
    usual = to_python(Scenario(page="federated", seed=None))
    assert "Federated(epsilon=1.0, people=100000)" in usual, "a default is no declaration"
    assert "rng" not in text
    assert "mode" not in text, "a release draws everybody's own share"
    with pytest.raises(InputError, match="There is no city 'atlantis' here"):
        to_python(Scenario(page="federated", city="atlantis"))


@pytest.mark.usefixtures("small_city")
def test_the_notebook_ends_with_the_page() -> None:
    one = Scenario(
        page="federated", city=people.KEY, side=256, mechanisms=[OTHER], title="A \\ title"
    )
    cells, lines = cells_of(one)
    names = run("\n".join(cells))
    assert len(names["answers"].value) == len(names["true"]) == 2
    assert cells[-1] == "release.rounds"
    assert lines[-1] == "explorer.app.Federated(scenario=scenario)"
    after = run("\n".join([*cells, *lines[:-1]]))
    assert after["scenario"] == one
    assert after["Federated"] is Federated, "the cells above can be run again"
