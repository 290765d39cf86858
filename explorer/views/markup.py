"""Small pieces of HTML in the colours of the theme: strips of figures, colour bars, budgets."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable, Sequence

import numpy as np

from explorer.views.palette import DIFFERENCE, is_light
from explorer.views.scale import ColourScale, short_number

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]+")
_INERT = str.maketrans({"<": "‹", ">": "›", '"': "”", "`": "'", "{": "(", "}": ")"})

# Blue, orange, green, purple, grey: distinguished by colour-blind readers, legible on both themes.
STAGE_COLOURS = ("#3b8fd6", "#e08a2e", "#3aa58a", "#b07cd8", "#8b98a5", "#d65f7f")
#: Of what is not spent: an empty trough on both themes.
LEFT = "rgba(128, 140, 152, .35)"
#: 3 to 1 or better on the pages' grounds, light and dark.
NOISE, UNIFORMITY, CLIPPING = "#3586cb", "#c66d1b", "#ab63d3"
#: Each cause with its name and its fill, which distinguishes it without its colour as well: solid,
#: striped, hollow.
_CAUSES = {
    "noise": (NOISE, f"background:{NOISE}"),
    "uneven areas": (
        UNIFORMITY,
        f"background:repeating-linear-gradient({UNIFORMITY} 0 2px,transparent 2px 3.4px)",
    ),
    "not counted": (CLIPPING, f"border:2px solid {CLIPPING};box-sizing:border-box"),
}


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
    spoken = ", ".join(f"{name} {epsilon:.4g}" for name, epsilon in stages)
    rows = [
        (colour, name, f"<b>{epsilon:.4g}</b> <span>{epsilon / total:.0%}</span>", epsilon / total)
        for colour, (name, epsilon) in zip(_stage_colours(len(stages)), stages, strict=True)
    ]
    return _stack(f"Budget spent by stage: {spoken}", rows)


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
    colours = [*_stage_colours(len(spent)), LEFT]
    rows = [
        (colour, stage, f"<b>{amount(part)}</b>", part / epsilon)
        for colour, (stage, part) in zip(colours, [*spent, ("left", left)], strict=True)
    ]
    text = ", ".join(f"{stage} {amount(part)}" for stage, part in spent)
    return _stack(f"Budget: {amount(total)} of {amount(epsilon)} spent so far ({text})", rows)


def _stage_colours(number: int) -> list[str]:
    return [STAGE_COLOURS[i % len(STAGE_COLOURS)] for i in range(number)]


def _stack(label: str, rows: Sequence[tuple[str, str, str, float]]) -> str:
    """A stacked bar of (colour, name, HTML of its number, share), and a list of the same."""
    bar = "".join(
        f'<i style="background:{colour};flex-grow:{share:.6f}"></i>'
        for colour, _, _, share in rows
        if share > 0
    )
    items = "".join(
        f'<li><i style="background:{colour}"></i>{html.escape(name)} {number}</li>'
        for colour, name, number, _ in rows
    )
    return (
        f'<div class="ledger"><div class="stack" role="img" aria-label="{html.escape(label)}">'
        f"{bar}</div><ul>{items}</ul></div>"
    )


def amount(epsilon: float) -> str:
    """An amount of epsilon with three significant digits, never in powers of ten.

    >>> [amount(e) for e in (0.7, 0.69999999, 0.01774, 0.0000831849, 0.0)]
    ['0.7', '0.7', '0.0177', '0.0000832', '0']
    """
    return np.format_float_positional(float(f"{epsilon:.3g}"), trim="-")


Fact = tuple[str, str, str]
"""What it is, its value, and a quieter remark."""


def node_card(
    title: str,
    verdict: str,
    reason: str,
    facts: Iterable[Fact],
    spent: Iterable[tuple[str, float]],
    budget: str,
) -> str:
    """Two columns: decision and facts, and the budget of the path as the ledger's bar."""
    rows = "".join(
        f'<tr><th scope="row">{html.escape(name)}</th><td>{html.escape(value)}'
        f"{f' <small>{html.escape(quiet)}</small>' if quiet else ''}</td></tr>"
        for name, value, quiet in facts
    )
    return (
        '<div class="beside node"><div>'
        f'<h3>{html.escape(title)}</h3><p class="verdict" role="status">{html.escape(verdict)}</p>'
        f"<p>{html.escape(reason)}</p></div><div><h3>Budget of its path</h3>"
        f"<p>{html.escape(budget)}</p>{ledger_bar(list(spent))}</div>"
        f'<div class="wide"><table class="facts">{rows}</table></div></div>'
    )


def swatches(entries: Iterable[tuple[str, str]], sentence: str) -> str:
    """A sentence, and below it what each colour of a chart means: pairs of colour and text."""
    items = "".join(
        f'<li><i style="background:{colour}"></i>{html.escape(text)}</li>'
        for colour, text in entries
    )
    return (
        f'<p class="summary">{html.escape(sentence)}</p><div class="ledger"><ul>{items}</ul></div>'
    )


def error_bar(
    noise: float, uniformity: float, clipping: float | None = None, *, decimals: int = 0
) -> str:
    """The parts as signed numbers, and below them a bar with zero in the middle.

    Too many is to the right, too few to the left. Parts of one sign are stacked, parts of
    opposite signs are on either side of zero; the tick is their sum, the difference. The bar is as
    wide as the larger side asks for, so lengths compare within one bar and not between bars. Not a
    number gives "…". ``clipping`` is None where no contribution bound is in force.
    """
    parts = [part for part in (noise, uniformity, clipping) if part is not None]
    if not all(map(math.isfinite, parts)):
        return '<div class="causes">…</div>'
    texts = "".join(
        f'<span title="{name}"><i style="{fill}"></i>{_signed(part, decimals)}</span>'
        for (name, (_, fill)), part in zip(_CAUSES.items(), parts, strict=False)
    )
    return f'<div class="causes">{texts}</div>{_error_parts(parts)}'


def error_key(*, clipping: bool) -> str:
    """What the parts of `error_bar` mean; ``clipping`` where a contribution bound is in force.

    >>> error_key(clipping=False).count("<i"), error_key(clipping=True).count("<i")
    (2, 3)
    """
    causes = list(_CAUSES.items())[: 3 if clipping else 2]
    texts = "".join(f'<span><i style="{fill}"></i>{name}</span>' for name, (_, fill) in causes)
    return f'<div class="causes key">Causes of the error: {texts}</div>'


def _error_parts(parts: Sequence[float]) -> str:
    right = sum(part for part in parts if part > 0)
    left = -sum(part for part in parts if part < 0)
    scale = 48 / max(right, left) if max(right, left) > 0 else 0.0
    ends = {1: 0.0, -1: 0.0}
    rows = []
    for number, (part, (colour, _)) in enumerate(zip(parts, _CAUSES.values(), strict=False)):
        side = 1 if part > 0 else -1
        width = abs(part) * scale
        start = ends[side]
        ends[side] += width
        rows.append(
            _error_part(number, 50 + start if side > 0 else 50 - start - width, width, colour)
        )
    net = 50 + sum(parts) * scale
    return (
        '<svg class="causes" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
        f'{"".join(rows)}<path d="M50 0V8" stroke="currentColor" stroke-opacity=".5" '
        'stroke-width=".8"/>'
        f'<path d="M{net:.1f} 0V8" stroke="currentColor" stroke-width="1.6"/></svg>'
    )


def _error_part(number: int, x: float, width: float, colour: str) -> str:
    """One part: solid, striped or hollow, whatever the bar is stretched to."""
    if number == 2:
        return (
            f'<rect x="{x:.1f}" y="1.6" width="{width:.1f}" height="4.8" fill="none" '
            f'stroke="{colour}" stroke-width="1.4" vector-effect="non-scaling-stroke"/>'
        )
    rows = [(1, 6)] if number == 0 else [(1, 2), (5, 2)]
    return "".join(
        f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{height}" fill="{colour}"/>'
        for y, height in rows
    )


def _signed(value: float, decimals: int) -> str:
    text = f"{value:+,.{decimals}f}"
    return html.escape(text.replace("-", "−") if text.strip("+-0.") else text[1:])
