"""What the panel of flows says in words and tables."""

from __future__ import annotations

import html

import numpy as np

from explorer.app.trips.flow_work import FlowScreen

#: So many flows are in the table next to the map.
ROWS = 10


def about_flows(flow_screen: FlowScreen) -> str:
    """The largest flow, how many are above the noise, and what the intervals cover."""
    every, drawn, choice = flow_screen.every, flow_screen.drawn, flow_screen.choice
    count = int(np.sum(every.shown))
    release = flow_screen.screen.release
    trips = "trips by weight" if release.weighted else "trips"
    noise = "3 / epsilon" if release.contribution_bound == 1 else "3 × bound / epsilon"
    text = (
        f"{choice.zones} × {choice.zones} zones a place have {len(every):,} flows between them; "
        f"{count:,} are released as {every.threshold:,.3g} {trips} ({noise}) or more."
    )
    if not len(drawn):
        return f"{text} No flow of this kind has a private count above 0."
    unsure = int(np.sum(drawn.holds_zero))
    first = f"{drawn.value[0]:,.0f} ± {drawn.half_width[0]:,.0f}"
    start, stop = (
        every.origins.labels[drawn.origin[0]],
        every.destinations.labels[drawn.destination[0]],
    )
    true = flow_screen.true[drawn.origin[0], drawn.destination[0]]
    text += (
        f" The largest of the {len(drawn)} drawn goes from zone {start} to zone {stop}: {first}, "
        f"in truth {true:,.0f}."
    )
    if unsure:
        are = "is" if unsure == 1 else "are"
        text += f" {unsure} of them {are} grey: there may be nobody."
    return text


def flows_table(flow_screen: FlowScreen) -> str:
    """The largest flows that are drawn, private and true, as a table."""
    drawn, every = flow_screen.drawn, flow_screen.every
    rows = []
    for at in range(min(ROWS, len(drawn))):
        origin, destination = int(drawn.origin[at]), int(drawn.destination[at])
        name = f"{every.origins.labels[origin]} to {every.destinations.labels[destination]}"
        rows.append(
            f"<tr><th scope='row'>{html.escape(name)}</th><td>{drawn.value[at]:,.0f}</td>"
            f"<td>{drawn.half_width[at]:,.0f}</td>"
            f"<td>{flow_screen.true[origin, destination]:,.0f}</td></tr>"
        )
    if not rows:
        return ""
    return (
        "<div class='scroll'><table class='numbers'><caption>The largest flows; zones are numbered "
        "row-column from the south-west</caption><thead><tr><th scope='col'>zones</th>"
        "<th scope='col'>private</th><th scope='col'>±</th><th scope='col'>true</th></tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def found_table(flow_screen: FlowScreen) -> str:
    """False discoveries and misses by size of the zones, as a table; exact figures."""
    rows = [
        f"<tr><th scope='row'>{row.zones} × {row.zones}</th><td>{row.shown:,}</td>"
        f"<td>{_of(row.shown_empty, row.shown)}</td><td>{row.large:,}</td>"
        f"<td>{_of(row.missed, row.large)}</td><td>{row.top_found} of {row.top}</td></tr>"
        for row in flow_screen.table.itertuples()
    ]
    return (
        "<div class='scroll'><table class='numbers'><caption>Against the truth, by size of the "
        f"zones: a flow is shown if released as {flow_screen.every.threshold:,.3g} or more"
        "</caption><thead><tr><th scope='col'>zones</th><th scope='col'>shown</th>"
        "<th scope='col'>of these truly empty</th><th scope='col'>truly that large</th>"
        "<th scope='col'>of these missed</th><th scope='col'>largest found</th></tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _of(part: int, whole: int) -> str:
    return "–" if not whole else f"{part:,} ({part / whole:.0%})"
