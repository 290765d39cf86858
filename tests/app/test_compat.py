"""Each cure of a fault of Panel or Bokeh is still needed, and cures it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from bokeh.document import Document
from panel import custom

from explorer.app import compat
from explorer.app.kit import ui


def large_scripts_dedented(monkeypatch: pytest.MonkeyPatch) -> int:
    """How many scripts of 100 kB and more are dedented for three buttons."""
    sizes: list[int] = []
    counting = SimpleNamespace(dedent=lambda text: sizes.append(len(text)) or text)
    monkeypatch.setattr(compat.textwrap, "dedent", counting.dedent)
    for _ in range(3):
        ui.Button(label="A").get_root(Document())
    return len([size for size in sizes if size > 100_000])


def test_panel_dedents_the_script_of_each_component_anew(monkeypatch) -> None:
    # When this fails, Panel dedents once: remove the cure.
    monkeypatch.setattr(custom, "textwrap", compat.textwrap)
    assert large_scripts_dedented(monkeypatch) == 3


def test_with_the_cure_a_script_is_dedented_once(monkeypatch) -> None:
    monkeypatch.setattr(custom, "textwrap", compat.textwrap)
    compat.dedent_scripts_once()
    ui.Button(label="A").get_root(Document())
    assert large_scripts_dedented(monkeypatch) == 0
