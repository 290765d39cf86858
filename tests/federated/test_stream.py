"""Words of ChaCha20, and what is said where the library is not there."""

from __future__ import annotations

import numpy as np

from explorer.federated.stream import Stream, new_key


def test_the_words_are_those_of_the_cipher() -> None:
    # RFC 8439, appendix A.1, test vector 1: key, nonce and counter of zeros.
    first = bytes.fromhex("76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7")
    assert Stream(bytes(32)).words(4).tobytes() == first


def test_a_stream_goes_on_where_it_was() -> None:
    whole = Stream(new_key(1), 5).words(300_000)
    parts = Stream(new_key(1), 5)
    pieces = [parts.words(n) for n in (1, 7, 299_992)]
    assert np.array_equal(whole, np.concatenate(pieces))
    assert not np.array_equal(whole[:4], Stream(new_key(1), 6).words(4))
    assert Stream(new_key(1), 5).bytes(16) == whole[:2].tobytes()


def test_keys_of_a_release_are_not_repeated() -> None:
    assert new_key() != new_key()
    assert len(new_key()) == len(new_key(3)) == 32
    assert new_key(3) == new_key(3) != new_key(4)
