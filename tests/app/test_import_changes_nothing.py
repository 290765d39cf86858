"""Importing the explorer or its app changes nothing in the libraries that others use, too."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

#: Members that are still changed by an import. This list may only become shorter.
KNOWN: set[str] = set()

#: Code that remembers the members of the libraries, and names those that have changed.
MEMBERS = """
import importlib, json, pkgutil, sys
LIBRARIES = ("panel", "bokeh", "param", "tornado", "pyviz_comms", "holoviews")
# What is loaded later by itself is loaded before, so that only changes are seen.
for name in ("bokeh.plotting", "bokeh.server.views.ws", "bokeh.server.server", "panel",
             "panel.io.server", "panel_material_ui", "holoviews", "tornado.web", "pyviz_comms",
             "holoviews.plotting.bokeh", "datashader"):
    importlib.import_module(name)

def members():
    found = {}
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] not in LIBRARIES or module is None:
            continue
        for key, value in list(vars(module).items()):
            if key.startswith("__") or type(value) is type(sys):
                continue
            found[f"{name}.{key}"] = value
            if isinstance(value, type) and value.__module__ == name:
                for attribute, member in list(vars(value).items()):
                    # What classes keep of their subclasses and instances is no change.
                    if callable(member) or isinstance(member, (classmethod, property)):
                        found[f"{name}.{key}.{attribute}"] = member
    return found

def changes(before, modules):
    after = members()
    return [
        name for name, value in before.items()
        if after.get(name) is not value and callable(value)
    ] + [
        name + " (new)" for name, value in after.items()
        if name not in before and name.rpartition(".")[0] in modules
        and getattr(value, "__module__", "").startswith("explorer")
    ]
"""
CODE = (
    MEMBERS
    + """
before, modules = members(), set(sys.modules)
importlib.import_module(sys.argv[1])
import panel
print(json.dumps(changes(before, modules) + [
    f"panel.config.{name}" for name in ("inline",) if getattr(panel.config, name)
]))
"""
)


@pytest.mark.parametrize("module", ["explorer", "explorer.app", "explorer.app.pages"])
def test_an_import_changes_no_member_of_a_library(module: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CODE, module], capture_output=True, text=True, check=True
    )
    assert set(json.loads(done.stdout)) <= KNOWN
