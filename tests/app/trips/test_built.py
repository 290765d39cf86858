"""How it was cut: the branch of the chosen row on all maps, its counts, budget and decisions."""

from dataclasses import replace

import numpy as np
import pytest

from explorer.app.curator.explain import OFF
from explorer.app.trips import built_sentences as say
from explorer.app.trips.built_frame import CutJob, compute_cut
from explorer.inspection.growth import Growth
from explorer.mechanisms import trip_mechanisms
from explorer.releases.places import branch
from tests.app.acts import Browser, words
from tests.app.press import press, put, text
from tests.app.trips.town import page, pictures, same, trips
from tests.plain_words import UNWANTED


@pytest.fixture
def opened():
    found = page()
    found.explain.choice.value = "Built"
    return found


def said(opened) -> str:
    return words(opened.explain.open.view)


def lines(opened) -> list[int]:
    return [len(each.source.data["x0"]) for each in opened.maps._lines]


def outlines(opened) -> list[list[float]]:
    found = []
    for mark in opened.maps.marks:
        found += [[float(mark.node.data[edge][0]) for edge in ("x0", "y0", "x1", "y1")]]
    return found


def test_it_opens_at_the_end_and_only_outlines_the_leaf(opened) -> None:
    screen, cut = opened.screen, opened.explain.open.cut
    tree, leaf = screen.drawn.tree, screen.branch.leaf
    assert cut.at_end
    assert cut.node.number == leaf
    assert tree.fan_out[leaf] == 0
    assert f"After {cut.depth} of {cut.depth} cuts" in said(opened)
    assert "Budget: 1 of 1 spent so far" in said(opened)
    assert same(pictures(opened), [each.bytes for each in screen.pictures])
    edges = screen.release.domain.from_cells(np.array([[tree.lower[leaf], tree.upper[leaf]]]))
    np.testing.assert_allclose(outlines(opened), edges.reshape(2, 4), rtol=1e-6)
    assert not opened.explain.open.player.playing


def test_a_level_is_the_release_cut_off_there_on_every_map(opened) -> None:
    put(opened, "Number of cuts shown", 3)
    screen, cut = opened.screen, opened.explain.open.cut
    growth = Growth(screen.release)
    grown = growth.at(int(growth.level_ends[3]))
    wanted = screen.paint(grown, screen.cell)[0]
    assert same(pictures(opened), [each.bytes for each in wanted])
    assert not same(pictures(opened), [each.bytes for each in screen.pictures])
    # The branch of the cut tree is that of the whole tree, shortened.
    short = branch(screen.drawn.tree, screen.cell, 3)
    assert lines(opened) == [len(boxes) for boxes in short.boxes]
    assert cut.node.number == short.leaf
    assert cut.node.count == short.count == screen.drawn.tree.value[short.leaf]
    answer = grown.answer(screen.boxes[:1]).value[0]
    assert f"Q1 would be answered with {answer:,.0f}" in said(opened)
    assert "After 3 of" in opened.maps.below.object
    for view in opened.maps.views:
        assert "After 3 of" in view.figure.html_attributes["aria-label"]


def test_before_the_first_cut_all_trips_lie_everywhere(opened) -> None:
    """With counts spread evenly the answer is the total times the parts of both maps: exactly."""
    press(opened, "To the start")
    cut, screen = opened.explain.open.cut, opened.screen
    low, high = screen.release.domain.to_cells(screen.boxes[:1])[0]
    share = np.prod((high - low) / screen.release.domain.shape)
    assert cut.answer == pytest.approx(screen.release.total * share)
    assert "Before the first cut: trips from a box of 8 × 8 km, to a box of 8 × 8 km" in said(
        opened
    )
    assert lines(opened) == [0, 0]


def test_the_branch_narrows_down_and_holds_the_exact_counts_of_its_pieces(opened) -> None:
    cut, screen = opened.explain.open.cut, opened.screen
    tree, counts = screen.release.tree, screen.data.matrix
    for above, node in zip(cut.nodes, cut.nodes[1:], strict=False):
        assert node.parent == above.number
        assert np.all(np.array(node.lower) >= above.lower)
        assert np.all(np.array(node.upper) <= above.upper)
        assert np.all((node.lower <= screen.cell) & (screen.cell < node.upper))
    path = [node.number for node in cut.nodes]
    assert cut.truth.nodes.tolist() == counts.count(tree.lower[path], tree.upper[path]).tolist()
    assert cut.truth.nodes[0] == counts.total


@pytest.fixture(scope="module")
def any_page():
    return page()


@pytest.mark.parametrize("key", trip_mechanisms())
def test_every_mechanism_says_why_and_a_path_spends_its_epsilon(any_page, key) -> None:
    any_page.state.put(mechanism=key)
    screen = any_page.screen
    end = compute_cut(CutJob(screen, None, "Q1"))
    spent = []
    for cuts in range(end.depth + 1):
        cut = compute_cut(CutJob(screen, cuts, "Q1", end))
        assert (cut.cuts, cut.node.number) == (cuts, screen.branch.path[cuts])
        assert cut.node.decision.kind != "unknown"
        assert cut.node.decision.verdict[1:] in say.about_piece(cut)
        spent.append(sum(part for _, part in cut.spent()))
    assert spent == sorted(spent)
    # Shares are rounded down to units of 10^-12.
    assert spent[-1] == pytest.approx(1.0, abs=1e-9)


def test_without_the_truth_nothing_exact_is_said(opened) -> None:
    known = replace(opened.explain.open.cut, cuts=2)
    public = replace(known, truth=None)
    for words_of in (say.about_answer, say.levels_table):
        assert "tru" in words_of(known)
        assert "tru" not in words_of(public)
    assert say.about_piece(public) == say.about_piece(known)


def test_it_plays_from_the_start_to_the_end_and_gives_the_maps_back(opened) -> None:
    panel, seen = opened.explain.open, []
    panel.level.param.watch(lambda event: seen.append(event.new), "value")
    own = pictures(opened)
    press(opened, "Play")
    assert seen == list(range(panel.cut.depth + 1))
    assert same(pictures(opened), own)
    press(opened, "Step back")
    assert not same(pictures(opened), own)
    opened.explain.choice.value = OFF
    assert same(pictures(opened), own)
    assert "After" not in opened.maps.below.object
    assert all(len(mark.node.data["x0"]) == 0 for mark in opened.maps.marks)


def test_another_release_or_row_keeps_the_number_of_cuts(opened) -> None:
    put(opened, "Number of cuts shown", 2)
    opened.state.put(epsilon=0.5)
    assert "After 2 of" in said(opened)
    assert "of epsilon 0.5." in said(opened)
    Browser(opened.table.widget).select([1])
    assert "After 2 of" in said(opened)
    assert "on the way to Q2" in said(opened)
    assert not opened.explain.open.cut.at_end


def test_true_maps_give_way_to_private_ones_while_it_is_not_at_the_end(opened) -> None:
    private = pictures(opened)
    opened.state.put(shows="true")
    true = pictures(opened)
    assert not same(true, private)
    put(opened, "Number of cuts shown", opened.explain.open.cut.depth - 1)
    named = opened.maps.views[0].figure.html_attributes["aria-label"]
    assert named.startswith("Private map of")
    press(opened, "To the end")
    assert same(pictures(opened), true)


def test_all_trips_and_no_partition_still_show_a_branch(opened) -> None:
    opened.state.put(focus="all", partition=False)
    assert lines(opened) == [0, 0]
    put(opened, "Number of cuts shown", 3)
    assert min(lines(opened)) > 0
    assert "on the way to the most likely combination of cells" in said(opened)
    assert "answered" not in said(opened)


def test_where_persons_are_protected_a_row_is_answered_by_shares() -> None:
    found = page(matrix=trips(contribution_bound=2, unit="user", lattice=2))
    found.explain.choice.value = "Built"
    answers, cut, matrix = found.screen.answers, found.explain.open.cut, found.screen.data.matrix
    # A trip weighs two units here, and is said as one.
    assert cut.truth.nodes[0] == matrix.total / 2
    assert cut.node.decision.kind != "unknown"
    wanted = [f"{value[0]:.2f} % of all trips" for value in (answers.private, answers.true)]
    assert f"answers Q1 with {wanted[0]}, and the truth is {wanted[1]}." in said(found)


def test_cuts_that_do_not_exist_are_refused(opened) -> None:
    opened.explain.open.level.value = 10**6
    assert "Number of cuts shown: choose from 0 to" in words(opened.message.view)
    assert opened.explain.open.cut.at_end


def test_the_panels_speak_no_idioms(opened) -> None:
    for name in ("To the start", "Step forward", "To the end"):
        press(opened, name)
        assert not UNWANTED.search(text(opened.explain.holder))
    opened.explain.choice.value = "Runs"
    press(opened, "Draw previews")
    assert "each with other random noise" in text(opened.explain.holder)
    assert not UNWANTED.search(text(opened.explain.holder))
