"""Hidden counts come back exactly: by two boxes, by whole strips, by two days."""

import numpy as np

from explorer.teaching import thresholds

K = 5
COUNTS = np.array([[0, 2, 9, 1], [7, 3, 0, 4], [0, 0, 0, 0], [5, 0, 1, 8]])


def test_two_published_boxes_give_a_hidden_cell_away() -> None:
    ask = thresholds.service(COUNTS, K)
    found = thresholds.difference(ask, COUNTS.shape, (0, 1))
    assert found is not None
    assert found.count == 2
    assert found.answers == (11, 9)
    assert found.larger.tolist() == [[0, 1], [1, 3]]
    assert found.smaller.tolist() == [[0, 2], [1, 3]]


def test_every_count_that_is_given_away_is_the_true_one() -> None:
    rng = np.random.default_rng(3)
    counts = rng.poisson(rng.gamma(0.3, 12, (40, 30)))
    ask = thresholds.service(counts, 10)
    found = thresholds.differences(ask, counts.shape)
    away = np.isfinite(found)
    np.testing.assert_array_equal(found[away], counts[away])
    hidden = counts < 10
    assert (hidden & away).sum() > 0.95 * hidden.sum()
    # One by one and all at once agree on which can be had.
    for cell in map(tuple, np.argwhere(hidden)[::23]):
        single = thresholds.difference(ask, counts.shape, cell)
        assert (single is not None) == away[cell]
        if single is not None:
            assert single.count == counts[cell]
            areas = [np.prod(box[1] - box[0]) for box in (single.larger, single.smaller)]
            assert areas[0] - areas[1] == 1


def test_two_days_give_a_vanished_cell_away() -> None:
    days = thresholds.two_days(COUNTS, K, (3, 0))
    assert days.before[0] == 5
    assert np.isnan(days.after[0])
    assert days.after[1] == days.before[1] + 1
    assert days.hidden == 4
    assert days.changed == 2
