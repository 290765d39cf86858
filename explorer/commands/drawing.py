"""What the commands that draw a release share: privacy, public extent, output, the draw."""

from __future__ import annotations

import argparse
import hashlib
import re
import shlex
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.commands import flags
from explorer.commands.files import output_path
from explorer.commands.terminal import note, progress
from explorer.errors import InputError
from explorer.grid.countable import UNITS, unread_users

if TYPE_CHECKING:
    from explorer.commands.paying import Payment
    from explorer.grid.grid import Grid
    from explorer.mechanisms import Mechanism
    from explorer.privacy.counts import Counts
    from explorer.privacy.ledger import Ledger
    from explorer.releases.release import Release

#: Flags that say what area is public, see `add_extent`.
EXTENT = ("around", "bounds", "boundary", "size", "height_extent", "crs_grid", "crs_boundary")

_LEFT_OUT = re.compile(r"(?:1 row|[\d,]+ rows) (.*) (?:was|were) left out\.")
_NONE_LEFT = re.compile(r"None of the [\d,]+ rows can be used\.")


def add_privacy(parser: argparse.ArgumentParser, default: str) -> None:
    """Declare mechanism, budget, preview and ledger; `default` is a mechanism."""
    group = parser.add_argument_group("privacy")
    group.add_argument("--mechanism", default=default, metavar="NAME", help=f"default {default}")
    add_budget(group, "privacy budget of the whole release", "--preview")


def add_budget(group: argparse._ArgumentGroup, epsilon: str, *preview: str) -> None:
    """Declare budget, preview and ledger; what epsilon is, and what the preview is called."""
    group.add_argument("--epsilon", required=True, help=epsilon)
    group.add_argument(
        *preview,
        metavar="SEED",
        help="draw reproducible noise that is not private: free, fast, not to be published",
    )
    group.add_argument("--no-ledger", action="store_true", help="book nothing")
    group.add_argument(
        "--population",
        metavar="NAME",
        help="whose records they are: all releases of one name share a cap, whatever their grid, "
        "extent and bound (default the name of the city or file)",
    )


def add_extent(parser: argparse.ArgumentParser, shape: bool = True) -> argparse._ArgumentGroup:
    """Declare the ways to say what area is public, and the ``shape`` of its grid, as a group."""
    group = parser.add_argument_group("public extent (one of the first three)")
    group.add_argument(
        "--around", nargs=2, type=float, metavar=("LON", "LAT"), help="centre in degrees"
    )
    group.add_argument(
        "--bounds", nargs=4, type=float, metavar=("X0", "Y0", "X1", "Y1"), help="in metres"
    )
    group.add_argument("--boundary", metavar="FILE", help="polygons, such as a city's limits")
    group.add_argument("--size", metavar="LENGTH", help="width for --around, such as 20km or 500m")
    group.add_argument(
        "--height-extent", metavar="LENGTH", help="from south to north (default as wide as high)"
    )
    group.add_argument(
        "--crs-grid", metavar="CRS", help="projected CRS of --bounds, such as EPSG:27700"
    )
    group.add_argument(
        "--crs-boundary",
        metavar="CRS",
        help="of --boundary where the file has none or a wrong one (default --crs)",
    )
    if shape:
        add_shape(group)
    return group


def add_shape(parser: argparse._ActionsContainer) -> None:
    """Declare the shape of a grid."""
    parser.add_argument("--shape", help="cells along each side, or rows x columns (default 1024)")


def declared_grid(arguments: argparse.Namespace, shape: Any) -> Grid:
    """The public grid that the flags declare."""
    from explorer.grid.grid import Grid

    ways = ("around", "bounds", "boundary")
    typed = [name for name in ways if getattr(arguments, name) is not None]
    if len(typed) != 1:
        what = "is missing" if not typed else "is declared twice"
        raise InputError(
            f"The public extent {what}; give one of --around LON LAT --size 20km, --bounds X0 Y0 "
            "X1 Y1 --crs-grid EPSG:27700, or --boundary FILE."
        )
    needed = {"size": ("around",), "height_extent": ("around",), "crs_grid": ("bounds", "boundary")}
    needed["crs_boundary"] = ("boundary",)
    for name, whose in needed.items():
        if getattr(arguments, name) is not None and typed[0] not in whose:
            raise InputError(f"{flags.flag(name)} does not go with --{typed[0]}; leave it out.")
    crs = flags.crs(arguments.crs_grid)
    if typed[0] == "boundary":

        def read(stated_crs: Any) -> Grid:
            return Grid.from_boundary(arguments.boundary, shape, crs, boundary_crs=stated_crs)

        return in_own_crs(arguments, "boundary", read, "boundary_crs")
    if typed[0] == "bounds":
        if crs is None:
            raise InputError("--bounds are metres of a CRS; say which with --crs-grid EPSG:27700.")
        west, south, east, north = arguments.bounds
        return Grid.from_bounds(west, south, east, north, crs, shape)
    if arguments.size is None:
        raise InputError("--around needs the width of the map; give it with --size 20km.")
    lon, lat = arguments.around
    return Grid.around(lon, lat, arguments.size, arguments.height_extent, shape)


def in_own_crs(
    arguments: argparse.Namespace, what: str, read: Callable[[Any], Any], option: str = "crs"
) -> Any:
    """What ``read`` makes of public polygons, such as a boundary, with the CRS of a flag.

    Without the flag --crs, that of the points, serves polygons that have no CRS or cannot be in
    theirs.
    """
    from explorer.grid.stated_crs import UnknownCRS

    typed, points = f"--crs-{what}", getattr(arguments, "crs", None)
    stated_crs = flags.crs(getattr(arguments, f"crs_{what}"))
    with as_typed(lambda sentence: flags.with_crs_flag(sentence, option, typed)):
        try:
            return read(stated_crs)
        except UnknownCRS:
            if stated_crs is not None or points is None:
                raise
            result = read(flags.crs(points))
    note(f"The file of the {what} names no CRS that can be right: --crs {points} was taken.")
    return result


def release_path(
    arguments: argparse.Namespace,
    text: str | None,
    reads: Iterable[str | None],
    endings: tuple[str, ...] = (".parquet", ".geoparquet"),
    example: str = "map.parquet",
    kind: str = "is saved as GeoParquet",
) -> Path | None:
    """Where a release goes, checked before anything is read; None for a preview to look at."""
    if text is None:
        if arguments.preview is not None:
            return None
        raise InputError(f"A release is drawn once and kept; say where with -o {example}.")
    if Path(text).suffix.lower() not in endings:
        stem = Path(text).stem
        named = " or ".join(f"{stem}{ending}" for ending in endings if ending != ".geoparquet")
        raise InputError(f"A release {kind}; name it {named}.")
    return output_path(text, arguments.overwrite, reads)


def seed_of(arguments: argparse.Namespace) -> int | None:
    """The seed of a preview, None for a release."""
    return flags.whole(arguments.preview, "--preview", 0)


def bound_of(arguments: argparse.Namespace) -> int | None:
    """The contribution bound that was typed."""
    return flags.whole(arguments.contribution_bound, "--contribution-bound")


def note_idle(names: Iterable[str]) -> None:
    """Say which flags do nothing in this setting."""
    for name in names:
        note(f"{name} has no effect with these settings.")


def note_reading(notes: Iterable[str]) -> None:
    """Say what reading has found, without exact counts."""
    for sentence in notes:
        note(without_counts(sentence))


def say_unit(arguments: argparse.Namespace) -> None:
    """What is protected where rows have a weight and no user column is named."""
    if getattr(arguments, "weight", None) is not None and arguments.user is None:
        note(
            "A row counts as many records as its weight says, and one record is what is protected: "
            "a row of weight 50 has 50 times epsilon. Give --user to protect whole persons."
        )


def draw_and_save(
    arguments: argparse.Namespace,
    mechanism: Mechanism,
    load: Callable[[], tuple[Any, Iterable[str]]],
    path: Path | None,
    idle: Iterable[str] = (),
    advice: Callable[[str], str] = str,
    **besides: Any,
) -> Release:
    """Read, count, book, draw, save and say what it was; once booked, an interrupt waits for that.

    Parameters
    ----------
    load : reads and counts; the counts, and sentences about the reading with exact numbers in them
    path : where it goes; None for a preview to look at
    idle : flags that do nothing in this setting
    advice : puts what the draw refuses as this command would
    besides : further arguments of this mechanism's `release`
    """
    from explorer.commands.paying import Payment, saved_first
    from explorer.privacy.once import population_in

    seed = seed_of(arguments)
    # Booked as the population that was named, or else as the counts say.
    free = arguments.no_ledger or seed is not None
    ledger = None if free else Payment(arguments.population)
    note_idle(idle)
    started = time.perf_counter()
    matrix, notes = load()
    note_reading(notes)
    say_unit(arguments)
    # Before the draw: a ledger that is lost after it must not lose the release.
    population = "" if ledger is None else population_in(ledger, matrix)
    with as_typed(advice), saved_first(ledger):
        release = _draw(mechanism, matrix, seed, ledger, **besides)
        if path is not None:
            _save(release, path, population, ledger)
        print(release.summary())
        print(_spent(matrix, ledger, seed))
        took = time.perf_counter() - started
        print(f"Saved as {path} after {took:.1f} s." if path else f"Not saved ({took:.1f} s).")
    return release


def _save(release: Release, path: Path, population: str, ledger: Payment | None) -> None:
    """Save a release and note where; without space or permission it is kept next to the ledger."""
    from explorer.privacy.drawn import DrawnReleases

    if ledger is None or not ledger.booked:
        release.save(path)
        return
    title = f"{release.mechanism} with epsilon {release.epsilon:.12g}"
    drawn, token = DrawnReleases(ledger.path), str(ledger.token)
    try:
        release.save(path)
    except InputError as error:
        recovered = drawn.keep(token, release, population, title)
        raise InputError(f"{error} What was drawn and paid for is kept as {recovered}.") from error
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    drawn.saved_elsewhere(token, population, title, path.name, digest)


def _draw(
    mechanism: Mechanism, matrix: Counts, seed: int | None, ledger: Payment | None, **besides: Any
) -> Release:
    from explorer.mechanisms.duration import duration

    text = "" if seed is not None else duration(mechanism, matrix)
    if text:
        note(text)
    try:
        with progress(f"Drawing {mechanism.title}") as tell:
            return mechanism.release(matrix, rng=seed, progress=tell, ledger=ledger, **besides)
    except KeyboardInterrupt:
        if ledger is not None and ledger.booked:
            note("What the interrupted release would have cost stays booked.")
        raise


def _spent(matrix: Counts, ledger: Ledger | None, seed: int | None) -> str:
    from explorer.releases.units import to_epsilon

    if seed is not None:
        return "Ledger: a preview spends nothing and must not be published."
    if ledger is None:
        return "Ledger: not booked, because of --no-ledger."
    try:
        spent, left = ledger.spent(matrix), ledger.left(matrix)
    except InputError:
        # It is drawn and saved: a ledger that was damaged since takes neither back.
        return "Ledger: booked; it cannot be read now, so what is spent in all is not known."
    rest = "no cap is set" if left is None else f"{to_epsilon(left):.12g} left of the cap"
    return (
        f"Ledger: epsilon {to_epsilon(spent):.12g} spent on {ledger.whose(matrix)} so far, {rest}."
    )


def without_counts(sentence: str) -> str:
    """A sentence about reading without exact counts: what a command prints ends up in logs.

    >>> without_counts("None of the 9 rows can be used. 9 rows without a user were left out.")
    'None of the rows can be used. Some rows without a user were left out.'
    """
    sentence = _NONE_LEFT.sub("None of the rows can be used.", sentence)
    return _LEFT_OUT.sub(r"Some rows \1 were left out.", sentence)


@contextmanager
def as_typed(advice: Callable[[str], str]) -> Iterator[None]:
    """Say what reading refuses as this command would: `advice` names its flags; no exact counts."""
    try:
        yield
    except InputError as error:
        raise InputError(without_counts(advice(str(error)))) from error


def add_unit(group: argparse._ArgumentGroup, records: str, *aliases: str) -> None:
    """Declare the contribution bound, and what insists on single records."""
    group.add_argument(
        "--contribution-bound",
        *aliases,
        metavar="K",
        help=f"protect users: at most K {records} of each user are counted, and the noise grows "
        "with K; required with --user",
    )
    group.add_argument(
        "--per",
        metavar="UNIT",
        help="record insists on protecting single records where users are known",
    )


def check_unit(
    arguments: argparse.Namespace, bound: int | None, named: str = "--user names"
) -> None:
    """Refuse to protect single records of known users unless the command line says so.

    ``named`` is what says whose records these are: --user, which may be left out, or a city.
    """
    per, of_flag = arguments.per, named.startswith("--")
    if per not in (None, *UNITS):
        raise InputError(f"--per is {per!r}; give record, or a bound to protect users.")
    if per == "record" and bound is not None:
        raise InputError(
            "--contribution-bound protects users; leave it out, or leave out --per record."
        )
    if of_flag and arguments.user is None:
        if bound is not None or per == "user":
            raise InputError(
                "To protect users, name the column that says whose record it is: --user COLUMN."
            )
    elif bound is None and per != "record":
        raise InputError(
            f"{named} whose records these are, so say how many of each user may count: "
            "--contribution-bound 10 protects users, --per record protects single records."
        )


def check_unread_users(arguments: argparse.Namespace, notes: Iterable[str]) -> None:
    """Refuse to draw from points whose users were not named, unless the command line insists."""
    columns = unread_users(notes)
    if columns and arguments.per is None:
        raise InputError(
            f"The column {columns[0]!r} seems to say whose records these are; give --user "
            f"{shlex.quote(columns[0])} --contribution-bound 10 to protect users, or --per record "
            "to protect single records."
        )
