"""dp-explorer scenario: a scenario file as a script, a notebook or a link."""

from __future__ import annotations

import argparse

from explorer.commands.files import add_output, output_path

HELP = "turn a scenario file into Python, a notebook or a link"
_KINDS = ("python", "notebook", "link")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare file, kind and output."""
    parser.description = (
        "Read a scenario (YAML, saved in the app or written by hand) and print it in another form. "
        "The link goes behind the address of a page: http://localhost:5006/explore?s=..."
    )
    parser.add_argument("file", metavar="FILE", help="scenario file (YAML)")
    parser.add_argument(
        "--to", choices=_KINDS, default="python", help="what to make of it (default python)"
    )
    add_output(parser, "write to a file (default: standard output)", "replace the output file")


def run(arguments: argparse.Namespace) -> None:
    """Read, turn, print or save."""
    from explorer.grid.whole_file import write_whole
    from explorer.scenario import read_scenario, to_notebook, to_python

    target = None
    if arguments.output is not None:
        target = output_path(arguments.output, arguments.overwrite, (arguments.file,))
    scenario = read_scenario(arguments.file)
    if arguments.to == "python":
        text = to_python(scenario)
    elif arguments.to == "notebook":
        text = to_notebook(scenario)
    else:
        text = f"{scenario.page}?s={scenario.to_link()}\n"
    if target is None:
        print(text, end="")
    else:
        write_whole(target, lambda path: path.write_text(text, "utf8"))
