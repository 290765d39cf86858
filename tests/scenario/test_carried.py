"""One workspace for several pages: what is carried to a page, and what comes back from it."""

from dataclasses import replace

from explorer.scenario import Scenario, carried, given_back
from explorer.scenario.parts import Choice

SHARED = Scenario(
    city="madeup",
    side=512,
    contribution_bound=5,
    mechanisms=[{"ug": {"c": 20.0}}],
    epsilon=0.37,
    seed=5,
    boxes=[(0, 0, 1000, 1000)],
)


def test_compare_takes_the_first_mechanism_and_has_its_own_second_and_sweep() -> None:
    own = Scenario(page="compare", mechanisms=["htf", "quadtree"], sweep={"seeds": 3}, title="Mine")
    there = carried(SHARED, "compare", own)
    assert there.mechanisms == (*SHARED.mechanisms, Choice("quadtree"))
    assert (there.city, there.side, there.epsilon, there.seed) == ("madeup", 512, 0.37, 5)
    assert there.boxes == SHARED.boxes
    assert there.sweep.seeds == 3
    assert there.title == ""


def test_what_is_carried_there_and_back_is_the_same() -> None:
    now = SHARED
    for page in ("compare", "learn", "federated", "explore"):
        there = carried(now, page)
        assert (there.page, there.epsilon, there.boxes) == (page, 0.37, SHARED.boxes)
        now = given_back(now, there, there)
        assert now == SHARED


def test_what_a_page_changes_comes_back_and_what_it_has_not_stays() -> None:
    there = carried(SHARED, "federated")
    assert there.contribution_bound == 0
    back = given_back(SHARED, there, replace(there, epsilon=2.0, boxes=()))
    assert (back.epsilon, back.boxes) == (2.0, ())
    assert (back.contribution_bound, back.mechanisms) == (5, SHARED.mechanisms)


def test_another_city_comes_with_all_that_belongs_to_it() -> None:
    there = carried(SHARED, "federated")
    back = given_back(SHARED, there, replace(there, city="houston", boxes=None))
    assert (back.city, back.contribution_bound, back.boxes) == ("houston", 0, None)


def test_own_data_give_back_their_settings_and_no_place() -> None:
    there = carried(SHARED, "explore")
    now = replace(there, epsilon=3.0, mechanisms=["ag"], boxes=None, side=1024)
    back = given_back(SHARED, there, now, place=False)
    assert (back.city, back.side, back.boxes) == ("madeup", 512, SHARED.boxes)
    assert (back.epsilon, back.mechanisms[0].key) == (3.0, "ag")
