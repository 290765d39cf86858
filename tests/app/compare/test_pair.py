"""The sentences about two maps, with the figures of the releases they speak of."""

import numpy as np

from explorer.app.compare.pair import compute_pair, figures_of, nearer, score, why
from explorer.app.curator.answers import BoxAnswers
from explorer.app.curator.data import own_city
from explorer.app.curator.screen import Job, Look
from explorer.mechanisms import HTF, UG, Uniform
from explorer.views.viewport import Viewport
from tests.helpers import city


def pair(a=None, b=None, boxes=((4, 4, 30, 30), (10, 20, 40, 60))):
    data = own_city(city())
    jobs = (
        Job(
            data,
            made,
            3,
            0,
            Viewport.whole(data.grid, 64),
            Look(points=False),
            np.array(boxes, float).reshape(-1, 4),
        )
        for made in (a or HTF(epsilon=0.5), b or UG(epsilon=0.5))
    )
    return compute_pair(tuple(jobs))


def test_why_names_leaves_noise_leaves_touched_and_budget() -> None:
    both = pair()
    said = why(both)
    for screen in (both.a, both.b):
        assert f"{screen.release.n_leaves:,} leaves" in said
        touched = np.median(screen.release.touched(both.a.boxes))
        assert f"{touched:,.0f} leaves of" in said
        largest = max(screen.release.stages(), key=lambda stage: stage[1])
        assert f"{largest[1]:.2g} to {largest[0]}" in said
    assert said.startswith("Why they differ: A (HTF) cuts")
    assert said.count(".") - said.count("0.") >= 1
    assert said.endswith(".")


def test_one_leaf_and_no_boxes_have_sentences_too() -> None:
    both = pair(b=Uniform(epsilon=0.5), boxes=())
    assert "into 1 leaf with" in why(both)
    assert "a box touches" not in why(both)
    assert score(both) == "No box has been drawn: drag one on either map."


def test_who_is_nearer_is_told_by_absolute_errors() -> None:
    true = np.array([100.0, 100, 100, 0])
    both = (
        BoxAnswers(true=true, private=true + off, sd=np.ones(4), touched=np.ones(4, np.int64))
        for off in ([5, -20, 7, 1], [-6, 10, -7.05, 0])
    )
    assert nearer(*both) == ["A", "B", "both", "B"]


def test_the_score_counts_boxes() -> None:
    both = pair()
    winners = nearer(*both.answers)
    said = score(both)
    assert f"A (HTF) is nearer to the truth in {winners.count('A')} of 2 boxes" in said
    assert f"B (UG) in {winners.count('B')}" in said


def test_figures_are_those_of_the_release() -> None:
    both = pair()
    shown = dict(figures_of(both.a))
    assert shown["Leaves"] == f"{both.a.release.n_leaves:,}"
    assert shown["Map error"] == f"{both.a.error:.2f}"
    assert float(shown["Leaf noise"][1:]) == float(f"{np.median(both.a.release.sd):.2g}")


def test_the_second_time_only_what_changed_is_drawn_again() -> None:
    first = pair()
    data = first.a.data
    jobs = tuple(
        Job(data, made, 3, 0, first.a.view, Look(points=False), first.a.boxes, previous=screen)
        for made, screen in ((HTF(epsilon=0.5), first.a), (UG(epsilon=1.0), first.b))
    )
    second = compute_pair(jobs)
    assert second.a.release is first.a.release
    assert second.b.release.epsilon == 1.0
