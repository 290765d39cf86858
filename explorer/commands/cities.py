"""dp-explorer cities: the catalogue, and downloads for it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from explorer.commands import flags
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
        catalogue = cities()
        listed: dict[str, list[object]] = {
            "key": list(catalogue),
            "title": [entry.title for entry in catalogue.values()],
            "description": [city.description for city in catalogue.values()],
            "where": [where(city) for city in catalogue.values()],
            "present": [city.present for city in catalogue.values()],
        }
        print(as_text(listed, arguments.format), end="")
        return
    for key, city in cities().items():
        print(f"{key}\n{paragraph(city.title, 4)}")
        for line in (city.description, where(city)):
            print(paragraph(line, 4))


def make_nation(arguments: argparse.Namespace) -> None:
    """Write the points or the boundaries of the made-up nation, or both."""
    from explorer.cities import nation

    rows = flags.whole(arguments.rows, "--rows") or 1_000_000
    if arguments.make_boundaries is not None:
        path = output_path(arguments.make_boundaries, overwrite=False)
        kinds = {".gpkg": "GPKG", ".geojson": "GeoJSON"}
        if path.suffix not in kinds:
            raise InputError(f"Boundaries are not written as {path.suffix!r}; name it .gpkg.")
        boundaries = nation.boundaries()
        # The layer has the name of the file, not of the part that is written first.
        how = {"driver": kinds[path.suffix], "layer": path.stem}
        write_whole(path, lambda part: boundaries.to_file(part, **how))
        print(f"Saved as {path}: columns country, region, district.")
    if arguments.make_nation is not None:
        with progress("Making points") as tell:
            files = nation.write(arguments.make_nation, rows, users=arguments.people, progress=tell)
        print(f"Saved {rows:,} made-up points as {len(files)} files in {arguments.make_nation}.")


def where(city: City) -> str:
    """Where a city's points are, or how to get them."""
    if city.make is not None:
        return "Made by this program when it is asked for."
    if city.file is not None:
        return f"File: {city.file}"
    if city.present:
        return f"Downloaded: {', '.join(str(file.path()) for file in city.downloads)}"
    return f"Not here yet: dp-explorer cities --download {city.key}"


def download(city: City) -> None:
    """Fetch the files of a city that are not here yet."""
    if city.present:
        print(f"{city.title} is here already. {where(city)}")
        return
    with progress(f"Downloading {city.title}") as tell:
        for number, file in enumerate(city.downloads, 1):
            file.fetch()
            if tell is not None:
                tell(number / len(city.downloads))
    note(f"{city.title} was downloaded and its checksum is right.")
    print(where(city))
