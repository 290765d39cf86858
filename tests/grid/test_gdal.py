"""Where the process is ours, GDAL has the drivers that we mean and no other."""

import os
import subprocess
import sys
from pathlib import Path

from explorer.grid import gdal
from explorer.grid.apart import read_apart
from tests.grid.apart import readers

ROOT = Path(__file__).resolve().parents[2]


def test_readers_of_foreign_files_have_three_drivers():
    assert read_apart(readers.drivers, b"") == sorted(gdal.DRIVERS)


def test_commands_have_three_drivers_and_say_nothing_of_the_others():
    code = (
        "import sys; from explorer.cli import main; sys.argv[1:] = ['info', '--help']\n"
        "try: main()\nexcept SystemExit: pass\n"
        "import pyogrio; print(sorted(pyogrio.list_drivers()))"
    )
    made = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if not name.startswith("GDAL")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert made.stdout.splitlines()[-1] == str(sorted(gdal.DRIVERS))
    assert made.stderr == ""
