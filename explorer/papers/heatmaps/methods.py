"""The methods of heatmaps-2022 and ours as plans over one session: Tables 1 and 3."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from explorer.federated import baselines, rounds
from explorer.federated.adaptive_grid import adaptive_grid
from explorer.federated.session import Session
from explorer.releases.inference import Estimate
from explorer.releases.joint import alone, mean_costs, together
from explorer.releases.quarters import KeyTree
from explorer.releases.rounds import Heard

Made = tuple[Estimate | list[Estimate], Sequence[Any]]
"""A map, or maps of which the truth may choose, and the rounds."""
Plan = Callable[[Session, int], Made]

SAMPLING, FLAT, ONCE = "sampling only", "flat, finest level", "each person once"
"""Methods whose costs or levels are their own matter."""
HIERARCHICAL, ORACLE = "hierarchical", "hierarchical, level by the truth"
PRINTED, MENDED = "Algorithm 2, c .1", "Algorithm 2, mended"


def of_plan(
    plan: Callable[..., Iterator[Heard]],
    start: int = 3,
    once: bool = False,
    joined: bool = True,
    **settings: Any,
) -> Plan:
    """A plan of `rounds` from a level on, with its inference."""

    def run(session: Session, population: int) -> Made:
        responses = list(plan(session, KeyTree.even(session.depth, start), **settings))
        if not joined:
            return alone(responses[-1], session.shape, population, [], "last"), responses
        paid = [response.units for response in responses]
        if once:
            paid = mean_costs(session.units, [response.people for response in responses])
        return together(responses, session.shape, population, paid), responses

    return run


def algorithm_2(c: float, **settings: Any) -> Plan:
    """Algorithm 2 as printed, its last round alone."""
    return of_plan(rounds.paper, 1, joined=False, c=c, **settings)


def _every_level(session: Session, population: int) -> Made:
    """What "hierarchical" asks, and the map of each of its levels: which is best the truth says."""
    by_level, rows = baselines.levels(session, [1.0] * session.depth)
    return [baselines.published(session, population, level, rows) for level in by_level], rows


def _silent(session: Session, population: int) -> Made:
    """Table 3's first row: a tree divided above T = 10 by sums without noise."""
    tree = KeyTree.even(session.depth, 1)
    responses = [session.look(tree)]
    for _ in range(session.depth - 1):
        finer, _after = rounds.divided(
            responses[-1],
            (responses[-1].sums > 10).astype(np.int64),
            np.zeros(responses[-1].cells, bool),
        )
        responses.append(session.look(finer))
    return alone(responses[-1], session.shape, population, [], "last"), responses


TABLE_1: Mapping[str, Plan] = {
    SAMPLING: baselines.sampling,
    FLAT: baselines.flat,
    HIERARCHICAL: baselines.hierarchical,
    ORACLE: _every_level,
    "count-min": baselines.count_min,
    "spatial decomposition": baselines.decomposition,
    "adaptive grid, epsilon / sqrt K": lambda s, n: adaptive_grid(s, n, by_shards=True),
    "adaptive grid, epsilon": adaptive_grid,
    PRINTED: algorithm_2(0.1),
    "Algorithm 2, c .3": algorithm_2(0.3),
    "Algorithm 2, c 1": algorithm_2(1.0),
    MENDED: of_plan(rounds.mended),
    ONCE: of_plan(rounds.once, once=True),
}
"""Methods of Table 1, and ours."""
TABLE_3: Mapping[str, Plan] = {
    "no noise, T 10": _silent,
    "fixed epsilon, T 10": algorithm_2(0.1, rounds=10, threshold=10.0),
    "scheduled, T 10": algorithm_2(0.1, threshold=10.0),
    "scheduled, T adaptive": algorithm_2(0.1),
    "scheduled c .3, both sigmas": algorithm_2(0.3, both=True),
    "c .5, b 3, both, closed": of_plan(
        rounds.paper, joined=False, c=0.5, b=3.0, both=True, collapse=0.0, closed=True,
        growth=rounds.GROWTH,
    ),
    MENDED: of_plan(rounds.mended),
    ONCE: of_plan(rounds.once, once=True),
}  # fmt: skip
"""Variants of Table 3, and what corrects them one by one."""
OTHER_C: Mapping[str, Plan] = {
    f"{MENDED}, c .5": of_plan(rounds.mended, c=0.5),
    f"{ONCE}, c .5": of_plan(rounds.once, once=True, c=0.5),
}
"""Ours at the c of the prototype, next to the target."""
METHODS: Mapping[str, Plan] = {**TABLE_3, **TABLE_1, **OTHER_C}


def asked_once(method: str) -> bool:
    """Whether people are spent in place of epsilon: no one sends more than one vector."""
    return method == FLAT or method.startswith(ONCE)
