"""dp-explorer federated: a map of people who keep their places, from masked sums."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from explorer.commands import drawing, flags
from explorer.commands.files import add_output
from explorer.commands.release import city_here, load_city
from explorer.commands.terminal import paragraph, table
from explorer.errors import InputError
from explorer.grid.countable import UNITS

if TYPE_CHECKING:
    from explorer.cities.city import City

HELP = "draw a map from masked sums of people"

_EVERYBODY, _CONSENT = "all", "--people-are-public"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the city, the budget and the settings of the protocol and the algorithm."""
    from explorer.federated.mechanism import Federated

    parser.usage = "dp-explorer federated CITY --people 1000000 --epsilon 1 -o f.parquet [options]"
    parser.description = (
        "Draw a map as a server would that never sees a place: each record of the city is one "
        "person, who adds her share of noise to her vector; the server sees masked sums of shards "
        "and refines its tree round by round. It is a simulation: this process holds all places. "
        "Each release costs epsilon, which is booked in a ledger before it is drawn. It says how "
        "many people take part. Either you declare that number with --people: then adding or "
        "removing one person is protected. Or you agree with --people-are-public that the exact "
        "number is published: then the place of each person is protected."
    )
    parser.add_argument("city", metavar="CITY", help="a city of the catalogue, see cities")
    add_output(parser, "GeoParquet file to write")
    parser.add_argument(
        "--prior",
        metavar="RELEASE",
        help="a file of an earlier release: everybody is asked once about the cells it ended with",
    )
    drawing.add_shape(parser)
    group = parser.add_argument_group("privacy")
    drawing.add_budget(group, "what a person spends at most", "--preview", "--seed")
    group.add_argument(
        "--per",
        metavar="UNIT",
        help="of a city whose users are known: user asks each of them about one place, record "
        "takes each record for a person of its own",
    )
    group = parser.add_argument_group("people and rounds")
    for name in Federated.tunables():
        text = flags.described(Federated.param[name]).replace("%", "%%")
        if name == "people":
            text = text.replace("or auto", f"or {_EVERYBODY}")
        group.add_argument(flags.flag(name), metavar="VALUE", help=text)
    group.add_argument(
        _CONSENT,
        action="store_true",
        help="publish exactly how many people there are, and ask --people of them at most",
    )


def run(arguments: argparse.Namespace) -> None:
    """Check everything that can be checked, then read, count, book, ask and save."""
    from explorer.federated.mechanism import Federated
    from explorer.federated.people import declared_number
    from explorer.releases.release import Release

    typed = {name: getattr(arguments, name) for name in ("epsilon", *Federated.tunables())}
    everybody = typed["people"] == _EVERYBODY
    settings: dict[str, Any] = {
        name: flags.value_of(Federated.param[name], text)
        for name, text in typed.items()
        if text is not None and not (name == "people" and everybody)
    }
    federated = Federated(**settings, **({"people": None} if everybody else {}))
    seed = drawing.seed_of(arguments)
    if federated.mode == "summed" and seed is None:
        raise InputError("One draw for all shares makes previews: give --preview, or leave --mode.")
    if federated.algorithm == "sampling" and seed is None:
        raise InputError("A sample without noise is not private: give --preview.")
    shape = flags.shape(arguments.shape)
    chosen = city_here(arguments.city, shape)
    bound = _bound(arguments, chosen, draws=seed is None)
    path = drawing.release_path(arguments, arguments.output, [arguments.prior])
    public = True if arguments.people_are_public else None
    with drawing.as_typed(_advice):
        declared_number(federated.declared, public, preview=seed is not None)
    prior = None if arguments.prior is None else Release.load(arguments.prior)
    matters = {"epsilon", *federated.relevant()}
    idle = [flags.flag(n) for n, text in typed.items() if text is not None and n not in matters]
    besides = {"prior": prior, "people_are_public": public}
    load = load_city(chosen, shape, bound)
    _say(drawing.draw_and_save(arguments, federated, load, path, idle, _advice, **besides))


def _bound(arguments: argparse.Namespace, city: City, *, draws: bool) -> int | None:
    """One place of each user, or None where each record is taken for a person."""
    if arguments.per not in (None, *UNITS):
        raise InputError(f"--per is {arguments.per!r}; give record or user.")
    if arguments.per == "user" and not city.has_users:
        raise InputError(f"{city.title} does not say whose records these are; leave out --per.")
    if draws and city.has_users and arguments.per is None:
        raise InputError(
            f"{city.title} knows whose records these are; give --per user to ask each user about "
            "one place, or --per record to take each record for a person of its own."
        )
    return 1 if arguments.per == "user" else None


def _advice(sentence: str) -> str:
    """What the library advises, with the flags of this command."""
    from explorer.federated.people import CONSENTING, DECLARING

    return sentence.replace(DECLARING, "--people N").replace(CONSENTING, _CONSENT)


def _say(release: Any) -> None:
    """Every round as the server saw it, and who must be trusted with what."""
    rows = [
        [
            str(number),
            f"{row.cells:,}",
            f"{row.people:,}",
            f"{row.answered:,}",
            f"{row.epsilon:.4g}",
            f"{row.shards:,}" + (f" ({row.refused:,} refused)" if row.refused else ""),
            f"{row.bits}",
            f"{row.bytes_up:,.0f}",
            f"{row.noise:,.1f}",
            f"{row.decisions[0]:,}",
            f"{row.decisions[1]:,}",
            "-" if row.overflow is None else f"{row.overflow:,}",
        ]
        for number, row in enumerate(release.heard, 1)
    ]
    header = [
        "round", "cells", "people", "answered", "epsilon", "shards", "bits", "bytes", "noise",
        "split", "collapsed", "overflow",
    ]  # fmt: skip
    print(table(header, rows))
    print(
        paragraph(
            "Counts are scaled to all who take part. "
            + (
                "This is a preview, which protects nobody and has the exact number of people; a "
                "release has the epsilon above for whoever gets it alone."
                if release.preview
                else "Whoever gets this release alone has the epsilon above."
            )
            + " That places stayed with people is simulated."
        )
    )
