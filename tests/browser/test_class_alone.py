"""A class alone, as a teacher and a participant walk through it: nothing else is to be found."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Server, Watch, troubles
from tests.browser.test_classroom import button, create, draw

_WAY_IN = re.compile(r"way in, for nobody else: (http://\S+)")


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("people") / "people"
    path.write_text("ada:a long secret\n")
    path.chmod(0o600)
    return path


@pytest.fixture(scope="module", params=["key", pytest.param("password", marks=pytest.mark.slow)])
def alone(request: pytest.FixtureRequest, people: Path) -> Iterator[tuple[Server, str]]:
    """A server of the class alone, and the teacher's address."""
    auth = f", auth={str(people)!r}" if request.param == "password" else ""
    running = Server(f"'madeup', side=256, warm=False, class_only=True{auth}")
    # It is said after the address of the server.
    while (found := _WAY_IN.search("".join(running.log))) is None:
        assert running.process.poll() is None
        time.sleep(0.05)
    yield running, found[1]
    running.stop()
    assert not troubles("".join(running.log))


def links(page: Page) -> list[str]:
    """Where links of a page lead, also those inside its parts."""
    return [each.get_attribute("href") or "" for each in page.get_by_role("link").all()]


def test_a_teacher_and_a_participant_see_the_class_and_nothing_else(
    browser: Browser, alone: tuple[Server, str]
) -> None:
    server, way_in = alone
    teacher, pupil = (browser.new_context().new_page() for _ in range(2))
    watches = [Watch(each, server.url) for each in (teacher, pupil)]
    teacher.goto(way_in)
    if "login" in way_in:
        teacher.get_by_label("Name").fill("ada")
        teacher.get_by_label("Password").fill("a long secret")
        button(teacher, "Log in").click()
    code = create(teacher)

    pupil.goto(server.url)
    expect(button(pupil, "Join")).to_be_visible()
    assert button(pupil, "Create a class").count() == 0
    pupil.get_by_label("Class code").fill(code)
    button(pupil, "Join").click()
    draw(pupil)
    expect(teacher.locator("p.finding", has_text="all previews")).to_contain_text("1 answer")
    for page in (teacher, pupil):
        assert page.locator("nav.pages a:not(.leave)").count() == 0
        there = [each for each in links(page) if not each.startswith(("#", "./logout"))]
        # The root is the class page, too.
        assert all(each == "/" or "/class?class=" in each for each in there), there

    # The teacher's reload comes back, a participant's way to the truth does not exist.
    teacher.reload()
    expect(teacher.locator(".code")).to_have_text(code)
    for path in ("explore", "trips", "country", "federated", "compare", "publish", "learn"):
        answer = pupil.request.get(f"{server.url}/{path}")
        assert answer.status == 403
        assert "class page alone" in answer.text()

    # After the class a teacher may create another one, also after a reload.
    button(teacher, "Close the class").click()
    button(teacher, "Close it for 1 participant, lose 1 answer").click()
    expect(pupil.get_by_text("The class is over.")).to_be_visible()
    expect(button(pupil, "Create a class")).to_have_count(0)
    expect(button(teacher, "Create a class")).to_be_visible()
    teacher.reload()
    expect(button(teacher, "Create a class")).to_be_visible()
    for page in (teacher, pupil):
        page.context.close()
    assert not [line for watch in watches for line in watch.found]


@pytest.mark.slow
def test_signing_in_shows_the_page_that_was_asked_for(browser: Browser, people: Path) -> None:
    server = Server(f"'madeup', side=256, warm=False, auth={str(people)!r}")
    page = browser.new_context().new_page()
    watch = Watch(page, server.url)
    page.goto(f"{server.url}/class?theme=light")
    assert "/login" in page.url
    page.get_by_label("Name").fill("ada")
    page.get_by_label("Password").fill("a long secret")
    page.keyboard.press("Enter")
    expect(button(page, "Create a class")).to_be_visible()
    assert page.url == f"{server.url}/class?theme=light"
    out = page.get_by_role("link", name="Log out")
    assert out.get_attribute("title") == "You are logged in as ada"
    out.click()
    expect(page.get_by_label("Password")).to_be_visible()
    page.context.close()
    server.stop()
    assert not watch.found
    assert not troubles("".join(server.log))
