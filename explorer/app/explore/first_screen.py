"""The first screen of Explore, computed without its page: it compiles all that the page needs."""

from __future__ import annotations

from typing import Any

import numpy as np

from explorer.app.curator.data import load_city
from explorer.app.curator.screen import Job, Look, Screen, compute
from explorer.app.state import ExploreState
from explorer.queries.boxes import examples
from explorer.views.viewport import Viewport


def first_screen(city: str, **choices: Any) -> Screen:
    """What the page shows first of a city of the catalogue; neither Panel nor a page is loaded.

    Parameters
    ----------
    city : its key
    **choices : see `ExploreState`
    """
    state = ExploreState(city=city, **choices)
    data = load_city(*state.place)
    boxes = np.array(examples(data.grid))
    view = Viewport.whole(data.grid, 450)
    return compute(Job(data, state.instance(), state.seed, 0, view, Look(), boxes))
