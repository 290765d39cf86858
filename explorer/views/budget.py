"""A bar of the budget that fills up: what is spent so far, stage by stage, and what is left."""

from __future__ import annotations

import html
from collections.abc import Sequence

import numpy as np

from explorer.views.markup import STAGE_COLOURS

#: Of what is not spent: an empty trough on both themes.
LEFT = "rgba(128, 140, 152, .35)"


def amount(epsilon: float) -> str:
    """An amount of epsilon with three significant digits, never in powers of ten.

    >>> [amount(e) for e in (0.7, 0.69999999, 0.01774, 0.0000831849, 0.0)]
    ['0.7', '0.7', '0.0177', '0.0000832', '0']
    """
    return np.format_float_positional(float(f"{epsilon:.3g}"), trim="-")


def budget_bar(spent: Sequence[tuple[str, float]], epsilon: float) -> str:
    """A stacked bar as wide as ``epsilon``, in the colours of the ledger, and the same as text.

    Parameters
    ----------
    spent : (stage, epsilon spent so far), every stage in the order of the release
    epsilon : the whole budget
    """
    total = sum(part for _, part in spent)
    # The last bit of a sum must not show as a sliver of budget that is left.
    left = epsilon - total if epsilon - total > 1e-9 * epsilon else 0.0
    colours = [STAGE_COLOURS[i % len(STAGE_COLOURS)] for i in range(len(spent))]
    amounts = [(colour, part) for colour, (_, part) in zip(colours, spent, strict=True)]
    parts = "".join(
        f'<i style="background:{colour};flex-grow:{part / epsilon:.6f}"></i>'
        for colour, part in [*amounts, (LEFT, left)]
        if part > 0
    )
    rows = "".join(
        f'<li><i style="background:{colour}"></i>{html.escape(stage)} <b>{amount(part)}</b></li>'
        for colour, (stage, part) in zip([*colours, LEFT], [*spent, ("left", left)], strict=True)
    )
    text = ", ".join(f"{stage} {amount(part)}" for stage, part in spent)
    label = f"Budget: {amount(total)} of {amount(epsilon)} spent so far ({text})"
    return (
        f'<div class="ledger"><div class="stack" role="img" '
        f'aria-label="{html.escape(label, quote=True)}">{parts}</div><ul>{rows}</ul></div>'
    )
