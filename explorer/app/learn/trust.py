"""Trust: one person's vector on its way into a masked sum, and what it costs when people fail."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.app.curator.data import CityData
from explorer.app.curator.setting_fields import EPSILONS
from explorer.app.kit.html import put
from explorer.app.kit.prose import chart_pane, column, pane, quiet, text_table
from explorer.app.kit.words import markup, sentence
from explorer.app.learn.experiment import ExamplesExperiment, explained
from explorer.app.work.cache import Shelf
from explorer.errors import InputError
from explorer.federated import calibration
from explorer.federated.people import People
from explorer.teaching.trust import CORRUPT, MANY, Cut, Shared, in_a_shard, in_shards
from explorer.views.figures import FIRST, SECOND, TRUTH
from explorer.views.lesson_charts import LossChart, VectorChart
from explorer.views.markup import figures_strip
from explorer.views.tables import details, number

#: What each chart holds, and who has it.
VECTORS = (
    "Her vector: 1 in her cell. It stays with her.",
    "Her share of the noise. It stays with her.",
    "What she sends: both, with masks. The server has it.",
    "The sum of all that was sent. The server has it.",
    "The same without masks: the sum with its noise. Dots: without noise.",
)
_PEOPLE: Shelf[People] = Shelf(3)


@dataclass(frozen=True, eq=False)
class Trusted:
    """One masked shard, and people in shards of several sizes."""

    data: CityData
    shared: Shared
    cuts: list[Cut]


def look(data: CityData, settings: Any, person: int, seed: int) -> Trusted:
    """Put people of the city into a shard and add up what they send."""
    matrix, parts = data.matrix, (settings.dropped / 100, settings.corrupt / 100)
    if matrix.total < settings.size:
        raise InputError(
            f"This city has fewer than {settings.size} people inside its extent: choose a smaller "
            "shard or another city."
        )
    people = _PEOPLE.get(matrix.key, lambda: People.of_matrix(matrix))
    shared = in_a_shard(people, settings.epsilon, settings.size, *parts, person, seed)
    return Trusted(data, shared, in_shards(settings.epsilon))


class TrustExperiment(ExamplesExperiment):
    """Sliders, five vectors, the loss by honest people, a table of who knows what."""

    title = "One person in a shard"
    ANOTHER = "Another person"
    COUNTING = "The people are being put together."
    look = staticmethod(look)

    def build(self) -> None:
        """Controls and charts."""
        steps = self.controls.steps
        self.vectors = [VectorChart(colour) for colour in (FIRST, FIRST, SECOND, SECOND, FIRST)]
        self.losses = LossChart()
        self.figures, self.loss, self.unmasked, self.cut = (pane(margin=(4, 0)) for _ in range(4))
        self.twin, self.cuts, self.who = pane(), pane(margin=(6, 0)), pane(margin=(6, 0))
        self._strips = column()
        for title, vector in zip(VECTORS, self.vectors, strict=True):
            head = pane(quiet(title), margin=(4, 0, 0, 0))
            self._strips.extend([head, chart_pane(vector.figure)])
        curve = explained(
            [
                (SECOND, "line", "what the sum costs"),
                (SECOND, "dash", "what was agreed"),
                (FIRST, "line", "floor: as little as any epsilon could make it"),
                (TRUTH, "dash", "honest people in this shard"),
                ("#808080", "area", "refused"),
            ],
            self.losses.figure,
            margin=(6, 0, 0, 0),
        )
        self.pictures = self._strips, curve
        sliders = [steps("size"), steps("epsilon", EPSILONS), steps("dropped"), steps("corrupt")]
        head = [self.said, self.figures, self._strips, self.twin, self.loss, curve]
        rest = [self.unmasked, self.cut, self.cuts, self.who]
        self.lay_out(None, [sliders, [*self.buttons()]], [*head, *rest])

    def show(self, result: Trusted) -> None:
        """Show the vectors unless the shard was refused, the loss, and who knows what."""
        shared, plan = result.shared, result.shared.plan
        view, total = shared.seen, shared.total
        values = {"shared": shared, "plan": plan}
        heading = "A shard is refused" if view is None else "What the server sees"
        some = 0 if view is None else int(np.count_nonzero(view.share))
        self.say(sentence("learn", heading, some=some, **values))
        floor = calibration.floor_of_fewer(max(shared.part, 1e-12))
        cost = sentence("learn", "What failing costs", floor=floor, epsilon=epsilon, **values)
        unmasked = sentence("learn", "Corrupt neighbours", chance=chance(shared.unmasked), **values)
        shards = {"small": result.cuts[0], "large": result.cuts[-1], "many": MANY}
        put(self.figures, figures(shared))
        put(self.loss, f'<p class="finding">{cost}</p>')
        put(self.unmasked, f"<p>{unmasked}</p>")
        put(self.cut, f'<p class="finding">{sentence("learn", "One large shard", **shards)}</p>')
        put(self.cuts, cuts(result.cuts))
        agreed = f"{round(CORRUPT * plan.asked)} of {plan.asked}"
        put(self.who, markup("who_sees_what", agreed=agreed))
        self._strips.visible = view is not None
        put(self.twin, details("Numbers of the charts", vectors(shared)) if view else "")
        if view is not None and total is not None:
            arrays = view.vector, view.share, view.masked, view.masked_sum, total
            for chart, title, value in zip(self.vectors, VECTORS, arrays, strict=True):
                truth = shared.exact if value is total else None
                chart.show(value, f"{title} From {value.min():,} to {value.max():,}.", truth)
        honest, loss, floors = shared.curve()
        # The corrupt are those who would be missing beyond the fewest who must send a vector.
        refused = float(np.clip(plan.fewest - shared.corrupt, 0, len(honest)))
        self.losses.show(honest, loss, floors, shared.epsilon, shared.honest, refused, cost)


def epsilon(value: float) -> str:
    """A loss as people read it.

    >>> epsilon(1.2345), epsilon(math.inf)
    ('1.23', 'any epsilon')
    """
    return f"{value:.3g}" if math.isfinite(value) else "any epsilon"


def chance(part: float) -> str:
    """A chance, 0 to 1, in words.

    >>> chance(0.25), chance(1e-12), chance(0.0), chance(0.9999)
    ('25 in 100', 'below 1 in a million', '0', 'above 99 in 100')
    """
    if part == 0:
        return "0"
    if part > 0.99:
        return "above 99 in 100"
    return "below 1 in a million" if part < 1e-6 else f"{number(100 * part, 2)} in 100"


def figures(shared: Shared) -> str:
    """People and noise of this shard, as a strip."""
    plan = shared.plan
    return figures_strip(
        [
            ("Sent a vector", f"{shared.survivors} of {plan.asked}"),
            ("Needed", f"{plan.fewest}"),
            ("Honest people left", f"{shared.honest}"),
            ("Noise is made for", f"{plan.honest}"),
            ("Epsilon agreed", f"{shared.epsilon:g}"),
            ("Epsilon it costs", "0" if shared.refused else epsilon(shared.loss)),
            ("Bits of a number", f"{plan.bits}"),
            ("Bytes she sends", f"{plan.bytes_up:,}"),
        ]
    )


def vectors(shared: Shared) -> str:
    """The five vectors cell by cell, as a table; there has to be a sum."""
    view, total = shared.seen, shared.total
    assert view is not None
    assert total is not None
    arrays = view.vector, view.share, view.masked, view.masked_sum, total, shared.exact
    rows = [
        [f"{cell}", *(f"{value:,}".replace("-", "−") for value in values)]
        for cell, values in enumerate(zip(*arrays, strict=True), start=1)
    ]
    columns = {
        "cell": "of the tree",
        "her vector": "stays with her",
        "her share": "stays with her",
        "sent": "with masks",
        "sum sent": "of everybody's, with masks",
        "sum": "without masks, with noise",
        "true sum": "nobody has it",
    }
    return text_table("What becomes of a vector", columns, rows)


def cuts(cuts: list[Cut]) -> str:
    """People in shards of several sizes, as a table."""
    rows = [
        [
            *(f"{cut.size:,}", f"{cut.shards:,}", f"± {number(cut.noise)}"),
            *(f"{cut.plan.fewest:,}", f"{cut.plan.bits}", f"{cut.plan.bytes_up:,}"),
        ]
        for cut in cuts
    ]
    columns = {
        "people a shard": "at most",
        "shards": f"of {MANY:,} people",
        "noise": "in each number of the sum over all shards, with nobody missing",
        "needed": "vectors of a shard; with fewer it is refused",
        "bits": "of a number that is sent",
        "bytes": "that a person sends",
    }
    return text_table(f"{MANY:,} people in shards of several sizes", columns, rows)
