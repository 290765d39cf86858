"""Every notebook runs from top to bottom, without a browser, and is kept without output.

An exercise is four cells with one name: NAME-task, NAME-answer (to be filled in), NAME-solution
(folded away, it stands in while there is no answer) and NAME-check. The run puts probes between
them: the check must refuse a missing answer and each wrong one, in a sentence.
"""

import copy
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from explorer.privacy.ledger import Ledger

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)

# Answers that a learner may well give, and that are wrong.
WRONG = {
    "own-box": [
        "my_box, my_answer = [500, 1000, 1000, 1000], 1.0",
        "my_box, my_answer = [500, 1000, 1500, 2000], exact(matrix, boxes)[0]",
    ],
    "richer": [
        "richer, factor = preview, 10",
        "richer, factor = HTF(epsilon=1).release(matrix, rng=7), 10",
    ],
    "noise-of-a-count": [
        "sd_leaf, sd_answer = 1 / 0.2, 12**0.5 / 0.2",
        "sd_leaf, sd_answer = 2**0.5 / 0.2, 12 * 2**0.5 / 0.2",
    ],
    "both-alike": ["m_equal = 100", "m_equal = 16"],
    "which-part": ["better_part, factor = 'noise', 8", "better_part, factor = 'uniformity', 1.5"],
    "heights": ["heights = [16, 17, 18]", "heights = [15]"],
    "objective": [
        "def objective(counts, axis, k):\n    return unevenness(counts)",
        "def objective(counts, axis, k):\n"
        "    return unevenness(counts[:k]) + unevenness(counts[k:])",
    ],
    "noise-of-a-cut": ["scale, small_node = 2 / 0.001, False", "scale, small_node = 14_000, True"],
    "shares": [
        "def share(i, h, total):\n    return total / (h + 1)",
        "def share(i, h, total):\n"
        "    return total * 2 ** (i / 3) / sum(2 ** (j / 3) for j in range(h + 1))",
    ],
    "leaf": ["leaf_number, tests = 0, 1", "leaf_number, tests = by_kind['height'][0].number, 16"],
    "path": ["on_structure = 1.0", "on_structure = 0.5"],
    "odds-of-a-map": ["epsilon_promised = math.log(2)", "epsilon_promised = 1.0"],
    "village": ["epsilon_village = 0.03", "epsilon_village = 5"],
    "redraws": ["maps_needed, epsilon_spent = 200, 20", "maps_needed, epsilon_spent = 3071, 0.1"],
    "cap": ["epsilon_each = 0.1", "epsilon_each = 0.01"],
    "bias": ["bias_predicted = (leaf_truth == 0).sum() / 0.1", "bias_predicted = 0"],
    "smoothing": [
        "def relative_error(private, true, smoothing):\n"
        "    return abs(private - true) / (true + smoothing)",
        "def relative_error(private, true, smoothing):\n"
        "    return (private - true) / max(true, smoothing)",
    ],
    "turned": ["pair = 'mosaic', 'ag'", "pair = 'ag', 'nobody'"],
    "other-seeds": ["again, same_place = results, {'mosaic'}"],
    "left-out": ["left_out, reasons = 47, 3", "left_out, reasons = 50, 5"],
    "grid": [
        "grid = Grid.around(-28.0, 41.0, 12_800, 9_600, shape=(256, 192))",
        "grid = Grid.around(28.0, 41.0, 12_800, 9_600, shape=(192, 256))",
    ],
    "bound": ["sd_rider = 2**0.5 / 0.5", "sd_rider = 4 / 0.5"],
    "second": [
        "second, total_spent = HTF(epsilon=0.25).release(matrix, rng=1), 0.75",
        "second, total_spent = HTF(epsilon=0.25).release(matrix), 0.75",
    ],
    "fewer-shares": [
        "epsilon_then, floor = 1.0, 0.0",
        "epsilon_then, floor = epsilon_of_fewer(1.0, 30 / 73), math.log(70 / 30)",
    ],
    "replayed": [
        "halfway, booked = release, 0",
        "halfway, booked = release.replay(2), 1",
    ],
    "street": ["people_needed = 40", "people_needed = math.sqrt(15 / (4 * 0.5)) * 20"],
    "shard-noise": ["noise_of_all = sigma(1.0)", "noise_of_all = 1000 * sigma(1.0)"],
    "claim": ["holds = 'a'", "holds = 'c'"],
    "from-the-file": ["records = len(leaves)", "records = leaves['high'].sum()"],
    "held": ["held, culprit = 0.95, 'spread'", "held, culprit = many.held.mean(), 'spread'"],
    "answer": [
        "arguments = ['answer', str(kept), '--rectangle', '0', '0', '2000', '1000']",
        "arguments = ['answer', str(kept), '-o', str(answers), '--rectangle', *'1234']",
    ],
}


@dataclass
class Probe:
    """A check that was put behind a missing or a wrong answer, after the run."""

    exercise: str
    answer: str
    cell: nbformat.NotebookNode


@dataclass
class Done:
    """One notebook after its run: its own cells, the probes, and the user's ledger."""

    cells: list[nbformat.NotebookNode]
    probes: list[Probe]
    ledger: Ledger


def names(notebook) -> list[str]:
    """Exercises in their order."""
    return [c.id.removesuffix("-check") for c in notebook.cells if c.id.endswith("-check")]


def cell(notebook, name: str):
    return next(each for each in notebook.cells if each.id == name)


def probed(notebook) -> tuple[nbformat.NotebookNode, list[Probe]]:
    """The notebook with a check behind each missing and each wrong answer; every answer blank."""
    made, probes = copy.deepcopy(notebook), []
    made.cells = []
    for each in notebook.cells:
        made.cells.append(copy.deepcopy(each))
        name = each.id.removesuffix("-answer")
        if name == each.id:
            continue
        check = cell(notebook, f"{name}-check").source
        for answer in ["", *WRONG[name]]:
            probe = nbformat.v4.new_code_cell(check, metadata={"tags": ["raises-exception"]})
            given = f"{each.source}\n{answer}"
            made.cells += [nbformat.v4.new_code_cell(given), probe]
            probes.append(Probe(name, answer, probe))
        made.cells.append(nbformat.v4.new_code_cell(each.source))
    return made, probes


@pytest.fixture(scope="module", params=NOTEBOOKS, ids=lambda path: path.stem)
def done(request, tmp_path_factory) -> Done:
    notebook = nbformat.read(request.param, as_version=4)
    made, probes = probed(notebook)
    ledger = tmp_path_factory.mktemp("home") / "the-users-own.sqlite3"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EXPLORER_LEDGER", str(ledger))
        patch.delenv("EXPLORER_EPSILON_CAP", raising=False)
        NotebookClient(
            made, timeout=240, kernel_name="python3", resources={"metadata": {"path": FOLDER}}
        ).execute()
    ours = {each.id for each in notebook.cells}
    return Done([each for each in made.cells if each.id in ours], probes, Ledger(ledger))


@pytest.mark.slow
def test_it_runs(done) -> None:
    shown = [out for each in done.cells for out in each.get("outputs", [])]
    assert any("text/html" in out.get("data", {}) for out in shown)
    assert not any(out.output_type == "error" for out in shown)
    assert not any("Traceback" in out.get("text", "") for out in shown)
    # Figures bring their scripts: nothing is asked of the net.
    scripts = [out.data.get("application/javascript", "") for out in shown if "data" in out]
    assert any("Bokeh" in script for script in scripts)
    assert not any("cdn.bokeh.org/bokeh/release" in script for script in scripts)
    checks = [each for each in done.cells if each.id.endswith("-check")]
    said = ["".join(out.get("text", "") for out in each.outputs) for each in checks]
    assert all("Right" in text for text in said)


@pytest.mark.slow
def test_checks_refuse_missing_and_wrong_answers(done) -> None:
    for probe in done.probes:
        where = f"{probe.exercise}: {probe.answer or 'no answer'}"
        errors = [out for out in probe.cell.outputs if out.output_type == "error"]
        assert [error.ename for error in errors] == ["AssertionError"], where
        assert len(errors[0].evalue.split()) >= 4, where
        if not probe.answer:
            assert errors[0].evalue.startswith("Not answered yet"), where


@pytest.mark.slow
def test_nothing_is_booked_in_the_users_own_ledger(done) -> None:
    assert done.ledger.rows() == []


@every_notebook
def test_it_is_kept_without_output(path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    code = [each for each in notebook.cells if each.cell_type == "code"]
    assert not any(each.outputs or each.execution_count for each in code)


@every_notebook
def test_exercises_have_hidden_solutions_and_checks_with_grades(path) -> None:
    notebook = nbformat.read(path, as_version=4)
    ids = [each.id for each in notebook.cells]
    assert names(notebook)
    for name in names(notebook):
        at = ids.index(f"{name}-task")
        parts = [f"{name}-{part}" for part in ("task", "answer", "solution", "check")]
        assert ids[at : at + 4] == parts
        answer, solution, check = notebook.cells[at + 1 : at + 4]
        assert " = None" in answer.source
        assert solution.metadata.jupyter.source_hidden
        assert "solution" in solution.metadata.tags
        assert "nbgrader" not in solution.metadata
        wanted = {"schema_version": 3, "grade_id": f"{name}-answer", "task": False}
        wanted |= {"grade": False, "solution": True, "locked": False}
        assert dict(answer.metadata.nbgrader) == wanted
        graded = dict(check.metadata.nbgrader)
        assert graded.pop("points") > 0
        wanted |= {"grade": True, "solution": False, "locked": True, "grade_id": name}
        assert graded == wanted
        assert WRONG[name], f"give a wrong answer to {name}"


def test_no_exercise_has_the_name_of_another() -> None:
    every = [name for path in NOTEBOOKS for name in names(nbformat.read(path, as_version=4))]
    assert sorted(every) == sorted(WRONG)
