"""Allowances fill up again, and nobody uses another's."""

import pytest

from explorer.grid.allowance import Bucket, Buckets


def test_a_bucket_fills_up_again_and_not_beyond_its_size(clock):
    bucket = Bucket(2, 4, clock)
    assert [bucket.has() for _ in range(5)] == [True] * 4 + [False]
    clock.now += 0.5
    assert bucket.has()
    assert not bucket.has()
    clock.now += 3600
    assert [bucket.has() for _ in range(5)] == [True] * 4 + [False]


def test_what_is_taken_in_advance_is_waited_for(clock):
    bucket = Bucket(10, 5, clock)
    assert [bucket.take() for _ in range(8)] == [0] * 5 + [0.1, 0.2, pytest.approx(0.3)]


def test_addresses_do_not_share_an_allowance_and_old_ones_are_forgotten(clock):
    each = Buckets(1, 1, 2, clock)
    assert each["a"].has()
    assert not each["a"].has()
    assert each["b"].has()
    each["a"], each["c"]
    assert not each["a"].has(), "it was asked for last"
    assert each["b"].has(), "it was forgotten, and begins anew"


def test_what_is_refused_takes_nothing_and_says_how_long(clock):
    bucket = Bucket(2, 1, clock)
    assert bucket.wait() == 0
    assert [bucket.wait() for _ in range(3)] == [0.5] * 3
    clock.now += 0.5
    assert bucket.wait() == 0
