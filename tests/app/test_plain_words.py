"""No page speaks in the idioms of this house: each label, option, title and text is read."""

from __future__ import annotations

import html
from typing import Any

import numpy as np
import pytest

from explorer import FrequencyMatrix, Grid, TripMatrix
from explorer.app import ClassResult, Compare, Explore, Learn, Publish, Trips
from explorer.app.kit.words import FOLDER, words
from explorer.teaching.classrooms import ClassRooms
from tests.app import press
from tests.app.country import land
from tests.app.federated import people
from tests.plain_words import UNWANTED

# Labels that nobody understood.
OLD_LABELS = {"A record is", "Truth shows", "Scale from", "Partition over", "Look closer"}


def said(page: Any) -> list[str]:
    """Everything on a page that a person reads or a screen reader says."""
    found = [press.text(page)]
    for each in press.parts(page):
        label = str(getattr(each, "label", "") or "")
        assert label not in OLD_LABELS
        found.append(label)
        options = getattr(each, "options", None)
        if isinstance(options, dict | list):
            found += map(str, options)
        figure = getattr(each, "object", None)
        about = getattr(figure, "html_attributes", None)
        if about:
            found.append(str(about.get("aria-label", "")))
    return found


def opened() -> dict[str, Any]:
    """Every page with all of it opened, by a name for the test."""
    grid = Grid.around(2.35, 48.85, 8000, shape=32)
    matrix = FrequencyMatrix.from_array(np.random.default_rng(3).poisson(9, (32, 32)), grid)
    explore = Explore(matrix, explain=True, epsilon=1.0)
    explore.scenarios.section.active = [0]
    found: dict[str, Any] = {
        "explore": explore,
        "compare": Compare(matrix, explain=True, chosen=["ug"], seeds=2),
    }
    press.press(found["compare"], "Start the sweep")
    trips = TripMatrix.from_coordinates(np.random.default_rng(4).integers(0, 8, (900, 4)), [8, 8])
    for panel in ("Flows", "Built", "Runs", "Compared"):
        found[f"trips {panel}"] = page = Trips(trips, explain=True)
        page.explain.choice.value = panel
    found["country"] = country = land.new_page(explain=True)
    country.explain.choice.value = "Budget"
    for panel in ("Rounds", "Server", "Thresholds", "Failing", "Algorithms"):
        found[f"federated {panel}"] = page = people.new_page(explain=True)
        page.explain.choice.value = panel
        if panel == "Algorithms":
            press.press(page, "Compare algorithms")
    for lesson in range(10):
        found[f"learn {lesson + 1}"] = page = Learn(matrix)
        page.open(lesson)
    rooms = ClassRooms()
    teacher, pupil = (ClassResult("madeup", rooms=rooms) for _ in range(2))
    teacher.create()
    teacher.view.ask()
    pupil.join(teacher.view.room.code)
    pupil.view.draw()
    found["publish"] = Publish()
    found |= {"entrance": ClassResult("madeup", rooms=rooms), "teacher": teacher, "pupil": pupil}
    return found


@pytest.fixture(scope="module")
def pages() -> dict[str, Any]:
    return opened()


def test_no_page_speaks_in_idioms(pages) -> None:
    found = [
        f"{name}: … {html.unescape(text)[max(0, at.start() - 40) : at.end() + 30]!r}"
        for name, page in pages.items()
        for text in said(page)
        for at in UNWANTED.finditer(text)
    ]
    assert not found, "\n".join(found)


def test_no_panel_of_explore_speaks_in_idioms(pages) -> None:
    page = pages["explore"]
    for key in page.explain.choice.options.values():
        page.explain.choice.value = key
        if key == "Runs":
            press.press(page, "Draw previews")
        assert not UNWANTED.search(" ".join(said(page))), key
    page.explain.close()


def test_no_word_for_newcomers_is_an_idiom() -> None:
    for file in FOLDER.glob("*.md"):
        for heading, text in words(file.stem).items():
            assert not UNWANTED.search(f"{heading} {text}"), f"{file.name}: {heading}"


def test_the_check_reads_what_is_there(pages) -> None:
    everything = " ".join(text for page in pages.values() for text in said(page))
    parts = ("Keep the same random noise", "What is protected", "Explain this map", "2 repetitions")
    for part in parts:
        assert part in everything
    assert UNWANTED.search("Freeze the dice")
    assert not UNWANTED.search("Seed of the random noise, designed lawns")
