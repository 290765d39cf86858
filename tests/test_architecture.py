"""The shape of the code: import order, sizes, nothing of one machine."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "explorer"

# The way of the data, as rooms: a module imports only from its own room and from those before it.
# What is public comes first, so that it cannot reach what is exact.
ORDER = (
    "errors",
    "version",
    "_compat",
    "compiled_code",
    "grid",
    "releases",
    "queries",
    "points",
    "trips",
    "cities",
    "privacy",
    "mechanisms",
    "inspection",
    "evaluate",
    "country",
    "federated",
    "scenario",
    "teaching",
    "testing",
    "papers",
    "views",
    "publish",
    "serving",
    "audience",
    "app",
    "commands",
    "cli",
    "__main__",
)
#: May be loaded by a process that must not hold exact numbers.
PUBLIC = (
    "errors",
    "version",
    "_compat",
    "compiled_code",
    "grid",
    "releases",
    "queries",
    "views",
    "publish",
    "serving",
    "audience",
)
# The rooms of the app, in order; pages stand side by side and do not import each other.
APP_ORDER = (
    *("", "compat", "kit", "work", "state", "boxes", "curator", "mappage", "a page", "pages"),
    *("server", "main"),
)
#: Rooms of the app that an audience page uses as well.
PUBLIC_APP = ("compat", "kit", "work", "boxes")
PAGES = (
    "explore",
    "compare",
    "learn",
    "classroom",
    "trips",
    "country",
    "federated",
    "publish",
)
VIEW_LIBRARIES = {"bokeh", "datashader", "holoviews", "hvplot", "panel", "panel_material_ui"}
BEFORE_VIEWS = ORDER[: ORDER.index("views")]


@cache
def modules() -> dict[str, Path]:
    """Return every module by its name below the package: "privacy.noise", "" for the root."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def walk(node: ast.AST, at_import: bool = True) -> Iterator[tuple[ast.AST, bool]]:
    """Yield every node, and whether importing the module runs it."""
    inner = at_import and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
    for child in ast.iter_child_nodes(node):
        yield child, inner
        if for_types(child):
            for statement in child.body:
                yield statement, False
                yield from walk(statement, False)
            for statement in child.orelse:
                yield statement, inner
                yield from walk(statement, inner)
        else:
            yield from walk(child, inner)


def imports(source: str, name: str, is_package: bool = False) -> Iterator[tuple[str, bool]]:
    """Yield (dotted name imported, whether importing the module does it) for one module."""
    here = f"explorer.{name}".rstrip(".").split(".")
    for node, at_import in walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, at_import) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            keep = len(here) - node.level + is_package
            base = [*here[:keep], node.module] if node.level else [node.module]
            start = ".".join(part for part in base if part)
            yield from ((f"{start}.{alias.name}", at_import) for alias in node.names)


def top(name: str) -> str:
    """Return the room of a module: "privacy" of "privacy.noise"."""
    return name.partition(".")[0]


def place(name: str) -> int:
    return ORDER.index(top(name))


def app_room(name: str) -> str:
    """Return the room of a module inside the app: "kit" of "app.kit.ui", "" of "app" itself."""
    return name.removeprefix("app").removeprefix(".").partition(".")[0]


def app_place(name: str) -> int:
    room = app_room(name)
    return APP_ORDER.index("a page" if room in PAGES else room)


def is_public(name: str) -> bool:
    """Whether a module may be loaded by a process that must not hold exact numbers."""
    return app_room(name) in PUBLIC_APP if top(name) == "app" else top(name) in PUBLIC


def breaches(source: str, name: str, is_package: bool = False) -> list[str]:
    """Return a sentence for each import that breaks the order, wherever it stands."""
    own = top(name)
    found = []
    for target, at_import in imports(source, name, is_package):
        library, _, rest = target.partition(".")
        if library in VIEW_LIBRARIES and own in BEFORE_VIEWS:
            found.append(f"{name} imports {library}, a library of the views")
        if library != "explorer":
            continue
        whom = top(rest)
        if whom not in ORDER:
            # A public name from the package's root: the root knows everything.
            found.append(f"{name} imports {target}: name the module that defines it")
        elif is_public(name) and not is_public(module_of(rest)):
            found.append(f"{name} imports {target}, which may hold exact numbers")
        elif place(whom) > place(own):
            found.append(f"{name} imports {target}, which stands after it")
        elif whom == "app" and own != "app" and at_import:
            found.append(f"{name} imports {target} before it is needed: do it inside a function")
        elif own == whom == "app" and name != "app":
            # Names of a module count as their module.
            if rest != "app" and app_place(module_of(rest)) > app_place(name):
                found.append(f"{name} imports {target}, which stands after it in the app")
            elif len({app_room(name), app_room(rest)} & set(PAGES)) == 2:
                found.append(f"{name} imports {target}: pages do not import each other")
    return found


def module_of(name: str) -> str:
    """Return the longest beginning of a dotted name that is a module."""
    known = modules()
    while name and name not in known:
        name = name.rpartition(".")[0]
    return name


def test_every_module_has_its_place_in_the_order() -> None:
    names = {top(name) for name in modules()} - {""}
    assert names <= set(ORDER), f"not in ORDER: {sorted(names - set(ORDER))}"


def test_import_order_is_data_flow() -> None:
    found = []
    for name, path in modules().items():
        if top(name) in ORDER:
            found += breaches(path.read_text(), name, path.name == "__init__.py")
    assert not found, "\n".join(found)


def test_the_check_of_the_order_sees_each_kind_of_breach() -> None:
    assert not breaches("from explorer.grid.grid import Grid\nimport numpy", "points.matrix")
    assert not breaches("from . import accounts", "privacy.noise")
    assert not breaches("from explorer.version import __version__", "releases.release")
    assert not breaches("def serve():\n    import explorer.app.server", "cli")
    assert not breaches("from explorer.app.kit import ui", "app.explore.page")
    for source, name in [
        ("class A:\n    from explorer.points.matrix import FrequencyMatrix", "grid.grid"),
        ("from explorer import release", "privacy.curator"),
        ("from ..mechanisms import HTF", "privacy.curator"),
        ("if TYPE_CHECKING:\n    from explorer.points.points import Points", "views.heat"),
        ("def f():\n    import panel as pn", "releases.release"),
        ("import explorer.app.server", "cli"),
        ("from explorer.app.learn.page import Learn", "app.compare.page"),
        ("from explorer.points.truth import exact", "app.boxes.answers"),
        ("from explorer.app.state import ExploreState", "app.boxes.rectangles"),
    ]:
        assert len(breaches(source, name)) == 1, (source, name)


def test_no_import_goes_in_a_circle() -> None:
    """Imports inside functions and for types count: they are needs like any other."""
    found = modules()
    needs: dict[str, set[str]] = {}
    for name, path in found.items():
        targets = set()
        for target, _ in imports(path.read_text(), name, path.name == "__init__.py"):
            inside = target.removeprefix("explorer.") if target.startswith("explorer.") else ""
            # The longest beginning that is a module: `from explorer.grid.grid import Grid`.
            while inside and inside not in found:
                inside = inside.rpartition(".")[0]
            if inside and inside != name:
                targets.add(inside)
        needs[name] = targets
    while needs:
        free = {name for name, targets in needs.items() if not targets & needs.keys()}
        assert free, f"in a circle: {sorted(needs)}"
        needs = {name: targets for name, targets in needs.items() if name not in free}


def test_importing_the_package_loads_no_view_library() -> None:
    early = [f"explorer.{name}" for name in modules() if top(name) in BEFORE_VIEWS]
    code = (
        "import importlib, sys, explorer\n"
        f"for name in {early!r}: importlib.import_module(name)\n"
        f"print(sorted({VIEW_LIBRARIES!r} & set(sys.modules)))"
    )
    run = [sys.executable, "-c", code]
    done = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"


def test_modules_keep_their_size() -> None:
    """50 to 800 lines are usual; beyond 900 a module is more than one concept."""
    lines = {name: len(path.read_text().splitlines()) for name, path in modules().items()}
    assert max(lines.values()) <= 900, [name for name, count in lines.items() if count > 900]


# Written so that they do not find themselves.
MACHINE = re.compile(r"(?<![\w.~-])/(?:tmp|work|root|home|Users)/\w")
REGISTRY = re.compile(r"py[p]i\b|pythonhoste[d]\.org|anacond[a]\.(org|com)|npmj[s]|crate[s]\.io")


def text_files() -> Iterator[tuple[str, str]]:
    """Yield (path, text) of what is, or without an ignore rule would be, in the repository."""
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in sorted(set(names.splitlines())):
        path = ROOT / name
        if not path.is_file():
            continue
        content = path.read_bytes()
        if b"\0" not in content:
            yield name, content.decode("utf-8")


def test_no_file_holds_a_path_of_a_machine_or_the_host_of_a_registry() -> None:
    found = [
        f"{name}:{number}: {line.strip()[:100]}"
        for name, text in text_files()
        for number, line in enumerate(text.splitlines(), 1)
        if MACHINE.search(line) or REGISTRY.search(line)
    ]
    assert not found, "\n".join(found)
    assert MACHINE.search("open('/" + "tmp/x')")
    assert REGISTRY.search("https://" + "py" + "pi.org/simple")
    assert not MACHINE.search("https://example.org/" + "work/map and ../" + "work/map")
