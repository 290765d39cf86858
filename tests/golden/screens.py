"""Twenty screens as scenarios, between them every kind of entry; five of them are kept as YAML."""

from __future__ import annotations

from typing import Any

_BOXES = [
    {"name": "Q1", "edges": [-2000, -1000, 1500, 1250]},
    {"name": "Öst & \u201eWest\u201c", "edges": [2500.125, 2000, 4500.5, 4000.001]},
]
_MANY = [{"edges": [250 * k, -100 * k, 250 * k + 333.3, 100]} for k in range(40)]

SCREENS: dict[str, dict[str, Any]] = {
    "first": {},
    "release": {"release": True, "epsilon": 0.5},
    "seed": {"seed": 2147483647, "epsilon": 1e-6},
    "city": {"city": "san-francisco", "side": 512, "seed": 0},
    "users": {"city": "taxi", "contribution_bound": 20, "side": 2048},
    "settings": {"mechanisms": [{"htf": {"height": 12, "T": 5, "stop_count": 2.5}}]},
    "options": {
        "mechanisms": [
            {"htf": {"stop_rule": "per epsilon", "split_rule": "all cuts", "inference": "split"}}
        ]
    },
    "inside": {"mechanisms": [{"kd-cell": {"inside": "uniform", "inference": "leaves"}}]},
    "boxes": {"boxes": _BOXES, "mechanisms": ["mosaic"]},
    "no boxes": {"boxes": [], "mechanisms": ["privlet"]},
    "many boxes": {"boxes": _MANY},
    "titles": {"title": "A map: what it shows", "about": "One sentence, with 'quotes' & #."},
    "look": {
        "look": {"right": "difference", "scale": "linear", "partition": False, "truth": "counts"}
    },
    "other look": {"look": {"scale_from": "release", "palette": "magma", "partition_over": "both"}},
    "compare": {"page": "compare"},
    "two settings": {
        "page": "compare",
        "mechanisms": [{"quadtree": {"inference": "leaves"}}, {"ug": {"grid_size": 64}}],
        "epsilon": 0.03,
    },
    "sweep": {
        "page": "compare",
        "mechanisms": ["ag", "privtree"],
        "sweep": {"mechanisms": ["hb", "kd-standard"], "workload": "drawn", "at": 1.0, "seeds": 9},
    },
    "metric": {
        "page": "compare",
        "sweep": {"metric": "mreRho median", "workload": "sq10"},
        "look": {"right": "difference"},
        "boxes": _BOXES[:1],
    },
    "lesson": {"page": "learn", "lesson": "averaging", "mechanisms": ["identity"], "seed": 5},
    "everything": {
        "title": "Everything",
        "about": "Each entry at once.",
        "page": "learn",
        "lesson": "tolerance",
        "city": "my city",
        "side": 256,
        "contribution_bound": 5,
        "mechanisms": [{"hierarchy": {"branching": 4, "levels": 5}}, "kd-hybrid"],
        "epsilon": 3.25,
        "seed": 77,
        "boxes": _BOXES,
        "look": {"right": "difference", "palette": "magma"},
        "sweep": {"mechanisms": ["uniform"], "metric": "smape", "seeds": 2},
    },
}
AS_FILES = ("first", "options", "boxes", "sweep", "everything")


def plain(name: str) -> dict[str, Any]:
    """The entries of a scenario, as a file has them."""
    return {"scenario": 1, **SCREENS[name]}
