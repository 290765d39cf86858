"""Own data with a user column: people are protected, and the page says of how many records."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import come_to, leave
from tests.browser.visit import ROW, number, rows, unfold, wait_until

N, PEOPLE = 6_000, 1_000
PLACE = {"Centre longitude": "2.35", "Centre latitude": "48.85"}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Records of people, six of each, all of them on the map; sorted by place."""
    rng = np.random.default_rng(1)
    place = {"lon": rng.normal(2.35, 0.01, N), "lat": np.sort(rng.normal(48.85, 0.01, N))}
    pd.DataFrame({**place, "user_id": np.arange(N) % PEOPLE}).to_csv(
        tmp_path / "mine.csv", index=False
    )
    return tmp_path / "mine.csv"


def choose(page: Page, file: Path, what: str = "points") -> None:
    """Choose the file and declare the extent."""
    unfold(page, f"Grid and own {what}")
    expect(page.get_by_role("button", name=f"Load these {what}")).to_be_visible()
    page.locator("input[type=file]").first.set_input_files(file)
    expect(page.get_by_text("mine.csv received")).to_be_visible()
    for label, degrees in PLACE.items():
        page.get_by_role("textbox", name=label).press_sequentially(degrees)
        page.get_by_role("textbox", name=label).press("Tab")


def load(page: Page, what: str = "points") -> None:
    page.get_by_role("button", name=f"Load these {what}").click()


@pytest.mark.journey
def test_people_are_protected_and_the_truth_is_of_all_records(page: Page, file: Path) -> None:
    choose(page, file)
    bound = page.get_by_role("combobox", name="Protect", exact=True)
    expect(bound).to_be_hidden()
    page.get_by_role("textbox", name="User column").press_sequentially("user_id")
    # It appears while the name is typed, with a value that is said.
    expect(bound).to_be_visible()
    expect(page.get_by_text("Loading protects each person, at most 10 records.")).to_be_visible()
    bound.click()
    page.get_by_role("option", name="each person, at most 2 records").click()
    expect(page.get_by_text("Loading protects each person, at most 2 records.")).to_be_visible()
    load(page)
    summary = page.locator(".summary").first
    said = "Of about 6,000 records on the map, 2,000 are counted (at most 2 per person)."
    wait_until(page, lambda: said in summary.inner_text())
    assert "per person" in summary.inner_text()
    # Beside the choice of what is protected, too.
    expect(page.locator("p.quiet", has_text=said)).to_be_visible()
    expect(page.get_by_text("Truth, all records")).to_be_visible()
    # The first box, in the middle: the true count is of all, six times that of people.
    table = pd.read_csv(file)
    wait_until(page, lambda: len(rows(page)) == 2)
    first = rows(page)[0]
    true, private = number(first["true"]), number(first["private"])
    assert 0 < true <= len(table)
    names = ["noise", "uneven areas", "not counted"]
    cell = page.locator(ROW).first.locator("div.causes span")
    assert [each.get_attribute("title") for each in cell.all()] == names
    parts = [number(each.inner_text()) for each in cell.all()]
    assert sum(parts) == pytest.approx(round(private) - round(true), abs=0.5)
    # Two of six records of each person are counted: more than half of them are not.
    assert -true <= parts[2] < -true / 2
    assert page.locator("div.causes.key span").all_inner_texts() == names


def test_a_column_of_users_is_not_left_out_in_silence(page: Page, file: Path) -> None:
    choose(page, file)
    load(page)
    expect(page.get_by_role("alert")).to_contain_text("“user_id”")
    expect(page.get_by_role("textbox", name="User column")).to_have_value("user_id")
    expect(page.get_by_role("combobox", name="Protect", exact=True)).to_be_visible()
    load(page)
    summary = page.locator(".summary").first
    wait_until(page, lambda: "all are counted (at most 10 per person)" in summary.inner_text())


def test_single_records_are_protected_where_that_is_chosen(page: Page, file: Path) -> None:
    choose(page, file)
    user = page.get_by_role("textbox", name="User column")
    user.press_sequentially("user_id")
    page.get_by_role("combobox", name="Protect", exact=True).click()
    page.get_by_role("option", name="each record").click()
    load(page)
    summary = page.locator(".summary").first
    wait_until(page, lambda: summary.inner_text().startswith("Your points"))
    assert "per record" in summary.inner_text()
    assert page.locator("div.causes.key span").all_inner_texts() == ["noise", "uneven areas"]


def test_people_are_protected_on_the_page_of_trips(browser, server, tmp_path: Path) -> None:
    page, _ = come_to(browser, server, "/trips", "where trips to Q1 begin")
    rng = np.random.default_rng(1)
    ends = {
        name: rng.normal(2.35 if "lon" in name else 48.85, 0.01, N)
        for name in ("o_lon", "o_lat", "d_lon", "d_lat")
    }
    file = tmp_path / "mine.csv"
    pd.DataFrame({**ends, "user_id": np.arange(N) % PEOPLE}).to_csv(file, index=False)
    choose(page, file, "trips")
    page.get_by_role("textbox", name="User column").press_sequentially("user_id")
    expect(page.get_by_role("combobox", name="Protect", exact=True)).to_be_visible()
    page.get_by_role("textbox", name="User column").press("Tab")
    load(page, "trips")
    said = "trips on the map, all are counted (at most 10 per person, by weight)"
    expect(page.locator("p.quiet", has_text=said).last).to_be_visible()
    assert "not counted" in page.locator("div.causes.key").inner_text()
    leave(page)
