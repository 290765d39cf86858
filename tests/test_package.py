"""The package's root: public names, loaded when they are first used."""

from __future__ import annotations

import ast
import importlib
import pickle
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest

import explorer
import explorer.app

HEAVY = (
    "bokeh",
    "datashader",
    "geopandas",
    "holoviews",
    "numba",
    "numpy",
    "opendp",
    "pandas",
    "panel",
    "param",
    "pyarrow",
    "pyproj",
    "scipy",
    "shapely",
)


def loaded_by(statement: str) -> set[str]:
    """Return the modules that a fresh process has after a statement."""
    code = f"import sys\n{statement}\nprint('\\n'.join(sys.modules))"
    run = [sys.executable, "-c", code]
    return set(subprocess.run(run, capture_output=True, text=True, check=True).stdout.split())


def test_importing_the_root_loads_nothing_heavy() -> None:
    assert not loaded_by("import explorer") & set(HEAVY)


@pytest.mark.parametrize("typed", ["", "--help", "--version", "count --help", "answer --help"])
def test_help_of_the_command_line_loads_nothing_heavy(typed: str) -> None:
    statement = (
        "import contextlib, io\n"
        "from explorer.cli import main\n"
        "with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.suppress(SystemExit):\n"
        f"    main({typed.split()!r})\n"
        "assert said.getvalue()"
    )
    loaded = loaded_by(statement)
    assert "explorer.cli" in loaded
    assert not loaded & set(HEAVY)


def test_a_preview_of_counts_loads_no_library_of_tables_or_files() -> None:
    statement = "from explorer import HTF\nHTF(epsilon=1).release([[9, 0], [8, 1]], rng=1)"
    loaded = loaded_by(statement)
    assert "explorer.releases.release" in loaded
    assert not loaded & {"geopandas", "opendp", "pandas", "pyarrow", "pyogrio"}


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_counting_a_file_loads_no_library_of_tables(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"points.{ending}"
    table = pa.table({"lon": [10.0], "lat": [50.0]})
    (csv.write_csv if ending == "csv" else pq.write_table)(table, path)
    statement = (
        "from explorer import Grid\n"
        f"assert Grid.around(10, 50, '4km', shape=4).count({str(path)!r}).total == 1"
    )
    assert not loaded_by(statement) & {"geopandas", "opendp", "pandas", "pyogrio"}


@pytest.mark.parametrize("package", [explorer, explorer.app], ids=lambda each: each.__name__)
def test_every_public_name_is_there_and_known_to_type_checkers(package) -> None:
    tree = ast.parse(Path(package.__file__).read_text())
    (typed,) = (node for node in tree.body if isinstance(node, ast.If))
    homes = {
        alias.name: node.module
        for node in typed.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert set(homes) == set(package.__all__)
    for name, home in homes.items():
        assert getattr(package, name) is getattr(importlib.import_module(home), name)
    assert set(package.__all__) <= set(dir(package))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = package.nonsense


def test_a_star_brings_every_public_name() -> None:
    found: dict[str, object] = {}
    exec("from explorer import *", found)
    assert set(found) - {"__builtins__"} == set(explorer.__all__)
    assert pickle.loads(pickle.dumps(found["HTF"])) is explorer.HTF
    release = explorer.HTF(epsilon=1).release([[9, 0], [8, 1]], rng=1)
    same = pickle.loads(pickle.dumps(release))
    assert same.answer([[0, 0, 2, 2]]).value == release.answer([[0, 0, 2, 2]]).value
