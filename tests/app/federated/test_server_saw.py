"""What the server saw: a real masked shard whose sum is right."""

from __future__ import annotations

import html

import numpy as np
import pytest

from explorer.app.federated.masked_shard import PEOPLE, masked_shard
from explorer.app.federated.screen import people_of
from explorer.app.federated.server_saw import sentence, vectors_of
from explorer.app.federated.strips import Strip, numbers, strips
from explorer.app.federated.trust import ROWS
from explorer.errors import InputError
from explorer.federated.asking import Asking, Protocol, Question
from explorer.releases.quarters import KeyTree
from tests.app import press
from tests.app.federated import people


@pytest.fixture(scope="module")
def page():
    page = people.new_page()
    page.explain.choice.value = "Server"
    return page


def test_the_sum_behind_masks_is_the_sum_without_them(page) -> None:
    found = masked_shard(page.screen)
    everybody = people_of(page.parts.data)
    ideal = Asking(everybody, Protocol(PEOPLE, 0.1, 0.05), 10**12, 1, "ideal", PEOPLE)
    tree = KeyTree.even(6, 3)
    question = Question(tree.runs[0], tree.run_index, tree.v, 6)
    plain = ideal.ask(question, PEOPLE, 10**12)
    np.testing.assert_array_equal(found.decoded, plain.values)
    assert found.sums.answered == plain.answered < PEOPLE
    modulus = 2**found.sums.bits
    np.testing.assert_array_equal(found.seen.total, found.decoded % modulus)
    # Noise of a standard deviation of sqrt(64) sd in the whole.
    assert abs(found.decoded.sum() - plain.answered) < 5 * 8 * found.sums.sd


def test_her_vector_is_one_place_and_what_she_sends_tells_nothing(page) -> None:
    seen = masked_shard(page.screen).seen
    assert seen.vector.sum() == seen.vector.max() == 1
    assert np.count_nonzero(seen.share) < 16
    # 64 numbers of 8 bits: two equal rows would have a chance of 2^-512.
    assert len(np.unique(seen.masked)) > 32
    assert not np.array_equal(seen.masked, seen.masked_sum)


def test_strips_say_what_they_show(page) -> None:
    panel = page.explain.open
    found = panel.found
    assert sentence(found) in press.text(panel)
    # The rows stand beside the maps.
    markup = html.unescape(press.markup(page))
    for each in vectors_of(found):
        assert f'aria-label="{each.title}: ' in markup
        assert markup.count("<rect") >= 5 * 64
    for row in ROWS:
        assert row in press.text(panel)
    assert "one process holds them all" in press.text(panel)
    assert "64 numbers of each" in press.text(panel)


def test_a_strip_writes_the_numbers_around_a_cell() -> None:
    strip = Strip("A <row>", "of numbers", np.array([0, -3, 12, 0]), 12.0)
    markup = strips([strip], 2)
    assert "A &lt;row&gt;" in markup
    assert "0, −3, 12, 0" in markup
    assert "<td>−3</td>" in numbers([strip])


def test_a_shard_in_which_nobody_honest_is_sure_is_refused() -> None:
    page = people.new_page(dropped=0.5, corrupt=0.35, shard=2_000)
    with pytest.raises(InputError, match="nobody"):
        masked_shard(page.screen)
    page.explain.choice.value = "Server"
    assert "make shards larger" in press.text(page)
