"""dp-explorer papers: the claims of three papers, checked on the data at hand."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.commands import flags
from explorer.commands.files import add_output, output_path
from explorer.commands.terminal import paragraph, progress, table
from explorer.errors import InputError

if TYPE_CHECKING:
    from explorer.papers.report import Claim, Report, Table

HELP = "check what the papers claim"

_SAYS = {1: "for", -1: "against", 0: "open"}
#: Flags that claims on a country or on heatmaps do not take.
_WITHOUT = {"country": ("set", "jobs", "runs"), "heatmaps": ("set", "jobs", "runs", "reference")}


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
    add_output(parser, "write the report here, as JSON")


def run(arguments: argparse.Namespace) -> None:
    """Check and print."""
    from explorer.papers import check, claims

    paper = arguments.paper
    _refuse_flags(arguments)
    table_of_claims, bench_of, tables = _of_paper(paper)
    chosen = claims(arguments.claim, table_of_claims)
    if arguments.list:
        for claim in chosen:
            print(f"{claim.key} ({claim.paper}, {claim.where})\n{paragraph(claim.sentence, 4)}")
        return
    path = None
    if arguments.output is not None:
        path = output_path(arguments.output, arguments.overwrite, [arguments.reference])
    seeds = flags.number(arguments.seeds, "--seeds")
    jobs = flags.number(arguments.jobs, "--jobs")
    if paper == "trips" and arguments.reference:
        _compare_trips(arguments, seeds, jobs, path)
        return
    bench = bench_of(arguments.quick, seeds)
    pairs = None
    if arguments.reference:
        from explorer.papers.reference import compare_country

        with progress("Reference") as tell:
            pairs = compare_country(arguments.reference, bench, tell)
    shows_tables = tables is not None and not arguments.claim
    with progress(f"{len(chosen)} claims") as tell:
        if paper == "trips" and shows_tables:
            bench.plan([tables])
        folder = arguments.runs
        report = check(chosen, jobs=jobs, folder=folder, progress=tell, bench=bench)
    _print_rows(report, in_detail=bool(arguments.claim))
    if pairs is not None:
        _print_country(pairs)
    if tables is not None and shows_tables:
        for title, header, rows, left in tables(bench):
            print(f"\n{title}\n{table(header, rows, left)}")
    print(f"\n{report.summary()}\nOn:")
    for title in dict.fromkeys(report.maps.values()):
        print(paragraph(title, 4))
    print("Figures have their standard errors over the seeds; other maps may say otherwise.")
    if path is not None:
        report.save(path)
        print(f"The report is in {path}.")


def _refuse_flags(arguments: argparse.Namespace) -> None:
    paper = arguments.paper
    for name in _WITHOUT.get(paper, ()):
        if getattr(arguments, name) is not None:
            about = "a country" if paper == "country" else paper
            raise InputError(f"--{name} is not for claims on {about}; leave it out.")
    if paper == "maps" and (arguments.reference or arguments.set):
        raise InputError("--reference and --set are about trips; write: papers trips --reference.")
    if arguments.set and not arguments.reference:
        raise InputError("--set names sets of a reference; give it with --reference PATH.")


def _of_paper(
    paper: str,
) -> tuple[Iterable[Claim], Callable[..., Any], Callable[[Any], Sequence[Table]] | None]:
    """The claims of a paper, what makes its bench, and what makes its tables, if it has any."""
    if paper == "trips":
        from explorer.papers import trip_bench, trips

        return trips.CLAIMS, trip_bench.TripBench, trips.tables
    if paper == "country":
        from explorer.papers import country

        return country.CLAIMS, country.CountryBench, None
    if paper == "heatmaps":
        from explorer.papers import heatmap_bench, heatmaps

        return heatmaps.CLAIMS, heatmap_bench.HeatmapBench, heatmaps.tables
    from explorer.papers import CLAIMS, Bench

    return CLAIMS, Bench, None


def _compare_trips(
    arguments: argparse.Namespace, seeds: int | None, jobs: int | None, path: Path | None
) -> None:
    from explorer.papers.reference import SETS, compare_trips, save, tables_of_trips

    keys = tuple(arguments.set or SETS)
    with progress("Reference") as tell:
        pairs = compare_trips(arguments.reference, keys, seeds, jobs, arguments.runs, tell)
    print("\n\n".join(table(t.header, t.rows, t.left) for t in tables_of_trips(pairs)))
    print(
        paragraph(
            "Within: the means differ by at most 3 sqrt(se^2 + se'^2), or 3 % of the reference. Of "
            "grids of very many parts the answers are drawn from the exact distribution of one box."
        )
    )
    if path is not None:
        save(pairs, path)
        print(f"All pairs are in {path}.")


def _print_country(pairs: Sequence[Any]) -> None:
    from explorer.papers.reference import table_of_country

    _, header, rows, _ = table_of_country(pairs)
    print("\n" + table(header, rows))
    agree = sum(pair.within for pair in pairs)
    print(
        f"{agree} of {len(pairs)} within 3 standard errors of the difference, or 10 % of the "
        "reference."
    )


def _print_rows(report: Report, in_detail: bool) -> None:
    from explorer.evaluate.results import figure

    for row in report.rows:
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
