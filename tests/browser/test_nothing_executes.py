"""Strings of files, links and people are text on every surface: none runs, none becomes a node."""

from __future__ import annotations

import ast
import csv
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely
import yaml
from playwright.sync_api import Browser, Dialog, Page, expect

from explorer.scenario import Box, Scenario
from tests.browser.conftest import PYTHON, ROOT, Started, leave, new_page, troubles
from tests.browser.visit import ROW, draw_release, rows, unfold, wait_until

RUNS = "<img src=x onerror=__ran=1>"
#: Names are shorter than texts.
NODE = "<b id=evil>"
LINK = "[go](javascript:__ran=1) ![p](javascript:__ran=1)"
ALL = f"{RUNS}<svg/onload=__ran=1><script>__ran=1</script>&lt;img src=x onerror=__ran=1&gt;{LINK}"
# What has come of a payload: whether one ran, which nodes and links were made of one, and all that
# can be read on the page, attributes included.
_FOUND = r"""
() => {
  const all = root => [...root.querySelectorAll("*")].flatMap(
    e => [e, ...(e.shadowRoot ? all(e.shadowRoot) : [])])
  const code = e => e.tagName === "SCRIPT" && !/json/.test(e.type)
  const bad = e => e.id === "evil" || code(e) && /^\s*__ran/.test(e.textContent)
    || e.tagName === "IMG" && e.getAttribute("src") === "x"
    || [...e.attributes].some(a => /^on/i.test(a.name) && /__ran/.test(a.value)
      || /^\s*javascript:/i.test(a.value))
  const texts = e => [...e.childNodes].filter(n => n.nodeType === 3).map(n => n.data)
  const every = all(document)
  return {
    ran: window.__ran ?? null,
    nodes: every.filter(bad).map(e => e.outerHTML.slice(0, 200)),
    read: every.filter(e => e.tagName !== "SCRIPT" && e.tagName !== "STYLE").flatMap(
      e => [...texts(e), e.value ?? "", ...[...e.attributes].map(a => a.value)]).join("\n"),
  }
}
"""


def named(what: str) -> str:
    """A name by which a surface is known, with all that must not happen behind it."""
    return f"{what} {RUNS}"


def city(folder: Path) -> None:
    """A city, a country, a base map, a lesson, a preset and a story of somebody who means harm."""
    rng = np.random.default_rng(7)
    lon, lat = rng.normal(2.35, 0.02, 3000), rng.normal(48.85, 0.015, 3000)
    pd.DataFrame({"lon": lon, "lat": lat, named("unread"): named("v")}).to_csv(
        folder / "points.csv", index=False
    )
    (folder / "evil.city.toml").write_text(
        f'title = "{named("title")}"\ndescription = "{named("description")}"\n'
        f'source = "{named("source")}"\nfile = "points.csv"\n'
        "around = [2.35, 48.85]\nsize_km = 8\ncells = 256\n"
    )
    place = {
        "name": [named("place")],
        "kind": ["place"],
        "geometry": gpd.points_from_xy([2.35], [48.85]),
    }
    gpd.GeoDataFrame(place, crs="EPSG:4326").to_file(
        folder / "evil.base_map.geojson", driver="GeoJSON"
    )
    cells = [shapely.box(2.3 + 0.05 * i, 48.8, 2.35 + 0.05 * i, 48.9) for i in range(2)]
    areas = {
        "country": named("land"),
        "region": named("region"),
        "district": [named("west"), named("east")],
    }
    # Files of these names are a country of the catalogue.
    gpd.GeoDataFrame(areas, geometry=cells, crs="EPSG:4326").to_parquet(
        folder / "gb_districts.parquet"
    )
    pd.DataFrame({"lon": lon, "lat": lat}).to_parquet(folder / "gb_road_accidents.parquet")
    screen = Scenario(city="evil", side=256, seed=1, title=named("preset"), about=ALL).to_yaml()
    (folder / "evil.yaml").write_text(screen)
    (folder / "00_mine.md").write_text(
        f"---\ntitle: {named('lesson')}\ngoal: {named('goal')}\nminutes: 1\n"
        f"experiment: scenario\nscenario:\n  city: evil\n  title: '{named('screen')}'\n---\n"
        f"## Steps\nsteps {ALL}\n\n<a href='javascript:__ran=1'>here</a>\n"
        f"## Question\nquestion {ALL}\n## Answer\nanswer {ALL}\n"
    )


def story() -> str:
    """Texts of a story and of its screen."""
    screen = Scenario(city="evil", side=256, seed=1, title=named("shown")).to_dict()
    step = {"text": f"told {ALL}", "ask": f"asked {ALL}", "notes": f"noted {ALL}"}
    told = {"story": 1, "title": named("tale"), "about": f"about {ALL}"}
    return yaml.safe_dump({**told, "steps": [{**step, "screen": screen}]}, allow_unicode=True)


@pytest.fixture(scope="module")
def evil(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    folder = tmp_path_factory.mktemp("evil")
    city(folder)
    code = "from explorer.app import serve; serve('evil', side=256, port=0, open=False)"
    settings = {name: str(folder) for name in
                ("EXPLORER_DATA", "EXPLORER_LESSONS", "EXPLORER_SCENARIOS")}  # fmt: skip
    settings |= {"EXPLORER_LEDGER": str(folder / "ledger.sqlite3")}
    running = Started(
        [PYTHON, "-u", "-c", code],
        r"explorer is at (http://\S+)",
        cwd=ROOT,
        env={**os.environ, **settings},
    )
    running.folder = folder  # type: ignore[attr-defined]
    yield running
    running.stop()
    assert not troubles("".join(running.log))


class Visit:
    """A page, all that was ever to be read on it, and what must not have happened there."""

    def __init__(self, page: Page) -> None:
        self.page, self.read = page, ""
        self.wrong: list[str] = []
        page.on("dialog", self._spoken)
        page.on("request", lambda asked: asked.url.endswith("/x") and self.wrong.append(asked.url))

    def _spoken(self, said: Dialog) -> None:
        self.wrong.append(said.message)
        said.dismiss()

    def look(self, *names: str) -> None:
        """Wait until all of these surfaces are shown; nothing has come of what stands there."""

        def shown() -> bool:
            found = self.page.evaluate(_FOUND)
            self.read += found["read"]
            assert (found["ran"], found["nodes"], self.wrong) == (None, [], [])
            return all(f"{each} ‹" in self.read or f"{each} <" in self.read for each in names)

        wait_until(self.page, shown)


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visit]:
    made = Visit(new_page(browser))
    yield made
    made.look()
    leave(made.page)


def ready(page: Page) -> None:
    page.get_by_role("img", name="Private map").wait_for()
    page.locator(ROW).first.wait_for()


@pytest.mark.parametrize(
    "harm", [RUNS, NODE, "<a href='javascript:__ran=1'>go</a>", "<svg/onload=__ran=1>"]
)
def test_whatever_came_of_a_string_is_seen_in_every_shadow(browser: Browser, harm: str) -> None:
    page = browser.new_page()
    page.set_content("<main><p></p></main>")
    visit = Visit(page)
    visit.look()
    page.evaluate(
        "harm => {document.querySelector('p').attachShadow({mode: 'open'}).innerHTML = harm}", harm
    )
    with pytest.raises(AssertionError):
        visit.look()
    page.close()


def test_links_cities_base_maps_presets_and_stories(visit: Visit, evil: Started) -> None:
    page, folder = visit.page, evil.folder  # type: ignore[attr-defined]
    boxes = (Box(0, 0, 900, 900, named("box")), Box(-900, -900, 0, 0, "=1+1"))
    link = Scenario(
        city="evil", side=256, title=named("linked"), about=f"about {ALL}"[:300], boxes=boxes
    ).to_link()
    page.goto(f"{evil.url}/explore?s={link}&theme={quote(RUNS)}&lesson={quote(RUNS)}")
    ready(page)
    visit.look("title", "linked", "about", "box")
    for name in ("Private map", "True map"):
        page.get_by_role("img", name=name).hover()
    page.get_by_role("button", name="Scenarios", exact=True).click()
    page.get_by_role("combobox", name="Preset", exact=True).click()
    visit.look("preset")
    page.keyboard.press("Escape")
    tale = folder / "tale.yml"
    tale.write_text(story())
    page.locator("input[type=file][accept='.yaml,.yml']").last.set_input_files(tale)
    visit.look("tale", "told", "asked")
    page.get_by_label("Notes", exact=True).click()
    visit.look("noted")
    bad = folder / "bad.yml"
    bad.write_text(f"scenario: 1\ncity: '{RUNS}'\n'{NODE}': 1\n")
    page.locator("input[type=file][accept='.yaml,.yml']").last.set_input_files(bad)
    expect(page.get_by_role("alert").first).to_be_visible()


def test_uploads_prices_and_downloads(visit: Visit, evil: Started, tmp_path: Path) -> None:
    page = visit.page
    page.goto(f"{evil.url}/explore")
    ready(page)
    shapes = {"name": [named("ward"), named("park")], named("column"): [named("one"), "two"]}
    cells = [shapely.box(2.34 + 0.01 * i, 48.84, 2.35 + 0.01 * i, 48.85) for i in range(2)]
    places = tmp_path / f"{NODE}.geojson"
    gpd.GeoDataFrame(shapes, geometry=cells, crs="EPSG:4326").to_file(places, driver="GeoJSON")
    unfold(page, "Save and load")
    file = page.locator("input[type=file]").last
    file.set_input_files(places)
    wait_until(page, lambda: len(rows(page)) == 4)
    page.get_by_role("combobox", name="Names from the column").click()
    visit.look("ward", "park", "column")
    page.keyboard.press("Escape")
    named_boxes = tmp_path / "boxes.csv"
    named_boxes.write_text(f'west,south,east,north,name\n0,0,900,900,"=1+{RUNS}"\n')
    file.set_input_files(named_boxes)
    wait_until(page, lambda: len(rows(page)) == 5)
    found = downloads(page, tmp_path)
    broken = tmp_path / "broken.csv"
    broken.write_text(f'west,south,east,{NODE}\n0,0,900,"{RUNS}"\n')
    file.set_input_files(broken)
    expect(page.get_by_role("alert").first).to_be_visible()
    visit.look()
    # Points whose file, columns and values are strings of that kind; the name is a population's.
    unfold(page, "Grid and own points")
    load = page.get_by_role("button", name="Load these points")
    expect(load).to_be_visible()
    rng = np.random.default_rng(1)
    columns = {f"o_lon {NODE}": rng.normal(2.35, 0.02, 900), "lat": rng.normal(48.85, 0.01, 900)}
    points = tmp_path / f"points {NODE}{RUNS}.csv"
    pd.DataFrame({**columns, "d_lon": 2.3, named("user id"): RUNS}).to_csv(points, index=False)
    page.locator("input[type=file]").first.set_input_files(points)
    page.get_by_role("textbox", name="Centre longitude").fill("2.35")
    page.get_by_role("textbox", name="Centre latitude").fill("48.85")
    page.get_by_role("textbox", name="Centre latitude").press("Tab")
    load.click()
    expect(page.get_by_role("textbox", name="Longitude column")).to_be_visible()
    page.get_by_role("textbox", name="Longitude column").fill(RUNS)
    page.get_by_role("textbox", name="Longitude column").press("Tab")
    load.click()
    visit.look("o_lon")
    page.get_by_role("textbox", name="Longitude column").fill(f"o_lon {NODE}")
    page.get_by_role("textbox", name="Latitude column").fill("lat")
    page.get_by_role("textbox", name="Latitude column").press("Tab")
    load.click()
    wait_until(page, lambda: page.locator(".summary").inner_text().startswith("Your points"))
    draw_release(page)
    expect(page.get_by_text("Drawn and booked")).to_be_visible()
    visit.look("points")
    for name in ("Report", "Report, no truth", "Maps as SVG"):
        page.goto(found[name].as_uri())
        visit.look("ward")
    page.goto(evil.url)


def downloads(page: Page, folder: Path) -> dict[str, Path]:
    """What a page hands out; tables hold no formula."""
    found = {}
    wanted = {"Save answers": "csv", "Save as CSV": "csv", "Report": "html", "Maps as SVG": "svg",
              "Report, no truth": "html", "Save as GeoJSON": "geojson"}  # fmt: skip
    unfold(page, "Save and load")
    for name, ending in wanted.items():
        with page.expect_download() as saved:
            page.get_by_role("button", name=name, exact=True).click()
        assert saved.value.suggested_filename.endswith(ending)
        found[name] = folder / f"{name}.{ending}"
        saved.value.save_as(found[name])
    for name in ("Save answers", "Save as CSV"):
        cells = [cell for row in csv.reader(found[name].open(encoding="utf8")) for cell in row]
        assert any("ward" in cell for cell in cells)
        # A number may begin with a minus sign, a text may not.
        assert not [c for c in cells if re.match(r"[=+@\t]|-(?![\d.])", c)]
    assert json.loads(found["Save as GeoJSON"].read_text("utf8"))["features"]
    return found


def test_notebook_and_yaml(visit: Visit, evil: Started, tmp_path: Path) -> None:
    page = visit.page
    boxes = (Box(0, 0, 900, 900, f"'''{named('box')}"), Box(-9, -9, 0, 0, '"""\n=1'))
    made = Scenario(city="evil", side=256, title=f"'''{ALL}"[:80], about=ALL[:300], boxes=boxes)
    # Compare as well, on the way.
    page.goto(f"{evil.url}/compare?s={made.to_link()}")
    page.get_by_role("img", name=re.compile("Map A|Private map")).first.wait_for()
    wait_until(page, lambda: len(rows(page)) == 2)
    visit.look("box", "title")
    page.get_by_role("button", name="Scenarios", exact=True).click()
    for name, ending in (("Download notebook", "ipynb"), ("Save scenario", "yaml")):
        with page.expect_download() as saved:
            page.get_by_role("button", name=name).click()
        saved.value.save_as(tmp_path / f"mine.{ending}")
    screen = yaml.safe_load((tmp_path / "mine.yaml").read_text("utf8"))
    assert screen.get("city") == "evil", screen
    for cell in json.loads((tmp_path / "mine.ipynb").read_text("utf8"))["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "code":
            names = {e.id for e in ast.walk(ast.parse(text)) if isinstance(e, ast.Name)}
            assert "__ran" not in names
        else:
            assert not re.search(r"(?<!\\)(<(img|svg|script|b )|\]\(javascript)", text), text


def test_areas_of_a_country(visit: Visit, evil: Started) -> None:
    page = visit.page
    link = Scenario(page="country", city="great-britain", title=named("screen")).to_link()
    page.goto(f"{evil.url}/country?s={link}")
    page.get_by_role("img", name="Private map").first.wait_for()
    visit.look("land", "screen")
    page.get_by_role("combobox", name=re.compile("^(Area|Show)")).first.click()
    visit.look("west", "east", "region")
    page.keyboard.press("Escape")
    box = page.get_by_role("img", name="Private map").first.bounding_box()
    for part in (0.3, 0.5, 0.7):
        page.mouse.move(box["x"] + box["width"] * part, box["y"] + box["height"] * 0.5)
        visit.look()


def test_lessons(visit: Visit, evil: Started) -> None:
    page = visit.page
    page.goto(f"{evil.url}/learn?lesson={quote(RUNS)}")
    page.get_by_role("heading").first.wait_for()
    visit.look()
    page.goto(f"{evil.url}/learn?lesson=00_mine&step={quote(RUNS)}")
    visit.look("lesson", "goal", "steps", "question")
    page.get_by_role("button", name="Show the answer").click()
    visit.look("answer")


def test_classes(visit: Visit, evil: Started) -> None:
    page = visit.page
    for asked in (f"class={quote(RUNS)}", f"teach={quote(RUNS)}&view={quote(NODE)}"):
        page.goto(f"{evil.url}/class?{asked}")
        page.get_by_label("Class code").wait_for()
        visit.look()
    page.get_by_label("Class code").fill(RUNS)
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert").first).to_be_visible()
    visit.look()
    page.get_by_role("button", name="Create a class", exact=True).click()
    expect(page.locator(".code")).not_to_be_empty()
    visit.look()


def test_trips(visit: Visit, evil: Started, tmp_path: Path) -> None:
    page = visit.page
    link = Scenario(page="trips", city="madeup", title=named("screen"), about=ALL[:300])
    page.goto(f"{evil.url}/trips?s={link.to_link()}")
    page.get_by_role("img", name=re.compile("trips .* begin")).first.wait_for()
    visit.look("screen")
    unfold(page, "Grid and own trips")
    load = page.get_by_role("button", name="Load these trips")
    expect(load).to_be_visible()
    rng = np.random.default_rng(1)
    places = {f"{end}_{way}": rng.normal(middle, 0.02, 900)
              for end in "od" for way, middle in (("lon", 2.35), ("lat", 48.85))}  # fmt: skip
    trips = tmp_path / f"trips {NODE}{RUNS}.csv"
    pd.DataFrame({**places, named("user id"): RUNS}).to_csv(trips, index=False)
    page.locator("input[type=file]").first.set_input_files(trips)
    page.get_by_role("textbox", name="Centre longitude").fill("2.35")
    page.get_by_role("textbox", name="Centre latitude").fill("48.85")
    named_places = page.get_by_role("textbox", name=re.compile("^Places"))
    named_places.fill(RUNS)
    named_places.press("Tab")
    load.click()
    expect(page.get_by_role("alert").first).to_be_visible()
    visit.look()
    named_places.fill("o,d")
    page.get_by_role("textbox", name=re.compile("^User")).fill(NODE)
    page.get_by_role("textbox", name=re.compile("^User")).press("Tab")
    load.click()
    # The column is not there: the sentence names those that are.
    expect(page.get_by_role("alert").first).to_contain_text("user id")
    visit.look("user id")
    said = page.locator(".summary").inner_text()
    page.get_by_role("textbox", name=re.compile("^User")).fill("")
    page.get_by_role("textbox", name=re.compile("^User")).press("Tab")
    load.click()
    wait_until(page, lambda: page.locator(".summary").inner_text() != said)
    draw_release(page)
    expect(page.get_by_text("Drawn and booked")).to_be_visible()
    visit.look("trips")


def test_federated_maps(visit: Visit, evil: Started) -> None:
    page = visit.page
    link = Scenario(page="federated", city="evil", title=named("screen"), about=ALL[:300])
    page.goto(f"{evil.url}/federated?s={link.to_link()}")
    page.get_by_role("img", name="Private map").first.wait_for()
    visit.look("screen", "title")
