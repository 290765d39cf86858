"""Speed of federated maps: everybody's own exact share, a masked shard, the slider's preview.

Measure with `bash tests/run benchmarks`; in the tests each runs once. Targets are those of 2 cores
whose unit (two cumulative sums over 1024 x 1024) takes about 9 ms.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from explorer import Federated, Grid, read_points
from explorer.federated.asking import Asking, Protocol
from explorer.federated.people import People
from explorer.federated.session import Session
from explorer.points.matrix import FrequencyMatrix
from explorer.releases.quarters import KeyTree
from explorer.releases.units import to_units

pytestmark = [pytest.mark.slow, pytest.mark.benchmark(timer=time.process_time)]

MILLION = 1_000_000


@pytest.fixture(scope="module")
def san_francisco(real_data: Callable[[str], Path]) -> People:
    points = read_points(real_data("sf_cabspotting_points.parquet"))
    return People.of_matrix(Grid.around(-122.42, 37.77, 20_000, shape=1024).count(points))


def asked(people: People, **settings: Any) -> Callable[[], Any]:
    """A million people of a city, depth 10, epsilon 1, nobody failing: seed by seed alike."""
    mechanism = Federated(people=MILLION, dropped=0.0, corrupt=0.0, **settings)
    return lambda: mechanism.release(people, rng=1)


@pytest.mark.parametrize(
    ("algorithm", "c", "target"),
    # The schedule with c .3 asks seven rounds of everybody.
    [("people", 0.5, "2 s"), ("paper", 0.3, "8 s")],
    ids=["people", "paper"],
)
def test_everybody_draws_her_own_share(
    in_units: Callable[..., Any], san_francisco: People, algorithm: str, c: float, target: str
) -> None:
    release = in_units(
        f"federated {algorithm}, 1 million own shares",
        asked(san_francisco, algorithm=algorithm, c=c),
        f"target {target}",
        rounds=3,
    )
    assert release.total == pytest.approx(len(san_francisco), rel=0.05)


def test_the_preview_of_a_slider(in_units: Callable[..., Any], san_francisco: People) -> None:
    release = in_units(
        "federated people, 1 million, preview of a slider",
        asked(san_francisco, mode="summed"),
        "target .3 s",
        rounds=7,
    )
    assert release.total == pytest.approx(len(san_francisco), rel=0.05)


def test_a_masked_shard(in_units: Callable[..., Any], benchmark: Any) -> None:
    # Where nothing is measured a fifth of the people do.
    size = 200 if benchmark.disabled else 1_000
    counts = np.zeros((128, 128), dtype=np.int64)
    counts[30:40, 50:60] = size // 100
    people = People.of_matrix(FrequencyMatrix(counts, Grid.cells((128, 128))))

    def shard() -> Any:
        asking = Asking(people, Protocol(size, 0.1, 0.05, 32), to_units(1.0), 1, "masked")
        session = Session(asking, size, 7, (128, 128))
        return session.ask(KeyTree.even(7, 7), size, to_units(1.0), fresh=True)

    heard = in_units("masked shard, 1,000 people x 16,384 x 32 bits", shard, "target 5 s", rounds=2)
    assert (heard.cells, heard.bits, heard.shards) == (16_384, 32, 1)
    assert heard.sums.sum() == pytest.approx(heard.answered, abs=6 * heard.noise * 128)
