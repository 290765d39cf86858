"""What is said of rounds: a sentence for each, and all of them as a table with bars."""

from __future__ import annotations

from explorer.app.federated.round_frame import Frame
from explorer.app.federated.screen import released
from explorer.releases.distributed import ONCE, DistributedRelease
from explorer.releases.rounds import Heard, Row
from explorer.views.budget import amount
from explorer.views.markup import STAGE_COLOURS
from explorer.views.tables import Cell, table

#: Pixels of the longest bar of the table.
_LONGEST = 76


def size(number: float) -> str:
    """Bytes as people say them.

    >>> size(312), size(2832), size(11_343), size(1_450_000)
    ('312 B', '2.8 kB', '11 kB', '1.4 MB')
    """
    if number < 1_000:
        return f"{number:,.0f} B"
    unit, scale = ("kB", 1e3) if number < 1e6 else ("MB", 1e6)
    scaled = number / scale
    return f"{scaled:.1f} {unit}" if scaled < 10 else f"{scaled:,.0f} {unit}"


def several(number: int, one: str, many: str = "") -> str:
    """A number of things.

    >>> several(1, "shard"), several(1200, "person", "people")
    ('1 shard', '1,200 people')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def about_round(frame: Frame) -> str:
    """Who was asked, what each of them sent, what was divided."""
    release = released(frame.screen)
    row = release.heard[frame.number - 1]
    text = f"Round {frame.number} of {frame.last}: {_asked(release, row)}. {_sent(row)}"
    if frame.marks is not None and isinstance(row, Heard):
        text += f" {_decided(row, frame)}"
    elif not frame.replayed:
        text += " This algorithm has a map at its end only, so there is no round to go back to."
    return text


def off_after(frame: Frame) -> str:
    """How far the map is off by now: held against the truth."""
    return f"After it, all cells together are off by {frame.error:.2f} per person (L1/N)."


def _asked(release: DistributedRelease, row: Row) -> str:
    who = several(row.people, "person", "people")
    if release.paying == ONCE:
        who += " who had never been asked"
        price = f"each at the whole epsilon {amount(row.epsilon)}"
    else:
        price = f"at epsilon {amount(row.epsilon)} of {amount(release.epsilon)}, booked for all"
    if row.shards == 0 or row.noise == 0:
        return f"{who} were looked at without noise"
    missing = row.people - row.answered
    shards = several(row.shards, "shard")
    if row.refused:
        shards += f" ({row.refused:,} refused)"
    return f"{who} were asked, {price}, in {shards}; {missing:,} did not answer"


def _sent(row: Row) -> str:
    cells = several(row.cells, "number")
    if not row.bits:
        return f"It is about {several(row.cells, 'cell')}."
    return (
        f"Each sent {cells} of {row.bits} bits, {size(row.bytes_up)} with keys and shares; the "
        f"noise of a sum is ±{row.noise:.3g} people.{overflowed(row.overflow)}"
    )


def overflowed(number: int | None) -> str:
    """What is said of sums that did not fit their bits, if there are any.

    >>> overflowed(None), overflowed(0), overflowed(2)
    ('', '', ' 2 sums of shards did not fit their bits and are wrong.')
    """
    if not number:
        return ""
    fit = "did not fit its bits and is" if number == 1 else "did not fit their bits and are"
    return f" {several(number, 'sum')} of shards {fit} wrong."


def _decided(row: Heard, frame: Frame) -> str:
    split, gone = row.decisions
    drowned = f"{frame.drowned:,} of {several(row.cells, 'cell')} hold less than their noise"
    if frame.number == frame.last:
        return f"{drowned}; nothing is divided after the last round."
    done = f"{several(split, 'cell')} {'was' if split == 1 else 'were'} divided after it"
    if gone:
        done += f", {gone:,} given up"
    return f"{drowned}; {done}."


def caption(frame: Frame) -> str:
    """What is above the map while it shows a round."""
    kind = "a preview, not private" if frame.release.preview else "the drawn release"
    return f"After round {frame.number} of {frame.last} of {kind}"


def rounds_table(release: DistributedRelease, number: int) -> str:
    """All rounds; people and epsilon with bars, the shown round in bold."""
    rows = release.heard
    limit = max(row.people for row in rows)
    dearest = max(row.epsilon for row in rows)
    columns = [
        ("round", ""),
        ("cells", "numbers in the vector of a person"),
        ("people", "who were asked"),
        ("epsilon", "what each of them paid"),
        ("noise", "standard deviation of the noise in a sum, in people"),
        ("divided", "cells that were split after the round"),
        ("given up", "cells that were collapsed after the round"),
        ("bits", "of a number that a person sends"),
        ("sends", "bytes of one person, with keys and shares"),
        ("receives", "bytes of one person"),
        ("shards", "groups whose vectors are added, and how many of them were refused"),
        ("overflow", "sums of shards that did not fit their bits; a preview in one draw has none"),
    ]
    results = []
    for at, row in enumerate(rows, 1):
        here = at == number
        split, gone = row.decisions
        people = _bar(row.people / limit, STAGE_COLOURS[0])
        price = _bar(row.epsilon / dearest, STAGE_COLOURS[1])
        refused = f"{row.refused:,} refused" if row.refused else ""
        results.append(
            [
                Cell(str(at), best=here),
                Cell(f"{row.cells:,}", best=here),
                Cell(f"{row.people:,}", before=people, best=here),
                Cell(amount(row.epsilon), before=price, best=here),
                Cell(f"{row.noise:.3g}"),
                Cell(f"{split:,}"),
                Cell(f"{gone:,}"),
                Cell(str(row.bits)),
                Cell(size(row.bytes_up)),
                Cell(size(row.bytes_down)),
                Cell(f"{row.shards:,}", quiet=refused),
                Cell("–" if row.overflow is None else f"{row.overflow:,}"),
            ]
        )
    return table(_who_pays(release), columns, results)


def _who_pays(release: DistributedRelease) -> str:
    if release.paying == ONCE:
        return (
            "All rounds. Each person is asked in one of them at most, at the whole epsilon: people "
            "are what is spent."
        )
    return "All rounds. Everyone pays for every round: epsilon is what is spent."


def _bar(part: float, colour: str) -> str:
    width = max(1, round(_LONGEST * part))
    return (
        f'<svg class="swatch" width="{_LONGEST}" height="8" aria-hidden="true">'
        f'<rect x="{_LONGEST - width}" width="{width}" height="8" fill="{colour}"/></svg>'
    )
