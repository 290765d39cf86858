"""One workspace: what a page has the tab keep, and what it takes from another page."""

import json

import numpy as np
import pandas as pd
import panel as pn
import pytest

from explorer.app import Compare, Explore, Federated, Learn, Trips
from explorer.app.curator.own import OwnPoints
from explorer.app.curator.workspace import STAYED
from explorer.grid.grid import Grid
from explorer.points.points import read_points
from explorer.scenario import Scenario

BOXES = [(0.0, 0.0, 1000.0, 1500.0)]
SHARED = Scenario(side=256, mechanisms=["ug"], epsilon=0.37, seed=4, boxes=BOXES)


@pytest.fixture
def come(monkeypatch):
    """What gives the next page's address its arguments."""

    def arguments(**sent) -> None:
        texts = {
            n: [(s.to_link() if isinstance(s, Scenario) else s).encode()] for n, s in sent.items()
        }
        monkeypatch.setattr(type(pn.state), "session_args", property(lambda _self: texts))

    arguments()
    return arguments


def keep(page) -> dict:
    """What the tab is told to keep of the page as it stands."""
    page.scenarios.keep()
    (order,) = page.tab.view.objects
    return json.loads(order.value)["kept"]


def test_compare_begins_with_what_explore_had(come) -> None:
    come(**{"from": SHARED})
    page = Compare(side=256)
    assert [each.mechanism for each in page.state.sides] == ["ug", "mosaic"]
    assert (page.state.epsilon, page.state.seed) == (0.37, 4)
    np.testing.assert_allclose(page.rectangles.boxes, BOXES)


def test_a_change_on_compare_is_kept_for_explore_and_its_own_part_for_itself(come) -> None:
    come(**{"from": SHARED})
    page = Compare(side=256)
    page.state.put(epsilon=2.0)
    page.state.b.put(mechanism="quadtree")
    kept = keep(page)
    shared, own = Scenario.from_link(kept["shared"]), Scenario.from_link(kept["compare"])
    assert (shared.page, shared.epsilon) == ("explore", 2.0)
    assert [each.edges for each in shared.boxes] == BOXES
    assert [each.key for each in shared.mechanisms] == ["ug"]
    come(**{"from": SHARED, "s": own})
    again = Compare(side=256)
    assert [each.mechanism for each in again.state.sides] == ["ug", "quadtree"]
    assert again.state.epsilon == 0.37, "what is shared is the newest"


def test_a_link_that_was_opened_by_hand_is_all_there_is(come) -> None:
    come(s=Scenario(side=256, epsilon=5.0, seed=9))
    page = Explore("madeup", side=256, mechanism="uniform", epsilon=0.1)
    assert (page.state.epsilon, page.state.seed, page.state.mechanism) == (5.0, 9, "htf")
    assert Scenario.from_link(keep(page)["shared"]).epsilon == 5.0


def test_learn_takes_the_city_and_the_grid(come) -> None:
    come(**{"from": SHARED})
    page = Learn()
    assert page.state.place[:2] == ("madeup", 256)


def test_trips_take_no_notice(come) -> None:
    come(**{"from": SHARED})
    page = Trips()
    assert page.message.sentence == ""
    assert page.state.epsilon == 1.0


def test_federated_takes_what_it_has(come) -> None:
    come(**{"from": SHARED})
    page = Federated()
    assert (page.state.epsilon, page.state.seed, page.state.side) == (0.37, 4, 256)
    np.testing.assert_allclose(page.rectangles.boxes, BOXES)


@pytest.mark.parametrize("damaged", ["x", "a" * 40, "%00"])
def test_a_damaged_workspace_is_one_sentence(come, damaged) -> None:
    come(**{"from": damaged})
    page = Explore("madeup", side=256, mechanism="uniform")
    assert "damaged" in page.message.sentence
    assert page.state.mechanism == "uniform"


def test_of_own_points_only_settings_go_along_and_the_next_page_says_so(come) -> None:
    page = Explore("madeup", side=256, mechanism="uniform", epsilon=0.1)
    where = {"lon": [1.0, 1.001], "lat": [1.0, 1.0]}
    extent = Grid.around(1.0, 1.0, 2000.0, shape=2)
    page.upload.loaded(OwnPoints(read_points(pd.DataFrame(where)), "Secret points", extent))
    page.state.put(epsilon=0.7)
    kept = keep(page)
    assert "explore" not in kept
    shared = Scenario.from_link(kept["shared"])
    assert (shared.city, shared.epsilon, shared.boxes) == ("madeup", 0.7, None)
    assert "Secret" not in json.dumps([kept, shared.to_dict()])
    come(**{"from": shared, "left": "yes"})
    assert Compare(side=256).message.sentence == STAYED
    come(**{"from": shared})
    assert Compare(side=256).message.sentence == ""
