"""dp-explorer cities: the catalogue, and downloads for it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from explorer.commands.terminal import note, paragraph, progress

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


def run(arguments: argparse.Namespace) -> None:
    """Print the catalogue, or fetch the files of one city."""
    from explorer.cities.catalogue import cities, find

    if arguments.download is not None:
        download(find(arguments.download))
        return
    for key, each in cities().items():
        print(f"{key}\n{paragraph(each.title, 4)}")
        for line in (each.description, where(each)):
            print(paragraph(line, 4))


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
