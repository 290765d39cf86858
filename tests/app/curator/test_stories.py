"""Stories on a page: back and next, notes that are not sent, a story made of screens, the shelf."""

from __future__ import annotations

import html
import re
from urllib.parse import parse_qs, urlsplit

import panel as pn
import pytest

from explorer.app import Compare, Explore, Learn
from explorer.app.curator import story_shelf
from explorer.app.curator.story_shelf import SHELF, StoryShelf
from explorer.app.pages import PAGES
from explorer.errors import InputError
from explorer.scenario import Scenario, Step, Story
from explorer.teaching.stories import TOUR, stories
from tests.app import press
from tests.app.curator.visited import addressing

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


def test_notes_are_sent_only_when_they_are_asked_for(explore) -> None:
    explore.story.open(TWO)
    model = explore.story.view.get_root()
    sent = " ".join(str(getattr(each, "text", "")) for each in model.references())
    assert "First" in sent
    assert "For me alone" not in sent
    press.put(explore.story, "Notes", True)
    assert "For me alone." in bar(explore)
    press.press(explore.story, "Next")
    assert "No notes for this step." in bar(explore)
    press.put(explore.story, "Notes", False)
    assert "notes" not in bar(explore).replace("Notes", "")


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
    other.scenarios.file.value = data
    assert other.state.epsilon == 0.7
    assert "1 of 2" in bar(other)
    press.press(other.story, "Next")
    assert other.state.mechanism == "ag"
    assert "Better?" in bar(other)


def test_lessons_and_screens_make_one_story(explore, monkeypatch) -> None:
    explore.scenarios.section.active = [0]
    press.put(explore, "What this screen shows", "A screen")
    press.press(explore, "Add this screen to the story")
    # The bar's links carry what the address says of the story that is being made.
    given = {"making": [explore.story.making.encode()]}
    monkeypatch.setattr(type(pn.state), "session_args", property(lambda _self: given))
    learn = Learn(lesson="02_averaging", links=PAGES)
    learn.stories.section.active = [0]
    assert "The story has 1 step:" in press.text(learn)
    press.press(learn, "Next step")
    press.press(learn, "Add this lesson to the story")
    assert "Say first what this lesson shows" in press.text(learn)
    press.put(learn, "What this lesson shows", "A lesson")
    press.put(learn, "Notes for the presenter", "Two redraws.")
    press.press(learn, "Add this lesson to the story")
    data = press.download(learn, "Save story")
    made = Story.from_yaml(data)
    assert [each.text for each in made.steps] == ["A screen", "A lesson"]
    shown = made.steps[1].screen
    assert (shown.page, shown.lesson, shown.lesson_step) == ("learn", "02_averaging", 2)
    assert shown.city == learn.state.city
    assert Story.from_yaml(made.to_yaml()) == made
    assert SHELF.find(learn.story.making) == made
    assert learn.story.making == explore.story.making

    # Opened from its file on another lesson it leads away, and from there to the lesson's step.
    given.clear()
    other = Learn(lesson="04_threshold", links=PAGES)
    other.stories.section.active = [0]
    other.stories.file.value = data
    where = parse_qs(urlsplit(re.search(r'"where": "([^"]*)"', told(other))[1]).query)
    assert where["making"] == [other.story.making]
    other.story.go(1)
    assert "2 of 2" in bar(other)
    assert (other.card.lesson.key, other.card.guide.step) == ("02_averaging", 1)
    assert '"lesson_step": "2"' in told(other)
    press.put(other.story, "Notes", True)
    assert "Two redraws." in bar(other)
    press.press(other.story, "Back")
    assert '"act": "go"' in told(other)


def test_the_address_of_a_step_opens_the_lesson_there_on_its_city(monkeypatch) -> None:
    at = Scenario(page="learn", lesson="04_threshold", lesson_step=3, side=512)
    story = Story([Step("Here.", Scenario(side=256)), Step("There.", at, notes="n")])
    page = Explore(side=256, links=PAGES)
    page.story.open(story)
    press.press(page.story, "Next")
    query = parse_qs(urlsplit(re.search(r'"where": "([^"]*)"', told(page))[1]).query)
    given = {name: [text.encode() for text in texts] for name, texts in query.items()}
    monkeypatch.setattr(type(pn.state), "session_args", property(lambda _self: given))
    learn = Learn(links=PAGES)
    assert (learn.card.lesson.key, learn.card.guide.step) == ("04_threshold", 2)
    assert learn.state.side == 512
    assert "2 of 2" in bar(learn)
    # What the browser remembers of another reading does not lead away from there.
    kept = '{"number": 1, "value": "{\\"04_threshold\\": 4}"}'
    learn.progress.storage.take(kept)
    assert learn.card.guide.step == 2
    for damaged in (b"x", b"0", b"-1", b"9" * 5000, b"99"):
        given["lesson_step"] = [damaged]
        assert Learn(links=PAGES).card.lesson.key == "04_threshold"


def test_a_section_that_was_left_open_has_its_stories(monkeypatch) -> None:
    kept = {"explorer-frame": "scenarios:open|stories:open"}
    monkeypatch.setattr(type(pn.state), "cookies", property(lambda _self: kept))
    assert press.find(Explore(side=256), "Add this screen to the story").visible
    assert press.find(Learn(), "Add this lesson to the story").visible


def test_a_screen_opened_on_learn_is_taken_or_led_to() -> None:
    learn = Learn(links=PAGES)
    learn.stories.section.active = [0]
    here = Scenario(page="learn", lesson="05_two_metrics", lesson_step=1)
    learn.stories.file.value = here.to_yaml().encode()
    assert learn.card.lesson.key == "05_two_metrics"
    learn.stories.file.value = Scenario(side=256).to_yaml().encode()
    assert any("./explore?s=" in str(each.value) for each in hidden(learn.stories))
    gone = Scenario(page="learn", lesson="99_nothing").to_yaml().encode()
    learn.stories.file.value = gone
    assert "There is no lesson '99_nothing'" in learn.message.sentence


def test_a_damaged_story_is_one_sentence_and_nothing_is_lost(explore) -> None:
    explore.scenarios.section.active = [0]
    explore.scenarios.file.value = b"story: 1\nsteps:\n- text: a\n  screen: {scenario: 1, page: x}"
    assert "Step 1 of the story" in explore.message.sentence
    assert bar(explore) == ""
    explore.scenarios.file.value = TWO.to_yaml().encode()
    assert "1 of 3" in bar(explore)


def test_the_tour_is_offered_to_newcomers(explore) -> None:
    explore.scenarios.section.active = [0]
    press.press(explore, "Take the tour")
    assert "A tour in five steps · 1 of 5" in bar(explore)
    assert list(explore.rectangles.names) == ["Centre", "One block"]


def test_every_step_that_comes_along_loads_on_its_page() -> None:
    links = PAGES
    shown = {each.KEY: each(side=256, links=links) for each in (Explore, Compare)}
    shown["learn"] = Learn(links=links)
    assert len(stories()[TOUR].steps) == 5
    assert stories()["workshop-90-minutes"].minutes == 90
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


def test_the_shelf_is_bounded_and_its_keys_cannot_be_guessed(monkeypatch) -> None:
    monkeypatch.setattr(story_shelf, "MOST", 3)
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
    addressing(monkeypatch)(Scenario(side=256, epsilon=1.5))
    page = Explore(side=256, scenario=TWO.first)
    page.begin_story(TWO)
    assert bar(page) == "", "the address goes first"
