"""dp-explorer cities: the catalogue, and downloads for it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from explorer.commands import flags
from explorer.commands.drawing import whole_or_none
from explorer.commands.files import output_path
from explorer.commands.formats import add_format, as_text
from explorer.commands.terminal import note, paragraph, progress
from explorer.errors import InputError
from explorer.grid.whole_file import write_whole

if TYPE_CHECKING:
    from explorer.cities.catalogue import City

HELP = "list the cities that can be shown, and download one"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what can be done with the catalogue."""
    parser.description = (
        "List the catalogue: the made-up city, files in the folder that EXPLORER_DATA names (else "
        "data/), and files that can be downloaded."
    )
    parser.add_argument("--download", metavar="KEY", help="download this city's points")
    add_format(parser)
    group = parser.add_argument_group("the made-up nation, to any number of points")
    group.add_argument("--make-nation", metavar="FOLDER", help="write its points as Parquet")
    group.add_argument("--rows", metavar="N", help="how many (default 1000000)")
    group.add_argument("--people", action="store_true", help="with a column of whose they are")
    group.add_argument(
        "--make-boundaries", metavar="FILE", help="write its districts as GeoPackage or GeoJSON"
    )


def run(arguments: argparse.Namespace) -> None:
    """Print the catalogue, or fetch the files of one city."""
    from explorer.cities.catalogue import cities, find

    if arguments.make_nation is not None or arguments.make_boundaries is not None:
        make_nation(arguments)
        return
    flags.refuse(arguments, ("rows",), "the list of cities")
    if arguments.download is not None:
        download(find(arguments.download))
        return
    if arguments.format != "table":
        known = cities()
        listed: dict[str, list[object]] = {
            "key": list(known),
            "title": [entry.title for entry in known.values()],
            "description": [each.description for each in known.values()],
            "where": [where(each) for each in known.values()],
            "present": [each.present for each in known.values()],
        }
        print(as_text(listed, arguments.format), end="")
        return
    for key, each in cities().items():
        print(f"{key}\n{paragraph(each.title, 4)}")
        for line in (each.description, where(each)):
            print(paragraph(line, 4))


def make_nation(arguments: argparse.Namespace) -> None:
    """Write the points or the boundaries of the made-up nation, or both."""
    from explorer.cities import nation

    rows = whole_or_none(arguments.rows, "--rows", 1) or 1_000_000
    if arguments.make_boundaries is not None:
        path = output_path(arguments.make_boundaries, overwrite=False)
        kinds = {".gpkg": "GPKG", ".geojson": "GeoJSON"}
        if path.suffix not in kinds:
            raise InputError(f"Boundaries are not written as {path.suffix!r}; name it .gpkg.")
        found = nation.boundaries()
        # The layer has the name of the file, not of the part that is written first.
        how = {"driver": kinds[path.suffix], "layer": path.stem}
        write_whole(path, lambda part: found.to_file(part, **how))
        print(f"Saved as {path}: columns country, region, district.")
    if arguments.make_nation is not None:
        with progress("Making points") as tell:
            files = nation.write(arguments.make_nation, rows, users=arguments.people, progress=tell)
        print(f"Saved {rows:,} made-up points as {len(files)} files in {arguments.make_nation}.")


def where(each: City) -> str:
    """Where a city's points are, or how to get them."""
    if each.make is not None:
        return "Made by this program when it is asked for."
    if each.file is not None:
        return f"File: {each.file}"
    if each.present:
        return f"Downloaded: {', '.join(str(file.path()) for file in each.downloads)}"
    return f"Not here yet: dp-explorer cities --download {each.key}"


def download(each: City) -> None:
    """Fetch the files of a city that are not here yet."""
    if each.present:
        print(f"{each.title} is here already. {where(each)}")
        return
    with progress(f"Downloading {each.title}") as tell:
        for number, file in enumerate(each.downloads, 1):
            file.fetch()
            if tell is not None:
                tell(number / len(each.downloads))
    note(f"{each.title} was downloaded and its checksum is right.")
    print(where(each))
