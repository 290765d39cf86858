"""dp-explorer publish: one release-grade draw, and the folder that others read, check and quote."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.commands import drawing, flags, reading
from explorer.commands.release import population_of, source_of
from explorer.commands.terminal import note, progress
from explorer.errors import InputError

if TYPE_CHECKING:
    from explorer.commands.paying import Payment
    from explorer.privacy.ledger import Ledger
    from explorer.publish.about import About
    from explorer.publish.published import Booking, Boxes
    from explorer.publish.signing import PublisherKey

HELP = "draw a release and publish it as a folder for others"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare points, extent, budget, what a person says of it, and where it goes."""
    from explorer.publish.about import QUESTIONS

    parser.usage = (
        "dp-explorer publish POINTS --around LON LAT --size 20km --mechanism htf --epsilon 0.1 "
        "--about FILE -o DIR [options]"
    )
    parser.description = (
        "Draw one release and write a folder that others read, check and quote: GeoParquet, "
        "GeoPackage, GeoJSON, CSV, GeoTIFF, a picture, a report, a draft for the public registry "
        "and a signed manifest. The draw is booked once. One that was booked with the same "
        "settings and did not come to its end is given back where it was kept, and never drawn "
        "again by itself. What you say of it is asked once and kept with the population."
    )
    parser.add_argument(
        "points", nargs="?", metavar="POINTS", help="as of `release`: a file, or counts"
    )
    parser.add_argument("--city", metavar="KEY", help="a city of the catalogue in place of POINTS")
    parser.add_argument("-o", "--output", metavar="DIR", help="folder to make")
    parser.add_argument(
        "--again",
        metavar="DIR",
        help="publish the release of this folder anew, from its booking in the ledger: nothing is "
        "drawn or spent",
    )
    parser.add_argument(
        "--boxes", metavar="FILE", help="boxes or polygons of your own, answered in the report"
    )
    group = parser.add_argument_group("privacy")
    group.add_argument("--mechanism", default="htf", metavar="NAME", help="default htf")
    group.add_argument("--epsilon", help="privacy budget of the whole release")
    group.add_argument(
        "--population",
        metavar="NAME",
        help="whose records they are (default the name of the city or file)",
    )
    group.add_argument(
        "--draw-again",
        action="store_true",
        help="spend the same again where a draw was booked and is lost",
    )
    group = parser.add_argument_group("what you say of it")
    group.add_argument("--about", metavar="FILE", help="YAML with the answers below, by name")
    for question in QUESTIONS:
        among = f": {', '.join(question.among)}" if question.among else ""
        group.add_argument(
            flags.flag(question.name),
            dest=f"about {question.name}",
            metavar="TEXT",
            help=question.asks + among,
        )
    group = parser.add_argument_group("signature")
    group.add_argument(
        "--key",
        metavar="FILE",
        help="secret key (default publisher.key beside the ledger; made once)",
    )
    group.add_argument("--unsigned", action="store_true", help="write no signature")
    group.add_argument(
        "--public-key", action="store_true", help="print the public key and do nothing else"
    )
    drawing.add_extent(parser)
    reading.add_columns(parser)
    flags.add_parameters(parser)


def run(arguments: argparse.Namespace) -> None:
    """Check everything that can be checked, then read, count, book, draw, keep and write."""
    from explorer.commands.paying import Payment
    from explorer.mechanisms import mechanism
    from explorer.points.populations import population_name
    from explorer.publish.directory import require_free
    from explorer.publish.signing import fingerprint

    if arguments.public_key:
        key = _key(arguments)
        print(key.public_pem(), end="")
        note(f"Fingerprint {fingerprint(key.public)}")
        return
    if arguments.again is not None:
        _again(arguments)
        return
    if arguments.epsilon is None:
        raise InputError("A release has a budget; give it with --epsilon 0.1.")
    folder = _folder(arguments)
    instance, idle = flags.build(arguments, mechanism(arguments.mechanism))
    load = source_of(arguments)
    name = population_of(arguments) if arguments.population is None else arguments.population
    ledger = Payment(arguments.population)
    if folder.exists() and _finished_before(folder, ledger):
        return
    require_free(folder)
    about = _about(arguments, ledger, population_name(name))
    signing = None if arguments.unsigned else _key(arguments)
    drawing.note_idle(idle)
    matrix, notes = load()
    drawing.note_reading(notes)
    drawing.say_unit(arguments)
    boxes = None
    if arguments.boxes is not None:
        from explorer.publish.published import Boxes
        from explorer.queries.range_files import read_ranges

        boxes = Boxes.of_file(read_ranges(arguments.boxes, matrix.grid))
    _publish(arguments, instance, matrix, ledger, folder, about, signing, boxes)


def _publish(
    arguments: argparse.Namespace,
    instance: Any,
    matrix: Any,
    ledger: Payment,
    folder: Path,
    about: About,
    signing: Any,
    boxes: Boxes | None,
) -> None:
    """Once booked, the first interrupt waits for the folder."""
    from explorer.commands.paying import saved_first
    from explorer.privacy.receipts import receipts
    from explorer.publish.directory import write_directory
    from explorer.publish.published import Booking, Method, Published
    from explorer.publish.signing import fingerprint

    if getattr(matrix.domain, "crs", None) is None:
        raise InputError(
            "These counts have no place on the Earth, so no map of them can be published: count "
            "points on a grid with a CRS."
        )
    with saved_first(ledger):
        release = _drawn(arguments, instance, matrix, ledger)
        (receipt,) = receipts(ledger, [str(ledger.token)])
        published = Published(release, about, Booking.of(receipt), Method.of(type(instance)), boxes)
        write_directory(published, folder, signing)
        _note_saved(ledger, str(ledger.token), folder)
        print(release.summary())
        print(
            f"Ledger: epsilon {published.spent_after:.12g} spent on {receipt.population} with "
            "this release."
        )
        print(f"Published as {folder}.")
        if signing is not None:
            print(f"Signed with the key {fingerprint(signing.public)}.")


def _again(arguments: argparse.Namespace) -> None:
    """Write the folder of a release that was published before, under the same booking."""
    import json

    from explorer.privacy.ledger import Ledger
    from explorer.privacy.receipts import receipt_of_row
    from explorer.publish.about import About
    from explorer.publish.checks import verify
    from explorer.publish.directory import require_free, write_directory
    from explorer.publish.names import MANIFEST, RELEASE
    from explorer.publish.published import Booking, Published
    from explorer.publish.signing import fingerprint
    from explorer.releases.release import Release

    flags_of_drawing = ("points", "city", "epsilon", "population", "boxes")
    flags.refuse(arguments, flags_of_drawing, "--again, whose release is drawn")
    old, folder = Path(arguments.again).expanduser(), _folder(arguments)
    require_free(folder)
    if not verify(old).holds:
        raise InputError(
            f"{old} is not what was published, so it is not published anew: `dp-explorer verify` "
            "says what was changed."
        )
    manifest = json.loads((old / MANIFEST).read_bytes())
    published = Published.of_manifest(Release.load(old / RELEASE), manifest)
    before = published.booking
    ledger = Ledger()
    receipt = receipt_of_row(ledger, before.row)
    if receipt is None or (receipt.time, receipt.units) != (before.time, before.units):
        raise InputError(
            f"The booking of {old} is not in this ledger: name the ledger that it was drawn with "
            "(EXPLORER_LEDGER), or take the folder back and draw another release."
        )
    about = About.of(manifest["about"] | _said(arguments))
    signing = None if arguments.unsigned else _key(arguments)
    again = replace(published, about=about, booking=Booking.of(receipt))
    write_directory(again, folder, signing)
    _note_saved(ledger, receipt.token, folder)
    print(f"Published as {folder}, with the booking of {receipt.time}; nothing was drawn or spent.")
    if signing is not None:
        print(f"Signed with the key {fingerprint(signing.public)}.")


def _drawn(arguments: argparse.Namespace, instance: Any, matrix: Any, ledger: Payment) -> Any:
    """The release: one that was kept and not handed out, or the one draw that is booked now."""
    from explorer.privacy.drawn import DrawnReleases
    from explorer.privacy.once import acknowledge, draw, token_of, unfinished
    from explorer.publish.published import Booking
    from explorer.releases.release import Release

    left = unfinished(ledger, matrix, instance)
    recovered = next((pending for pending in left if pending.kept is not None), None)
    if recovered is not None:
        note(
            f"A draw with these settings was booked on {recovered.receipt.time} and not published; "
            "it was kept and is used now, and nothing more is spent."
        )
        ledger.token = recovered.receipt.token
        Booking.of(recovered.receipt)
        return Release.load(DrawnReleases(ledger.path).path(recovered.receipt.token))
    if left and not arguments.draw_again:
        raise InputError(
            f"A draw with these settings was booked on {left[0].receipt.time} and did not come to "
            "its end: its budget is spent, nothing of it is kept, and nothing was drawn now; give "
            "--draw-again to spend the same once more."
        )
    ledger.token = token_of(ledger, matrix, instance)
    for pending in left:
        acknowledge(ledger, pending)
    with progress(f"Drawing {instance.title}") as tell:
        return draw(ledger, matrix, instance, tell)


def _finished_before(folder: Path, ledger: Payment) -> bool:
    """Whether a folder is that of a draw that is noted as unfinished; it is noted and said then."""
    from explorer.privacy.drawn import DrawnReleases
    from explorer.privacy.receipts import receipt_of_row
    from explorer.publish.directory import booking_in

    booking: Booking | None = booking_in(folder)
    if booking is None:
        return False
    drawn, receipt = DrawnReleases(ledger.path), receipt_of_row(ledger, booking.row)
    noted = None if receipt is None else drawn.note(receipt.token)
    if receipt is None or noted is None or noted.saved:
        return False
    _note_saved(ledger, receipt.token, folder)
    print(
        f"{folder} was published on {receipt.time[:10]}, whole; that was noted now, and nothing "
        "was drawn."
    )
    return True


def _about(arguments: argparse.Namespace, ledger: Payment, population: str) -> About:
    """What the person says: what was kept, over it the file, over it the flags; kept again."""
    from explorer.publish.about import About, KeptAnswers

    kept_answers = KeptAnswers(ledger.path)
    about = About.of(kept_answers.of(population) | _said(arguments))
    kept_answers.keep(population, about.facts())
    return about


def _said(arguments: argparse.Namespace) -> dict[str, Any]:
    """Answers of the file, over them those of the flags."""
    from explorer.publish.about import QUESTIONS, read

    answers = {} if arguments.about is None else read(Path(arguments.about).expanduser())
    typed = {q.name: getattr(arguments, f"about {q.name}") for q in QUESTIONS}
    return answers | {name: text for name, text in typed.items() if text is not None}


def _folder(arguments: argparse.Namespace) -> Path:
    if arguments.output is None:
        raise InputError("What is published needs a folder; name it with -o DIR.")
    return Path(arguments.output).expanduser()


def _key(arguments: argparse.Namespace) -> PublisherKey:
    from explorer.privacy.ledger import default_path
    from explorer.publish.signing import PublisherKey

    if arguments.key is not None:
        return PublisherKey(Path(arguments.key).expanduser())
    return PublisherKey(default_path().with_name("publisher.key"))


def _note_saved(ledger: Ledger, token: str, folder: Path) -> None:
    from explorer.privacy.drawn import DrawnReleases
    from explorer.publish.manifest import size_and_sum
    from explorer.publish.names import RELEASE

    digest = size_and_sum(folder / RELEASE)["sha256"]
    DrawnReleases(ledger.path).saved(token, folder.name, digest)
