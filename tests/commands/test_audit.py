"""The command: its table, its exit codes, what it refuses."""

import re

import pytest

from explorer.cli import main
from explorer.commands import audit
from explorer.privacy.audit.audit import PAIRS, Finding, promise
from explorer.privacy.audit.branches import FILES, ROOT, branches_of
from explorer.privacy.audit.sources import NoiseFinding


def test_an_audit_prints_a_table_and_ends_well(capsys):
    arguments = ["--mechanism", "uniform", "--pairs", "80", "--seconds", "1", "--seed", "3"]
    assert main(["audit", *arguments]) == 0
    out = capsys.readouterr().out
    assert re.search(
        r"^mechanism +pairs +large +strangers +largest grid +longest call +branches +loss/eps", out
    )
    row = re.search(
        r"^uniform +(\d+) +9 .* 262,144 cells .* 1\.000000 .* holds$", out, re.MULTILINE
    )
    assert int(row[1]) == 80
    for source, number in (("preview", 18), ("release", 18), ("curator", 3)):
        assert len(re.findall(rf"^{source} .* holds$", out, re.MULTILINE)) == number


def test_trips_people_and_countries_are_audited_too():
    """All in one, since the sources of noise are tested with each."""
    keys = ["ebp", "federated", "country"]
    audited = audit.audit_all(keys, 1.0, PAIRS, 0)
    assert [each.key for each in audited.found] == keys
    assert [audit.verdict(each, audited) for each in audited.found] == ["holds"] * 3
    assert [each.pairs for each in audited.found] == [PAIRS, 36, 40]
    out = audit.report(audited)
    for key in keys:
        assert re.search(rf"^{key} +\d+ +\d+ +\d+ +[\d,]+ cells .* holds$", out, re.MULTILINE)


def test_a_breach_ends_in_code_1_and_is_told(capsys, monkeypatch):
    found = [Finding("htf", 7, 0.1, 1.5, fault="the loss is 1.5 epsilon"), Finding("ug", 9, 0.1)]
    noise = [NoiseFinding("release", "counts", 10, 0.5, 0.9)]
    monkeypatch.setattr(audit, "audit_all", lambda *_: audit.Audited(found, noise))
    with pytest.raises(SystemExit) as end:
        main(["audit"])
    assert end.value.code == 1
    out = capsys.readouterr().out
    assert re.search(r"^htf .* BREACH$", out, re.MULTILINE)
    assert re.search(r"^ug .* too few$", out, re.MULTILINE)
    assert "ug is not shown to hold: only 9 of 80 pairs" in " ".join(out.split())
    assert "htf: the loss is 1.5 epsilon" in out


def tried(key, **less: int):
    """All that is promised of a mechanism, but for what is given."""
    return Finding(key, **({**promise(key)._asdict(), "largest": 1.0} | less))


@pytest.mark.parametrize("key", ["ug", "htf", "federated", "country", "ones-own"])
def test_nothing_holds_on_less_than_is_promised(key):
    nothing = audit.Audited([], [])
    assert audit.verdict(tried(key), nothing) == "holds"
    for what, least in promise(key)._asdict().items():
        if least:
            assert audit.verdict(tried(key, **{what: least - 1}), nothing) == "too few"
    assert audit.verdict(Finding(key, 3, fault="somewhere"), nothing) == "BREACH"


def whole(leave_out):
    """An audit of all that went through all branches but some of one file."""
    seen = set().union(*map(branches_of, FILES))
    for each in sorted(branches_of("mechanisms/mosaic.py"))[:leave_out]:
        seen.discard(each)
    return audit.Audited([tried("ug")], [], {"ug": seen}, whole=True)


def test_nothing_holds_where_a_branch_was_left_out(capsys, monkeypatch):
    monkeypatch.setattr(audit, "audit_all", lambda *_: whole(0))
    assert main(["audit"]) == 0
    assert re.search(r"^ug .* holds$", capsys.readouterr().out, re.MULTILINE)
    monkeypatch.setattr(audit, "audit_all", lambda *_: whole(1))
    with pytest.raises(SystemExit) as end:
        main(["audit"])
    assert end.value.code == 1
    out = capsys.readouterr().out
    assert re.search(r"^ug .* not shown$", out, re.MULTILINE)
    there = len(branches_of("mechanisms/mosaic.py"))
    assert re.search(rf"^mechanisms/mosaic.py +{there - 1} of {there} ", out, re.MULTILINE)
    line = re.search(r"^mechanisms/mosaic.py: line (\d+), in ([\w.]+), jumped$", out, re.MULTILINE)
    assert branch_stands_at(int(line[1]), line[2].split(".")[-1])


def branch_stands_at(line, function):
    text = (ROOT / "mechanisms/mosaic.py").read_text().splitlines()
    begin = next(i for i, each in enumerate(text) if f"def {function}(" in each)
    return begin < line and re.search(r"\b(if|for|while|else|and|or)\b", text[line - 1]) is not None


def test_less_than_promised_ends_in_code_1(capsys, monkeypatch):
    few = audit.Audited([tried("ug", pairs=12, call=7)], [])
    monkeypatch.setattr(audit, "audit_all", lambda *_: few)
    with pytest.raises(SystemExit) as end:
        main(["audit", "--mechanism", "ug"])
    assert end.value.code == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "ug is not shown to hold: only 12 of 80 pairs, 7 of 262,144 draws" in said


@pytest.mark.slow
@pytest.mark.audit
def test_an_audit_goes_through_every_branch_and_says_what_it_took(capsys):
    assert main(["audit"]) == 0
    out = capsys.readouterr().out
    for file in FILES:
        row = re.search(rf"^{re.escape(file)} +(\d+) of (\d+) +100 %$", out, re.MULTILINE)
        assert row is not None, out
        assert row[1] == row[2]
    assert re.search(r"^\d+ seconds of processor time", out, re.MULTILINE)
    assert "too few" not in out
    for key in ("federated", "country", "gravity", "mosaic"):
        assert re.search(rf"^{key} .* holds$", out, re.MULTILINE)
