"""Secret sharing: any t shares rebuild, fewer say nothing."""

from __future__ import annotations

import contextlib
import os
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.federated import shamir


def test_the_field_is_one_of_primes_and_holds_every_secret() -> None:
    p = shamir.PRIME
    assert p > 2**128
    # Fermat's test to many bases; the number was proved prime elsewhere.
    assert all(pow(a, p - 1, p) == 1 for a in range(2, 40))
    assert shamir.combine([1, 2], shamir.split(b"\xff" * 16, [1, 2], 2, os.urandom)) == b"\xff" * 16


@given(st.binary(min_size=16, max_size=16), st.data())
def test_any_t_shares_rebuild_the_secret(secret: bytes, data: st.DataObject) -> None:
    points = data.draw(st.lists(st.integers(1, 2**40), min_size=1, max_size=9, unique=True))
    threshold = data.draw(st.integers(1, len(points)))
    shares = shamir.split(secret, points, threshold, os.urandom)
    assert all(len(share) == shamir.SHARE_BYTES for share in shares)
    chosen = data.draw(st.permutations(range(len(points))))[:threshold]
    found = shamir.combine([points[i] for i in chosen], [shares[i] for i in chosen])
    assert found == secret


def test_a_share_alone_is_uniform() -> None:
    low = Counter(shamir.split(bytes(16), [1, 2], 2, os.urandom)[0][-1] % 4 for _ in range(4000))
    assert all(abs(count - 1000) < 5 * 27.4 for count in low.values())


def test_too_few_shares_rebuild_something_else() -> None:
    shares = shamir.split(b"one secret of us", [1, 2, 3], 3, os.urandom)
    # A wrong value may be too large for a secret, too.
    with contextlib.suppress(ValueError):
        assert shamir.combine([1, 2], shares[:2]) != b"one secret of us"


@pytest.mark.parametrize(
    ("secret", "points", "threshold"),
    [(b"short", [1], 1), (bytes(16), [1, 1], 2), (bytes(16), [1], 2), (bytes(16), [0, 1], 1)],
)
def test_what_shares_nothing_is_refused(secret: bytes, points: list[int], threshold: int) -> None:
    with pytest.raises(ValueError, match=r"secret has|different points"):
        shamir.split(secret, points, threshold, os.urandom)
