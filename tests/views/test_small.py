"""A small map is one picture without tools."""

import numpy as np

from explorer.views.small import SmallMap


def test_the_picture_fills_the_grid_and_is_named() -> None:
    small = SmallMap((0.0, -10.0, 40.0, 10.0), "Small map")
    picture = np.zeros((4, 8), np.uint8)
    small.show(picture, "Small map of Port Amber")
    assert np.shares_memory(small.image.data["image"][0], picture)
    assert (small.image.data["x"], small.image.data["w"]) == ([0.0], [40.0])
    assert (small.image.data["y"], small.image.data["h"]) == ([-10.0], [20.0])
    assert small.figure.aspect_ratio == 2.0
    assert small.figure.html_attributes["aria-label"] == "Small map of Port Amber"
    assert not small.figure.tools
    small.recolour(["#000000"] * 256)
    assert small.mapper.palette == ["#000000"] * 256
