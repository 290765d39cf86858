"""Every notebook runs from top to bottom, without a browser, and is kept without output."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).parent.parent / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs(path):
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(
        notebook, timeout=240, kernel_name="python3", resources={"metadata": {"path": FOLDER}}
    ).execute()
    shown = [out for cell in notebook.cells for out in cell.get("outputs", [])]
    assert any("text/html" in out.get("data", {}) for out in shown)
    assert not any("Traceback" in out.get("text", "") for out in shown)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_states_goal_and_time_and_holds_no_output(path):
    notebook = nbformat.read(path, as_version=4)
    assert "**Goal.**" in notebook.cells[0].source
    assert "minutes" in notebook.cells[0].source
    assert not any(cell.get("outputs") for cell in notebook.cells)
