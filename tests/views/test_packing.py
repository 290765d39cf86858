"""Packed pictures: what is sent makes the picture again, and is no longer than it was."""

import numpy as np
import pytest
from bokeh.core.serialization import Serializer

from explorer.views.packing import as_picture, pack
from explorer.views.small import SmallMap


def unpack(packed):
    """The picture as the module's text says it."""
    packed = packed.tolist()
    height, width = packed[0] + 256 * packed[1], packed[2] + 256 * packed[3]
    pixels, at = [], 4
    while at < len(packed):
        kind, n = packed[at] // 64, packed[at] % 64 + 1
        at += 1
        if kind == 1:
            pixels += [pixels[-1]] * n
        elif kind == 2:
            pixels += packed[at : at + n]
            at += n
        else:
            for _ in range(64 * n if kind == 3 else n):
                pixels.append(pixels[-width])
    return np.array(pixels, np.uint8).reshape(height, width)


def pictures():
    rng = np.random.default_rng(4)
    noise = rng.integers(0, 256, (300, 301)).astype(np.uint8)
    few = rng.integers(0, 2, (90, 700)).astype(np.uint8)
    return {
        "one pixel": noise[:1, :1],
        "one row": few[:1],
        "one column": few[:, :1],
        "noise": noise,
        "few values": few,
        "one colour": np.full((300, 300), 9, np.uint8),
        "rows": np.repeat(noise[:9], 50, axis=0),
        "columns": np.repeat(noise[:, :9], 50, axis=1),
        "no copy of its own": np.repeat(noise, 2, axis=0)[::3, ::-1],
    }


@pytest.mark.parametrize("name", pictures())
def test_what_is_packed_makes_the_same_picture(name) -> None:
    picture = pictures()[name]
    packed = pack(picture)
    assert np.array_equal(unpack(packed), picture)
    assert len(packed) <= picture.size + picture.size // 64 + 5


def test_a_picture_is_packed_where_it_is_sent_and_nowhere_else() -> None:
    small, picture = SmallMap((0.0, 0.0, 1.0, 1.0), "Small map"), pictures()["rows"]
    small.show(picture, "Small map")
    assert small.image.data["image"][0].shape == picture.shape
    sent = Serializer(deferred=True).serialize(small.image)
    lengths = sorted(len(each.to_bytes()) for each in sent.buffers)
    assert lengths[-1] == len(pack(picture))
    # What is no picture of bytes goes as it is.
    other = as_picture(np.zeros((3, 4, 2), np.uint8))
    assert Serializer(deferred=True).encode(other)["shape"] == [3, 4, 2]
