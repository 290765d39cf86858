"""The command: its table, its exit codes, what it refuses."""

import re

import numpy as np
import pytest

from explorer.cli import main
from explorer.commands import audit
from explorer.privacy.audit.audit import Finding
from explorer.privacy.audit.branches import FILES, WORDS
from explorer.privacy.audit.cases import NEIGHBOURS
from explorer.privacy.audit.sources import NoiseFinding


def test_an_audit_prints_a_table_and_ends_well(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--mechanism", "uniform", "--pairs", "80", "--seconds", "1", "--seed", "3"]
    assert main(["audit", *arguments]) == 0
    out = capsys.readouterr().out
    assert re.search(
        r"^mechanism +pairs +large +strangers +largest grid +longest call +loss/eps", out
    )
    row = re.search(r"^uniform +(\d+) +8 .* 1\.000000 .* holds$", out, re.MULTILINE)
    assert row is not None
    assert int(row[1]) == 80
    for source, number in (("preview", 18), ("release", 18), ("curator", 3)):
        assert len(re.findall(rf"^{source} .* holds$", out, re.MULTILINE)) == number


def test_mechanisms_of_trips_are_audited_too(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--mechanism", "ebp", "--pairs", "80", "--seconds", "1"]
    assert main(["audit", *arguments]) == 0
    assert re.search(r"^ebp +80 .* holds$", capsys.readouterr().out, re.MULTILINE)


def test_federated_maps_are_audited_too(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--mechanism", "federated", "--pairs", "32", "--seconds", "1"]
    assert main(["audit", *arguments]) == 0
    assert re.search(r"^federated +32 .* holds$", capsys.readouterr().out, re.MULTILINE)


def test_a_breach_ends_in_code_1_and_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = [Finding("htf", 7, 0.1, 1.5, fault="the loss is 1.5 epsilon"), Finding("ug", 9, 0.1)]
    noise = [NoiseFinding("release", "counts", 10, 0.5, 0.9)]
    monkeypatch.setattr(audit, "audit_all", lambda *_: audit.Audited(found, noise))
    with pytest.raises(SystemExit) as end:
        main(["audit"])
    assert end.value.code == 1
    out = capsys.readouterr().out
    assert re.search(r"^htf .* BREACH$", out, re.MULTILINE)
    assert re.search(r"^ug .* too few$", out, re.MULTILINE)
    assert "Too few pairs to say that these hold: ug." in out
    assert "htf: the loss is 1.5 epsilon" in out


def test_wrong_noise_is_a_breach_too(monkeypatch: pytest.MonkeyPatch) -> None:
    noise = [NoiseFinding("release", "counts", 10, 1e-9, 0.9)]
    monkeypatch.setattr(
        audit, "audit_all", lambda *_: audit.Audited([Finding("ug", 9, 0.1)], noise)
    )
    with pytest.raises(SystemExit):
        main(["audit"])


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--mechanism", "kd"], "There is no mechanism 'kd'"),
        (["--seconds", "0"], "--seconds is 0; give a number above 0"),
        (["--seconds", "nan"], "--seconds is nan"),
        (["--seconds", "1e9"], "--seconds is 1e+09"),
        (["--seconds", "long"], "invalid float value"),
        (["--pairs", "0"], "--pairs is 0; give a whole number, 1 or more"),
        (["--pairs", "1.5"], "invalid int value"),
    ],
)
def test_what_can_be_mended_is_one_sentence(
    arguments: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["audit", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert why in err
    assert err.count("\n") == 1


def test_cases_are_taken_in_turn_and_end_with_the_pairs() -> None:
    tasks = list(audit._tasks(["a", "b"], 500, 1, lambda key: key == "a"))
    assert [task.what for task in tasks[:6]] == [*3 * ["noise"], *2 * ["corners"], "replay"]
    assert [task.must for task in tasks[:7]] == [*6 * [True], False]
    # "b" has failed already: nothing more is tried on it.
    assert not any("b" in task.details for task in tasks if task.what == "replay")
    numbers = [task.details[1] for task in tasks if task.what == "replay"]
    assert np.array_equal(np.concatenate(numbers), np.arange(-(-500 // NEIGHBOURS)))


def test_nothing_holds_on_fewer_pairs_than_are_promised() -> None:
    enough = Finding("ug", audit.PROMISED, largest=1.0, large=audit.PROMISED // 10)
    assert audit.verdict(enough) == "holds"
    assert audit.verdict(Finding("ug", audit.PROMISED - 1, largest=1.0, large=9)) == "too few"
    assert audit.verdict(Finding("ug", audit.PROMISED, largest=1.0, large=1)) == "too few"
    assert audit.verdict(Finding("ug", 3, fault="somewhere")) == "BREACH"


@pytest.mark.slow
@pytest.mark.audit
def test_an_audit_goes_through_every_branch_in_less_than_a_minute(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["audit"]) == 0
    out = capsys.readouterr().out
    for file in FILES:
        row = re.search(rf"^{re.escape(file)} +(\d+) of (\d+) +100 %$", out, re.MULTILINE)
        assert row is not None, out
        assert row[1] == row[2]
    said = re.search(r"^(\d+) seconds of processor time", out, re.MULTILINE)
    assert said is not None
    assert int(said[1]) < 90  # 50 alone; a busy machine takes longer for the same
    assert "too few" not in out


def test_functions_that_draw_are_no_mere_words() -> None:
    for name in ("plan", "release", "count", "cut", "laplace", "measured", "_divided", "infer"):
        assert WORDS.search(name) is None
