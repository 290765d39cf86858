"""The kept picture that stands on Explore while it is compiled is of the present made-up city.

.venv/bin/python -m tests.app.explore.test_kept_picture        makes it anew
"""

from __future__ import annotations

import io

import numpy as np
from PIL import Image

from explorer.app.explore.page import KEPT_PICTURE, Explore
from explorer.views.plotting import poster


def picture() -> bytes:
    """The map with which the page begins."""
    return poster(Explore("madeup").release)


def test_the_kept_picture_is_the_map_with_which_the_page_begins() -> None:
    kept, present = (
        np.asarray(Image.open(file).convert("RGB"))
        for file in (KEPT_PICTURE, io.BytesIO(picture()))
    )
    np.testing.assert_array_equal(kept, present)


if __name__ == "__main__":
    KEPT_PICTURE.write_bytes(picture())
