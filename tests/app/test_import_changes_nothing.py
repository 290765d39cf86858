"""Importing the explorer, or a page in a notebook, changes nothing in libraries that others use."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

#: What counts objects and calls in the libraries: it goes up by itself.
COUNTERS = ("param.parameterized.object_count", "panel.custom.ReactiveMetaBase._name_counter[")

#: Notes every member of every loaded module of the libraries, of their classes and of the objects
#: and containers in them, and says what has become another one.
MEMBERS = """
import importlib, json, pkgutil, sys
LIBRARIES = ("panel", "bokeh", "param", "tornado", "pyviz_comms", "holoviews")
# What is loaded later by itself is loaded before, so that only changes are seen.
for name in ("bokeh.plotting", "bokeh.server.views.ws", "bokeh.server.server", "panel",
             "panel.io.server", "panel_material_ui", "holoviews", "tornado.web", "pyviz_comms",
             "holoviews.plotting.bokeh", "datashader"):
    importlib.import_module(name)
import param
LOADED = [(name, module) for name, module in sorted(sys.modules.items())
          if module is not None and name.partition(".")[0] in LIBRARIES]
SIMPLE = (bool, int, float, str, bytes, type(None))

def members():
    found, visited = {}, set()
    def note(name, value):
        found[name] = value
        if id(value) in visited:
            return
        visited.add(id(value))
        if isinstance(value, type) and value.__module__.partition(".")[0] in LIBRARIES:
            for key, member in list(vars(value).items()):
                note(f"{name}.{key}", member)
        elif isinstance(value, param.Parameterized):
            found.update({f"{name}.{key}": one for key, one in value.param.values().items()})
        elif isinstance(value, dict):
            found.update({f"{name}[{key!r}]": one for key, one in list(value.items())
                          if isinstance(key, (str, type))})
        elif isinstance(value, (list, tuple)):
            found.update({f"{name}[{place}]": one for place, one in enumerate(value)})
    for name, module in LOADED:
        for key, value in list(vars(module).items()):
            if key != "__builtins__":  # Python's own
                note(f"{name}.{key}", value)
    return found

def changed(before, after):
    missing = object()
    def same(one, other):
        return one is other or (
            type(one) is type(other) and isinstance(one, SIMPLE) and one == other)
    return [name for name, value in before.items() if not same(value, after.get(name, missing))]

def changes(before, modules):
    # What a library sets itself while a page is shown is no function.
    after = members()
    return [name for name in changed(before, after) if callable(before[name])] + [
        name + " (new)" for name, value in after.items()
        if name not in before and name.rpartition(".")[0] in modules
        and getattr(value, "__module__", "").startswith("explorer")
    ]
"""
SAY = "print(json.dumps(changed(before, members())))"


def but_counters(printed: str) -> set[str]:
    """The names that were printed last, without those that count."""
    names = json.loads(printed.splitlines()[-1])
    return {name for name in names if not name.startswith(COUNTERS)}


def changed_by(code: str) -> set[str]:
    """Members that the code changes, but for those that count."""
    lines = f"{MEMBERS}\nbefore = members()\n{code}\n{SAY}"
    done = subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True, check=True)
    return but_counters(done.stdout)


@pytest.mark.parametrize("module", ["explorer", "explorer.app", "explorer.app.pages"])
def test_an_import_changes_no_member_of_a_library(module: str) -> None:
    assert changed_by(f"importlib.import_module({module!r})") == set()


def test_no_page_changes_a_member_of_a_library_when_it_is_loaded() -> None:
    assert changed_by("from explorer.app.pages import PAGES\nfor p in PAGES: p.load()") == set()


@pytest.mark.parametrize(
    ("change", "member"),
    [
        ("import panel.io.document as d; d._dispatch_msgs = print", "_dispatch_msgs"),
        (
            "import bokeh.core.has_props as h; h.HasProps.apply_theme = print",
            "HasProps.apply_theme",
        ),
        ("import panel; panel.config.sizing_mode = 'fixed'", "config.sizing_mode"),
        ("import tornado.web as w; w.RequestHandler.SUPPORTED_METHODS = ()", "SUPPORTED_METHODS"),
        ("import panel.io.resources as r; r.CSS_URLS['bootstrap4'] = 1", "CSS_URLS['bootstrap4']"),
    ],
)
def test_a_change_is_seen(change: str, member: str) -> None:
    assert any(name.endswith(member) for name in changed_by(change))
