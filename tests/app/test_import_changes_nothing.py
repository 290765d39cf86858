"""Importing the explorer, or a page in a notebook, changes nothing in libraries that others use."""

from __future__ import annotations

import json
import subprocess
import sys

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
#: Imports of ours, a page being loaded, and then changes as an example of what must be seen.
CODE = f"""{MEMBERS}
before = members()
importlib.import_module("explorer")
from explorer.app.pages import PAGES
for page in PAGES:
    page.load()
{SAY}
import panel.io.document, panel.io.resources, bokeh.core.has_props, tornado.web
panel.io.document._dispatch_msgs = bokeh.core.has_props.HasProps.apply_theme = print
panel.config.sizing_mode = "fixed"
panel.io.resources.CSS_URLS["bootstrap4"] = 1
{SAY}
"""


def test_imports_and_pages_change_no_member_of_a_library_and_a_change_is_seen() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    nothing, changed = (
        [name for name in json.loads(line) if not name.startswith(COUNTERS)]
        for line in done.stdout.splitlines()[-2:]
    )
    assert nothing == []
    for end in ("_dispatch_msgs", ".apply_theme", "config.sizing_mode", "CSS_URLS['bootstrap4']"):
        assert any(name.endswith(end) for name in changed), end
