"""Compare in a browser: choose two mechanisms, read both answers, run and cancel a sweep."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from explorer import AG, HTF, Mosaic, exact
from explorer.app.kit.labels import CURATOR, PREVIEW
from explorer.cities.catalogue import cities
from explorer.evaluate import evaluate, workload
from tests.browser.conftest import (
    Server,
    Watch,
    come_to,
    visiting,
)
from tests.browser.visit import (
    PATIENCE,
    cell,
    colours,
    drag,
    number,
    pick,
    rows,
    unfold,
    wait_until,
)


@pytest.fixture(scope="module")
def matrix():
    """The city that the server shows, on the same cells."""
    return cities()["madeup"].load(256)[1]


def visit(browser: Browser, server: Server, path: str, **context: object) -> tuple[Page, Watch]:
    """A page with both maps and its table."""
    # A phone has room for one map, and shows the second.
    first = "Private map B" if context.get("has_touch") else "Private map A"
    return come_to(browser, server, path, first, "Private map B", **context)


@pytest.fixture
def page(browser: Browser, server: Server) -> Iterator[Page]:
    """A fresh visit."""
    yield from visiting(server, lambda: visit(browser, server, "/compare"))


@pytest.fixture(scope="module")
def seen(browser: Browser, server: Server) -> Iterator[Page]:
    """A visit that the tests share which look, or leave it as it was."""
    yield from visiting(server, lambda: visit(browser, server, "/compare"))


def boxes_of(page: Page) -> np.ndarray:
    """The rectangles of the table in metres, as typed there (to ten metres)."""
    edges = ("west km", "south km", "east km", "north km")
    return np.array([[number(row[edge]) * 1000 for edge in edges] for row in rows(page)])


def sentence(page: Page, begins: str) -> str:
    """The sentence of the page that begins so."""
    return page.locator(".summary", has_text=begins).first.inner_text()


def choose_mechanisms(page: Page, *names: str) -> None:
    """Tick exactly these boxes of the sweep."""
    group = page.get_by_role("radiogroup", name="Mechanisms in the sweep")
    for box in group.get_by_role("checkbox").all():
        wanted = box.locator("xpath=ancestor::label").inner_text().strip() in names
        if box.is_checked() != wanted:
            box.set_checked(wanted)


def finished(page: Page) -> None:
    """Wait for the end of a small sweep, whose processes share the machine with other tests."""
    said = page.get_by_text("Finished: 42 of 42 releases")
    expect(said).to_be_visible(timeout=3 * 1000 * PATIENCE)


def ranking(page: Page) -> list[dict[str, str]]:
    """The ranking table as text."""
    table = page.locator("table.numbers", has_text="Places and scores")
    titles = table.locator("thead th").all_inner_texts()
    return [
        dict(zip(titles, row.locator("th, td").all_inner_texts(), strict=True))
        for row in table.locator("tbody tr").all()
    ]


@pytest.mark.journey
def test_both_maps_and_the_table_say_what_the_python_api_says(seen, matrix) -> None:
    page = seen
    for letter in "AB":
        assert colours(page, f"Private map {letter}") > 50
    expect(page.get_by_role("heading", level=1)).to_have_text("Compare mechanisms")
    expect(page.get_by_text(CURATOR).last).to_be_visible()
    expect(page.get_by_text(PREVIEW)).to_have_count(2)
    boxes = boxes_of(page)
    true = exact(matrix, boxes)
    both = [kind(epsilon=1.0).release(matrix, rng=1) for kind in (HTF, Mosaic)]
    answers = [release.answer(boxes).value for release in both]
    for row, t, *values in zip(rows(page), true, *answers, strict=True):
        assert number(row["true"]) == pytest.approx(t, abs=0.51)
        for letter, value in zip("AB", values, strict=True):
            assert number(row[letter]) == pytest.approx(value, abs=0.51)
            shown = number(row[f"error of {letter} %"])
            assert shown == pytest.approx(100 * (value - t) / t, abs=0.0051)
        near = "A" if abs(values[0] - t) < abs(values[1] - t) else "B"
        assert row["nearer"] == near
    why = sentence(page, "Why they differ")
    for release in both:
        assert f"{release.n_leaves:,} leaves" in why


def test_another_mechanism_with_a_setting_of_its_own(page, matrix) -> None:
    pick(page, "Mechanism A", "AG")
    expect(page.get_by_role("heading", name="A: AG").first).to_be_visible()
    pick(page, "Mechanism B", "HTF")
    expect(page.get_by_role("heading", name="B: HTF").first).to_be_visible()
    expect(page.get_by_role("slider", name="B: T", exact=True)).to_have_count(0)
    unfold(page, "Settings of B")
    slider = page.get_by_role("slider", name="B: T", exact=True)
    expect(slider).to_be_visible()
    slider.press("ArrowRight")
    expect(page.get_by_role("slider", name="A: T", exact=True)).to_have_count(0)
    boxes = boxes_of(page)
    a = AG(epsilon=1.0).release(matrix, rng=1).answer(boxes).value
    b = HTF(epsilon=1.0, T=4).release(matrix, rng=1).answer(boxes).value
    wait_until(page, lambda: abs(number(rows(page)[0]["B"]) - b[0]) < 0.51)
    assert number(rows(page)[0]["A"]) == pytest.approx(a[0], abs=0.51)
    page.get_by_role("button", name="Swap A and B").click()
    wait_until(page, lambda: abs(number(rows(page)[0]["A"]) - b[0]) < 0.51)
    expect(page.get_by_role("heading", name="B: AG").first).to_be_visible()


@pytest.mark.journey
def test_epsilon_moves_both_and_a_drag_asks_both(page, matrix) -> None:
    page.get_by_role("slider", name="Epsilon", exact=True).press("ArrowLeft")
    boxes = boxes_of(page)
    b = Mosaic(epsilon=0.89).release(matrix, rng=1).answer(boxes).value
    wait_until(page, lambda: abs(number(rows(page)[0]["B"]) - b[0]) < 0.51)
    drag(page, "Private map B", (0.30, 0.35), (0.55, 0.60))
    wait_until(page, lambda: len(rows(page)) == 3)
    new = rows(page)[2]
    assert number(new["true"]) > 0
    assert new["nearer"] in ("A", "B", "both")
    assert sentence(page, "A (HTF) is nearer").count(" of 3 boxes") == 1
    cell(page, 2, "true").click()
    page.get_by_role("button", name="Delete box").click()
    wait_until(page, lambda: len(rows(page)) == 2)


def test_the_difference_is_on_both_maps_and_its_bar_is_spoken_once(page) -> None:
    page.get_by_role("button", name="difference", exact=True).click()
    bar = page.get_by_role("img", name="blue too few, orange too many")
    expect(bar).to_be_visible()
    expect(page.get_by_text("Private minus true counts")).to_have_count(2)
    for letter in "AB":
        assert colours(page, f"Private map {letter}") > 30
    assert page.locator(".bar").count() == 2


def test_four_epsilons_of_each_have_their_pictures(seen, matrix) -> None:
    page = seen
    for letter, kind in (("A", HTF), ("B", Mosaic)):
        for epsilon in (0.01, 0.1, 1, 10):
            leaves = kind(epsilon=epsilon).release(matrix, rng=1).n_leaves
            name = f"Small map {letter}, {kind.title} at epsilon {epsilon:g}: {leaves:,} leaves"
            picture = page.get_by_role("img", name=name)
            expect(picture).to_be_attached()
            picture.scroll_into_view_if_needed()
            assert colours(page, name) > 20


def test_a_small_sweep_grows_to_curves_candlesticks_and_a_ranking(page, matrix, tmp_path) -> None:
    choose_mechanisms(page, "UG")
    page.get_by_role("slider", name="Repetitions per setting").press("Home")
    page.get_by_role("button", name="Start the sweep").click()
    expect(page.get_by_role("progressbar", name="Progress of the sweep")).to_be_visible()
    # The page answers meanwhile.
    page.get_by_role("slider", name="Epsilon", exact=True).press("ArrowRight")
    wait_until(page, lambda: "of epsilon 1.1" in sentence(page, "Why they differ"))
    finished(page)
    curves = page.get_by_role("img", name="Mean relative error (floor 0.1 % of all), 2,000")
    expect(curves).to_be_visible()
    curves.scroll_into_view_if_needed()
    wait_until(page, lambda: colours(page, "Mean relative error (floor 0.1 % of all), 2,000") > 30)
    expect(page.get_by_role("img", name="At epsilon 0.1, half of the answers")).to_be_visible()
    questions = [workload("random", matrix.shape)]
    table = evaluate(matrix, ["ug", "htf", "mosaic"], [0.1], questions, 2, jobs=1)
    scores = table[table.metric == "mreRho"].groupby("mechanism").value.mean()
    wait_until(page, lambda: len(ranking(page)) == 3)
    shown = {row["mechanism"].lower(): row["mreRho"].split() for row in ranking(page)}
    for place, name in enumerate(scores.sort_values().index, 1):
        assert int(shown[name][0]) == place
        assert float(shown[name][1]) == pytest.approx(scores[name], rel=6e-3)
    assert sentence(page, "At epsilon 0.1, by").count("comes first") >= 1
    # Another metric is there at once, without a sweep.
    pick(page, "Error measured as", "Mean absolute error, points")
    expect(page.get_by_role("img", name="Mean absolute error, points, 2,000")).to_be_visible()
    expect(page.get_by_role("button", name="Cancel")).to_be_disabled()
    page.get_by_text("Numbers of the curves").click()
    expect(page.get_by_role("table", name="Mean absolute error, points: median")).to_be_visible()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Save the results").click()
    path = tmp_path / "sweep.csv"
    waiting.value.save_as(path)
    assert path.read_text().count("mreRho median") == 42 * 5


def test_a_sweep_can_be_cancelled_and_keeps_what_is_there(page) -> None:
    choose_mechanisms(page, "AG", "PrivTree", "QuadTree", "HB")
    page.get_by_role("slider", name="Repetitions per setting").press("End")
    page.get_by_role("button", name="Start the sweep").click()
    expect(page.get_by_role("img", name="Mean relative error")).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("Cancelled after")).to_be_visible()
    done, asked = map(
        number, re.findall(r"[\d,]+", page.get_by_text("Cancelled after").inner_text())[:2]
    )
    assert 0 < done < asked
    expect(page.get_by_role("button", name="Start the sweep")).to_be_enabled()
    assert page.get_by_role("img", name="Mean relative error").is_visible()


def test_a_third_map_comes_level_with_the_others_and_goes(seen) -> None:
    page = seen
    third = page.get_by_role("img", name="True map")
    unfold(page, "View")
    page.get_by_role("button", name="Truth", exact=True).click()
    expect(third).to_be_visible()
    wait_until(page, lambda: colours(page, "True map") > 10)
    tops = [
        page.get_by_role("img", name=name).bounding_box()["y"]
        for name in ("Private map A", "True map")
    ]
    assert tops[0] == pytest.approx(tops[1], abs=1)
    page.get_by_role("button", name="None", exact=True).click()
    expect(third).to_have_count(0)
