"""The experiments that a lesson can hold, by key, with the settings that it can begin with."""

from __future__ import annotations

import param

from explorer.mechanisms import all_mechanisms
from explorer.mechanisms.limits import Epsilon
from explorer.teaching.journeys import SIDES
from explorer.teaching.postprocessing import treatable
from explorer.teaching.settings import BoxSetting, NamesSetting, PlaceSetting, Settings

_ALL = list(all_mechanisms())
RUNS = [100, 200, 400, 1000]
_PERCENT = [0, 2, 5, 10, 15, 20, 25, 30, 40, 50, 60, 70, 80, 90]


class Neighbours(Settings):
    """One person more or less: what comes out on either data set."""

    mechanism = param.Selector(default="ug", objects=_ALL, label="Mechanism")
    epsilon = Epsilon(0.5)
    change = param.Selector(default="add", objects=["add", "remove"], label="One person")
    place = PlaceSetting(label="Place")
    target = param.Selector(default="leaf", objects=["leaf", "box"], label="Ask about")
    box = BoxSetting(label="Box")
    runs = param.Selector(default=400, objects=RUNS, label="Previews")


class Averaging(Settings):
    """The same question to many fresh maps."""

    mechanism = param.Selector(default="ug", objects=_ALL, label="Mechanism")
    epsilon = Epsilon(0.5)
    box = BoxSetting(label="Box")


class Tolerance(Settings):
    """From a tolerated error to epsilon."""

    mechanism = param.Selector(default="htf", objects=_ALL, label="Mechanism")
    box = BoxSetting(label="Box")
    percent = param.Number(default=5.0, bounds=(0.1, 50.0), label="Tolerated error in percent")
    runs = param.Selector(default=100, objects=[100, 200, 400], label="Previews")


class Threshold(Settings):
    """Hiding small counts, and taking the hiding away."""

    k = param.Integer(default=10, bounds=(2, 1000), label="Threshold k")
    cells = param.Selector(default=64, objects=[16, 32, 64, 128], label="Cells to a side")
    place = PlaceSetting(label="Place")
    attack = param.Selector(
        default="overlap", objects=["overlap", "days"], label="Two maps to subtract"
    )
    epsilon = Epsilon(0.5)


class Ranking(Settings):
    """One set of runs under two smoothings."""

    mechanisms = NamesSetting(default=["htf", "ag", "privtree"], least=2, label="Mechanisms")
    epsilon = Epsilon(0.1)
    questions = param.Selector(
        default="random", objects=["random", "sq2", "sq6", "sq10", "cells"], label="Questions"
    )
    seeds = param.Integer(default=8, bounds=(2, 30), label="Repetitions")


class Postprocessing(Settings):
    """What is done to counts after the noise."""

    mechanism = param.Selector(default="quadtree", objects=treatable(), label="Mechanism")
    epsilon = Epsilon(0.1)
    box = BoxSetting(default=(0.0, 0.0, 0.5, 1.0), label="Region")
    runs = param.Selector(default=100, objects=[50, 100, 200, 400], label="Previews")
    consistent = param.Boolean(default=False, label="Consistency")
    non_negative = param.Boolean(default=False, label="No negative counts")
    rounded = param.Boolean(default=False, label="Whole numbers")


class Emptiness(Settings):
    """Cells that no one is in, and the noise in them."""

    places = param.Selector(default=2, objects=[1, 2, 3], label="Places of a trip")
    cells = param.Selector(default=64, objects=SIDES, label="Cells to a side")
    epsilon = Epsilon(0.1)
    wide = param.Selector(default=8, objects=[1, 2, *SIDES], label="Box, cells to a side")


class Lottery(Settings):
    """What a private choice of cuts can see."""

    epsilon = Epsilon(0.1)
    q = param.Selector(
        default=0.3, objects=[0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9], label="Share for cuts (q)"
    )
    p = param.Selector(default=10, objects=[2, 3, 5, 10, 20, 30], label="Candidates (p)")
    cut = param.Selector(default=3, objects=[1, 2, 3, 4], label="Which cut")


class Trust(Settings):
    """What a server learns of one person from a masked shard, and who may fail."""

    size = param.Selector(default=100, objects=[20, 50, 100, 150], label="People of the shard")
    epsilon = Epsilon(1.0)
    dropped = param.Selector(default=0, objects=_PERCENT, label="Drop out, in percent")
    corrupt = param.Selector(default=0, objects=_PERCENT, label="Are corrupt, in percent")


class Refinement(Settings):
    """Which cells of a map are worth dividing."""

    people = param.Selector(
        default=1_000_000, objects=[1_000, 10_000, 100_000, 1_000_000], label="People asked"
    )
    epsilon = Epsilon(0.1)
    level = param.Selector(default=6, objects=[3, 4, 5, 6, 7], label="Level of the cells")
    unevenness = param.Selector(
        default=0.75, objects=[0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 0.75], label="Unevenness H"
    )


EXPERIMENTS: dict[str, type[Settings]] = {
    "neighbours": Neighbours,
    "averaging": Averaging,
    "tolerance": Tolerance,
    "threshold": Threshold,
    "ranking": Ranking,
    "postprocessing": Postprocessing,
    "emptiness": Emptiness,
    "lottery": Lottery,
    "trust": Trust,
    "refinement": Refinement,
}
