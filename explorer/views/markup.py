"""Small pieces of HTML: figures strip, colour bar, ledger bar, in the colours of the theme."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

from explorer.views.palette import DIFFERENCE, is_light
from explorer.views.scale import ColourScale, short_number

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]+")
_INERT = str.maketrans({"<": "‹", ">": "›", '"': "”", "`": "'", "{": "(", "}": ")"})

# Blue, orange, green, purple, grey: distinguished by colour-blind readers, legible on both themes.
STAGE_COLOURS = ("#3b8fd6", "#e08a2e", "#3aa58a", "#b07cd8", "#8b98a5", "#d65f7f")


def safe_text(text: object, limit: int = 80) -> str:
    """Make a string that came from a file harmless on every surface of the page.

    Panel renders some strings as HTML (titles, headers, notices) and others as text (options,
    table cells); to look the same on all of them, markup characters become their typographic
    look-alikes instead of entities. Control and direction characters vanish; the length is
    limited.

    >>> safe_text('<img src=x onerror="alert(1)">')
    '‹img src=x onerror=”alert(1)”›'
    """
    line = " ".join(_CONTROL.sub(" ", str(text)).split()).translate(_INERT)
    # An ampersand is harmless unless it starts an entity such as &lt;
    line = re.sub(r"&(?=#|\w+;)", "+", line)
    return line if len(line) <= limit else line[: limit - 1] + "…"


def figures_strip(figures: Iterable[tuple[str, str]], look: str = "") -> str:
    """A strip of labelled figures: pairs of label and value, as a definition list.

    ``look`` "four" keeps four of them in one row at any width; "line" is as low as a line.
    """
    pairs = "".join(
        f"<div><dt>{html.escape(label)}</dt><dd>{html.escape(value)}</dd></div>"
        for label, value in figures
    )
    return f'<dl class="{f"figures {look}".strip()}">{pairs}</dl>'


def gradient(colours: Sequence[str], steps: int = 32) -> str:
    """A CSS gradient through ``colours``, left to right, in ``steps`` stops."""
    last = len(colours) - 1
    stops = (colours[round(i * last / (steps - 1))] for i in range(steps))
    return f"linear-gradient(to right, {', '.join(stops)})"


def count_bar(caption: str, scale: ColourScale, colours: Sequence[str], note: str = "") -> str:
    """The bar that explains colours of counts: caption, gradient, ticks at their exact places.

    ``note`` is what a small map has no space to show; it is spoken all the same.
    """
    return _bar(caption, note, gradient(colours), scale.ticks(), is_light(colours))


def difference_bar(caption: str, scale: ColourScale, note: str = "") -> str:
    """The bar of the difference view: blue is too few, orange too many, the middle is none.

    Every tick is on both sides or on none. The colours of the ends represent all beyond them.
    """
    half = _spaced([(place / 2, f"+{text}") for place, text in scale.ticks()])
    ticks = [(0.5 - place, f"−{text[1:]}") for place, text in reversed(half) if text != "+0"]
    ticks += [(0.5 + place, "0" if text == "+0" else text) for place, text in half]
    ends = f"ends: {short_number(scale.top)} or more"
    return _bar(caption, f"{note}; {ends}" if note else ends, gradient(DIFFERENCE), ticks)


def _bar(
    caption: str,
    note: str,
    background: str,
    ticks: Sequence[tuple[float, str]],
    light: bool = False,
) -> str:
    few = _spaced(ticks, _NARROW)
    marks = "".join(
        f'<span{_look(tick, few)} style="left:{tick[0] * 100:.2f}%">{html.escape(tick[1])}</span>'
        for tick in _spaced(ticks)
    )
    whole = f"{caption} ({note})" if note else caption
    spoken = f"{whole}: colours for {', '.join(text for _, text in ticks)}"
    small = f" <small>({html.escape(note)})</small>" if note else ""
    looks = "bar light" if light else "bar"
    return (
        f'<div class="{looks}" role="img" aria-label="{html.escape(spoken, quote=True)}">'
        f'<div class="caption">{html.escape(caption)}{small}</div>'
        f'<div class="gradient" style="background:{background}"></div>'
        f'<div class="ticks" aria-hidden="true">{marks}</div></div>'
    )


#: Part of a bar that a character of a tick takes, in a frame with space and in a small one.
_WIDE, _NARROW = 0.03, 0.055


def _spaced(ticks: Sequence[tuple[float, str]], letter: float = _WIDE) -> list[tuple[float, str]]:
    """The ticks that have space, a letter between them; zero stays, short numbers give way."""
    spaced: list[tuple[float, str]] = []
    for tick in sorted(ticks, key=lambda t: (t[1].strip("+") != "0", -len(t[1]))):
        if all(
            abs(tick[0] - other[0]) >= letter * (1 + (len(tick[1]) + len(other[1])) / 2)
            for other in spaced
        ):
            spaced.append(tick)
    return sorted(spaced)


def _look(tick: tuple[float, str], few: Sequence[tuple[float, str]]) -> str:
    """Where a tick would hang over an end it is at it; one of many is not on small maps."""
    conditions = {"start": tick[0] < 0.02, "end": tick[0] > 0.98, "more": tick not in few}
    looks = " ".join(look for look, so in conditions.items() if so)
    return f' class="{looks}"' if looks else ""


def ledger_bar(stages: Sequence[tuple[str, float]]) -> str:
    """A stacked bar of the budget each stage spent, with the same numbers as text below.

    ``stages`` are (name, epsilon); their sum is the release's epsilon.
    """
    total = sum(epsilon for _, epsilon in stages)
    if total <= 0:
        return '<p class="quiet">Nothing has been spent.</p>'
    parts, rows = [], []
    for i, (name, epsilon) in enumerate(stages):
        colour = STAGE_COLOURS[i % len(STAGE_COLOURS)]
        share = epsilon / total
        parts.append(f'<i style="background:{colour};flex-grow:{share:.6f}"></i>')
        rows.append(
            f'<li><i style="background:{colour}"></i>{html.escape(name)} '
            f"<b>{epsilon:.4g}</b> <span>{share:.0%}</span></li>"
        )
    spoken = ", ".join(f"{name} {epsilon:.4g}" for name, epsilon in stages)
    label = html.escape(f"Budget spent by stage: {spoken}", quote=True)
    return (
        f'<div class="ledger"><div class="stack" role="img" aria-label="{label}">'
        f"{''.join(parts)}</div><ul>{''.join(rows)}</ul></div>"
    )
