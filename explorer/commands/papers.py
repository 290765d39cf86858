"""dp-explorer papers: the claims of three papers, checked on the data at hand."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from explorer.commands.evaluate import whole
from explorer.commands.files import output_path
from explorer.commands.terminal import paragraph, progress, table
from explorer.errors import InputError

if TYPE_CHECKING:
    from explorer.papers import Report
    from explorer.papers.claim import Claim
    from explorer.papers.report import Row

HELP = "check what the papers claim"

_SAYS = {1: "for", -1: "against", 0: "open"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare which claims, how thoroughly, and where the report goes."""
    parser.description = (
        "Check the claims of the papers on HTF (2022) and on grids (2013), or of the one on "
        "origin-destination matrices (2022) with the word trips, or on a whole country (HTF, "
        "section 6) with the word country, or of the one on heatmaps of federated people (2022) "
        "with the word heatmaps, on the data at hand: the cities of the catalogue, "
        "check-ins, real trips, Great Britain by district, what is made here. In full it takes "
        "minutes (of trips up to an hour); --quick takes about one minute, on less data."
    )
    parser.add_argument(
        "paper",
        nargs="?",
        choices=("maps", "trips", "country", "heatmaps"),
        default="maps",
        help="maps (default); trips, which shows Figures 4, 5, 7, 8 and Table 3 in form, too; "
        "country; or heatmaps, with its Tables 1, 2 and 3",
    )
    parser.add_argument(
        "--claim", action="append", metavar="NAME", help="only this one, in detail; can be repeated"
    )
    parser.add_argument("--list", action="store_true", help="list the claims and stop")
    parser.add_argument("--quick", action="store_true", help="coarse maps, less data, few seeds")
    parser.add_argument(
        "--seeds", metavar="N", help="repetitions (default 10, quick 3; of a country 5 and 3)"
    )
    parser.add_argument(
        "--jobs", metavar="N", help="processes (default one for each processor; quick 1)"
    )
    parser.add_argument(
        "--runs", metavar="FOLDER", help="keep finished runs here, and take them from here"
    )
    parser.add_argument(
        "--reference",
        metavar="PATH",
        help="trips: compare errors with those of another program in this file, and nothing else; "
        "country: in this folder, after the claims",
    )
    parser.add_argument(
        "--set",
        action="append",
        metavar="NAME",
        help="of the reference, such as sf:o,d:64; can be repeated (default that and san:o,d:64)",
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write the report here, as JSON")
    parser.add_argument("--overwrite", action="store_true", help="replace FILE if it exists")


def run(arguments: argparse.Namespace) -> None:
    """Check and print."""
    from explorer.papers import check, claims

    if arguments.paper == "country":
        _country(arguments)
        return
    if arguments.paper == "heatmaps":
        _heatmaps(arguments)
        return
    trips = arguments.paper == "trips"
    if not trips and (arguments.reference or arguments.set):
        raise InputError("--reference and --set are about trips; write: papers trips --reference.")
    if arguments.set and not arguments.reference:
        raise InputError("--set names sets of a reference; give it with --reference PATH.")
    if trips:
        from explorer.papers.trips import CLAIMS, TripBench, ask, tables

        chosen = claims(arguments.claim, CLAIMS)
    else:
        chosen = claims(arguments.claim)
    if arguments.list:
        _list(chosen)
        return
    path = _path(arguments)
    seeds, jobs = _whole(arguments, "seeds"), _whole(arguments, "jobs")
    if arguments.reference:
        _compare(arguments, seeds, jobs, path)
        return
    bench = TripBench(arguments.quick, seeds) if trips else None
    shows_figures = bench is not None and not arguments.claim
    with progress(f"{len(chosen)} claims") as tell:
        if bench is not None and shows_figures:
            bench.plan([ask])
        report = check(
            chosen,
            arguments.quick,
            seeds,
            jobs=jobs,
            folder=arguments.runs,
            progress=tell,
            bench=bench,
        )
    _print_rows(report, arguments)
    if bench is not None and shows_figures:
        for figure in tables(bench):
            print(f"\n{figure.name}: {figure.about}\n{table(figure.header, figure.rows)}")
    _end(report, path)


def _country(arguments: argparse.Namespace) -> None:
    """Section 6 and Fig. 9 on a country; one process, in order."""
    from explorer.papers import claims
    from explorer.papers.country.claims import CLAIMS, CountryBench, check

    for name in ("set", "jobs", "runs"):
        if getattr(arguments, name) is not None:
            raise InputError(f"--{name} is not for claims on a country; leave it out.")
    chosen = claims(arguments.claim, CLAIMS)
    if arguments.list:
        _list(chosen)
        return
    path, bench = _path(arguments), CountryBench(arguments.quick, _whole(arguments, "seeds"))
    pairs = None
    if arguments.reference:
        from explorer.papers.country.reference import compare, lines

        with progress("Reference") as tell:
            pairs = compare(arguments.reference, bench, tell)
    with progress(f"{len(chosen)} claims") as tell:
        report = check(chosen, bench, tell)
    _print_rows(report, arguments)
    if pairs is not None:
        header, rows = lines(pairs)
        print("\n" + table(header, rows))
        agree = sum(pair.within for pair in pairs)
        print(
            f"{agree} of {len(pairs)} within 3 standard errors of the difference, or 10 % of the "
            "reference."
        )
    _end(report, path)


def _heatmaps(arguments: argparse.Namespace) -> None:
    """Section 6 and appendix A of heatmaps-2022; one process, in order."""
    from explorer.papers import claims
    from explorer.papers.heatmaps.bench import MEASURES, HeatmapBench
    from explorer.papers.heatmaps.claims import CLAIMS, check, table_2
    from explorer.papers.heatmaps.claims import table as figures
    from explorer.papers.heatmaps.methods import TABLE_1, TABLE_3

    for name in ("set", "jobs", "runs", "reference"):
        if getattr(arguments, name) is not None:
            raise InputError(f"--{name} is not for claims on heatmaps; leave it out.")
    chosen = claims(arguments.claim, CLAIMS)
    if arguments.list:
        _list(chosen)
        return
    path, bench = _path(arguments), HeatmapBench(arguments.quick, _whole(arguments, "seeds"))
    with progress(f"{len(chosen)} claims") as tell:
        report = check(chosen, bench, tell)
    _print_rows(report, arguments)
    if not arguments.claim:
        for title, methods in (("Table 1", TABLE_1), ("Table 3", TABLE_3)):
            print(f"\n{title}\n{table(['map', 'method', *MEASURES], figures(bench, methods), 2)}")
        print(f"\nTable 2\n{table(['places of a person', 'MSE'], table_2(bench))}")
    _end(report, path)


def _path(arguments: argparse.Namespace) -> Path | None:
    """Where the report goes, checked before anything is run."""
    if arguments.output is None:
        return None
    return output_path(arguments.output, arguments.overwrite, [arguments.reference])


def _whole(arguments: argparse.Namespace, name: str) -> int | None:
    text = getattr(arguments, name)
    return None if text is None else whole(text, f"--{name}")


def _list(chosen: Sequence[Claim]) -> None:
    for claim in chosen:
        print(f"{claim.key} ({claim.paper}, {claim.where})\n{paragraph(claim.sentence, 4)}")


def _compare(
    arguments: argparse.Namespace, seeds: int | None, jobs: int | None, path: Path | None
) -> None:
    """Errors next to those of the reference, by set, mechanism and epsilon."""
    from explorer.papers.trips.reference import SETS, compare, lines, save, summary

    keys = tuple(arguments.set or SETS)
    with progress("Reference") as tell:
        pairs = compare(arguments.reference, keys, seeds, jobs, arguments.runs, tell)
    header, rows = lines(pairs)
    print(table(header, rows, left=2) + "\n")
    header, rows = summary(pairs)
    print(table(header, rows))
    print(
        paragraph(
            "Within: the means differ by at most 3 sqrt(se^2 + se'^2), or 3 % of the reference. Of "
            "grids of very many parts the answers are drawn from the exact distribution of one box."
        )
    )
    if path is not None:
        save(pairs, path)
        print(f"All pairs are in {path}.")


def _print_rows(report: Report, arguments: argparse.Namespace) -> None:
    for row in report.rows:
        _print_row(row, in_detail=bool(arguments.claim))


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


def _end(report: Report, path: Path | None) -> None:
    """Say on which data, and keep the report."""
    print(f"\n{report.summary()}\nOn:")
    for title in dict.fromkeys(report.maps.values()):
        print(paragraph(title, 4))
    print("Figures have their standard errors over the seeds; other maps may say otherwise.")
    if path is not None:
        report.save(path)
        print(f"The report is in {path}.")
