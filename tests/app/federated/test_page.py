"""The Federated page, without a browser: rounds, sums, and the map that they make."""

from __future__ import annotations

import html
import re
from dataclasses import replace

import numpy as np
import pytest

from explorer.app.federated.screen import people_of
from explorer.app.kit.words import words
from explorer.app.state.federated import FederatedState
from explorer.errors import InputError
from explorer.federated import calibration
from explorer.federated.mechanism import Federated as Mechanism
from explorer.points.truth import exact
from explorer.releases.distributed import DistributedRelease
from explorer.scenario import presets
from tests.app import acts, press
from tests.app.federated import people
from tests.app.kit.test_words import DRAWN, asked_of

TICK = "Publish the exact number of people"


@pytest.fixture
def page():
    return people.new_page()


def said(page) -> str:
    return html.unescape(re.sub("<[^>]*>", "", page.readout.summary.object)).strip()


def test_it_opens_with_one_sentence_on_what_the_server_saw_and_the_rounds(page) -> None:
    release = page.screen.release
    assert isinstance(release, DistributedRelease)
    assert release.preview
    assert len(release.heard) > 2
    assert f"in {len(release.heard)} rounds the server saw masked vectors" in said(page)
    assert "40,000 people (one vector each" in said(page)
    boxes = page.rectangles.boxes
    true = exact(people.counts(), boxes)
    off = np.median(100 * np.abs(release.answer(boxes).value - true) / true)
    assert float(re.search(r"off by ([\d.]+) %", said(page))[1]) == pytest.approx(off, rel=0.01)
    assert page.explain.choice.value == "Rounds"
    assert "one process holds them all" in press.text(page)


def test_boxes_are_dragged_on_either_map_and_answered(page) -> None:
    x0, y0, x1, y1 = page.parts.data.grid.bounds
    for view in page.maps.views:
        acts.drag(view.figure, (x0 + 1000, y0 + 2000, x1 - 3000, y1 - 2500))
    assert len(page.rectangles) == 4
    row = page.table.widget.value.iloc[-1]
    boxes = page.rectangles.boxes[-1:]
    assert row["private"] == round(float(page.screen.release.answer(boxes).value[0]))
    assert row["true"] == round(float(exact(people.counts(), boxes)[0]))


def test_a_release_is_for_the_number_in_the_field_or_by_consent_the_exact_one() -> None:
    page = people.new_page(people=39_999)
    press.press(page.drawer, "Draw a release")
    refused = page.message.sentence
    assert "more people than the 39,999 declared" in refused
    assert "“People” in the settings" in refused
    assert "the tick above the button" in refused
    assert press.priced(page.drawer) == ""
    assert refused in html.unescape(page.drawer.promise.object)
    press.put(page.drawer, TICK, True)
    assert "protects the place of each person" in page.drawer.promise.object
    press.draw_release(page.drawer)
    assert refused not in page.message.sentence
    drawn = page.screen.release
    assert (drawn.people_are_public, drawn.population) == (True, people.PEOPLE)
    assert drawn.facts["asked"] == 39_999
    press.put(page.drawer, TICK, False)
    page.state.set_parameter("people", 41_000)
    page.settings_changed()
    press.press(page.drawer, "Draw a release")
    assert "41,000 people are declared to take part" in press.text(page.drawer)
    press.press(page.drawer, press.priced(page.drawer))
    drawn = page.screen.release
    assert (drawn.people_are_public, drawn.population) == (False, 41_000)
    assert "of 41,000 people" in page.readout.about.object


def test_more_people_than_declared_is_not_said_while_exact_counts_are_hidden() -> None:
    page = people.new_page(people=39_999)
    assert "more people than the 39,999" in page.drawer.promise.object
    page.pressed("p", False)
    assert page.drawer.promise.object == ""
    page.pressed("t", False)
    assert "more people than the 39,999" in page.drawer.promise.object


def test_a_price_does_not_hold_for_another_promise() -> None:
    page = people.new_page(people=41_000)
    press.press(page.drawer, "Draw a release")
    assert press.priced(page.drawer)
    press.put(page.drawer, TICK, True)
    assert press.priced(page.drawer) == ""
    press.press(page.drawer, "Draw a release")
    said = press.text(page.drawer)
    assert "the place of each person, while exactly how many people" in said
    assert "people_are_public" not in page.state.as_choices()


def test_everybody_is_no_declared_number() -> None:
    page = people.new_page(people=None)
    press.press(page.drawer, "Draw a release")
    assert "would be known exactly from this release" in page.message.sentence
    assert press.priced(page.drawer) == ""


def test_a_preview_is_one_draw_and_a_release_everybodys_own_shares(page, tmp_path) -> None:
    assert page.screen.release.parameters["mode"] == "summed"
    press.draw_release(page.drawer)
    drawn = page.screen.release
    assert not drawn.preview
    assert drawn.parameters["mode"] == "ideal"
    assert "booked with epsilon 1" in press.text(page)
    path = tmp_path / "release.parquet"
    path.write_bytes(press.download(page.drawer, "Save the release"))
    again = DistributedRelease.load(path)
    assert again.rounds.equals(drawn.rounds)
    np.testing.assert_allclose(again.density(), drawn.density())
    # Playing its rounds draws nothing again.
    press.press(page.explain.open, "To the start")
    page.state.put(scale="linear")
    assert page.screen.release is drawn
    page.state.put(epsilon=2.0)
    assert page.screen.release.preview


def test_every_control_is_there_and_changes_the_rounds(page) -> None:
    press.press(page.drawer, "More settings")
    before = page.screen.release
    for label, name, value in (
        ("People", "people", 20_000),
        ("Shard", "shard", 500),
        ("Dropped", "dropped", 0.2),
        ("Corrupt", "corrupt", 0.1),
        ("Depth", "depth", 5),
        ("c", "c", 0.8),
        ("b", "b", 3.0),
    ):
        press.put(page.drawer, label, value)
        assert page.screen.release.parameters[name] == value
    assert page.screen.release.facts["asked"] == 20_000
    assert page.screen.release is not before
    labels = [getattr(each, "label", None) for each in press.parts(page.drawer)]
    assert "Sums" not in labels, "by which code sums are added is the page's to choose"
    for algorithm in ("paper", "mended", "flat", "adaptive grid"):
        press.put(page.drawer, "Algorithm", algorithm)
        assert page.screen.release.parameters["algorithm"] == algorithm
        assert re.search(r"Round \d+ of \d+:", press.text(page))


def test_automatic_c_and_b_stand_where_the_algorithms_own_are(page) -> None:
    press.press(page.drawer, "More settings")
    for algorithm, c, b in (("people", 0.6, 2.0), ("mended", 0.6, 3.0), ("paper", 0.1, 2.0)):
        press.put(page.drawer, "Algorithm", algorithm)
        assert press.find(page.drawer, "Automatic c").value
        assert press.find(page.drawer, "c").value == c
        assert press.find(page.drawer, "b").value == b
        assert page.screen.release.parameters["c"] is None
        assert page.screen.release.facts["c"] == c
    press.put(page.drawer, "c", 0.3)
    assert not press.find(page.drawer, "Automatic c").value
    press.put(page.drawer, "Algorithm", "people")
    assert page.screen.release.facts["c"] == 0.3
    press.put(page.drawer, "Automatic c", True)
    assert page.screen.release.facts["c"] == 0.6


def test_options_stand_where_they_matter(page) -> None:
    press.press(page.drawer, "More settings")
    panel = page.drawer.mechanisms[0].settings
    for algorithm, there, absent in (
        ("people", "furthest", "k"),
        ("paper", "sigma", "furthest"),
        ("flat", "level", "c"),
        ("decomposition", "more_for", "level"),
        ("adaptive grid", "grid_epsilon", "more_for"),
    ):
        press.put(page.drawer, "Algorithm", algorithm)
        assert panel.controls[there].view.visible
        assert not panel.controls[absent].view.visible
    press.put(page.drawer, "Algorithm", "paper")
    before = page.screen.release
    press.put(page.drawer, "Noise of the threshold", "both rounds")
    assert page.screen.release.parameters["sigma"] == "both rounds"
    assert not np.array_equal(page.screen.release.density(), before.density())


def test_bits_are_chosen_overflow_is_shown_and_too_few_are_refused(page, monkeypatch) -> None:
    assert "overflow" in press.markup(page.explain.open)
    assert page.screen.release.rounds.overflow.isna().all()
    page.state.set_parameter("bits", 16)
    page.settings_changed()
    release = page.screen.release
    assert set(release.rounds.bits) == {16}
    assert release.parameters["mode"] == "ideal", "one draw for all would hide what overflows"
    assert release.facts["overflow"] == 0
    page.state.set_parameter("bits", 9)
    page.settings_changed()
    assert "9 bits a number are too few" in press.text(page)
    assert page.screen.release is release
    # As if noise never passed 1.
    monkeypatch.setattr(calibration, "lowest", lambda *_: 1)
    page.state.set_parameter("bits", 10)
    page.settings_changed()
    found = page.screen.release.rounds.overflow
    assert found.iloc[-1] > 0
    assert f"{found.iloc[-1]:,} sums of shards did not fit their bits" in press.text(page)
    page.explain.choice.value = "Server"
    assert re.search(r"of 10 bits, (too few for \d+ sums?|which held)", press.text(page))


def test_presets_of_people_open_from_the_menu(page) -> None:
    page.scenarios.section.active = [0]
    menu = page.scenarios.preset
    assert menu.options["Nobody sees a place"] == "10-nobody-sees-a-place"
    menu.value = "11-algorithm-2-as-printed"
    assert menu.value
    preset = presets()["11-algorithm-2-as-printed"]
    assert page.scenarios.present() == replace(preset, title="", about="")
    assert f"{preset.title}: {preset.about}" in page.message.sentence
    assert page.screen.release.parameters["algorithm"] == "paper"
    assert page.screen.release.facts["c"] == 0.1


def test_what_cannot_be_is_refused_in_one_sentence(page) -> None:
    before = page.screen.release
    page.state.set_parameter("dropped", 0.6)
    page.state.set_parameter("corrupt", 0.6)
    page.settings_changed()
    assert "nobody honest is left" in press.text(page)
    assert page.screen.release is before
    with pytest.raises(InputError, match="Depth"):
        page.state.set_parameter("depth", 30)
    with pytest.raises(InputError, match="Epsilon"):
        page.state.put(epsilon=-1)
    with pytest.raises(InputError, match="What is protected"):
        page.state.put(bound=5)


def test_a_sample_without_noise_is_no_release() -> None:
    page = people.new_page(algorithm="sampling")
    assert "without any noise" in said(page)
    press.draw_release(page.drawer)
    assert "A sample without noise is not private" in press.text(page)
    assert page.screen.release.preview


def test_people_are_made_once_for_all_visitors(page) -> None:
    assert people_of(page.parts.data) is people_of(page.parts.data)
    assert len(people_of(page.parts.data)) == people.PEOPLE
    other = people.new_page()
    assert other.screen.release is page.screen.release
    same = Mechanism(shard=1_000, depth=6, mode="summed").release(people.counts(), rng=1)
    np.testing.assert_array_equal(same.density(), page.screen.release.density())


def test_the_words_of_the_page_are_there() -> None:
    from explorer.app.kit.words import FOLDER

    asked = asked_of("federated", [*(FOLDER.parent / "federated").glob("*.py"), DRAWN])
    assert asked <= set(words("federated"))
    assert {"Boxes", "City", "Epsilon", "Her vector"} <= asked


def test_the_state_knows_one_mechanism() -> None:
    state = FederatedState(people=None, algorithm="paper")
    assert state.instance().people is None
    assert repr(state.instance()).startswith("Federated(")
    with pytest.raises(InputError, match="Mechanism"):
        state.put(mechanism="htf")
