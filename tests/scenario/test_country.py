"""Scenarios of a country: there and back, refused in a sentence, and as a script that runs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from explorer import exact
from explorer.app.state.country import CountryState
from explorer.cities import countries
from explorer.country.mechanism import Country
from explorer.errors import InputError
from explorer.grid.areas.areas import Areas
from explorer.releases.answers import Z95
from explorer.scenario import Box, Choice, Scenario, code, to_python
from tests.app.country import land
from tests.scenario.frame import as_the_page_begins, cells_of, ids, refuses, run, there_and_back
from tests.scenarios import area_scenarios

UG = {"country": {"inside": "ug", "inside_settings": {"c": 5.0}, "own_share": 0.5}}


@pytest.fixture
def small(monkeypatch) -> None:
    """The country that comes with the package is a small one, with users."""
    made = countries.CountrySet(
        key=countries.MADE_UP,
        title="Small land",
        description="",
        source="",
        areas=lambda: Areas.read(land.frame(), land.LEVELS),
        points=land.places,
    )
    monkeypatch.setattr(countries, "_made_up", lambda: made)


@settings(max_examples=40)
@given(area_scenarios())
def test_it_comes_back_from_yaml_link_and_plain_values(one) -> None:
    there_and_back(one)


def test_what_is_left_out_is_that_of_the_page() -> None:
    one = as_the_page_begins("country", CountryState())
    assert (one.city, one.side) == (countries.MADE_UP, 500)
    assert one.boxes_on() == (), "no box lies in the middle of a country by itself"


def test_a_file_says_areas_settings_and_looks() -> None:
    one = Scenario(
        page="country",
        mechanisms=[UG],
        seed=None,
        boxes=[Box(0, 0, 1000, 1000.5, "Mine")],
        look={"level": 2, "area": ["West", "Vale"], "shows": "difference"},
    )
    assert (
        one.to_yaml()
        == """\
scenario: 1
page: country
city: nation
side: 500
mechanisms:
- country:
    inside: ug
    inside_settings:
      c: 5.0
    own_share: 0.5
epsilon: 0.1
release: true
boxes:
- name: Mine
  edges: [0, 0, 1000, 1000.5]
look:
  level: 2
  area:
  - West
  - Vale
  shows: difference
"""
    )
    inner = Country(epsilon=0.1, inside="ug", inside_settings={"c": 5.0}, own_share=0.5)
    assert repr(one.made()[0]) == repr(inner)
    assert Choice.read(inner) == one.mechanisms[0]
    assert Choice.read(Country()) == Choice("country")


BAD = [
    ({"side": 1024}, "grid side of a scenario is 1024: choose one of 250, 500, 1000, 2000"),
    ({"city": None}, "The city of the scenario is empty"),
    ({"places": "o,d"}, "Only a scenario of the page trips has places"),
    ({"mechanisms": ["htf"]}, "HTF is not for areas: choose one of country for the page country"),
    ({"mechanisms": ["country", "country"]}, "page country has one mechanism"),
    ({"page": "explore", "mechanisms": ["country"]}, "Country is not for maps"),
    ({"mechanisms": [{"country": {"inside": "gravity"}}]}, "Inside areas is 'gravity'"),
    ({"mechanisms": [{"country": {"inside": "ug", "inside_settings": {"T": 3}}}]}, "UG"),
    ({"mechanisms": [{"country": {"own_share": 2}}]}, "Own share is 2"),
    (
        {"mechanisms": [{"country": {"inside": "none", "inside_settings": {"T": [1]}}}]},
        "The setting T inside a mechanism of a scenario is a list: give a text or a number",
    ),
    ({"mechanisms": [{"country": {"inside_settings": 5}}]}, "Settings inside"),
    ({"lesson": "averaging"}, "Only a scenario of the page learn has a lesson"),
    ({"sweep": {"seeds": 3}}, "page country has no error curves: leave the sweep out"),
    ({"look": {"right": "difference"}}, "look of a scenario has an entry 'right' that is unknown"),
    ({"look": {"level": 21}}, "look 'level' of a scenario is 21: give a whole number from 0 to 20"),
    ({"look": {"area": "West"}}, "look 'area' of a scenario is 'West': give its names"),
    ({"look": {"area": ["West", 5]}}, "look 'area' of a scenario is ['West', 5]: give its names"),
    ({"look": {"area": [""]}}, "look 'area' of a scenario is"),
    ({"look": {"area": ["\ud800"]}}, "look 'area' of a scenario is"),
    ({"look": {"area": ["a"] * 21}}, "look 'area' of a scenario is"),
    ({"look": {"per": "cell"}}, "look 'per' of a scenario is 'cell'"),
    ({"boxes": [[[0, 0, 1, 1], "anywhere"]]}, "A box of the scenario has four edges"),
]


@pytest.mark.parametrize(("change", "said"), BAD, ids=ids(BAD))
def test_what_does_not_belong_together_is_one_sentence(change, said) -> None:
    refuses("country", change, said)


# Scripts and notebooks.


@pytest.mark.usefixtures("small")
def test_the_script_answers_about_the_area_and_the_boxes(capsys) -> None:
    boxes = [Box(-9000, -8000, 5000, 7000.5, "Town"), Box(0, 0, 3000, 3000, 'The "old" one')]
    one = Scenario(
        page="country",
        side=1000,
        mechanisms=[UG],
        epsilon=0.5,
        seed=4,
        boxes=boxes,
        look={"area": ["West", "Vale"]},
    )
    names = run(to_python(one))
    counts = Areas.read(land.frame(), land.LEVELS).count(land.places(), 1000.0)
    release = one.made()[0].release(counts, rng=4)
    private, _, sd = release.figures()
    node = counts.areas.paths.index(("West", "Vale"))
    assert names["node"] == node
    edges = [box.edges for box in boxes]
    np.testing.assert_array_equal(names["answers"].value, release.answer(edges).value)
    np.testing.assert_array_equal(names["true"], exact(counts.national(), edges))
    printed = capsys.readouterr().out.splitlines()
    assert "Preview" in printed[0]
    assert printed[1] == (
        f"West > Vale: private {private[node]:,.0f} (95 %: +-{Z95 * sd[node]:,.0f}), "
        f"truly {counts.by_node[node]:,}"
    )
    assert printed[2].startswith("Town: private ")
    assert len(printed) == 4


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(("area", "said"), [(None, "West > Vale > D11: "), ((), "Small land: ")])
def test_a_screen_without_boxes_tells_of_the_largest_area_or_the_whole(area, said, capsys) -> None:
    one = Scenario(page="country", side=1000, mechanisms=[UG], look={"area": area})
    text = to_python(one)
    assert "exact" not in text.replace("# Exact", "")
    run(text)
    assert capsys.readouterr().out.splitlines()[1].startswith(said)


@pytest.mark.usefixtures("small")
def test_the_script_says_what_is_counted_and_how_a_release_is_drawn() -> None:
    one = Scenario(page="country", contribution_bound=5, seed=None, mechanisms=[UG])
    text = to_python(one)
    assert text.startswith("# Country on Small land with epsilon 0.1\n")
    assert "areas.count(country.points(), 500, contribution_bound=5)" in text
    assert (
        'Country(epsilon=0.1, inside="ug", inside_settings={"c": 5.0}, own_share=0.5)'
        ".release(matrix, ledger=Ledger())" in text
    )
    assert "rng" not in text
    with pytest.raises(InputError, match="There is no country 'atlantis' here"):
        to_python(Scenario(page="country", city="atlantis"))


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("boxes", [None, [Box(0, 0, 3000, 3000, "Town")]])
def test_the_notebook_ends_with_the_page(boxes) -> None:
    one = Scenario(page="country", side=1000, mechanisms=[UG], boxes=boxes, title="A \\ title")
    cells, lines = cells_of(one)
    names = run("\n".join(cells))
    assert list(names["table"]["name"])[1:3] == ["West", "East"]
    assert ("answers" in names) == (boxes is not None)
    assert lines[-1] == "explorer.app.Country(scenario=scenario)"
    after = run("\n".join([*cells, *lines[:-1]]))
    assert after["scenario"] == one
    assert after["Country"] is Country, "the cells above can be run again"
    assert code.releases(one) == ["release"]
