"""What every page with maps promises: answers, releases, scenarios, undo, hidden truth."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from explorer import exact
from explorer.app import Explore
from explorer.app import server as app_server
from explorer.app.mappage import page as map_page
from explorer.app.mappage.city_page import CuratorPage
from explorer.app.pages import PAGES
from explorer.errors import InputError
from explorer.points.matrix import FrequencyMatrix
from explorer.privacy.drawn import DrawnReleases
from explorer.privacy.ledger import Ledger
from explorer.scenario import Scenario
from tests.app import acts, press
from tests.app.map_pages import COMPARE, EXPLORE, MAP_PAGES, OTHER_DATA, MapPage

#: What is said of the exact counts.
TRUTH_SAID = re.compile(r"off by \d|\d in truth|, truly|nearer to the truth in")
DRAWING = [kind for kind in MAP_PAGES if kind.release]


@pytest.fixture(scope="module", params=MAP_PAGES, ids=str)
def kind(request: pytest.FixtureRequest) -> MapPage:
    return request.param


@pytest.fixture(scope="module")
def page(kind: MapPage) -> Any:
    """A page that is given back as it was."""
    return kind.own()


# Settings, boxes and answers.


def test_the_answers_are_those_of_the_python_api(kind, page) -> None:
    data, boxes = page.parts.data, page.rectangles.queries
    counts = getattr(data, "national", None) or data.matrix
    answers = page.answers.reset_index()
    for number, release in enumerate(kind.releases(page)):
        rows = answers.iloc[number * len(boxes) : (number + 1) * len(boxes)]
        np.testing.assert_allclose(rows["true"], exact(counts, boxes))
        np.testing.assert_allclose(rows["private"], release.answer(boxes).value)
    np.testing.assert_allclose(answers["error"], answers["private"] - answers["true"])
    shown = page.table.widget.value
    assert shown["box"].tolist() == page.rectangles.names
    np.testing.assert_array_equal(shown["true"].round(), rows["true"].round())


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"epsilon": -1}, "Epsilon"),
        ({"epsilon": float("nan")}, "Epsilon"),
        ({"palette": "<b>"}, "Colours"),
        ({"seed": 2**40}, "seed|noise"),
        ({"mechanism": "oracle"}, "Mechanism"),
        ({"side": 7}, "Grid|side|cell"),
        ({"no such": 1}, "no choice called"),
    ],
)
def test_what_is_no_choice_is_one_sentence_and_changes_nothing(page, choices, said) -> None:
    before, release = page.settings, page.answers
    with pytest.raises(InputError, match=f"(?i){said}") as refused:
        page.state.put(**choices)
    assert "\n" not in str(refused.value)
    assert page.settings == before
    assert page.answers.equals(release)


def test_data_that_are_not_there_are_one_sentence(kind) -> None:
    with pytest.raises(InputError, match=r"^There (is|are) no .*'atlantis'"):
        kind.page("atlantis")


def test_what_is_done_is_undone_and_done_again(kind, page) -> None:
    def state() -> tuple[Any, ...]:
        drawn = [release.epsilon for release in kind.releases(page)]
        return page.rectangles.boxes.tolist(), [*page.rectangles.names], page.state.epsilon, drawn

    page.history.reset()
    steps = [state()]
    acts.drag(page.maps.views[0].figure, (-3000.0, -2000.0, 2000.0, 1500.0))
    steps.append(state())
    page.rectangles.rename(0, "harbour")
    page.boxes_changed()
    steps.append(state())
    page.state.put(epsilon=0.5)
    steps.append(state())
    assert steps[-1][-1] == [0.5] * len(kind.releases(page))
    for wanted in steps[-2::-1]:
        page.pressed("mod+z", False)
        np.testing.assert_equal(state(), wanted)
    for wanted in steps[1:]:
        page.pressed("mod+y", False)
        np.testing.assert_equal(state(), wanted)
    for _ in steps[1:]:
        page.pressed("mod+z", False)


def test_names_of_a_file_are_made_safe(page) -> None:
    before = page.rectangles.names[0]
    page.rectangles.rename(0, "<img src=x onerror=alert(1)>")
    page.boxes_changed()
    shown = [press.markup(page), *page.table.widget.value["box"], page.parts.data.title]
    shown += [view.figure.html_attributes["aria-label"] for view in page.maps.views]
    assert not any("<img" in text or "<town" in text for text in shown)
    page.rectangles.rename(0, before)
    page.boxes_changed()


def test_settings_make_the_same_page_again(kind, page) -> None:
    again = kind.own(**page.settings)
    assert again.settings == page.settings
    boxes = page.rectangles.queries
    for one, other in zip(kind.releases(again), kind.releases(page), strict=True):
        np.testing.assert_array_equal(one.answer(boxes).value, other.answer(boxes).value)


@pytest.mark.parametrize("kind", [EXPLORE, COMPARE], ids=str)
@pytest.mark.parametrize(
    "counts", [np.full((1, 1), 5), np.full((1, 40), 5), np.zeros((16, 16), int)]
)
def test_tiny_and_empty_matrices_have_a_page(kind, counts) -> None:
    page = kind.page(FrequencyMatrix.from_array(counts), epsilon=1.0, right="difference")
    assert kind.releases(page)
    assert page.page() is not None


# The truth, and the colours.


def test_the_truth_is_hidden_until_it_is_asked_for(kind, page) -> None:
    def tags() -> str:
        boxes = [tag.data["text"] for boxes in page.maps.boxes for tag in boxes.tags]
        return " ".join(text for texts in boxes for text in texts)

    columns = {*page.table.widget.value.columns}
    assert columns & kind.columns
    assert TRUTH_SAID.search(press.markup(page))
    before = tags()
    page.pressed("p", False)
    assert page.state.palette == "paper"
    assert not kind.columns & {*page.table.widget.value.columns}
    assert not TRUTH_SAID.search(press.markup(page))
    assert "exact counts: do not share" not in press.markup(page)
    assert "%" not in tags()
    page.pressed("t", False)
    assert {*page.table.widget.value.columns} == columns
    assert TRUTH_SAID.search(press.markup(page))
    page.pressed("t", False)
    page.pressed("p", False)
    assert page.state.palette != "paper"
    assert tags() == before


def test_maps_that_are_painted_with_the_truth_are_hidden_with_it(kind, page) -> None:
    for choice, exact_one, private in kind.painted:
        page.state.put(**{choice: exact_one})
        page.pressed("p", False)
        assert getattr(page.state, choice) == private
        page.pressed("t", False)
        assert getattr(page.state, choice) == exact_one
        page.pressed("t", False)
        assert getattr(page.state, choice) == private
        # What is chosen meanwhile waits until the truth is shown.
        page.state.put(**{choice: exact_one})
        screen = page.pair.a if kind is COMPARE else page.screen
        assert not screen.look.exact
        page.pressed("p", False)
        assert getattr(page.state, choice) == exact_one
        page.state.put(**{choice: private})


def test_the_palette_follows_the_theme_unless_it_was_chosen(kind, monkeypatch) -> None:
    monkeypatch.setattr(map_page, "starts_dark", lambda: False)
    page = kind.own()
    assert page.state.palette == "paper"
    page.themed(dark=True)
    assert page.state.palette == "cividis"
    page.presenting.toggle()
    page.themed(dark=False)
    page.presenting.toggle()
    assert page.state.palette == "paper", "the theme changed during the presentation"
    page.state.put(palette="magma")
    page.presenting.toggle()
    page.presenting.toggle()
    page.themed(dark=True)
    assert page.state.palette == "magma"
    assert kind.own(palette="cividis").state.palette == "cividis"


# Releases.


@pytest.mark.parametrize("kind", DRAWING, ids=str)
def test_what_is_drawn_is_booked_once_kept_and_saved(kind, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("EXPLORER_LEDGER", str(tmp_path / "spends.sqlite3"))
    monkeypatch.delenv("EXPLORER_EPSILON_CAP", raising=False)
    page = kind.own()
    with pytest.raises(InputError, match="draw one first"):
        page.drawing.again(lambda _data: None)
    assert not press.find(page.drawer, "Save the release").visible
    press.press(page.drawer, "Draw a release")
    confirm = press.find(page.drawer, press.priced(page.drawer))
    assert Ledger().rows() == []
    for _ in range(3):
        confirm.clicks += 1
    drawn = page.release
    assert not drawn.preview
    assert page.released()
    assert "booked with epsilon 1" in page.message.sentence
    (row,) = Ledger().rows()
    assert row.units == 10**12
    assert DrawnReleases(Ledger().path).known(str(row.token))
    assert page.drawing.waiting() == []
    page.state.put(palette="magma", **{choice: value for choice, value, _ in kind.painted})
    assert page.release is drawn
    path = tmp_path / "release.parquet"
    path.write_bytes(press.download(page.drawer, "Save the release"))
    boxes, saved = page.rectangles.queries, kind.release.load(path)
    assert not saved.preview
    np.testing.assert_allclose(saved.answer(boxes).value, drawn.answer(boxes).value)
    page.state.put(epsilon=0.5)
    assert page.release.preview
    press.press(page.drawer, "Show the release again")
    assert page.release is drawn
    assert page.state.epsilon == 1
    assert len(Ledger().rows()) == 1


@pytest.mark.parametrize("kind", DRAWING, ids=str)
def test_a_bad_file_is_one_sentence_and_changes_nothing(kind) -> None:
    page = kind.own()
    form, data = page.upload, page.parts.data
    for name, value in (("lon", 2.35), ("lat", 48.85), ("width", 8.0)):
        if hasattr(form, name):
            getattr(form, name).value = value
    form.file.param.update(value=b"\x00\x01", filename="<b>points.parquet")
    press.press(form, f"Load these {form.WHAT}")
    assert page.message.sentence
    assert "\n" not in page.message.sentence
    assert page.parts.data is data


# Scenarios.


@pytest.fixture
def catalogue(kind, monkeypatch, tmp_path) -> None:
    """The data of the page's scenarios are there."""
    kind.install(monkeypatch, tmp_path)


@pytest.mark.usefixtures("catalogue")
class TestScenarios:
    def test_one_begins_a_page_and_another_replaces_it(self, kind) -> None:
        page = kind.page(scenario=kind.one)
        assert page.scenarios.present() == kind.one
        assert {release.epsilon for release in kind.releases(page)} == {0.37}
        assert page.table.widget.value["box"].tolist() == page.rectangles.names == ["Mine", "Q9"]
        answers = page.answers
        page.scenarios.open(kind.two)
        assert page.scenarios.present() == kind.two
        assert "Mine" not in page.rectangles.names
        with pytest.raises(InputError, match=kind.missing):
            page.scenarios.open(replace(kind.two, city="atlantis"))
        assert page.scenarios.present() == kind.two
        page.scenarios.open(kind.one)
        assert page.scenarios.present() == kind.one
        pd.testing.assert_frame_equal(page.answers, answers, check_exact=True)

    def test_a_link_in_the_address_goes_first(self, kind, monkeypatch) -> None:
        press.put_into_address(monkeypatch, s=kind.two)
        assert kind.page(epsilon=3.0).scenarios.present() == kind.two
        served = kind.page.served(PAGES, scenario=kind.one, city="madeup")
        assert served.scenarios.present() == kind.two

    def test_link_files_and_script_hold_the_screen(self, kind) -> None:
        page = kind.page(scenario=kind.two, links=PAGES)
        page.page()
        page.scenarios.section.active = [0]
        press.press(page, "Copy link")
        order = press.order_of(page)
        assert (order["page"], Scenario.from_link(order["link"])) == (kind.key, kind.two)
        assert Scenario.from_yaml(press.download(page, "Save scenario")) == kind.two
        notebook = json.loads(press.download(page, "Download notebook"))
        assert kind.page.__name__ in "".join(notebook["cells"][-1]["source"])
        press.press(page, "Copy as Python")
        assert kind.catalogue in press.order_of(page)["text"]
        changed = replace(kind.two, seed=8, boxes=[kind.box])
        page.scenarios.file.param.update(filename="x.yaml", value=changed.to_yaml().encode())
        assert page.scenarios.present() == changed
        page.scenarios.file.param.update(filename="x.yaml", value=b"scenario: 1\nepsilon: 99\n")
        assert "The epsilon of the scenario is 99" in page.message.sentence
        assert page.scenarios.present() == changed
        other, preset = (
            ("explore", "01-first-look") if kind is COMPARE else ("compare", "02-tree-against-grid")
        )
        page.scenarios.preset.value = preset
        assert press.order_of(page)["where"].startswith(f"./{other}?s=")

    def test_own_data_are_in_none(self, page, kind) -> None:
        with pytest.raises(InputError, match=f"{kind.whose} are in no scenario"):
            page.scenarios.present()

    @pytest.mark.parametrize("kind", DRAWING, ids=str)
    def test_a_release_is_described_without_its_noise(self, kind, monkeypatch, tmp_path) -> None:
        monkeypatch.setenv("EXPLORER_LEDGER", str(tmp_path / "ledger.sqlite3"))
        page = kind.page(scenario=kind.two)
        press.draw_release(page)
        one = page.scenarios.present()
        assert one == replace(kind.two, seed=None)
        page.scenarios.open(one)
        assert page.release.preview
        assert "this is a preview of the same settings" in page.message.sentence

    @pytest.mark.parametrize("kind", OTHER_DATA, ids=str)
    def test_pages_about_other_data_lead_to_each_other(self, kind, monkeypatch) -> None:
        for other in [Explore, *(each.page for each in OTHER_DATA if each is not kind)]:
            with pytest.raises(InputError, match=f"scenario is of the page {kind.key}: open it"):
                other(scenario=kind.two)
        with pytest.raises(InputError, match="This scenario is of the page explore: open it"):
            kind.page(scenario=Scenario(side=256))
        press.put_into_address(monkeypatch, s=kind.two)
        page = Explore.served(PAGES, city="madeup", side=256, mechanism="uniform")
        page.page()
        assert press.order_of(page)["where"] == f"./{kind.key}?s={kind.two.to_link()}"

    @pytest.mark.parametrize("kind", OTHER_DATA, ids=str)
    def test_a_server_begins_each_page_with_what_is_about_its_data(self, kind, monkeypatch) -> None:
        begun, first = {}, []

        def listen(shown, page, begin, *_rest, **_more):
            first.append(page)
            for each in (Explore, kind.page):
                each.served(shown, **begin)

        def note(page, city=None, scenario=None, _links=(), **choices):
            begun[page.KEY] = city, scenario, choices.get("side")

        monkeypatch.setattr(app_server, "_listen", listen)
        monkeypatch.setattr(CuratorPage, "__init__", note)
        app_server.serve(scenario=kind.two, warm=False, side=256)
        city, side = kind.begins
        # No city is the first of the catalogue, which is looked up when a page is opened.
        assert begun == {"explore": (None, None, 256), kind.key: (None, kind.two, side)}
        maps = Scenario(page="compare", city="madeup", side=512)
        app_server.serve(scenario=maps, warm=False)
        assert begun["explore"] == ("madeup", maps, 512)
        assert begun[kind.key][:2] == (city, None)
        assert first == [kind.key, "compare"]
