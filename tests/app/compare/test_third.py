"""Compare: the same mechanism with other noise, and a third map of the truth or of B minus A."""

import numpy as np
import pytest

from explorer import HTF, InputError
from explorer.app import Compare
from explorer.app.curator.start import present
from explorer.grid.grid import Grid
from explorer.points.matrix import FrequencyMatrix
from explorer.scenario import Pair, Scenario, carried, to_python
from explorer.views import palette
from tests.app import press


@pytest.fixture
def page():
    grid = Grid.around(2.35, 48.85, 8000, shape=32, name="Test town")
    matrix = FrequencyMatrix.from_array(np.random.default_rng(9).poisson(9, (32, 32)), grid)
    return Compare(matrix, a="htf", b="htf", epsilon=0.5)


def test_the_same_mechanism_can_have_other_noise(page) -> None:
    a, b = page.releases
    assert np.array_equal(a.counts, b.counts)
    press.put(page, "B has other random noise", True)
    again, other = page.releases
    assert np.array_equal(again.counts, a.counts)
    assert not np.array_equal(other.counts, a.counts)
    seed = page.state.seeds_of_sides[1]
    matrix = page.parts.data.matrix
    assert np.array_equal(other.counts, HTF(epsilon=0.5).release(matrix, rng=seed).counts)
    press.press(page, "New draw")
    assert not np.array_equal(page.releases[0].counts, other.counts), "A is not what B was"


def test_truth_as_a_third_map_is_sent_only_when_asked(page) -> None:
    assert len(page.maps.views) == 2
    page.maps.ranges.look_at(500.0, 500.0, 4000.0)
    press.put(page, "Third map", "truth")
    assert len(page.maps.views) == 3
    assert page.maps.ranges.bounds == pytest.approx((-1500, -1500, 2500, 2500))
    assert "Truth" in press.markup(page)
    true = page.answers.loc["A"]["true"]
    names = page.rectangles.names
    (tags,) = page.tags(page.rectangles.boxes, names)[2:]
    assert [text.split("  ")[1] for text, _ in tags] == [f"{each:,.0f}" for each in true]
    page.state.put(epsilon=1.0, right="difference")
    bars = [bar.object for bar in page.maps.bars.panes]
    assert ["too few" in bar for bar in bars] == [True, True, False]
    assert "Points per" in bars[2], "the truth has the bar of counts"
    press.put(page, "Third map", "none")
    assert len(page.maps.views) == 2


def test_b_minus_a_is_nothing_for_the_same_release_and_counts_otherwise(page) -> None:
    press.put(page, "Third map", "change")
    assert set(np.unique(page.pair.change)) == {128}
    assert len(palette.DIFFERENCE) == 256
    press.put(page, "B has other random noise", True)
    assert len(np.unique(page.pair.change)) > 10
    change = (page.answers.loc["B"] - page.answers.loc["A"])["private"].round()
    (tags,) = page.tags(page.rectangles.boxes, page.rectangles.names)[2:]
    said = [float(text.split("  ")[1].replace(",", "").replace("−", "-")) for text, _ in tags]
    assert said == pytest.approx(change.tolist(), abs=1)


def test_a_scenario_keeps_other_noise_and_the_third_map() -> None:
    one = Scenario(
        page="compare", mechanisms=["htf", "htf"], seed=4, pair={"apart": True, "third": "change"}
    )
    for again in (Scenario.from_yaml(one.to_yaml()), Scenario.from_link(one.to_link())):
        assert again == one
    page = Compare("madeup", scenario=one, side=256)
    assert len(page.maps.views) == 3
    assert page.state.apart
    assert present("compare", page.state, page.rectangles).pair == one.pair
    # The script draws what the screen shows.
    said = to_python(one)
    assert "rng=4)" in said
    assert f"rng={page.state.seeds_of_sides[1]})" in said
    # Another page has no such choice, and one that comes back to Compare has it again.
    assert carried(one, "explore").pair == Pair()
    assert carried(carried(one, "explore"), "compare", one).pair == one.pair
    assert Pair().plain() == {}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"pair": {"third": "fourth"}}, "none, truth, change"),
        ({"pair": {"apart": "yes"}}, "pair's 'apart'"),
        ({"pair": {"beside": 1}}, "beside"),
        ({"page": "explore", "pair": {"apart": True}}, "leave the pair out"),
    ],
)
def test_a_scenario_with_another_pair_is_refused_in_one_sentence(given, said) -> None:
    with pytest.raises(InputError, match=said):
        Scenario.from_dict({"scenario": 1, "page": "compare", **given})
