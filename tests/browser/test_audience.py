"""The pages for others: what people see and do, and that nothing of the curator's gets there.

Beside it a curator's server holds the exact counts (`tests.audience.canaries`): every answer of
every test here is searched for them, at the end also what was said, loaded and left.
"""

from __future__ import annotations

import re
import shutil
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.audience.canaries import TEXTS, House, everything, fuzz
from tests.browser.conftest import LAPTOP, LAPTOP_AND_SCREEN, PHONE, leave, new_page
from tests.browser.visit import serious
from tests.commands.test_no_room import CANARIES

pytestmark = pytest.mark.slow
WINDOWS = [PHONE, *({"viewport": {"width": w, "height": h}} for w, h in LAPTOP_AND_SCREEN)]


class Elsewhere:
    """A page of another web site that frames a map."""

    def __init__(self) -> None:
        class Frame(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write(
                    f'<h1>News</h1><iframe width="600" height="600" src="{elsewhere.framed}">'
                    "</iframe>".encode()
                )

            def log_message(self, *_: object) -> None:
                pass

        elsewhere, self.framed = self, ""
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Frame)
        self.url = f"http://localhost:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture(scope="module")
def sites() -> Iterator[tuple[Elsewhere, Elsewhere]]:
    """One that may frame maps and one that may not."""
    both = Elsewhere(), Elsewhere()
    yield both
    for each in both:
        each.server.shutdown()


@pytest.fixture(scope="module")
def house(tmp_path_factory, sites) -> Iterator[House]:
    one = House(tmp_path_factory.mktemp("house"), [sites[0].url])
    yield one
    one.stop()


def searched(page: Page, house: House) -> list[str]:
    """Search whatever comes to a page; returns what was found."""
    found: list[str] = []

    def note(answer) -> None:
        try:
            content = answer.body()
        except Exception:
            # Who leaves a page has no answer to what it still asked for.
            return
        try:
            house.look(content, answer.url)
        except AssertionError as error:
            found.append(str(error))

    page.on("response", note)
    return found


@pytest.fixture
def page(browser: Browser, house: House) -> Iterator[Page]:
    one = new_page(browser)
    found = searched(one, house)
    yield one
    house.look(one.content().encode(), "the page")
    # A report has no storage to be emptied.
    one.goto(house.url)
    leave(one)
    assert not found


def painted(page: Page, pictures: int = 1) -> dict[str, float]:
    """Wait until a map has its pictures; returns where it is."""
    # No script of a text runs on these pages, not even a test's.
    many = re.compile(rf"^([{pictures}-9]|\d\d+)$")
    expect(page.locator("#map")).to_have_attribute("data-painted", many)
    found = page.locator("#map").bounding_box()
    assert found is not None
    return {name: float(each) for name, each in found.items()}


def on(place: dict[str, float], right: float, down: float) -> tuple[float, float]:
    return place["x"] + right * place["width"], place["y"] + down * place["height"]


def drag(page: Page, begin: tuple[float, float], end: tuple[float, float]) -> None:
    page.mouse.move(*begin)
    page.mouse.down()
    page.mouse.move(*end, steps=5)
    page.mouse.up()


def number(text: str) -> float:
    return float(text.replace(",", "").replace("−", "-"))


def test_the_search_finds_what_it_looks_for(house) -> None:
    for content in (f"of {CANARIES[0]:,} rides".encode(), *TEXTS):
        with pytest.raises(AssertionError):
            house.look(b"something " + content, "here")
    assert house.curator.process.poll() is None, "the curator's server is there all the time"


def test_no_address_and_no_nonsense_brings_anything_of_the_curators(house) -> None:
    everything(house)
    found = fuzz(house)
    assert sum(found.values()) > 400
    assert not {each for each in found if each.startswith("5")}, found
    assert house.ask("/")[0] == 200


def test_a_map_is_moved_asked_and_looked_at(page, house) -> None:
    page.goto(f"{house.url}/map/{house.keys[0]}")
    place = painted(page)
    rows = page.locator(".answers tbody tr")
    expect(rows).to_have_count(0)
    page.get_by_role("button", name="Draw a box").click()
    drag(page, on(place, 0.4, 0.4), on(place, 0.6, 0.6))
    expect(rows).to_have_count(1)
    expect(page.locator(".answers .said")).to_contain_text("Area 1: About")
    cells = rows.first.locator("td").all_inner_texts()
    low, high = map(number, cells[1].split(" to "))
    assert low < number(cells[0]) < high
    page.get_by_role("button", name="Draw a shape").click()
    for right, down in ((0.3, 0.3), (0.5, 0.3), (0.4, 0.5)):
        page.mouse.click(*on(place, right, down))
    page.get_by_role("button", name="Close the shape").click()
    expect(rows).to_have_count(2)
    page.get_by_role("button", name="What is here?").click()
    page.mouse.click(*on(place, 0.45, 0.55))
    expect(page.locator(".leaf .said")).to_contain_text("holds about")
    assert page.locator(".leaf tbody tr").count() == 5
    page.get_by_role("button", name="Zoom in").click()
    page.get_by_label("Lines").uncheck()
    page.get_by_role("button", name="Move").click()
    drag(page, on(place, 0.5, 0.5), on(place, 0.3, 0.4))
    page.locator("#map").focus()
    page.mouse.wheel(0, -200)
    page.get_by_role("button", name="Light or dark").click()
    page.get_by_role("button", name="Ask about what is shown").click()
    expect(rows).to_have_count(3)
    page.get_by_text("Type an area").click()
    for name, value in (("West", 1), ("East", 3), ("South", 2), ("North", 4)):
        page.get_by_label(f"{name} edge").fill(str(value))
    page.get_by_role("button", name="Ask about it").click()
    expect(rows).to_have_count(4)
    expect(rows.nth(3)).not_to_contain_text("…")
    page.get_by_role("button", name="Take Area 2 away").click()
    expect(rows).to_have_count(3)
    page.get_by_role("button", name="Whole map").click()
    expect(page.locator("#status")).to_have_text("")


def test_all_of_it_is_done_by_keys(page, house) -> None:
    page.goto(f"{house.url}/map/{house.keys[0]}")
    painted(page)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "map":
            break
    expect(page.locator("#map")).to_be_focused()
    for key in ("+", "+", "+", "ArrowLeft", "ArrowUp", "b", "i"):
        page.keyboard.press(key)
    expect(page.locator(".answers tbody tr")).to_have_count(1)
    expect(page.locator(".leaf .said")).to_contain_text("holds about")
    expect(page.locator(".answers .said")).to_contain_text("Area 1: About")
    page.keyboard.press("Delete")
    expect(page.locator(".answers tbody tr")).to_have_count(0)


def test_a_link_keeps_place_and_areas_and_tells_the_server_nothing(page, house, browser) -> None:
    page.goto(f"{house.url}/map/{house.keys[0]}")
    place = painted(page)
    page.get_by_role("button", name="Draw a box").click()
    drag(page, on(place, 0.4, 0.4), on(place, 0.6, 0.6))
    expect(page.locator(".answers .said")).to_contain_text("Area 1: About")
    page.locator("#map").focus()
    for key in ("+", "+", "ArrowRight"):
        page.keyboard.press(key)
    page.get_by_role("button", name="Copy a link").click()
    expect(page).to_have_url(re.compile("box="))
    other = new_page(browser)
    asked: list[str] = []
    other.on("request", lambda each: asked.append(each.url))
    other.goto(page.url)
    painted(other)
    expect(other.locator(".answers .said")).to_contain_text("Area 1: About")
    for what in (".answers tbody", ".length", ".marks text"):
        assert other.locator(what).text_content() == page.locator(what).text_content()
    outline = "document.querySelector('.marks path').getAttribute('d')"
    assert other.evaluate(outline) == page.evaluate(outline)
    # What stands behind the # stays in the browser.
    assert not [each for each in asked if "box=" in each.partition("#")[0]]
    # A link of somebody who means harm.
    for text in ("#box=<img src=x>,0,0,500,500", "#at=nan,1e999,7&shape=a,1", "#box=" + "9," * 900):
        other.goto("about:blank")
        other.goto(f"{house.url}/map/{house.keys[0]}{text}")
        painted(other)
        assert other.locator("img[src=x]").count() == 0
    leave(other)


def test_two_maps_are_compared(page, house) -> None:
    first, second = house.keys
    page.goto(f"{house.url}/compare?first={first}&second={second}")
    place = painted(page, 2)
    over = page.locator(".pictures div").nth(1)
    before = over.evaluate("each => each.style.clipPath")
    page.locator("#swipe").fill("80")
    assert over.evaluate("each => each.style.clipPath") != before
    page.get_by_role("button", name="Draw a box").click()
    drag(page, on(place, 0.4, 0.4), on(place, 0.6, 0.6))
    expect(page.locator(".answers .said")).to_contain_text("Rides of Amber, after minus")
    assert page.locator(".answers tbody tr td.number").count() == 2
    page.get_by_label("First map").select_option(second)
    page.wait_for_url(re.compile(rf"first={second}"))
    painted(page)
    page.get_by_role("link", name="All maps").click()
    expect(page.locator(".cards li")).to_have_count(2)
    page.get_by_role("link", name="Rides of Amber, after").click()
    page.get_by_role("link", name="Read the report").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Rides of Amber, after")


def test_files_are_taken_along(page, house) -> None:
    page.goto(f"{house.url}/map/{house.keys[0]}")
    links = page.locator(".files a[download]")
    assert links.count() == 9
    for at in (0, 4):
        with page.expect_download() as saved:
            links.nth(at).click()
        house.look(saved.value.path().read_bytes(), saved.value.suggested_filename)


def test_a_map_is_framed_by_who_was_named_and_by_nobody_else(browser, house, sites) -> None:
    context = browser.new_context(**LAPTOP)
    page = context.new_page()
    found = searched(page, house)
    for site in sites:
        site.framed = f"{house.url}/map/{house.keys[0]}?embed=1"
    page.goto(sites[0].url)
    frame = page.frame_locator("iframe")
    frame.locator("#map[data-painted]").wait_for()
    frame.get_by_role("button", name="Ask about what is shown").click()
    expect(frame.locator(".answers tbody tr")).to_have_count(1)
    page.goto(sites[1].url)
    page.wait_for_timeout(500)
    assert page.frame_locator("iframe").locator("#map").count() == 0
    # The page itself is framed by nobody.
    sites[0].framed = f"{house.url}/map/{house.keys[0]}"
    page.goto(sites[0].url)
    page.wait_for_timeout(500)
    assert page.frame_locator("iframe").locator("#map").count() == 0
    context.close()
    assert not found


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_can_be_read_by_all(browser, house, scheme) -> None:
    context = browser.new_context(**LAPTOP, color_scheme=scheme)
    page = context.new_page()
    for path in ("/", f"/map/{house.keys[0]}#box=A,0,0,2000,2000", "/compare#box=A,0,0,2000,2000"):
        page.goto(house.url + path)
        if path != "/":
            painted(page)
            expect(page.locator(".answers tbody tr")).to_have_count(1)
            expect(page.locator(".answers tbody")).not_to_contain_text("…")
        assert page.evaluate("document.documentElement.dataset.theme") == scheme
        assert not serious(page), path
    context.close()


@pytest.mark.parametrize("window", WINDOWS)
def test_it_fits_its_window(browser, house, window) -> None:
    context = browser.new_context(**window, has_touch=window is PHONE, is_mobile=window is PHONE)
    page = context.new_page()
    for path in (f"/map/{house.keys[0]}#box=A,0,0,2000,2000", "/compare#box=A,0,0,2000,2000", "/"):
        page.goto("about:blank")
        page.goto(house.url + path)
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= window["viewport"]["width"], path
        if path != "/":
            place = painted(page)
            # On a phone the choice of two maps stands above them.
            seen = window["viewport"]["height"] + (100 if window is PHONE else 0)
            assert place["y"] + place["height"] <= seen
        if window is PHONE:
            small = page.evaluate(
                "[...document.querySelectorAll('button, select, .bar a')].filter(each => {"
                "const { width, height } = each.getBoundingClientRect();"
                "return width && Math.min(width, height) < 43 }).map(each => each.outerHTML)"
            )
            assert not small
    context.close()


def test_a_finger_moves_and_two_zoom(browser, house) -> None:
    context = browser.new_context(**PHONE, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.goto(f"{house.url}/map/{house.keys[0]}")
    place = painted(page)
    length = page.locator(".length").inner_text()
    wire = context.new_cdp_session(page)

    def touch(kind: str, *places: tuple[float, float]) -> None:
        points = [{"x": x, "y": y, "id": at} for at, (x, y) in enumerate(places)]
        wire.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", on(place, 0.45, 0.5), on(place, 0.55, 0.5))
    for part in (0.1, 0.2, 0.3, 0.4):
        touch("touchMove", on(place, 0.45 - part, 0.5), on(place, 0.55 + part, 0.5))
    touch("touchEnd")
    assert page.locator(".length").inner_text() != length
    context.close()


def test_a_map_that_is_taken_away_is_one_sentence_on_its_page(browser, house) -> None:
    """The last test here: the map does not come back."""
    first, second = house.keys
    page = browser.new_context(**LAPTOP).new_page()
    page.goto(f"{house.url}/map/{first}")
    painted(page)
    titles = {"Rides of Amber": "identity", "Rides of Amber, after": "quadtree"}
    shutil.rmtree(house.shown / titles[page.get_by_role("heading", level=1).inner_text()])
    while house.ask(f"/map/{first}")[0] == 200:
        page.wait_for_timeout(100)
    page.get_by_role("button", name="Zoom in").click()
    expect(page.locator("#status")).to_contain_text("taken away, or changed")
    page.get_by_role("button", name="Ask about what is shown").click()
    expect(page.locator(".answers .said")).to_contain_text("taken away, or changed")
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_have_text("Not here any more")
    page.get_by_role("link", name="All maps").click()
    expect(page.locator(".cards li")).to_have_count(1)
    page.goto(f"{house.url}/map/{second}")
    painted(page)
    page.context.close()
