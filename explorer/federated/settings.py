"""What can be chosen of a federated map: protocol, algorithm, and the options of each algorithm.

Where heatmaps-2022 and its published scripts, or two readings of its text, differ, there is an
option, and its help names the erratum (33 to 45 of the build note of heatmaps).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import param

from explorer.federated import baselines
from explorer.federated.asking import MODES
from explorer.federated.calibration import MOST_BITS
from explorer.federated.refine import FURTHEST
from explorer.federated.rounds import MOST_ROUNDS, OWN
from explorer.mechanisms.base import Mechanism
from explorer.mechanisms.limits import Epsilon

START = 3
"""Level of the first tree: 64 cells."""
PAPER_START = 1
"""That of Algorithm 2 as printed: the four quarters."""
ALGORITHMS = ("people", "mended", "paper", *baselines.BASELINES)

_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "people": ("c", "b", "furthest"),
    "mended": ("c", "b", "furthest"),
    "paper": (
        "c", "b", "k", "threshold", "sigma", "equal_rounds", "collapse", "given_up", "growth",
    ),
    "flat": ("level",),
    "sampling": ("level",),
    "decomposition": ("more_for",),
    "adaptive grid": ("grid_epsilon",),
}  # fmt: skip
"""Which options an algorithm has; all others do nothing there."""


class Settings(Mechanism):
    """The parameters of `Federated`, and what follows from them for one algorithm."""

    none_is: ClassVar[Mapping[str, str]] = {
        "people": "Everybody",
        "threshold": "Threshold from the noise",
        "equal_rounds": "Rounds by schedule",
        "level": "Finest cells",
    }

    epsilon = Epsilon(default=1.0, softbounds=(0.1, 10), doc="What a person spends at most.")
    algorithm = param.Selector(
        default="people",
        objects=list(ALGORITHMS),
        doc="How rounds follow each other: each person asked once; as the paper has it, or mended; "
        "or what the paper compares with.",
    )
    people = param.Integer(
        default=100_000,
        bounds=(1, 10**9),
        softbounds=(1_000, 1_000_000),
        step=1_000,
        allow_None=True,
        doc="How many people are asked, at most: in all, or in each round of Algorithm 2. Given "
        "for a release it declares how many take part, whatever the data holds.",
    )
    shard = param.Integer(
        default=10_000,
        bounds=(2, 10**9),
        softbounds=(100, 100_000),
        step=100,
        doc="The most people whose vectors are added before anybody sees a sum: large shards have "
        "less noise.",
    )
    dropped = param.Number(
        default=0.1,
        bounds=(0.0, 0.9),
        step=0.01,
        doc="Share of the people asked who send nothing.",
    )
    corrupt = param.Number(
        default=0.05,
        bounds=(0.0, 0.9),
        step=0.01,
        doc="Share of the people of a shard whose noise the server may know. Shards are drawn at "
        "random: give a little more than their share of all people.",
    )
    depth = param.Integer(
        default=10,
        bounds=(1, 11),
        doc="How often the map may be quartered, down to single cells of the grid at most.",
    )
    c = param.Number(
        default=None,
        bounds=(0.01, 10.0),
        softbounds=(0.1, 1.0),
        allow_None=True,
        label="c",
        doc="Noise of a round as a part of the mean count of a cell: large is more and cheaper "
        "rounds. Automatic: 0.6, of Algorithm 2 as printed 0.1.",
    )
    b = param.Number(
        default=None,
        bounds=(1.0, 10.0),
        softbounds=(1.5, 4.0),
        allow_None=True,
        label="b",
        doc="Go on while this many times the next round's price is left; else spend all at once. "
        "Automatic: 2, of Algorithm 2 mended 3.",
    )
    bits = param.Integer(
        default=None,
        bounds=(1, MOST_BITS),
        softbounds=(8, 32),
        allow_None=True,
        doc="Bits of each number that a person sends. Automatic: as many as the sums of a round "
        "with their noise need.",
    )
    furthest = param.Integer(
        default=FURTHEST,
        bounds=(1, FURTHEST),
        label="Levels at once",
        doc="By how many levels a cell may be divided after one round (people, mended).",
    )
    k = param.Number(
        default=2.0,
        bounds=(0.1, 100.0),
        softbounds=(0.5, 5.0),
        label="k",
        doc="Of paper: cells above k standard deviations of noise are divided (Eq. 6; erratum 37: "
        "2 is no 95th percentile).",
    )
    threshold = param.Number(
        default=None,
        bounds=(0.0, 1e6),
        softbounds=(1.0, 100.0),
        allow_None=True,
        doc="Of paper: cells of more people than this are divided, whatever the noise (Table 3). "
        "Automatic: k standard deviations.",
    )
    sigma = param.Selector(
        default="next round",
        objects=["next round", "both rounds", "one shard"],
        label="Noise of the threshold",
        doc="Of paper: whose standard deviations k counts, those of the sums of the next round; of "
        "the present ones, too, which are judged (erratum 36); or of one shard of the next, as "
        "Eq. 6 is printed (erratum 33).",
    )
    equal_rounds = param.Integer(
        default=None,
        bounds=(1, MOST_ROUNDS),
        softbounds=(2, 20),
        allow_None=True,
        doc="Of paper: as many rounds, each at an equal part of epsilon (Table 3). Automatic: "
        "the schedule of c and b.",
    )
    collapse = param.Number(
        default=0.25,
        bounds=(0.0, 1.0),
        step=0.05,
        doc="Of paper: cells below this part of the threshold are given up; 0: those of 0 people "
        "or less (erratum 40).",
    )
    given_up = param.Selector(
        default="may return",
        objects=["may return", "closed"],
        label="Given-up cells",
        doc="Of paper: whether cells that were given up may be made again, as printed, or stay "
        "closed (erratum 40).",
    )
    growth = param.Number(
        default=0.0,
        bounds=(0.0, 1.0),
        softbounds=(0.0, 0.2),
        step=0.01,
        doc="Of paper: all that is left is spent once the tree gained no more than this part in "
        "new cells; 0: never (erratum 40).",
    )
    level = param.Integer(
        default=None,
        bounds=(1, 11),
        allow_None=True,
        doc="Of flat and sampling: which level is asked for, 4^level cells, down to the depth. "
        "Automatic: the depth.",
    )
    more_for = param.Selector(
        default="small cells",
        objects=["small cells", "large cells"],
        label="More epsilon for",
        doc="Of decomposition: which levels get more of epsilon, lower ones, or higher ones as the "
        "text says (erratum 42).",
    )
    grid_epsilon = param.Selector(
        default="whole",
        objects=["whole", "by shards"],
        label="Epsilon of grid sizes",
        doc="Of adaptive grid: its sizes are made for epsilon, or for epsilon over the root of the "
        "number of shards, as printed (erratum 45).",
    )
    mode = param.Selector(
        default="ideal",
        objects=list(MODES),
        label="Sums",
        doc="Every person's own share of noise; the same behind masks; or one draw for all, for "
        "quick previews.",
        # By which code sums are added: no choice of a screen.
        precedence=-1,
    )

    _people_given: bool = False

    def __init__(self, *epsilon: Any, **settings: Any) -> None:
        super().__init__(*epsilon, **settings)
        self._people_given = "people" in settings

    @property
    def declared(self) -> int | None:
        """The number of people that a person gave; None where no one gave one.

        The default is not a declaration: no one thought of the data when it was set.
        """
        return self.people if self._people_given else None

    def relevant(self) -> set[str]:
        """The parameters that matter for the algorithm."""
        others = {name for names in _OPTIONS.values() for name in names}
        unused = others - set(_OPTIONS.get(self.algorithm, ()))
        if self.algorithm == "paper" and self.threshold is not None:
            unused |= {"k", "sigma"}
        if self.algorithm == "paper" and self.equal_rounds is not None:
            unused |= {"c", "b", "growth"}
        if self.algorithm == "sampling":
            unused |= {"bits"}
        return super().relevant() - unused

    @property
    def schedule(self) -> dict[str, float]:
        """The c and b that are used, where the algorithm has them: its own unless they were set."""
        if not {"c", "b"} <= self.relevant():
            return {}
        defaults = OWN[self.algorithm]
        return {
            "c": defaults.c if self.c is None else self.c,
            "b": defaults.b if self.b is None else self.b,
        }

    def options(self) -> dict[str, Any]:
        """What the algorithm's function takes other than c and b, see `rounds` and `baselines`."""
        by_algorithm: dict[str, dict[str, Any]] = {
            "people": {"furthest": self.furthest},
            "mended": {"furthest": self.furthest},
            "paper": {
                "k": self.k,
                "threshold": self.threshold,
                "rounds": self.equal_rounds,
                "collapse": self.collapse,
                "summed": self.sigma != "one shard",
                "both": self.sigma == "both rounds",
                "closed": self.given_up == "closed",
                "growth": self.growth,
            },
            "flat": {"level": self.level},
            "sampling": {"level": self.level},
            "decomposition": {"to_root": self.more_for == "large cells"},
            "adaptive grid": {"by_shards": self.grid_epsilon == "by shards"},
        }
        return by_algorithm.get(self.algorithm, {})
