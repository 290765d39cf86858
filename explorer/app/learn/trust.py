"""Trust: one person's vector on its way into a masked sum, and what it costs when people fail."""

from __future__ import annotations

import numpy as np

from explorer.app.curator.setting_fields import EPSILONS
from explorer.app.kit.html import put
from explorer.app.kit.prose import chart_pane, column, pane
from explorer.app.learn.examples import ExamplesExperiment
from explorer.app.learn.experiment import explained
from explorer.app.learn.trust_look import Trusted, look
from explorer.app.learn.trust_sentences import (
    cut_sentence,
    cuts,
    figures,
    loss_sentence,
    sentence,
    trusted,
    unmasked_sentence,
    vectors,
)
from explorer.views.tables import details
from explorer.views.teaching.frame import FIRST, SECOND, TRUTH
from explorer.views.teaching.losses import LossChart
from explorer.views.teaching.vectors import VectorChart

#: What each chart holds, and who has it.
VECTORS = (
    "Her vector: 1 in her cell. It stays with her.",
    "Her share of the noise. It stays with her.",
    "What she sends: both, with masks. The server has it.",
    "The sum of all that was sent. The server has it.",
    "The same without masks: the sum with its noise. Dots: without noise.",
)


class TrustExperiment(ExamplesExperiment):
    """Sliders, five vectors, the loss by honest people, a table of who knows what."""

    title = "One person in a shard"
    ANOTHER = "Another person"
    COUNTING = "The people are being put together."
    look = staticmethod(look)

    def build(self) -> None:
        """Controls and charts."""
        controls = self.controls
        colours = (FIRST, FIRST, SECOND, SECOND, FIRST)
        self.vectors = [VectorChart(colour) for colour in colours]
        self.losses = LossChart()
        self.figures, self.loss, self.unmasked, self.cut = (pane(margin=(4, 0)) for _ in range(4))
        self.twin, self.cuts, self.who = pane(), pane(margin=(6, 0)), pane(margin=(6, 0))
        titles = [pane(f'<p class="quiet">{text}</p>', margin=(4, 0, 0, 0)) for text in VECTORS]
        self._strips = column(
            *(
                part
                for title, vector in zip(titles, self.vectors, strict=True)
                for part in (title, chart_pane(vector.figure))
            )
        )
        self._curve = explained(
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
        # Nothing is drawn before there is something to be seen.
        self._strips.visible = self._curve.visible = False
        self.lay_out(
            None,
            [
                [
                    controls.steps("size"),
                    controls.steps("epsilon", EPSILONS),
                    controls.steps("dropped"),
                    controls.steps("corrupt"),
                ],
                [*self.buttons()],
            ],
            [
                self.said,
                self.figures,
                self._strips,
                self.twin,
                self.loss,
                self._curve,
                self.unmasked,
                self.cut,
                self.cuts,
                self.who,
            ],
        )

    def show(self, result: Trusted) -> None:
        """Show the vectors unless the shard was refused, the loss, and who knows what."""
        shared = result.shared
        text, cost = sentence(result), loss_sentence(result)
        self.say(text)
        put(self.figures, figures(result))
        put(self.loss, f'<p class="finding">{cost}</p>')
        put(self.unmasked, f"<p>{unmasked_sentence(result)}</p>")
        put(self.cut, f'<p class="finding">{cut_sentence(result)}</p>')
        put(self.cuts, cuts(result))
        put(self.who, trusted(result))
        view, total = shared.seen, shared.total
        self._strips.visible = view is not None
        put(self.twin, details("Numbers of the charts", vectors(result)) if view else "")
        if view is not None and total is not None:
            values = view.vector, view.share, view.masked, view.masked_sum, total
            for chart, title, value in zip(self.vectors, VECTORS, values, strict=True):
                truth = shared.exact if value is total else None
                chart.show(value, f"{title} From {value.min():,} to {value.max():,}.", truth)
        self._curve.visible = True
        honest, loss, floor = shared.curve()
        # The corrupt are those who would be missing beyond the fewest who must send a vector.
        refused = float(np.clip(shared.plan.fewest - shared.corrupt, 0, len(honest)))
        self.losses.show(honest, loss, floor, shared.epsilon, shared.honest, refused, cost)
