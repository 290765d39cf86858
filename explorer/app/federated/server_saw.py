"""What the server saw: one person's numbers on their way into a sum, and who trusts whom."""

from __future__ import annotations

import html

import numpy as np
import panel as pn

from explorer.app.curator.panel import ReleasePanel
from explorer.app.curator.parts import PageParts
from explorer.app.federated.masked_shard import MaskedShard, masked_shard
from explorer.app.federated.round_sentences import several
from explorer.app.federated.strips import Strip, numbers, strips
from explorer.app.federated.trust import trust_table
from explorer.app.kit.html import html_pane, put
from explorer.app.kit.words import words


class ServerSawPanel(ReleasePanel[MaskedShard]):
    """The panel: a masked shard of a hundred people, made in the background."""

    def __init__(self, parts: PageParts) -> None:
        super().__init__(masked_shard, parts)
        self._said, self._strips, self._numbers = (html_pane(margin=(4, 0)) for _ in range(3))
        put(self._said, '<p class="quiet" role="status">A hundred people agree on masks …</p>')
        if not parts.phone:
            self.beside = self._strips
        self.view = pn.Column(
            self._said,
            *([self._strips] if parts.phone else []),
            self._numbers,
            html_pane(trust_table(), margin=(8, 0, 4, 0)),
            sizing_mode="stretch_width",
            margin=(4, 0),
        )

    def _show(self, shard: MaskedShard) -> None:
        self.found = shard
        vectors = vectors_of(shard)
        here = int(np.argmax(shard.seen.vector))
        self._fill(sentence(shard), strips(vectors, here), numbers(vectors))

    def _failed(self, sentence: str) -> None:
        """There is no such shard: no other one may be in its place."""
        super()._failed(sentence)
        self.found = None
        self._fill(f"{sentence} {words('federated')['No shard']}", "", "")

    def _fill(self, text: str, rows: str, table: str) -> None:
        put(self._said, f'<p class="summary" role="status">{html.escape(text)}</p>')
        put(self._strips, rows)
        put(self._numbers, table)


def sentence(shard: MaskedShard) -> str:
    """How many answered, and what the server can tell of one of them."""
    sums, view = shard.sums, shard.seen
    missing = sums.asked - sums.answered
    who = (
        f"A shard of {sums.asked} people of {shard.screen.data.title}: {missing} dropped out, "
        f"{sums.answered} sent {len(view.vector)} numbers of {sums.bits} bits"
        f"{_fit(sums.overflow)}."
    )
    noise = f"±{sums.sd:.2g} people in each number, and no more in a shard of thousands."
    return f"{who} {words('federated')['Only the sum']} {noise}"


def _fit(overflow: int | None) -> str:
    if not overflow:
        return ", which held all sums"
    return f", too few for {several(overflow, 'sum')}, which overflowed"


def vectors_of(shard: MaskedShard) -> list[Strip]:
    """The five vectors in the order of their way."""
    view, sums = shard.seen, shard.sums
    text = words("federated")
    full = float(2**sums.bits)
    sent, added = (part.astype(np.int64) for part in (view.masked, view.masked_sum))
    largest = float(max(np.abs(shard.decoded).max(), 1))
    largest_share = float(max(np.abs(view.share).max(), 1))
    return [
        Strip("Her vector", text["Her vector"], view.vector, 1.0),
        Strip("Her share of the noise", text["Her share"], view.share, largest_share),
        Strip("What she sends", text["What she sends"], sent, full),
        Strip("All that was sent, added", text["Sum of what"], added, full),
        Strip(
            "The sum without masks", f"{text['The sum']} ±{sums.sd:.2g}.", shard.decoded, largest
        ),
    ]
