"""What every kind of scenario passes: there and back, refused in a sentence, scripts that run."""

from __future__ import annotations

import math

import numpy as np
import param
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer import exact
from explorer.app import Federated as PeoplePage
from explorer.app import Trips
from explorer.app.state import CompareState, CountryState, ExploreState, FederatedState, TripsState
from explorer.cities import countries, trip_sets
from explorer.country.mechanism import Country
from explorer.errors import InputError
from explorer.federated.mechanism import Federated
from explorer.grid.areas.areas import Areas
from explorer.grid.grid import Grid
from explorer.mechanisms import all_mechanisms
from explorer.points.truth import of_all_records
from explorer.releases.answers import Z95
from explorer.scenario import (
    Box,
    Choice,
    Row,
    Scenario,
    Sweep,
    code,
    example_boxes,
    presets,
    row_of,
    to_python,
)
from tests.app.country import land
from tests.app.federated import people
from tests.scenario.frame import as_the_page_begins, cells_of, ids, refuses, run, there_and_back
from tests.scenarios import area_scenarios, people_scenarios, scenarios, trip_scenarios

STATES = {
    "explore": ExploreState,
    "trips": TripsState,
    "country": CountryState,
    "federated": FederatedState,
}
#: A mechanism of each page but Explore, with settings, which is not the one that it begins with.
UG = {"country": {"inside": "ug", "inside_settings": {"c": 5.0}, "own_share": 0.5}}
PAPER = {
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
ROW = Row([(0, 0, 1000, 1000.5), None], "From here")


@pytest.fixture
def small_data(tmp_path, monkeypatch) -> None:
    """A town of people is a city, and the country that comes along is a small one, with users."""
    people.put_into_catalogue(tmp_path, monkeypatch)
    made = countries.CountrySet(
        key=countries.MADE_UP,
        title="Small land",
        description="",
        source="",
        areas=lambda: Areas.read(land.frame(), land.LEVELS),
        points=land.places,
    )
    monkeypatch.setattr(countries, "_made_up", lambda: made)


@settings(max_examples=160)
@given(st.one_of(scenarios(), trip_scenarios(), area_scenarios(), people_scenarios()))
def test_it_comes_back_from_yaml_link_and_plain_values(one) -> None:
    there_and_back(one)
    assert {made.epsilon for made in one.made()} == {one.epsilon}


@pytest.mark.parametrize("page", STATES)
def test_what_is_left_out_is_that_of_the_page(page) -> None:
    as_the_page_begins(page, STATES[page]())


def test_what_compare_leaves_out_is_that_of_the_app() -> None:
    state, sweep = CompareState(), Sweep()
    assert [made.key for made in Scenario(page="compare").made()] == ["htf", state.b.mechanism]
    assert list(sweep.mechanisms) == state.chosen
    for name, declared in Sweep.declared.items():
        if isinstance(declared, param.Selector):
            assert list(declared.objects) == state.param[name].objects
    for name in ("workload", "metric", "at", "seeds"):
        assert getattr(sweep, name) == getattr(state, name)


def test_every_mechanism_can_be_chosen_with_each_of_its_defaults() -> None:
    for key, kind in {**all_mechanisms(), **TripsState.offered()}.items():
        made = kind(epsilon=0.3)
        assert Choice.read(made) == Choice(key) == Choice(key, tuple(made.settings().items()))
    for made in (Federated(), Country()):
        assert Choice.read(made) == Choice(made.key)


FILES = {
    """\
page: trips
city: madeup
places: o,d
side: 64
mechanisms:
- gravity
epsilon: 1.0
release: true
boxes:
- name: From here
  edges:
  - [0, 0, 1000, 1000.5]
  - anywhere
look:
  spread: uniform
""": {"boxes": [ROW], "look": {"spread": "uniform"}},
    """\
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
""": {
        "contribution_bound": 1,
        "mechanisms": [{"federated": {"people": None, "shard": 500}}],
        "look": {"right": "difference", "grey": False},
    },
    """\
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
""": {
        "mechanisms": [UG],
        "boxes": [Box(0, 0, 1000, 1000.5, "Mine")],
        "look": {"level": 2, "area": ["West", "Vale"], "shows": "difference"},
    },
}


@pytest.mark.parametrize("text", FILES, ids=lambda text: text.split()[1])
def test_a_file_holds_what_is_not_the_default(text) -> None:
    one = Scenario(page=text.split()[1], seed=None, **FILES[text])
    assert one.to_yaml() == f"scenario: 1\n{text}"


def test_rows_of_trips_are_written_in_several_ways() -> None:
    text = """
    scenario: 1
    page: trips
    places: o,s1,d
    boxes:
      - [[0, 0, 9, 9], anywhere, [1, 1, 2, 2]]
      - {name: To, edges: [anywhere, null, [0, 0, 1_000, 9]]}
    """
    first, second = Scenario.from_yaml(text).boxes
    assert first == Row([Box(0, 0, 9, 9), None, Box(1, 1, 2, 2)])
    assert second == Row([None, None, (0, 0, 1000, 9)], "To")
    edges = np.array([[0, 0, 1000, 1000.5], [math.nan] * 4])
    assert row_of(edges, "From here") == ROW
    assert row_of(edges[0], "Q1") == Box(0, 0, 1000, 1000.5, "Q1")


def test_without_boxes_it_has_the_examples_of_the_page() -> None:
    grid = Grid.cells((100, 200))
    assert [box.edges for box in Scenario().boxes_on(grid)] == [
        (80, 45, 115, 57.5),
        (125, 60, 145, 70),
    ]
    grids = [Grid.cells(100)] * 3
    district, fringe = (40, 45, 57.5, 57.5), (62.5, 60, 72.5, 70)
    rows = (Row([district, None, district], "Q1"), Row([district, None, fringe], "Q2"))
    assert example_boxes(*grids) == Scenario(page="trips", places="o,s1,d").boxes_on(*grids) == rows
    assert len(Scenario(page="federated").boxes_on(people.counts().grid)) == 2
    assert Scenario(page="country").boxes_on() == ()
    assert Scenario(boxes=[]).boxes_on(grid) == ()


# Refused.


@pytest.mark.parametrize("page", ["trips", "country", "federated"])
def test_what_no_page_but_compare_learn_and_explore_has_is_refused(page) -> None:
    key = {"trips": "gravity"}.get(page, page)
    refuses(page, {"mechanisms": [key, key]}, f"page {page} has one mechanism")
    refuses(page, {"mechanisms": ["htf"]}, "HTF is not for ")
    refuses(page, {"sweep": {"seeds": 3}}, f"page {page} has no error curves")
    refuses(page, {"lesson": "averaging"}, "Only a scenario of the page learn has a lesson")
    refuses(page, {"side": 999}, "grid side of a scenario is 999: choose one of")
    refuses(page, {"look": {"colour": "x"}}, "look of a scenario has an entry 'colour'")
    refuses(page, {"look": None}, "The look of the scenario is empty")
    refuses(page, {"city": None}, "The city of the scenario is empty")
    refuses("explore", {"mechanisms": [key]}, "is not for maps")
    refuses("compare", {"mechanisms": ["htf", key]}, "is not for maps")
    if page != "trips":
        refuses(page, {"places": "o,d"}, "Only a scenario of the page trips has places")


def _country(**settings) -> dict:
    return {"mechanisms": [{"country": settings}]}


def _federated(**settings) -> dict:
    return {"mechanisms": [{"federated": settings}]}


BAD = [
    ("trips", {"places": "o"}, "The places are 'o': give two or more such as o,d or o,s1,d"),
    ("trips", {"places": "o,o"}, "The places are 'o,o': name each of them once"),
    ("trips", {"places": ["o", "d"]}, "The places are ['o', 'd']: give two or more"),
    ("trips", {"epsilon": None}, "The epsilon of the scenario is empty"),
    ("trips", {"look": {"spread": "even"}}, "look 'spread' of a scenario is 'even': choose one"),
    ("trips", {"look": {"partition": 1}}, "look 'partition' of a scenario is"),
    ("trips", {"boxes": [[0, 0, 1, 1]]}, "has a box for each of two or more places"),
    ("trips", {"boxes": [[[0, 0, 1], "anywhere"]]}, "has a box for each of two or more places"),
    ("trips", {"boxes": [[[0, 0, 1, 1], "here"]]}, "has a box for each of two or more places"),
    ("trips", {"boxes": [["anywhere", "anywhere"]]}, "needs a box for one of its places at least"),
    ("trips", {"boxes": [[[0, 0, 0, 1], "anywhere"]]}, "has no area"),
    ("trips", {"boxes": [[[0, 0, math.nan, 1], "anywhere"]]}, "eastern edge of a box of a"),
    ("trips", {"boxes": [{"edges": [[0, 0, 1, 1]] * 2, "to": 1}]}, "has an entry 'to'"),
    ("trips", {"places": "o,s1,d", "boxes": [[[0, 0, 1, 1]] * 2]}, "has 2 boxes and its trips"),
    ("trips", {"boxes": [[[0, 0, 1, 1]] * 2] * 201}, "has 201 boxes: give at most 200"),
    ("explore", {"boxes": [[[0, 0, 1, 1]] * 2]}, "A box of the scenario has four edges"),
    ("country", _country(inside="gravity"), "Inside areas is 'gravity'"),
    ("country", _country(inside="ug", inside_settings={"T": 3}), "UG"),
    ("country", _country(own_share=2), "Own share is 2"),
    ("country", _country(inside="none", inside_settings={"T": [1]}), "The setting T inside a"),
    ("country", _country(inside_settings=5), "Settings inside"),
    ("country", {"look": {"level": 21}}, "look 'level' of a scenario is 21: give a whole number"),
    ("country", {"look": {"area": "West"}}, "look 'area' of a scenario is 'West': give its names"),
    ("country", {"look": {"area": ["West", 5]}}, "look 'area' of a scenario is ['West', 5]"),
    ("country", {"look": {"area": ["\ud800"]}}, "look 'area' of a scenario is"),
    ("country", {"look": {"area": ["a"] * 21}}, "look 'area' of a scenario is"),
    ("country", {"boxes": [[[0, 0, 1, 1], "anywhere"]]}, "A box of the scenario has four edges"),
    ("federated", {"contribution_bound": 5}, "contribution bound of a scenario is 5: choose one"),
    ("federated", _federated(mode="masked"), "The setting mode of Federated is no choice of a"),
    ("federated", _federated(algorithm="best"), "Algorithm is 'best': choose one of people"),
    ("federated", _federated(people=0), "People is 0: give a whole number"),
    ("federated", _federated(dropped=2), "Dropped is 2: give a number, 0 to 0.9"),
    ("federated", _federated(b="much"), "b is 'much'"),
    ("federated", _federated(rounds=3), "Federated has no parameter 'rounds'"),
    ("federated", {"look": {"grey": "no"}}, "look 'grey' of a scenario is 'no': give true or"),
]


@pytest.mark.parametrize(
    ("page", "change", "sentence"), BAD, ids=ids([(change, said) for _, change, said in BAD])
)
def test_what_does_not_belong_together_is_one_sentence(page, change, sentence) -> None:
    refuses(page, change, sentence)


# Presets.


def test_the_presets_of_trips_show_what_they_say() -> None:
    found = presets()
    of_trips = [each for each in found.values() if each.page == "trips"]
    for row in of_trips[0].boxes_on(
        *trip_sets.find("madeup").domain(of_trips[0].places.split(","), of_trips[0].side).grids
    ):
        assert any(row.boxes)
    names = run(to_python(found["09-even-inside-leaves"]))
    even, true = names["answers"].value, names["true"]
    by_maps = names["release"].spread("maps").answer(names["boxes"]).value
    assert (np.abs(by_maps - true) < np.abs(even - true)).all()


# Scripts and notebooks.


@pytest.fixture(scope="module")
def trips_page() -> Trips:
    return Trips(side=16, mechanism="uniform")


@pytest.mark.parametrize(
    "screen",
    [
        {"mechanisms": [{"gravity": {"zones": 4, "inference": "leaves"}}]},
        {"mechanisms": ["eug"], "boxes": None, "look": {"spread": "uniform"}},
        {
            "places": "o,s1,d",
            "mechanisms": ["daf-entropy"],
            "contribution_bound": 2,
            "boxes": [[None, (-900, -900, 1200.5, 800), None]],
        },
    ],
    ids=["gravity", "examples", "people, a stop"],
)
def test_the_script_of_trips_answers_as_the_page_does(screen, trips_page, capsys) -> None:
    page, boxes = trips_page, [ROW, [(-3000, -2000, 250.125, 999), (-1500, 0, 4000, 7000)]]
    page.scenarios.open(Scenario(page="trips", side=16, **{"boxes": boxes, **screen}))
    shown = page.screen.answers
    names = run(to_python(page.scenarios.present()))
    matrix, persons = names["matrix"], names["matrix"].unit != "point"
    every = of_all_records(matrix)
    whole = 100.0 * every.lattice / every.total if persons else 1.0
    assert (names["answers"].value * shown.scale).tolist() == shown.private.tolist()
    assert (names["answers"].sd * shown.scale).tolist() == shown.sd.tolist()
    assert (names["true"] * whole).tolist() == shown.true.tolist()
    assert names["matrix"].key == page.parts.data.matrix.key
    printed = capsys.readouterr().out.splitlines()
    digits = ",.2f" if persons else ",.1f"
    first = f"{page.rectangles.names[0]}: private {format(shown.private[0], digits)} "
    assert printed[1].startswith(first)


@pytest.mark.usefixtures("small_data")
def test_the_script_of_people_draws_the_preview_of_the_page(capsys) -> None:
    boxes = [Box(8, 9, 30, 30.5, "Town"), Box(0, 0, 3, 3, 'The "old" one')]
    one = Scenario(
        page="federated", city=people.KEY, side=256, mechanisms=[PAPER], epsilon=0.7, seed=4,
        boxes=boxes,
    )  # fmt: skip
    page = PeoplePage(scenario=one)
    names = run(to_python(page.scenarios.present()))
    shown = page.screen
    np.testing.assert_array_equal(names["release"].density(), shown.release.density())
    assert names["answers"].value.tolist() == shown.answers.private.tolist()
    assert names["true"].tolist() == shown.answers.true.tolist()
    printed = capsys.readouterr().out.splitlines()
    assert printed[1] == "round 1: 20,000 people, 4 numbers each"
    assert len(printed) == 1 + len(shown.release.heard) + 2
    # Bits that somebody chose are simulated shard by shard, and so is a release.
    assert "summed" in to_python(one)
    for settings_, seed in (({"bits": 20}, 1), ({}, None)):
        made = [{"federated": settings_}]
        assert "summed" not in to_python(Scenario(page="federated", seed=seed, mechanisms=made))


@pytest.mark.usefixtures("small_data")
def test_the_script_of_a_country_answers_about_the_area_and_the_boxes(capsys) -> None:
    boxes = [Box(-9000, -8000, 5000, 7000.5, "Town"), Box(0, 0, 3000, 3000, 'The "old" one')]
    common = {"page": "country", "side": 1000, "mechanisms": [UG], "epsilon": 0.5, "seed": 4}
    one = Scenario(**common, boxes=boxes, look={"area": ["West", "Vale"]})
    names = run(to_python(one))
    counts = Areas.read(land.frame(), land.LEVELS).count(land.places(), 1000.0)
    release = one.made()[0].release(counts, rng=4)
    private, _, sd = release.figures()
    node = counts.areas.paths.index(("West", "Vale"))
    edges = [box.edges for box in boxes]
    np.testing.assert_array_equal(names["answers"].value, release.answer(edges).value)
    np.testing.assert_array_equal(names["true"], exact(counts.national(), edges))
    printed = capsys.readouterr().out.splitlines()
    assert printed[1] == (
        f"West > Vale: private {private[node]:,.0f} (95 %: +-{Z95 * sd[node]:,.0f}), "
        f"truly {counts.by_node[node]:,}"
    )
    assert printed[2].startswith("Town: private ")
    for area, name in ((None, "West > Vale > D11: "), ((), "Small land: ")):
        run(to_python(Scenario(**common, look={"area": area})))
        assert capsys.readouterr().out.splitlines()[1].startswith(name)


@pytest.mark.usefixtures("small_data")
@pytest.mark.parametrize(
    ("page", "choices", "texts"),
    [
        ("explore", {}, ["city.load(1024)"]),
        ("trips", {"contribution_bound": 5, "boxes": [ROW]}, ["contribution_bound=5"]),
        (
            "country",
            {"contribution_bound": 5, "mechanisms": [UG]},
            [
                "areas.count(country.points(), 500, contribution_bound=5)",
                'Country(epsilon=0.1, inside="ug", inside_settings={"c": 5.0}, own_share=0.5)',
            ],
        ),
        (
            "federated",
            {"mechanisms": [PAPER]},
            ['Federated(epsilon=1.0, algorithm="paper", people=20000, shard=500'],
        ),
    ],
)
def test_the_script_of_a_release_draws_with_the_ledger_and_without_a_seed(
    page, choices, texts
) -> None:
    text = to_python(Scenario(page=page, seed=None, **choices))
    for part in (*texts, "release(matrix, ledger=Ledger())"):
        assert part in text
    assert "rng" not in text
    with pytest.raises(InputError, match=r"There (is|are) no \w+ 'atlantis' here"):
        to_python(Scenario(page=page, city="atlantis"))


@pytest.mark.usefixtures("small_data")
@pytest.mark.parametrize(
    ("page", "choices", "last"),
    [
        ("explore", {"side": 256, "mechanisms": ["htf"]}, "Explore(scenario=scenario)"),
        ("trips", {"side": 16, "mechanisms": ["uniform"], "boxes": [ROW]}, "Trips(scenario"),
        ("country", {"side": 1000, "mechanisms": [UG]}, "explorer.app.Country(scenario"),
        (
            "country",
            {"side": 1000, "mechanisms": [UG], "boxes": [Box(0, 0, 3000, 3000, "Town")]},
            "explorer.app.Country(scenario",
        ),
        (
            "federated",
            {"city": people.KEY, "side": 256, "mechanisms": [PAPER]},
            "explorer.app.Federated(scenario",
        ),
    ],
)
def test_the_notebook_runs_and_ends_with_the_page(page, choices, last) -> None:
    one = Scenario(page=page, title="A \\ title", **choices)
    cells, lines = cells_of(one)
    names = run("\n".join(cells))
    assert ("answers" in names) == (page != "country" or one.boxes is not None)
    assert lines[-1].startswith(last)
    after = run("\n".join([*cells, *lines[:-1]]))
    assert after["scenario"] == one
    assert code.releases(one) == ["release"]
