"""A closer look in a browser: click a leaf, read its end, walk by keyboard, mark cut leaves."""

from __future__ import annotations

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from explorer import HTF, exact
from explorer.cities.catalogue import cities
from explorer.inspection import inspect, neighbour, node_at, study_cut
from explorer.inspection.errors import error_split
from explorer.inspection.nodes import leaf_number
from explorer.releases.overlap import cut_leaves
from tests.browser.visit import ROW, cell, number, picture, rows, serious, wait_until


@pytest.fixture(scope="session")
def matrix():
    """The city that the server shows, on the same cells."""
    return cities()["madeup"].load(256)[1]


@pytest.fixture(scope="session")
def release(matrix):
    """The preview that the server shows at first."""
    return HTF(epsilon=1.0).release(matrix, rng=1)


def open_leaf(page: Page) -> None:
    page.get_by_role("button", name="One area", exact=True).click()
    expect(page.locator(".node h3").first).to_be_visible()


def click_map(page: Page, name: str, x: float, y: float) -> None:
    """Click on a map at parts of its width and height, (0, 0) the upper left."""
    image = page.get_by_role("img", name=name)
    image.scroll_into_view_if_needed()
    box = image.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] * x, box["y"] + box["height"] * y)


def title(page: Page) -> str:
    return page.locator(".node h3").first.inner_text()


def fact(page: Page, name: str) -> str:
    row = page.locator(".facts tr", has_text=name)
    return row.locator("td").evaluate("cell => cell.firstChild.textContent").strip()


def name_of(release, node: int) -> str:
    return f"Leaf {leaf_number(release.tree, node) + 1:,} of {release.n_leaves:,}"


@pytest.mark.parametrize("which", ["True map", "Private map"])
@pytest.mark.journey
def test_a_click_tells_why_the_leaf_ended(page, matrix, release, which) -> None:
    open_leaf(page)
    before = picture(page, which)
    # Somewhere in a large leaf at the edge of the city, where a pixel decides nothing.
    click_map(page, which, 0.06, 0.22)
    node = node_at(release.tree, (0.78 * 256, 0.06 * 256))
    wait_until(page, lambda: title(page) == name_of(release, node))
    told = inspect(release, node)
    assert page.locator(".verdict").inner_text() == told.decision.verdict
    assert number(fact(page, "Private count")) == pytest.approx(told.count, abs=0.051)
    true = matrix.count(np.array([told.lower]), np.array([told.upper]))[0]
    assert number(fact(page, "True count")) == true
    expect(page.get_by_role("img", name="Budget spent by stage").first).to_be_visible()
    assert picture(page, which) != before, "the leaf is outlined"


def test_walking_by_keyboard(page, release) -> None:
    open_leaf(page)
    entry = page.get_by_role("textbox", name="Go to: leaf number, or x, y")
    entry.fill("100")
    entry.press("Enter")
    node = int(release.tree.leaves[99])
    wait_until(page, lambda: title(page) == name_of(release, node))
    for side in ("North", "East", "East", "South", "West"):
        page.get_by_role("button", name=side, exact=True).press("Enter")
        node = neighbour(release.tree, node, side.lower())
        wait_until(page, lambda node=node: title(page) == name_of(release, node))
    page.get_by_role("button", name="Next leaf").press("Enter")
    node = int(release.tree.leaves[leaf_number(release.tree, node) + 1])
    wait_until(page, lambda: title(page) == name_of(release, node))
    page.get_by_role("button", name="Parent", exact=True).press("Enter")
    wait_until(page, lambda: title(page) == "Inner node, divided into 2 parts")
    page.get_by_role("button", name="Child", exact=True).press("Enter")
    wait_until(page, lambda: title(page) == name_of(release, node))
    page.get_by_role("button", name="Child", exact=True).press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("This is a leaf")
    entry.fill("a thousand")
    entry.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("Give a leaf number from 1 to")


def test_the_cut_of_an_inner_node_is_shown_and_told(page, matrix, release) -> None:
    open_leaf(page)
    entry = page.get_by_role("textbox", name="Go to: leaf number, or x, y")
    entry.fill("100")
    entry.press("Enter")
    node = int(release.tree.leaves[99])
    wait_until(page, lambda: title(page) == name_of(release, node))
    for _ in range(4):
        node = int(release.tree.parent[node])
        page.get_by_role("button", name="Parent", exact=True).press("Enter")
    study = study_cut(matrix, release, node)
    sentence = f"Cut at {('row', 'column')[study.axis]} {study.chosen:,}, exact cost"
    expect(page.get_by_role("img", name=sentence)).to_be_visible()
    said = page.locator(".summary", has_text=sentence)
    expect(said).to_contain_text(f"looked at {len(study.looked_at)} candidates")
    expect(said).to_contain_text(f"deviation {study.noise_sd:,.0f}")


def test_a_selected_row_marks_the_leaves_its_box_cuts(page, matrix, release) -> None:
    before = picture(page, "Private map")
    cell(page, 0, "true").click()
    west, south, east, north = (
        number(rows(page)[0][f"{edge} km"]) * 1000 for edge in ("west", "south", "east", "north")
    )
    cells = matrix.grid.to_cells([[west, south, east, north]])[0]
    inside, cut = cut_leaves(release.tree, cells)
    said = f"Q1 holds {inside:,} leaves whole and cuts {len(cut):,}: they are marked in green."
    expect(page.get_by_text(said)).to_be_visible()
    assert picture(page, "Private map") != before
    assert rows(page)[0]["leaves"] == f"{inside + len(cut):,} of {release.n_leaves:,}"


def test_the_table_tells_the_two_causes_apart(seen, matrix, release) -> None:
    page = seen
    for row in rows(page):
        edges = [number(row[f"{edge} km"]) * 1000 for edge in ("west", "south", "east", "north")]
        split = error_split(matrix, release, [edges])
        private, true = release.answer([edges]).value[0], exact(matrix, [edges])[0]
        noise, uneven = (number(part) for part in row["noise / uneven areas"].split())
        # As they are written, both make up the difference of what is written beside them.
        assert noise == round(split.noise[0])
        assert uneven == round(private) - round(true) - noise
        assert abs(uneven - split.uniformity[0]) <= 1.5


def test_axe_finds_nothing_serious_with_the_panel_open(page) -> None:
    open_leaf(page)
    cell(page, 0, "true").click()
    page.get_by_role("button", name="Parent", exact=True).press("Enter")
    expect(page.get_by_role("heading", name="Why this cut")).to_be_visible()
    assert not serious(page)


def test_a_range_of_all_leaves_is_outlined_and_a_row_goes_to_its_leaf(seen, release) -> None:
    page = seen
    before = picture(page, "Private map")
    page.get_by_role("button", name="All areas", exact=True).click()
    depth = page.get_by_role("textbox", name="Depth range")
    depth.fill("9 to 13")
    depth.press("Enter")
    of = release.tree.depth[release.tree.leaves]
    chosen = int(((of >= 9) & (of <= 13)).sum())
    said = page.get_by_text(f"{chosen:,} of {release.n_leaves:,} leaves")
    expect(said).to_be_visible()
    chart = page.get_by_role("img", name="Histogram of private count")
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    assert box is not None
    y = box["y"] + box["height"] / 4
    page.mouse.move(box["x"] + box["width"] * 0.5, y)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.6, y, steps=3)
    page.mouse.move(box["x"] + box["width"] * 0.8, y, steps=3)
    page.mouse.up()
    span = page.get_by_role("textbox", name="Private range")
    wait_until(page, lambda: " to " in span.input_value())
    low, high = (float(end) for end in span.input_value().split(" to "))
    good = (of >= 9) & (of <= 13) & (release.counts >= low) & (release.counts <= high)
    expect(page.get_by_text(f"{good.sum():,} of {release.n_leaves:,} leaves")).to_be_visible()
    outlined = picture(page, "Private map")
    assert outlined != before
    row = page.locator(ROW, has_text=f"{np.flatnonzero(good)[0] + 1:,}").first
    row.locator("td[data-column=private]").click()
    wait_until(page, lambda: picture(page, "Private map") != outlined)
    with page.expect_download() as told:
        page.get_by_role("button", name="Save leaves", exact=True).click()
    assert told.value.suggested_filename == "leaves.geojson"
