"""Labels moved apart: apart enough, in order, inside, and no further than needed."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from explorer.views.spread import spread

PLACES = st.lists(st.floats(-0.5, 1.5), max_size=30)


@given(PLACES, st.floats(0.001, 0.2))
def test_they_are_apart_in_order_and_inside(places, gap) -> None:
    found = spread(places, gap)
    order = np.argsort(np.clip(places, 0, 1), kind="stable")
    moved = found[order]
    room = min(gap, 1 / max(len(places), 1))
    assert (np.diff(moved) >= room - 1e-9).all()
    assert ((found >= 0) & (found <= 1)).all()


def test_who_has_room_stays() -> None:
    np.testing.assert_allclose(spread([0.2, 0.5, 0.8], 0.1), [0.2, 0.5, 0.8])
    assert len(spread([], 0.1)) == 0
