"""Mosaic's replay at its ends and in the middle, on small, middle and large tables."""

from __future__ import annotations

import numpy as np
import pytest

from explorer import FrequencyMatrix, Mosaic
from explorer.privacy.audit.replay import Chosen, Recording
from explorer.privacy.noise import PreviewNoise
from explorer.releases.units import to_units

pytestmark = pytest.mark.audit

STYLES = ("still", "up", "down", "wild", "seeded")


def table(side: int, rng: np.random.Generator) -> np.ndarray:
    """Empty and full regions side by side, so that all steps are taken."""
    mean = 10 ** rng.uniform(-2, 3) * rng.gamma(0.2, 5.0, (side, side))
    block = rng.integers(0, side, 2)
    mean[block[0] :, block[1] :] *= rng.choice([0.0, 1.0, 50.0])
    return rng.poisson(mean)


@pytest.mark.parametrize("focus", [0.0, 0.2, 1.0])
@pytest.mark.parametrize(("side", "tables"), [(16, 60), (64, 12), (256, 2)])
def test_one_record_more_or_less_shows_no_more_than_epsilon(focus, side, tables) -> None:
    rng, tight = np.random.default_rng(side), 0.0
    for number in range(tables):
        counts = table(side, rng)
        epsilon = float(rng.choice([0.1, 0.5, 2.0]))
        made = Mosaic(epsilon=epsilon, focus=focus)
        style = STYLES[number % len(STYLES)]
        source = PreviewNoise(number) if style == "seeded" else Chosen(number, style)

        def publish(data, noise, made=made):
            return made.release(FrequencyMatrix.from_array(data), rng=noise)

        run = Recording.of(publish, counts, source)
        for cell in (np.argmax(counts), rng.integers(counts.size)):
            more = counts.copy()
            more.flat[cell] += 1
            loss = run.replay(more)
            assert not loss.exceeds(to_units(epsilon))
            tight = max(tight, abs(loss.epsilon) / epsilon)
    # Where noise is 0 every draw on the path takes its toll in full: nothing is left over.
    assert tight == pytest.approx(1.0, abs=1e-6)
