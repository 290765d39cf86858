"""What the lesson on trust says: sentences, figures, tables of vectors, of shards and of trust."""

from __future__ import annotations

import math

import numpy as np

from explorer.app.kit.words import words
from explorer.app.learn.trust_look import Trusted
from explorer.federated import calibration
from explorer.teaching.trust import CORRUPT, MANY
from explorer.views.markup import figures_strip
from explorer.views.tables import Cell, number, table


def sentence(result: Trusted) -> str:
    """What the server sees of her and of all, in words."""
    shared = result.shared
    plan = shared.plan
    if shared.seen is None:
        return words("learn")["A shard is refused"].format(
            survivors=shared.survivors, people=plan.asked, fewest=plan.fewest
        )
    some = int(np.count_nonzero(shared.seen.share))
    cells = f"{some} cell{'s' if some > 1 else ''}"
    return words("learn")["What the server sees"].format(
        cells=plan.counters,
        share=f"is not 0 in {cells}" if some else "happens to be 0 everywhere",
        top=f"{2**plan.bits - 1:,}",
        survivors=shared.survivors,
        noise=number(shared.noise),
    )


def loss_sentence(result: Trusted) -> str:
    """What the sum costs with those who are left, in words."""
    shared = result.shared
    floor = calibration.floor_of_fewer(max(shared.part, 1e-12))
    verdict = f"the sum costs epsilon {shared.epsilon:g}, as agreed"
    if shared.part < 1:
        verdict = f"the sum would cost {epsilon(shared.loss)} in place of {shared.epsilon:g}"
        if shared.honest and floor > 0:
            verdict += f", and at least {epsilon(floor)} whatever was agreed"
    if shared.refused:
        verdict += ". It is refused, so it costs nothing"
    return words("learn")["What failing costs"].format(
        made=shared.plan.honest, honest=shared.honest, verdict=verdict
    )


def unmasked_sentence(result: Trusted) -> str:
    """How likely corrupt people can take her mask away, in words."""
    shared = result.shared
    return words("learn")["Corrupt neighbours"].format(
        degree=shared.plan.degree,
        threshold=shared.plan.threshold,
        corrupt=shared.corrupt,
        chance=chance(shared.unmasked),
    )


def cut_sentence(result: Trusted) -> str:
    """One large shard next to many small ones, in words."""
    small, large = result.cuts[0], result.cuts[-1]
    return words("learn")["One large shard"].format(
        many=f"{MANY:,}",
        shards=f"{small.shards:,}",
        small=f"{small.size:,}",
        noise=number(small.noise),
        least=number(large.noise),
        times=number(small.noise / large.noise),
    )


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


def figures(result: Trusted) -> str:
    """People and noise of this shard, as a strip."""
    shared = result.shared
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


def vectors(result: Trusted) -> str:
    """The five vectors cell by cell, as a table; there has to be a sum."""
    shared = result.shared
    view, total = shared.seen, shared.total
    assert view is not None
    assert total is not None
    rows = [
        [Cell(f"{i + 1}"), *(Cell(f"{part[i]:,}".replace("-", "−")) for part in parts)]
        for parts in [(view.vector, view.share, view.masked, view.masked_sum, total, shared.exact)]
        for i in range(len(total))
    ]
    columns = [
        ("cell", "of the tree"),
        ("her vector", "stays with her"),
        ("her share", "stays with her"),
        ("sent", "with masks"),
        ("sum sent", "of everybody's, with masks"),
        ("sum", "without masks, with noise"),
        ("true sum", "nobody has it"),
    ]
    return table("What becomes of a vector", columns, rows)


def cuts(result: Trusted) -> str:
    """People in shards of several sizes, as a table."""
    rows = [
        [
            Cell(f"{cut.size:,}"),
            Cell(f"{cut.shards:,}"),
            Cell(f"± {number(cut.noise)}"),
            Cell(f"{cut.plan.fewest:,}"),
            Cell(f"{cut.plan.bits}"),
            Cell(f"{cut.plan.bytes_up:,}"),
        ]
        for cut in result.cuts
    ]
    columns = [
        ("people a shard", "at most"),
        ("shards", f"of {MANY:,} people"),
        ("noise", "in each number of the sum over all shards, with nobody missing"),
        ("needed", "vectors of a shard; with fewer it is refused"),
        ("bits", "of a number that is sent"),
        ("bytes", "that a person sends"),
    ]
    return table(f"{MANY:,} people in shards of several sizes", columns, rows)


def trusted(result: Trusted) -> str:
    """Who sees what and is trusted with what, as a list."""
    plan = result.shared.plan
    agreed = round(CORRUPT * plan.asked)
    rows = [
        ("She herself", "her place, her share, her masks", "drawing her share as agreed"),
        (
            "Another honest person",
            "parts of secrets, in sealed boxes",
            "adding noise, and never opening both secrets of anybody",
        ),
        (
            "The server",
            "masked vectors, sums of shards",
            "saying truly who is left; it may look at all it has",
        ),
        (
            "Who is corrupt",
            "what she is sent, and all that the server has",
            f"being no more than agreed: {agreed} of {plan.asked}",
        ),
        ("Who reads the map", "sums with noise", "nothing"),
        ("This page", "every place and every share", "everything: one process plays all parts"),
    ]
    items = "".join(
        f"<li><strong>{who}</strong> sees {sees}; is trusted with {what}.</li>"
        for who, sees, what in rows
    )
    return f"<h3>Who sees what, and is trusted with what</h3><ul>{items}</ul>"
