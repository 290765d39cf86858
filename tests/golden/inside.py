"""The only imports of inner modules by the golden tests: a module that moves is mended here."""

from __future__ import annotations

import pytest

from explorer.cli import main
from explorer.commands import COMMANDS
from explorer.evaluate import plan, tasks, workloads
from explorer.mechanisms import all_mechanisms
from explorer.privacy.curator import Curator
from explorer.privacy.noise import PreviewNoise, noise_source
from explorer.releases.file import FORMAT
from explorer.scenario import Scenario, link

__all__ = [
    "COMMANDS",
    "FORMAT",
    "Curator",
    "PreviewNoise",
    "Scenario",
    "all_mechanisms",
    "link",
    "main",
    "noise_source",
    "plan",
    "pretend_version",
    "workloads",
]


def pretend_version(monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    """Let keys of finished runs be made as that version of the software makes them."""
    monkeypatch.setattr(tasks, "__version__", version)
