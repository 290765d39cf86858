"""Secret sharing: any t shares rebuild, fewer say nothing."""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from itertools import combinations

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


def test_fewer_shares_fit_every_secret() -> None:
    """For t - 1 shares and any secret there is one polynomial: nothing is learnt."""
    shares = shamir.split(b"one secret of us", [3, 5, 8, 9], 3, os.urandom)
    for points in combinations(range(4), 2):
        for other in (bytes(16), b"\x01" * 16):
            three = [(0, int.from_bytes(other, "big"))]
            three += [((3, 5, 8, 9)[i], int.from_bytes(shares[i], "big")) for i in points]
            xs = [x for x, _ in three]
            # The polynomial through all three has the value `other` at 0 by construction; that
            # its value at a fourth point differs from the real share shows it is another one.
            fourth = next(i for i in range(4) if i not in points)
            x = (3, 5, 8, 9)[fourth]
            value = 0
            for own, y in three:
                term = y
                for z in xs:
                    if z != own:
                        term = term * (x - z) * pow(own - z, -1, shamir.PRIME) % shamir.PRIME
                value = (value + term) % shamir.PRIME
            assert value != int.from_bytes(shares[fourth], "big")


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
