"""City against smooth map: as many people, two ways to ask, and what the ratios say."""

from __future__ import annotations

import numpy as np
import pytest

from explorer.app.federated.smooth import FINEST, RUNS, smoothed
from explorer.app.federated.smooth_panel import _verdict
from explorer.evaluate.repeats import seed_of
from explorer.federated.mechanism import START, Federated
from tests.app import press
from tests.app.federated import people


@pytest.fixture(scope="module")
def page():
    made = people.new_page()
    made.explain.choice.value = "Smooth"
    return made


def test_one_click_compares_rounds_and_even_grids_on_both_maps(page) -> None:
    found, counts = page.explain.open.found, people.counts()
    mse = []
    for again in range(RUNS):
        made = Federated(shard=1_000, depth=6, mode="summed").release(counts, seed_of(again))
        mse.append(np.mean(((made.density() - counts.counts) / people.PEOPLE) ** 2))
    assert found.city.refined.mse == pytest.approx(np.mean(mse))
    assert [each.level for each in found.city.even] == list(range(START, min(FINEST, 6) + 1))
    even = Federated(shard=1_000, depth=5, algorithm="flat", mode="summed")
    off = (even.release(counts, seed_of(0)).density() - counts.counts) / people.PEOPLE
    assert found.city.even[5 - START].mse == pytest.approx(np.mean(off**2))
    # Half of the town lives on a street one cell wide.
    assert found.city.ratio > 1.5 * found.smooth.ratio
    text = press.text(page)
    assert f"has {found.city.ratio:.2f} times the squared error of refining by rounds" in text
    assert f"has {found.smooth.ratio:.2f} times that of rounds" in text
    assert _verdict(found.city.ratio, found.smooth.ratio) in text
    assert len(page.explain.open.maps) == 6
    labels = [each.figure.html_attributes["aria-label"] for each in page.explain.open.maps]
    assert labels[3] == "As many people, spread smoothly: true"
    for held, label in ((found.city, labels[1]), (found.smooth, labels[4])):
        assert f"{held.refined.mse * 1e11:.3g}e-11" in label


def test_a_level_that_was_chosen_for_one_baseline_is_not_that_of_all_grids() -> None:
    made = people.new_page(level=4)
    made.explain.choice.value = "Smooth"
    found = made.explain.open.found
    assert [each.numbers for each in found.city.even] == [4**each.level for each in found.city.even]


def test_other_settings_are_told_from_those_that_were_compared(page) -> None:
    page.state.put(epsilon=0.5)
    assert "The settings have changed since" in press.text(page)
    press.press(page.explain.open, "Compare again")
    assert page.explain.open.found.order.chosen.epsilon == 0.5
    assert "The settings have changed since" not in press.text(page)


def test_a_smooth_map_has_as_many_people_and_no_street() -> None:
    counts = people.counts().counts
    smooth = smoothed(counts)
    assert smooth.shape == counts.shape
    assert smooth.sum() == counts.sum()
    assert smooth.min() >= 0
    assert smooth.max() < 0.2 * counts.max()
    assert smoothed(np.zeros((4, 9), dtype=np.int64)).sum() == 0


@pytest.mark.parametrize(
    ("city", "smooth", "said"),
    [
        (1.5, 1.0, "wins on the city, and makes no difference on the smooth map."),
        (2.0, 0.8, "wins on the city, and loses on the smooth map."),
        (1.3, 1.2, "On both maps refining wins."),
    ],
)
def test_the_verdict_is_what_the_ratios_bear_out(city, smooth, said) -> None:
    assert said in _verdict(city, smooth)
