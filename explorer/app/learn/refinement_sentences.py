"""What the lesson on dividing cells says: sentences, figures, a table of rules."""

from __future__ import annotations

import numpy as np

from explorer.app.kit.words import words
from explorer.app.learn.refinement_look import Refined
from explorer.teaching.refinement import in_sds, threshold
from explorer.views.markup import figures_strip
from explorer.views.tables import Cell, number, table

#: What each rule of the table goes by.
_ABOUT = {
    "your H": "slider",
    "H as measured": "from sums",
    "Eq. 6, paper": "2 σ",
    "none": "",
    "all": "",
    "those that gain": "unknown",
}


def sentence(result: Refined) -> str:
    """What the chosen H divides, and what that does to errors, in words."""
    level, h = result.level, result.settings.unevenness
    divided = result.yours
    side = 2**level.number
    return words("learn")["Divided by your H"].format(
        h=f"{h:g}",
        people=number(threshold(h, level.sd)),
        times=f"{in_sds(h):.1f}",
        divided=f"{int(divided.sum()):,}",
        cells=f"{side} × {side}",
        error=number(level.error(divided)),
        gain=f"{int((divided & level.best()).sum()):,}",
    )


def measured_sentence(result: Refined) -> str:
    """What the sums themselves say of H, in words."""
    level = result.level
    rules = result.rules
    return words("learn")["Divided by the measured H"].format(
        h=number(level.forecast, 2),
        times=f"{in_sds(level.forecast):.1f}",
        divided=f"{int(rules['H as measured'].sum()):,}",
        error=number(level.error(rules["H as measured"])),
        paper=f"{int(rules['Eq. 6, paper'].sum()):,}",
        other=number(level.error(rules["Eq. 6, paper"])),
    )


def cell_sentence(result: Refined) -> str:
    """The ringed cell: its people, its own h, and whether dividing it helps, in words."""
    level, at = result.level, result.example
    people, own_h = float(level.true[at]), float(level.own[at])
    fullest = float(level.quarters[at].max()) / max(people, 1e-9)
    whole, divided = (float(np.sqrt(part[at])) for part in (level.if_whole, level.if_divided))
    return words("learn")["One cell"].format(
        people=number(people),
        fullest=f"{100 * fullest:.0f}",
        h=number(own_h, 2),
        spread=number(whole),
        noise=number(divided),
        verdict="dividing it helps" if divided < whole else "dividing it would only add noise",
        done="is divided" if result.yours[at] else "is left whole",
    )


def figures(result: Refined) -> str:
    """Noise, H and thresholds, as a strip."""
    level, h = result.level, result.settings.unevenness
    return figures_strip(
        [
            ("People asked", f"{result.asked.people:,}"),
            ("Noise σ of a sum", number(level.sd)),
            ("Your H divides from", f"{number(threshold(h, level.sd))} people"),
            ("H measured", number(level.forecast, 2)),
            ("It divides from", f"{number(threshold(level.forecast, level.sd))} people"),
            ("Eq. 6 divides from", f"{number(2 * level.sd)} people"),
        ]
    )


def rules(result: Refined) -> str:
    """What each rule divides and errs by, as a table; the smallest error of a private one leads."""
    level = result.level
    best = level.best()
    errors = {name: level.error(chosen) for name, chosen in result.rules.items()}
    least = min(error for name, error in errors.items() if name != "those that gain")
    rows = [
        [
            Cell(name, _ABOUT[name]),
            Cell(f"{int(chosen.sum()):,}"),
            Cell(f"{int((chosen & best).sum()):,}"),
            Cell(number(errors[name]), best=errors[name] == least),
        ]
        for name, chosen in result.rules.items()
    ]
    columns = [
        ("rule", "which cells are divided"),
        ("divided", "cells"),
        ("of them gain", "whose quarters truly err less for it"),
        ("error", "of a quarter: root of the mean square, in people asked, expected"),
    ]
    return table("Rules on the cells of this level", columns, rows)
