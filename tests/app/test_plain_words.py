"""No page speaks in idioms: each label, option, title and text of it is read."""

from __future__ import annotations

from typing import Any

import pytest

from explorer.app import ClassResult, Learn, Publish
from explorer.app.kit.words import FOLDER, words
from explorer.teaching.classrooms import ClassRooms
from tests.app import press
from tests.app.map_pages import MAP_PAGES, MATRIX
from tests.plain_words import UNWANTED


def texts(page: Any) -> str:
    """Everything on a page that a person reads or a screen reader says."""
    found = [press.text(page)]
    for part in press.parts(page):
        found += [str(getattr(part, "label", "") or ""), *map(str, getattr(part, "options", []))]
        about = getattr(getattr(part, "object", None), "html_attributes", None) or {}
        found.append(str(about.get("aria-label", "")))
    return "\n".join(found)


@pytest.mark.parametrize("kind", MAP_PAGES, ids=str)
def test_no_page_with_maps_and_none_of_its_panels_speaks_in_idioms(kind) -> None:
    page = kind.own(explain=True)
    page.scenarios.section.active = [0]
    explain = getattr(page, "explain", None)
    for panel in explain.choice.options.values() if explain else [""]:
        if explain:
            explain.choice.value = panel
        assert not UNWANTED.search(texts(page)), panel
    assert "What is protected" in texts(page) or kind.release is None


def test_no_lesson_class_or_publication_speaks_in_idioms() -> None:
    learn = Learn(MATRIX)
    for lesson in range(10):
        learn.open(lesson)
        assert not UNWANTED.search(texts(learn)), lesson
    rooms = ClassRooms()
    teacher, pupil, entrance = (ClassResult("madeup", rooms=rooms) for _ in range(3))
    teacher.create()
    teacher.view.ask()
    pupil.join(teacher.view.room.code)
    pupil.view.draw()
    for page in (teacher, pupil, entrance, Publish()):
        assert not UNWANTED.search(texts(page)), page
    for file in FOLDER.glob("*.md"):
        assert not UNWANTED.search(" ".join(" ".join(pair) for pair in words(file.stem).items()))
