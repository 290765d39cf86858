"""Stories on a page: back and next, notes that are not sent, a story made of screens, the shelf."""

from __future__ import annotations

import html
import json
import re
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pandas as pd
import panel as pn
import pytest

from explorer.app import Compare, Explore, Federated, Learn
from explorer.app.curator import stories as story_panels
from explorer.app.curator.own import OwnPoints
from explorer.app.curator.scenarios import STAYED
from explorer.app.curator.stories import SHELF, StoryShelf
from explorer.app.pages import PAGES
from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.points.points import read_points
from explorer.scenario import Scenario, Step, Story
from explorer.teaching.lessons import TOUR, stories
from tests.app import press
from tests.app.press import put_into_address

TWO = Story(
    [
        Step("First <b>text</b>.", Scenario(side=256, epsilon=0.5), notes="For me alone."),
        Step("Second.", Scenario(side=256, epsilon=2.0, mechanisms=["ug"]), ask="And now?"),
        Step("Stay.", notes="Wait."),
    ],
    title="Mine",
)


@pytest.fixture
def explore() -> Explore:
    return Explore(side=256)


def bar(page) -> str:
    """The words in the bar; none where there is no bar."""
    view = page.story.view
    if not view.visible:
        return ""
    shown = " ".join(str(each.object) for each in view.select(pn.pane.HTML))
    return html.unescape(re.sub(r"<[^>]*>", " ", shown))


def hidden(part):
    """The fields through which a part of a page speaks to the browser."""
    return part.view.select(pn.widgets.TextInput)


def told(page) -> str:
    """What the bar last told the browser."""
    return str(hidden(page.story)[0].value)


def test_next_and_back_change_the_screen(explore) -> None:
    assert bar(explore) == ""
    explore.story.open(TWO)
    assert explore.state.epsilon == 0.5
    assert "Mine · 1 of 3" in bar(explore)
    assert "<b>text" not in str(explore.story.text.object), "texts are words, never markup"
    model = explore.story.view.get_root()
    sent = " ".join(str(getattr(each, "text", "")) for each in model.references())
    assert "First" in sent
    assert "For me alone" not in sent, "notes are sent only when they are asked for"
    press.put(explore.story, "Notes", True)
    assert "For me alone." in bar(explore)
    press.put(explore.story, "Notes", False)
    press.press(explore.story, "Next")
    assert (explore.state.epsilon, explore.state.mechanism) == (2.0, "ug")
    assert "And now?" in bar(explore)
    press.press(explore.story, "Next")
    assert "3 of 3" in bar(explore)
    assert explore.state.epsilon == 2.0, "a step without a screen leaves it as it is"
    assert press.find(explore.story, "Next").disabled
    explore.state.put(epsilon=3.0)
    press.press(explore.story, "Back")
    press.press(explore.story, "Back")
    assert explore.state.epsilon == 0.5
    press.press(explore.story, "End the story")
    assert bar(explore) == ""
    assert explore.state.epsilon == 0.5


def test_a_story_is_made_of_screens_saved_and_opened_again(explore) -> None:
    explore.scenarios.section.active = [0]
    press.press(explore, "Add this screen to the story")
    assert "Say first" in press.text(explore)
    explore.state.put(epsilon=0.7)
    press.put(explore, "What this screen shows", "Seven tenths")
    press.put(explore, "Notes for the presenter", "Slowly.")
    press.press(explore, "Add this screen to the story")
    explore.state.put(epsilon=0.2, mechanism="ag")
    press.put(explore, "What this screen shows", "Two tenths")
    press.put(explore, "What to ask", "Better?")
    press.press(explore, "Add this screen to the story")
    data = press.download(explore, "Save story")
    made = Story.from_yaml(data)
    assert [each.text for each in made.steps] == ["Seven tenths", "Two tenths"]
    assert [each.screen.epsilon for each in made.steps] == [0.7, 0.2]
    other = Explore(side=256)
    other.scenarios.section.active = [0]
    other.scenarios.file.value = b"story: 1\nsteps:\n- text: a\n  screen: {scenario: 1, page: x}"
    assert "Step 1 of the story" in other.message.sentence
    assert bar(other) == ""
    other.scenarios.file.value = data
    assert other.state.epsilon == 0.7
    assert "1 of 2" in bar(other)
    press.press(other.story, "Next")
    assert other.state.mechanism == "ag"
    assert "Better?" in bar(other)


def test_every_step_that_comes_along_loads_on_its_page() -> None:
    links = PAGES
    shown = {each.KEY: each(side=256, links=links) for each in (Explore, Compare)}
    shown["learn"] = Learn(links=links)
    explore = shown["explore"]
    explore.scenarios.section.active = [0]
    press.press(explore, "Take the tour")
    assert "A tour in five steps · 1 of 5" in bar(explore)
    press.press(explore.story, "End the story")
    for story in stories().values():
        for step in story.steps:
            assert step.notes
            if step.screen is not None:
                page = shown[step.screen.page]
                page.message.close()
                page.take_screen(step.screen)
                assert page.message.sentence == ""
                if step.screen.lesson:
                    assert page.card.lesson.key == step.screen.lesson
                else:
                    assert page.scenarios.present().mechanisms == step.screen.mechanisms


def test_a_step_on_another_page_leads_there_and_goes_on() -> None:
    away = Story([Step("Here.", Scenario(side=256)), Step("There.", Scenario(page="compare"))])
    page = Explore(side=256, links=PAGES)
    page.story.open(away)
    press.press(page.story, "Next")
    assert '"act": "go"' in told(page)
    where = re.search(r'"where": "([^"]*)"', told(page))[1]
    query = parse_qs(urlsplit(where).query)
    assert where.startswith("./compare?")
    assert Scenario.from_link(query["s"][0]).page == "compare"
    assert SHELF.find(query["story"][0]) == away
    assert query["step"] == ["2"]
    # Alone, as in a notebook, there is no other page.
    alone = Explore(side=256)
    alone.story.open(away)
    press.press(alone.story, "Next")
    assert "page compare" in alone.message.sentence
    assert "1 of 2" in bar(alone)


def test_an_address_goes_on_where_the_story_was(monkeypatch) -> None:
    given = {"story": [SHELF.put(TWO).encode()], "step": [b"2"]}
    monkeypatch.setattr(type(pn.state), "session_args", property(lambda _self: given))
    page = Explore(side=256)
    assert "2 of 3" in bar(page)
    assert page.state.epsilon == 2.0
    # With a screen in the address, that is what is shown.
    given["s"] = [Scenario(side=256, epsilon=1.25).to_link().encode()]
    page = Explore(side=256)
    assert "2 of 3" in bar(page)
    assert page.state.epsilon == 1.25
    for step in (b"99", b"-1", b"x", b"9" * 5000):
        given["step"] = [step]
        assert "of 3" in bar(Explore(side=256))
    given["story"] = [b"nobody-knows"]
    page = Explore(side=256)
    assert "not on the server any more" in page.message.sentence


def test_a_lesson_is_a_step_and_its_address_opens_it_there(monkeypatch) -> None:
    at = Scenario(page="learn", lesson="04_threshold", lesson_step=3, side=512)
    page = Explore(side=256, links=PAGES)
    page.story.open(Story([Step("Here.", Scenario(side=256)), Step("There.", at, notes="n")]))
    press.press(page.story, "Next")
    query = parse_qs(urlsplit(re.search(r'"where": "([^"]*)"', told(page))[1]).query)
    address = {name: texts[0] for name, texts in query.items()}
    put_into_address(monkeypatch, **address)
    learn = Learn(links=PAGES)
    assert (learn.card.lesson.key, learn.card.guide.step) == ("04_threshold", 2)
    assert learn.state.side == 512
    assert "2 of 2" in bar(learn)
    # What the browser remembers of another reading does not lead away from there.
    learn.progress.storage.take('{"number": 1, "value": "{\\"04_threshold\\": 4}"}')
    assert learn.card.guide.step == 2
    for damaged in ("x", "-1", "9" * 5000, "99"):
        put_into_address(monkeypatch, **{**address, "lesson_step": damaged})
        assert Learn(links=PAGES).card.lesson.key == "04_threshold"
    learn.stories.section.active = [0]
    press.press(learn, "Add this lesson to the story")
    assert "Say first what this lesson shows" in press.text(learn)
    press.put(learn, "What this lesson shows", "A lesson")
    press.press(learn, "Add this lesson to the story")
    last = Story.from_yaml(press.download(learn, "Save story")).steps[-1]
    assert (last.text, last.screen.lesson, last.screen.lesson_step) == ("A lesson", at.lesson, 3)
    learn.stories.file.value = Scenario(page="learn", lesson="99_nothing").to_yaml().encode()
    assert "There is no lesson '99_nothing'" in learn.message.sentence
    learn.stories.file.value = Scenario(side=256).to_yaml().encode()
    assert any("./explore?s=" in str(each.value) for each in hidden(learn.stories))


def test_the_shelf_is_bounded_and_its_keys_cannot_be_guessed(monkeypatch) -> None:
    monkeypatch.setattr(story_panels, "MOST", 3)
    shelf = StoryShelf()
    keys = [shelf.put(Story([Step(f"Number {n}")])) for n in range(4)]
    assert len(shelf) == 3
    assert all(len(key) >= 20 for key in keys)
    assert shelf.put(Story([Step("Number 3")])) == keys[3]
    with pytest.raises(InputError, match="open its file again"):
        shelf.find(keys[0])
    # A step more of the same story takes no place of another visitor's.
    longer = Story([Step("Number 3"), Step("More")])
    assert shelf.put(longer, keys[3]) == keys[3]
    assert shelf.find(keys[3]) == longer
    assert len(shelf) == 3
    keys[3] = shelf.put(Story([Step("Number 3")]))
    assert shelf.put(stories()[TOUR]) == TOUR


def test_a_server_begins_with_a_story(monkeypatch) -> None:
    page = Explore(side=256, scenario=TWO.first)
    page.begin_story(TWO)
    assert "1 of 3" in bar(page)
    assert page.state.epsilon == 0.5
    put_into_address(monkeypatch, s=Scenario(side=256, epsilon=1.5))
    page = Explore(side=256, scenario=TWO.first)
    page.begin_story(TWO)
    assert bar(page) == "", "the address goes first"


# One workspace: what a page has the tab keep, and what it takes from another page.

BOXES = [(0.0, 0.0, 1000.0, 1500.0)]
SHARED = Scenario(side=256, mechanisms=["ug"], epsilon=0.37, seed=4, boxes=BOXES)


def keep(page) -> dict:
    """What the tab is told to keep of the page as it stands."""
    page.scenarios.keep()
    (order,) = page.tab.view.objects
    return json.loads(order.value)["links"]


def test_a_change_on_compare_is_kept_for_explore_and_its_own_part_for_itself(monkeypatch) -> None:
    put_into_address(monkeypatch, **{"from": SHARED})
    page = Compare(side=256)
    assert [each.mechanism for each in page.state.sides] == ["ug", "mosaic"]
    assert (page.state.epsilon, page.state.seed) == (0.37, 4)
    np.testing.assert_allclose(page.rectangles.boxes, BOXES)
    page.state.put(epsilon=2.0)
    page.state.b.put(mechanism="quadtree")
    kept = keep(page)
    shared, own = Scenario.from_link(kept["shared"]), Scenario.from_link(kept["compare"])
    assert (shared.page, shared.epsilon) == ("explore", 2.0)
    assert [each.edges for each in shared.boxes] == BOXES
    assert [each.key for each in shared.mechanisms] == ["ug"]
    put_into_address(monkeypatch, **{"from": SHARED, "s": own})
    again = Compare(side=256)
    assert [each.mechanism for each in again.state.sides] == ["ug", "quadtree"]
    assert again.state.epsilon == 0.37, "what is shared is the newest"


def test_a_link_that_was_opened_by_hand_is_all_there_is(monkeypatch) -> None:
    put_into_address(monkeypatch, s=Scenario(side=256, epsilon=5.0, seed=9))
    page = Explore("madeup", side=256, mechanism="uniform", epsilon=0.1)
    assert (page.state.epsilon, page.state.seed, page.state.mechanism) == (5.0, 9, "htf")
    assert Scenario.from_link(keep(page)["shared"]).epsilon == 5.0


def test_every_page_takes_what_it_has_and_a_damaged_workspace_is_one_sentence(monkeypatch) -> None:
    put_into_address(monkeypatch, **{"from": SHARED})
    assert Learn().state.place[:2] == ("madeup", 256)
    page = Federated()
    assert (page.state.epsilon, page.state.seed, page.state.side) == (0.37, 4, 256)
    np.testing.assert_allclose(page.rectangles.boxes, BOXES)
    for damaged in ("x", "a" * 40, "%00"):
        put_into_address(monkeypatch, **{"from": damaged})
        page = Explore("madeup", side=256, mechanism="uniform")
        assert "damaged" in page.message.sentence
        assert page.state.mechanism == "uniform"


def test_of_own_points_only_settings_go_along_and_the_next_page_says_so(monkeypatch) -> None:
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
    put_into_address(monkeypatch, **{"from": shared, "left": "yes"})
    assert Compare(side=256).message.sentence == STAYED
    put_into_address(monkeypatch, **{"from": shared})
    assert Compare(side=256).message.sentence == ""
