"""Nothing stays faded once what was chosen is on the page, cannot be read, or was given up."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import PYTHON, ROOT, Started, come_to, leave
from tests.browser.visit import pick, steady, unfold, wait_until

# A server on which every data set but the first is read once a file is there, and one cannot be.
_SLOW = """
import dataclasses, pathlib, sys, time
from explorer.app import serve
from explorer.app.country import page as country
from explorer.app.mappage import city_page as city
from explorer.app.trips import page as trips
from explorer.errors import InputError

def slow(module, load, first, broken):
    known, read = getattr(module, "is_loaded"), getattr(module, load)
    def is_loaded(*place):
        place = place[0] if len(place) == 1 else place
        return place[0] == first
    def read_slowly(*given):
        place = given[0] if len(given) == 1 else given
        if place[0] == first:
            return read(*given)
        while not pathlib.Path(sys.argv[1]).exists():
            time.sleep(0.05)
        if place[0] == broken:
            raise InputError("The file is damaged.")
        as_first = (first, *place[1:])
        data = read(as_first) if len(given) == 1 else read(*as_first)
        return dataclasses.replace(data, city=tuple(place))
    setattr(module, "is_loaded", is_loaded)
    setattr(module, load, read_slowly)

slow(city, "load_city", "madeup", "houston")
slow(trips, "load_trips", "madeup", "new-york-green")
slow(country, "load_country", "nation", "")
serve("madeup", side=256, epsilon=1.0, port=0, open=False)
"""

# Of all that is on the page besides its messages: how much of it shines through, with all that is
# around it.
_OPACITIES = """
() => {
  const all = root => [...root.querySelectorAll("*")].flatMap(
    e => [e, ...(e.shadowRoot ? all(e.shadowRoot) : [])])
  const up = e => e.parentElement ?? e.getRootNode().host
  return all(document).filter(e => e.matches(
    "[role=img][aria-label*=map], table.values, dl.figures, h2.section, .ledger, .summary, "
    + "[role=combobox], [role=slider], .MuiToggleButtonGroup-root, canvas")
  ).map(e => {
    let opacity = 1
    for (let at = e; at; at = up(at)) opacity *= Number(getComputedStyle(at).opacity)
    return opacity
  })
}
"""


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    may_read = tmp_path_factory.mktemp("waiting") / "may_read"
    command = [PYTHON, "-u", "-c", _SLOW, str(may_read)]
    running = Started(command, r"explorer is at (http://\S+)", cwd=ROOT)
    yield running
    running.stop()


@pytest.fixture
def may_read(slow: Started) -> Iterator[Path]:
    """The file that lets the server read."""
    path = Path(slow.process.args[-1])  # type: ignore[index]
    path.unlink(missing_ok=True)
    yield path
    path.touch()


def faded(page: Page) -> bool:
    return min(page.evaluate(_OPACITIES)) < 0.5


def banner(page: Page):
    return page.locator(".old")


#: Of each page: its address, a map of it, its menu.
PAGES = {
    "explore": ("", "Private map", "City"),
    "compare": ("/compare", "Private map A", "City"),
    "federated": ("/federated", "Private map", "City"),
    "trips": ("/trips", "where trips to Q1 begin", "Trips"),
    "country": ("/country", "map of Amber Isles", "Country"),
}
#: Of each menu: what is read first, another, and one that cannot be read.
SETS = {
    "City": ("Port Amber", "New York, car rides, complete", "Houston, reported crimes"),
    "Trips": ("Port Amber, made-up trips", "Santiago, taxi rides", "New York, green taxis"),
    "Country": ("Amber Isles", "Great Britain, road accidents", ""),
}


def another(page: Page, menu: str) -> None:
    pick(page, menu, SETS[menu][1])


def a_broken_one(page: Page, menu: str) -> None:
    pick(page, menu, SETS[menu][2])


def two_quickly(page: Page, menu: str) -> None:
    another(page, menu)
    a_broken_one(page, menu)


def one_that_is_given_up(page: Page, menu: str) -> None:
    another(page, menu)
    expect(banner(page)).to_be_visible()
    pick(page, menu, SETS[menu][0])


CASES = [*(("explore", act) for act in (another, two_quickly, a_broken_one, one_that_is_given_up))]
CASES += [(page, another) for page in ("compare", "federated", "trips", "country")]


@pytest.mark.parametrize(("name", "act"), CASES, ids=lambda case: getattr(case, "__name__", case))
def test_nothing_stays_faded(browser, slow, may_read, name, act) -> None:
    path, first, menu = PAGES[name]
    page, _ = come_to(browser, slow, path, first)
    assert not faded(page)
    act(page, menu)
    if act is not one_that_is_given_up:
        # While it is read the page fades.
        expect(banner(page)).to_be_visible()
        wait_until(page, lambda: faded(page))
        may_read.touch()
    expect(banner(page)).to_be_hidden()
    steady(page, lambda: page.evaluate(_OPACITIES))
    assert not faded(page)
    leave(page)


@pytest.mark.parametrize(("name", "what"), [("explore", "points"), ("trips", "trips")])
def test_nothing_stays_faded_after_own_data(browser, slow, tmp_path, name, what) -> None:
    path, first, _ = PAGES[name]
    page, _ = come_to(browser, slow, path, first)
    rng = np.random.default_rng(1)
    lon, lat = rng.normal(2.35, 0.02, 400), rng.normal(48.85, 0.015, 400)
    columns = {"lon": lon, "lat": lat}
    if what == "trips":
        columns = {"o_lon": lon, "o_lat": lat, "d_lon": lon + 0.01, "d_lat": lat}
    file = tmp_path / "mine.csv"
    pd.DataFrame(columns).to_csv(file, index=False)
    unfold(page, f"Grid and own {what}")
    load = page.get_by_role("button", name=f"Load these {what}")
    expect(load).to_be_visible()
    page.locator("input[type=file]").first.set_input_files(file)
    expect(page.get_by_text("mine.csv received")).to_be_visible()
    for label, degrees in (("Centre longitude", "2.35"), ("Centre latitude", "48.85")):
        page.get_by_role("textbox", name=label).press_sequentially(degrees)
        page.get_by_role("textbox", name=label).press("Tab")
    load.click()
    wait_until(page, lambda: page.get_by_role("img", name=f"Your {what}").count() > 0)
    expect(banner(page)).to_be_hidden()
    steady(page, lambda: page.evaluate(_OPACITIES))
    assert not faded(page)
    leave(page)
