"""The true map: single points far apart are dots that a person can see, and a crowd is as it is."""

import numpy as np

from explorer.views.palette import PALETTES
from explorer.views.scale import ColourScale
from explorer.views.truth import SPARSE, legible
from tests.views.test_palette import luminance


def test_points_far_apart_are_dots_as_light_as_a_cell_that_holds_them() -> None:
    points = np.zeros((200, 200), np.float32)
    points[50, 60] = 0.17  # one point in a pixel that covers six cells
    points[120, 30] = 4
    dots = legible(points)
    assert (dots[49:52, 59:62] == 1).all()
    assert (dots[119:122, 29:32] == 4).all()
    assert (dots > 0).sum() == 18
    # Before, the browser painted the point as good as black.
    colours = PALETTES["cividis"]
    before, after = (ColourScale("log", 50.0).encode(each)[50, 60] for each in (points, dots))
    assert luminance(colours[after]) > 1.5 * luminance(colours[before])


def test_where_many_stand_nothing_is_changed() -> None:
    rng = np.random.default_rng(1)
    crowd = (rng.random((50, 50)) < 2 * SPARSE).astype(np.float32)
    assert legible(crowd) is crowd
    nobody = np.zeros((5, 5), np.float32)
    assert legible(nobody) is nobody
