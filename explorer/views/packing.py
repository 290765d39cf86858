"""Pictures of bytes on their way to a browser: what is as its neighbour is said once.

A picture of leaves repeats itself, from row to row above all: packed it is a tenth of the bytes.
Only what is sent is packed. In the page's own data, and on the map, a picture is what it was.

A packed picture is its height and width, two bytes each, and then tokens: a byte of a kind (its
upper two bits) and a number n (the lower six).

* 0: n + 1 pixels are as those of the row before;
* 1: n + 1 pixels are as the last one;
* 2: n + 1 pixels follow;
* 3: 64 (n + 1) pixels are as those of the row before.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.core.serialization import Serializer
from bokeh.models import CustomJSTransform
from numba import njit
from numpy.typing import NDArray

# A picture that was not packed has two dimensions, and is shown as it is.
_UNPACK = """
return Array.from(xs, packed => {
  if (packed.dimension != 1) return packed
  // Not of a class of Bokeh's own, whose parts would be arrays with a shape.
  const sent = new Uint8Array(packed.buffer, packed.byteOffset, packed.length)
  const height = sent[0] + 256 * sent[1], width = sent[2] + 256 * sent[3]
  const picture = new Uint8Array(height * width)
  let at = 0
  for (let i = 4; i < sent.length; i++) {
    const kind = sent[i] >> 6, n = (sent[i] & 63) + 1
    if (kind == 1) {
      picture.fill(picture[at - 1], at, at + n)
      at += n
    } else if (kind == 2) {
      picture.set(sent.subarray(i + 1, i + 1 + n), at)
      at += n
      i += n
    } else {
      // Not in one piece: a long run is made of rows that it makes itself.
      for (const end = at + (kind == 3 ? 64 * n : n); at < end; at++)
        picture[at] = picture[at - width]
    }
  }
  return new packed.constructor(picture.buffer, [height, width])
})
"""


class Picture(np.ndarray[Any, Any]):
    """A picture (height, width) of bytes that is packed whenever it is sent."""


def as_picture(picture: NDArray[np.uint8]) -> Picture:
    """The same bytes, packed when they are sent."""
    return picture.view(Picture)


def unpacked() -> dict[str, Any]:
    """The column "image" of pictures as an image glyph takes it: unpacked in the browser."""
    return {"field": "image", "transform": CustomJSTransform(v_func=_UNPACK)}


def pack(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """A picture of bytes (height, width), up to 65,535 on a side, as it is sent.

    >>> pack(np.full((2, 3), 7, np.uint8)).tolist()
    [2, 0, 3, 0, 128, 7, 68]
    """
    height, width = picture.shape
    # A copy: one that may not be written would be compiled for once more.
    flat = np.array(picture, order="C").reshape(-1)
    # Where nothing repeats itself every 64 pixels take one byte more.
    packed = np.empty(4 + flat.size + flat.size // 64 + 1, np.uint8)
    packed[:4] = height % 256, height // 256, width % 256, width // 256
    return packed[: _pack(flat, width, packed)].copy()


@njit(cache=True, nogil=True)
def _pack(flat, width, packed):  # type: ignore[no-untyped-def]
    at, used, literal = 0, 4, -1
    while at < flat.size:
        below = 0
        if at >= width:
            while (
                below < 64 * 64
                and at + below < flat.size
                and flat[at + below] == flat[at + below - width]
            ):
                below += 1
        alike = 0
        if at:
            while alike < 64 and at + alike < flat.size and flat[at + alike] == flat[at - 1]:
                alike += 1
        run = max(below, alike)
        # A single pixel among others that follow is cheaper as one of them.
        if run > 1 or (run == 1 and literal < 0):
            literal = -1
            if below < alike:
                packed[used] = 64 + run - 1
            elif below < 64:
                packed[used] = run - 1
            else:
                packed[used] = 192 + run // 64 - 1
                run -= run % 64
            used += 1
            at += run
            continue
        if literal < 0 or packed[literal] == 191:
            literal = used
            packed[literal] = 128
            used += 1
        else:
            packed[literal] += 1
        packed[used] = flat[at]
        used += 1
        at += 1
    return used


def _sent(picture: Picture, serializer: Serializer) -> Any:
    plain = np.asarray(picture)
    if plain.dtype == np.uint8 and plain.ndim == 2 and plain.size:
        plain = pack(plain)
    return serializer.encode(plain)


Serializer.register(Picture, _sent)
