"""What the server saw of one person: her masked vector, the sum of her shard; who is trusted."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import panel as pn
from numpy.typing import NDArray

from explorer.app.curator.panel import ReleasePanel
from explorer.app.curator.parts import PageParts
from explorer.app.curator.screen import Screen
from explorer.app.federated.rounds import several
from explorer.app.federated.screen import chosen, people_of
from explorer.app.kit.html import html_pane, put
from explorer.app.kit.words import words
from explorer.errors import InputError
from explorer.federated.aggregation import Seen
from explorer.federated.asking import Asking, Protocol, Question, Sums
from explorer.federated.mechanism import START
from explorer.releases.quarters import KeyTree
from explorer.releases.units import to_units
from explorer.views.tables import Cell, details, table

#: Pixels of a cell of a strip, and how many numbers of each are written below it.
_SIDE = 9
_WRITTEN = 7
#: Above and below zero.
_ABOVE, _BELOW = "#3b8fd6", "#e08a2e"


@dataclass(frozen=True, eq=False)
class Strip:
    """One vector.

    Attributes
    ----------
    title, words : of the strip, plain text
    values : (v,) whole numbers
    span : what a full colour represents
    """

    title: str
    words: str
    values: NDArray[np.int64]
    span: float


def strips(vectors: Sequence[Strip], around: int) -> str:
    """The strips one below the other; of each the numbers around one cell are written out.

    Parameters
    ----------
    vectors : of one length
    around : cell in the middle of the numbers that are written out
    """
    v = len(vectors[0].values)
    first = min(max(around - _WRITTEN // 2, 0), max(v - _WRITTEN, 0))
    return "".join(_strip(vector, first) for vector in vectors)


def _strip(strip: Strip, first: int) -> str:
    values = strip.values
    cells = "".join(
        f'<rect x="{i * (_SIDE + 1)}" width="{_SIDE}" height="18" '
        f'fill="{_ABOVE if value >= 0 else _BELOW}" '
        f'fill-opacity="{0.12 + 0.88 * min(abs(value) / strip.span, 1):.2f}"/>'
        if value
        else f'<rect x="{i * (_SIDE + 1)}" width="{_SIDE}" height="18" fill="currentColor" '
        'fill-opacity="0.1"/>'
        for i, value in enumerate(values.tolist())
    )
    width = len(values) * (_SIDE + 1)
    last = min(first + _WRITTEN, len(values))
    written = ", ".join(_signed(value) for value in values[first:last].tolist())
    spoken = html.escape(
        f"{strip.title}: {np.count_nonzero(values)} of {len(values)} numbers are not 0; cells "
        f"{first + 1} to {last}: {written}",
        quote=True,
    )
    return (
        f"<h3>{html.escape(strip.title)}</h3><p>{html.escape(strip.words)}</p>"
        f'<svg role="img" aria-label="{spoken}" viewBox="0 0 {width} 18" '
        f'preserveAspectRatio="none" '
        f'style="display:block;width:100%;max-width:{width}px;height:18px;margin:4px 0 2px">'
        f"{cells}</svg>"
        f'<p class="quiet" style="margin-bottom:8px">Cells {first + 1} to {last}: '
        f"{html.escape(written)}</p>"
    )


def numbers(vectors: Sequence[Strip]) -> str:
    """All numbers as a table behind a line that opens it."""
    columns = [("cell", ""), *((vector.title, vector.words) for vector in vectors)]
    rows = [
        [Cell(str(i + 1)), *(Cell(_signed(int(strip.values[i]))) for strip in vectors)]
        for i in range(len(vectors[0].values))
    ]
    caption = f"All {len(rows)} numbers of each"
    return details(caption, table(caption, columns, rows))


def _signed(value: int) -> str:
    return f"{value:,}".replace("-", "−")


#: Rows, in the order of the table; their words are below headings of the same name.
ROWS = (
    "The server",
    "Other people",
    "Two aggregators",
    "Whoever gets the release",
    "This page",
)


def trust_table() -> str:
    """The table, as HTML."""
    text = words("federated")
    rows = "".join(f'<tr><th scope="row">{row}</th><td>{text[row]}</td></tr>' for row in ROWS)
    table = (
        '<table class="facts"><caption class="visually-hidden">Who must be trusted with what'
        f"</caption><tbody>{rows}</tbody></table>"
    )
    return f"<h3>Who must be trusted with what</h3><p>{text['Trust']}</p>{table}"


Ints = NDArray[np.int64]
#: People of the shard: its masks take a tenth of a second, those of a thousand three.
PEOPLE = 100


@dataclass(frozen=True, eq=False)
class MaskedShard:
    """One shard, and one of its people. Exact data: it is for the curator's screen.

    Attributes
    ----------
    seen : her vector and her share, which stay with her; what she sent; both sums
    sums : what the round gave
    decoded : (v,) the sum read as numbers of both signs
    """

    screen: Screen
    seen: Seen
    sums: Sums
    decoded: Ints


def masked_shard(screen: Screen) -> MaskedShard:
    """Ask a hundred people about the 64 cells of the first round, behind masks.

    The seed is that of the preview on screen, or 1 next to a drawn release: a shard of its own, of
    which nothing is released or booked.

    Raises
    ------
    InputError
        Where a shard so small cannot be, or so few answered that nothing was unmasked.
    """
    mechanism, people = chosen(screen), people_of(screen.data)
    number = min(PEOPLE, len(people))
    if number < 2:
        raise InputError("One person alone is no sum: choose a city with more people.")
    protocol = Protocol(number, mechanism.dropped, mechanism.corrupt, mechanism.bits)
    seed = screen.key[2]
    asking = Asking(
        people, protocol, to_units(mechanism.epsilon), 1 if seed is None else seed, "masked", number
    )
    tree = KeyTree.even(min(mechanism.depth, people.depth), START)
    starts = tree.runs[0] << 2 * (people.depth - tree.depth)
    sums = asking.ask(
        Question(starts, tree.run_index, tree.v, people.depth), number, to_units(mechanism.epsilon)
    )
    if not asking.seen:
        raise InputError(
            f"Of {number} people too few answered, so nothing was unmasked: expect more of them "
            "to drop out."
        )
    return MaskedShard(screen, asking.seen[0], sums, sums.values)


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
