"""Pages in cells of JupyterLab: they show, react, are saved, and a saved one says what it is."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from playwright.sync_api import Browser, Locator, Page

from explorer.app.kit.words import words
from tests.browser.conftest import ROOT, Started, Watch
from tests.browser.visit import PATIENCE, ROW, steady, wait_until

CELLS = [
    """
import numpy as np
from explorer import FrequencyMatrix, Grid
from explorer.app import Explore
y, x = np.mgrid[:256, :256]
mean = 30 * np.exp(-0.0005 * ((y - 120) ** 2 + (x - 90) ** 2))
counts = np.random.default_rng(1).poisson(mean)
matrix = FrequencyMatrix.from_array(counts, Grid.around(13.4, 52.5, 5000, shape=256))
""",
    "app = Explore(matrix, partition_over='both')\napp",
    "print('boxes:', app.boxes.name.tolist(), 'epsilon:', app.mechanism.epsilon)",
    "other = Explore(matrix, mechanism='ug', epsilon=0.5)\nother",
]
#: Those with which a page is shown by a second cell.
MORE = [*CELLS, "app", "print('epsilon:', app.mechanism.epsilon)"]
SAVED, ELSEWHERE = words("notebook")["Saved"], words("notebook")["Elsewhere"]
#: The cells of a page, of what Python reads, of another page, and of the first page once more.
ONE, ASKED, OTHER, AGAIN, READ = 1, 2, 3, 4, 5
#: The largest notebook with these pages in it.
MOST_OF_NOTEBOOK = 100_000


class Lab(Started):
    """JupyterLab in a folder of its own, with nothing of the user's settings."""

    def __init__(self, folder: Path) -> None:
        self.folder, home = folder, folder / "home"
        home.mkdir()
        own = {f"JUPYTER_{each}_DIR": str(home / each) for each in ("CONFIG", "DATA", "RUNTIME")}
        own["JUPYTERLAB_WORKSPACES_DIR"] = own["JUPYTERLAB_SETTINGS_DIR"] = str(home)
        own["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
        command = [
            *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"),
            *("--ip", "127.0.0.1", "--port", "0", "--IdentityProvider.token="),
            *("--ServerApp.password=", f"--ServerApp.root_dir={folder}"),
            # Neither news nor newer versions: no test asks the net.
            "--LabApp.news_url=",
            "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        ]
        said = r"(http://127\.0\.0\.1:\d+)/"
        super().__init__(command, said, cwd=folder, env={**os.environ, **own})


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    folder = tmp_path_factory.mktemp("lab")
    for name, cells in {"x": CELLS, "more": MORE}.items():
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
        notebook.metadata["kernelspec"] = {
            "name": "python3",
            "display_name": "Python 3",
            "language": "python",
        }
        nbformat.write(notebook, folder / f"{name}.ipynb")
    running = Lab(folder)
    yield running
    running.stop()


def window(browser: Browser, width: int, height: int) -> Page:
    page = browser.new_page(viewport={"width": width, "height": height})
    page.set_default_timeout(1000 * PATIENCE)
    return page


def menu(page: Page, name: str, item: str) -> None:
    page.get_by_role("menuitem", name=name, exact=True).click()
    page.get_by_role("menuitem", name=item, exact=True).click()


def run_all(page: Page) -> None:
    """Run all cells, once the kernel is there."""
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()
    menu(page, "Run", "Run All Cells")


def written(path: Path) -> dict[str, Any]:
    """The notebook in a file, empty while Lab is writing it."""
    try:
        return dict(json.loads(path.read_text("utf8")))
    except json.JSONDecodeError:
        return {}


def cell(page: Page, at: int) -> Locator:
    """A cell of the notebook with all it shows, brought into the window."""
    place = page.locator(".jp-CodeCell").nth(at)
    place.scroll_into_view_if_needed()
    return place


def all_shown(page: Page, *cells: int) -> None:
    """Wait for the pages of these cells with their tables, which come last."""
    for at in cells:
        place = cell(page, at)
        place.locator("canvas").nth(1).wait_for()
        wait_until(page, lambda place=place: place.locator(ROW).count() > 1)
        wait_until(page, lambda at=at: leaves(page, at))


def says(page: Page, at: int) -> str:
    """The text of a cell, also where it is outside the window."""
    return cell(page, at).text_content() or ""


def leaves(page: Page, at: int = ONE) -> str:
    """What the page in a cell counts, also where that is outside the window."""
    figures = cell(page, at).locator("dl.figures div", has_text="Leaves")
    return figures.locator("dd").text_content() or ""


def slide(page: Page, at: int = ONE) -> None:
    """Move the first slider of the page in a cell."""
    slider = cell(page, at).locator("input[type=range]").first
    slider.focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")


def fits(place: Locator) -> None:
    """In a narrow cell the maps come before the controls, and nothing is cut off."""
    room = place.locator(".jp-OutputArea-output", has=place.page.locator("canvas")).bounding_box()
    slider = place.locator("input[type=range]").first.bounding_box()
    assert room is not None
    assert slider is not None
    last = place.get_by_role("button", name="Whole map").bounding_box()
    assert last is not None
    assert last["x"] + last["width"] <= room["x"] + room["width"] + 1
    for at in range(2):
        each = place.locator("canvas").nth(at).bounding_box()
        assert each is not None
        assert each["width"] > 200
        assert room["x"] - 1 <= each["x"]
        assert each["x"] + each["width"] <= room["x"] + room["width"] + 1
        assert slider["y"] > each["y"], "controls stand before the maps"


#: How many canvases show more than their background.
PAINTED = """canvases => canvases.filter(canvas => {
  const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height)
  return new Set(new Uint32Array(pixels.data.buffer)).size > 50
}).length"""


def test_a_cell_shows_reacts_and_is_saved_without_the_truth(browser: Browser, lab: Lab) -> None:
    page = window(browser, 1600, 1000)
    watch = Watch(page, lab.url)
    page.goto(f"{lab.url}/lab/tree/x.ipynb?reset")
    run_all(page)
    wait_until(page, lambda: "boxes: ['Q1', 'Q2'] epsilon: 0.1" in says(page, ASKED))
    all_shown(page, ONE, OTHER)
    one = cell(page, ONE)
    wait_until(page, lambda: one.locator("canvas").evaluate_all(PAINTED) == 2)

    before = leaves(page)
    slide(page)
    wait_until(page, lambda: leaves(page) != before)

    one.locator("canvas").first.scroll_into_view_if_needed()
    canvas = one.locator("canvas").first.bounding_box()
    assert canvas is not None
    assert canvas["width"] > 250
    x, y = canvas["x"] + canvas["width"] * 0.3, canvas["y"] + canvas["height"] * 0.3
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y + 50, steps=8)
    page.mouse.up()
    values = "fields => fields.map(field => field.value)"
    wait_until(page, lambda: "Q3" in one.locator(f"{ROW} input").evaluate_all(values))

    colours = "rows => rows.map(row => getComputedStyle(row).color)"
    assert len({*one.locator(ROW).evaluate_all(colours)}) == 1

    for width in (1024, 640):
        page.set_viewport_size({"width": width, "height": 1000})
        steady(page, one.locator("canvas").first.bounding_box)
        fits(one)
    page.set_viewport_size({"width": 1600, "height": 1000})

    # What Python reads is what is on the screen.
    cell(page, ASKED).locator(".cm-content").click()
    page.keyboard.press("Control+Enter")
    wait_until(page, lambda: "boxes: ['Q1', 'Q2', 'Q3']" in says(page, ASKED))

    page.keyboard.press("Control+s")
    path = lab.folder / "x.ipynb"
    wait_until(page, lambda: "Q3" in json.dumps(written(path)))
    saved = path.read_text("utf8")
    assert len(saved) <= MOST_OF_NOTEBOOK
    assert "docs_json" not in saved, "a document of Bokeh holds the truth"
    assert "your own counts" not in saved, "the summary, which quotes true answers"
    # Lab's own resources ask for nothing else than Lab; a missing icon of its is its own affair.
    troubles = [each for each in watch.found if not each.startswith("console")]
    assert not troubles, "\n".join(troubles)
    page.close()
    reopen_without_its_kernel(browser, lab)


def reopen_without_its_kernel(browser: Browser, lab: Lab) -> None:
    """The saved notebook says that it is a picture, and takes no input."""
    page = window(browser, 1024, 800)
    page.goto(f"{lab.url}/lab?reset")
    page.get_by_text("Launcher").first.wait_for()
    for session in page.request.get(f"{lab.url}/api/sessions").json():
        token = {each["name"]: each["value"] for each in page.context.cookies()}.get("_xsrf", "")
        page.request.delete(
            f"{lab.url}/api/sessions/{session['id']}", headers={"X-XSRFToken": token}
        )
    page.goto(f"{lab.url}/lab/tree/x.ipynb?reset")
    page.get_by_text(SAVED).first.wait_for()
    assert page.locator("canvas").count() == 0
    assert page.locator(".jp-OutputArea input").count() == 0, "it takes input and cannot answer"
    page.close()


def test_two_pages_are_two_and_a_page_that_is_shown_again_is_live_in_its_last_cell(
    browser: Browser, lab: Lab
) -> None:
    page = window(browser, 1600, 1000)
    watch = Watch(page, lab.url)
    page.goto(f"{lab.url}/lab/tree/more.ipynb?reset")
    run_all(page)
    last_is_live(page)
    # Opened again while its kernel lives.
    page.keyboard.press("Control+s")
    path = lab.folder / "more.ipynb"
    wait_until(page, lambda: "epsilon: 0.1" in json.dumps(written(path).get("cells", [])[READ:]))
    page.reload()
    last_is_live(page)

    one, other = (steady(page, lambda at=at: leaves(page, at)) for at in (AGAIN, OTHER))
    assert one != other
    slide(page, AGAIN)
    wait_until(page, lambda: leaves(page, AGAIN) != one)
    one = steady(page, lambda: leaves(page, AGAIN))
    assert leaves(page, OTHER) == other
    slide(page, OTHER)
    wait_until(page, lambda: leaves(page, OTHER) != other)
    assert leaves(page, AGAIN) == one

    # As the sentence says, and with what was changed in the other cell.
    cell(page, ONE).locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.type("app")
    page.keyboard.press("Control+Enter")
    all_shown(page, ONE)
    wait_until(page, lambda: leaves(page, ONE) == one)
    assert cell(page, ONE).locator("canvas").evaluate_all(PAINTED) == 2
    wait_until(page, lambda: ELSEWHERE in says(page, AGAIN))
    slide(page, ONE)
    wait_until(page, lambda: leaves(page, ONE) != one)
    elsewhere = [text for text in watch.found if not text.startswith("console")]
    assert not elsewhere, "\n".join(elsewhere)
    page.close()


def last_is_live(page: Page) -> None:
    """Wait until the last of two cells shows the page with its maps, and the first says so."""
    all_shown(page, OTHER, AGAIN)
    wait_until(page, lambda: ELSEWHERE in says(page, ONE))
    assert cell(page, ONE).locator("canvas").count() == 0
    maps = cell(page, AGAIN).locator("canvas")
    wait_until(page, lambda: maps.evaluate_all(PAINTED) == 2)
