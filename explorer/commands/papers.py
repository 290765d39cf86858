"""dp-explorer papers: the claims of two papers, checked on the data at hand."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from explorer.commands.evaluate import whole
from explorer.commands.files import output_path, write_whole
from explorer.commands.terminal import paragraph, progress, table

if TYPE_CHECKING:
    from explorer.evaluate.papers import Report
    from explorer.evaluate.papers.report import Row

HELP = "check what the papers claim"

_SAYS = {1: "for", -1: "against", 0: "open"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare which claims, how thoroughly, and where the report goes."""
    parser.description = (
        "Check the claims of the papers on HTF (2022) and on grids (2013) on the data at hand: the "
        "cities of the catalogue, check-ins, Gaussian clusters made here. In full on 1024 x 1024 "
        "cells it takes minutes; --quick takes one minute, on 256 x 256."
    )
    parser.add_argument(
        "--claim", action="append", metavar="NAME", help="only this one, in detail; can be repeated"
    )
    parser.add_argument("--list", action="store_true", help="list the claims and stop")
    parser.add_argument("--quick", action="store_true", help="coarse maps, few seeds")
    parser.add_argument("--seeds", metavar="N", help="repetitions (default 10, quick 3)")
    parser.add_argument(
        "--jobs", metavar="N", help="processes (default one for each processor; quick 1)"
    )
    parser.add_argument(
        "--runs", metavar="FOLDER", help="keep finished runs here, and take them from here"
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write the report here, as JSON")
    parser.add_argument("--overwrite", action="store_true", help="replace FILE if it exists")


def run(arguments: argparse.Namespace) -> None:
    """Check and print."""
    from explorer.evaluate.papers import check, claims

    chosen = claims(arguments.claim)
    if arguments.list:
        for claim in chosen:
            print(f"{claim.key} ({claim.paper}, {claim.where})\n{paragraph(claim.sentence, 4)}")
        return
    path = None
    if arguments.output is not None:
        path = output_path(arguments.output, arguments.overwrite)
    seeds, jobs = (
        None if text is None else whole(text, name)
        for text, name in ((arguments.seeds, "--seeds"), (arguments.jobs, "--jobs"))
    )
    with progress(f"{len(chosen)} claims") as tell:
        report = check(
            chosen, arguments.quick, seeds, jobs=jobs, folder=arguments.runs, progress=tell
        )
    for row in report.rows:
        _print_row(row, in_detail=bool(arguments.claim))
    _print_end(report)
    if path is not None:
        write_whole(path, report.save)
        print(f"The report is in {path}.")


def _print_row(row: Row, in_detail: bool) -> None:
    from explorer.evaluate.results import figure

    print(f"{row.key} ({row.paper}, {row.where}): {row.verdict}")
    print(paragraph(row.sentence, 4))
    print(paragraph(f"{row.figure}: {row.meaning}.", 4))
    if row.aside:
        print(paragraph(row.aside, 4))
    if in_detail:
        cells = [
            [what, figure(value), figure(error, 1), _SAYS[says]]
            for what, value, error, says in row.cells
        ]
        print("\n" + table(["comparison", "figure", "+-", "says"], cells) + "\n")


def _print_end(report: Report) -> None:
    print(f"\n{report.summary()}\nOn:")
    for title in dict.fromkeys(report.maps.values()):
        print(paragraph(title, 4))
    print("Figures have their standard errors over the seeds; other maps may say otherwise.")
