"""dp-explorer ledger: what was spent on each population, for which file, and what is left."""

from __future__ import annotations

import argparse
from itertools import chain
from typing import Any

from explorer.commands.formats import add_format, as_json, as_text
from explorer.commands.terminal import note, table
from explorer.errors import InputError

HELP = "say what was spent on each population, and for which files"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare whose bookings are said, and the form."""
    parser.description = (
        "Say what this machine's ledger has booked: on which population, when, by which mechanism, "
        "for which file with its checksum, what was booked and did not come to its end, and what "
        "is left under the cap. No count of records is in it."
    )
    parser.add_argument("--population", metavar="NAME", help="this population alone")
    parser.add_argument(
        "--accept",
        action="store_true",
        help="go on with the file that is there now, where it is not the one that was there "
        "before; bookings that are not in it are not counted any more",
    )
    add_format(parser)


def run(arguments: argparse.Namespace) -> None:
    """Read the ledger and print its bookings."""
    from explorer.points.populations import population_name
    from explorer.privacy.ledger import Ledger
    from explorer.privacy.receipts import statement

    if arguments.accept:
        from explorer.privacy.ledger_file import accept

        path = Ledger().path
        rows_known, there = accept(path)
        note(f"{path} is the ledger from now on, with {there} rows; {rows_known} were known of.")
    statements = statement(Ledger())
    if arguments.population is not None:
        name = population_name(arguments.population)
        statements = [population for population in statements if name in population["populations"]]
        if not statements:
            raise InputError(f"The ledger has booked nothing on the population “{name}”.")
    if arguments.format == "json":
        print(as_json(statements), end="")
        return
    rows = [
        {"population": entry["population"], **row}
        for entry in statements
        for row in entry["bookings"]
    ]
    names = ("population", "time", "mechanism", "epsilon", "state", "file", "sha256")
    if arguments.format == "csv":
        columns = {name: [row[name] for row in rows] for name in names}
        # Of its whole population, on each of its rows; without a cap the cell is empty.
        for name in ("spent", "left"):
            sums = [[population[name]] * len(population["bookings"]) for population in statements]
            columns[f"population_{name}"] = list(chain.from_iterable(sums))
        print(as_text(columns, "csv"), end="")
        return
    if not statements:
        print("Nothing has been booked.")
        return
    listed = [[_said(name, row[name]) for name in names] for row in rows]
    # Only epsilon is a number; text is aligned left.
    print(table(names, listed, left=len(names)))
    print()
    header = ("population", "spent", "left")
    print(
        table(
            header, [[population["population"], *_totals(population)] for population in statements]
        )
    )


def _said(name: str, value: Any) -> str:
    if name == "time":
        return str(value)[:16].replace("T", " ")
    if name == "sha256":
        return str(value)[:12]
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def _totals(population: dict[str, Any]) -> tuple[str, str]:
    left = population["left"]
    return f"{population['spent']:.12g}", "no cap" if left is None else f"{left:.12g}"
