"""dp-explorer serve: the app in a browser."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys

from explorer.errors import InputError

HELP = "open the app in a browser"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare city, port and what is done at the start."""
    parser.description = (
        "Serve the app until Ctrl-C. It shows exact counts, so it listens to this computer only "
        "unless --address says otherwise. With --audience it shows published releases and nothing "
        "else: that may be put before anyone."
    )
    parser.add_argument(
        "--audience",
        metavar="DIR",
        nargs="+",
        help="serve these published folders, or all in these folders, to others, and nothing "
        "that is exact",
    )
    parser.add_argument(
        "--embed-origin",
        metavar="ORIGIN",
        action="append",
        default=[],
        help="with --audience: whose pages may frame a map with ?embed=1, such as "
        "https://news.example.org (may be given several times)",
    )
    parser.add_argument(
        "--city", metavar="KEY", help="city to begin with (see `cities`; default the made-up one)"
    )
    parser.add_argument(
        "--scenario",
        metavar="FILE",
        help="scenario or story (YAML) that visitors begin with; of a story its first step",
    )
    parser.add_argument("--port", default="5006", help="0 picks a free one (default 5006)")
    parser.add_argument(
        "--open",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="open a browser (default yes)",
    )
    parser.add_argument(
        "--address", default="127.0.0.1", help="address to listen at (default 127.0.0.1)"
    )
    parser.add_argument(
        "--allow-origin",
        metavar="HOST",
        action="append",
        default=[],
        help="host name in the app's address, such as maps.example.org, where that is not this "
        "computer's own name (may be given several times)",
    )
    parser.add_argument(
        "--class-only",
        action="store_true",
        help="serve the Class page and nothing else, for a room that must not open the truth; "
        "prints the teacher's own address",
    )
    parser.add_argument(
        "--auth",
        metavar="FILE",
        help="let in only who is in this file, lines NAME:PASSWORD or what `password` prints; with "
        "--class-only the teacher alone logs in",
    )
    parser.add_argument(
        "--behind-proxy",
        action="store_true",
        help="visitors come through a proxy alone: count them by the last address of its "
        "X-Forwarded-For",
    )
    parser.add_argument(
        "--warm",
        action=argparse.BooleanOptionalAction,
        default=False,
        help="load and compile all pages before the first visitor, as for a workshop (default: "
        "each when it is first opened)",
    )


def run(arguments: argparse.Namespace) -> None:
    """Check what was typed, then hand over to the server."""
    if not arguments.port.isdigit() or int(arguments.port) > 65535:
        raise InputError(f"{arguments.port!r} is not a port; give a whole number from 0 to 65535.")
    if arguments.audience is not None:
        _to_others(arguments)
        return
    if arguments.embed_origin:
        raise InputError("Only the maps of --audience may be framed: leave out --embed-origin.")
    if arguments.scenario is not None and arguments.class_only:
        raise InputError("A class alone begins with a city: leave out --scenario.")
    if arguments.scenario is not None and arguments.city is not None:
        raise InputError("A scenario names its city; leave out --city or --scenario.")
    _look_at_port(arguments)
    if arguments.city is not None:
        from explorer.cities.catalogue import find

        find(arguments.city)
    scenario = None
    if arguments.scenario is not None:
        from explorer.scenario import read_screens

        scenario = read_screens(arguments.scenario)
    from explorer.app.server import serve
    from explorer.serving.ending import leave

    serve(
        city=arguments.city,
        port=int(arguments.port),
        open=arguments.open,
        address=arguments.address,
        origins=arguments.allow_origin,
        warm=arguments.warm,
        scenario=scenario,
        class_only=arguments.class_only,
        auth=arguments.auth,
        proxied=arguments.behind_proxy,
    )
    # A read or a picture that no visitor waits for any more would keep the process.
    leave()


def _look_at_port(arguments: argparse.Namespace) -> None:
    """Refuse a port that cannot be had, before the libraries of the app are loaded."""
    from explorer.serving.ports import usable_port

    usable_port(int(arguments.port), arguments.address)


#: What makes no sense where nothing is exact.
_EXACT = ("city", "scenario", "class_only", "auth")


def _to_others(arguments: argparse.Namespace) -> None:
    """Become a process that has loaded nothing that may hold exact numbers, and serve there."""
    for name in _EXACT:
        if getattr(arguments, name):
            flag = f"--{name.replace('_', '-')}"
            raise InputError(f"An audience sees published releases alone: leave out {flag}.")
    _look_at_port(arguments)
    settings = {
        "folders": arguments.audience,
        "port": int(arguments.port),
        "address": arguments.address,
        "hosts": arguments.allow_origin,
        "origins": arguments.embed_origin,
        "proxied": arguments.behind_proxy,
        "open": arguments.open,
    }
    path = os.pathsep.join(folder for folder in sys.path if folder)
    command = [sys.executable, "-P", "-m", "explorer.audience", json.dumps(settings)]
    environment = {**os.environ, "PYTHONPATH": path}
    if os.name == "posix":
        sys.stdout.flush()
        os.execve(sys.executable, command, environment)
    raise SystemExit(subprocess.run(command, env=environment, check=False).returncode)
