"""Trips in a browser: drag from, drag to, read one answer; a stop between; flows between zones."""

from __future__ import annotations

import csv
from collections.abc import Iterator

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from explorer import Gravity, exact
from explorer.cities.trip_sets import find
from explorer.queries.boxes import example_rows
from tests.browser.conftest import visits
from tests.browser.visit import colours, drag, draw_release, names, number, pick, rows, wait_until

#: Parts of the spoken names of the maps.
BEGIN, STOP, END = "begin;", "stop;", "end;"


@pytest.fixture
def trips(browser, server) -> Iterator[Page]:
    """A visit to the page."""
    yield from visits(browser, server, "/trips", BEGIN, END)


def said(page: Page) -> str:
    return page.locator(".summary").first.inner_text()


@pytest.mark.journey
def test_a_question_is_dragged_from_one_map_to_the_other(trips) -> None:
    domain = find("madeup").domain(("o", "d"), 64)
    matrix = domain.count(find("madeup").read(("o", "d")), per="record")
    boxes = np.array(example_rows(domain.grids))
    private = Gravity(epsilon=1.0).release(matrix, rng=1).answer(boxes).value
    for row, true, value in zip(rows(trips), exact(matrix, boxes), private, strict=True):
        assert number(row["true"]) == pytest.approx(true, abs=0.51)
        assert number(row["private"]) == pytest.approx(value, abs=0.51)
    assert said(trips).startswith("Q1, trips from a box of 3.5 × 2.5 km")
    assert colours(trips, BEGIN) > 30
    drag(trips, BEGIN, (0.45, 0.42), (0.55, 0.52))
    wait_until(trips, lambda: names(trips) == ["Q1", "Q2", "Q3"])
    wait_until(trips, lambda: said(trips).startswith("Q3, trips from a box of"))
    assert "to anywhere" in said(trips)
    drag(trips, END, (0.4, 0.4), (0.6, 0.6))
    wait_until(trips, lambda: "to a box of" in said(trips))
    assert names(trips) == ["Q1", "Q2", "Q3"]
    expect(trips.get_by_role("heading", name="To where trips from Q3 end")).to_be_visible()
    # The way without a mouse: a row in the middle, whose box is then typed.
    trips.get_by_role("button", name="Add box").click()
    wait_until(trips, lambda: said(trips).startswith("Q4, trips from a box of"))


@pytest.mark.journey
def test_a_stop_between_has_a_map_of_its_own(trips) -> None:
    pick(trips, "Places", "origin, stop 1, destination")
    trips.get_by_role("img", name=STOP).wait_for()
    wait_until(trips, lambda: "via anywhere" in said(trips))
    widths = [
        trips.get_by_role("img", name=name).bounding_box()["width"] for name in (BEGIN, STOP, END)
    ]
    assert min(widths) > 250
    assert trips.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0


def test_flows_are_drawn_told_and_saved(trips, tmp_path) -> None:
    draw_release(trips)
    trips.get_by_text("Drawn and booked with epsilon 1").wait_for()
    trips.get_by_role("button", name="Flows", exact=True).click()
    drawn = trips.get_by_role("img", name="Flows between zones. 8 × 8 zones a place have 4,096")
    drawn.wait_for()
    trips.get_by_text("The largest flows; zones are numbered").wait_for()
    trips.get_by_role("button", name="Out of one").click()
    wait_until(trips, lambda: "The largest of the" in trips.locator(".summary").nth(1).inner_text())
    with trips.expect_download() as download:
        trips.get_by_role("button", name="Save flows as CSV").click()
    path = tmp_path / "flows.csv"
    download.value.save_as(path)
    assert len(list(csv.DictReader(path.open()))) == 4096
