"""Lessons as files: those that come along, a teacher's, and what is wrong with bad ones."""

import re

import pytest

from explorer.errors import InputError
from explorer.teaching import EXPERIMENTS, lessons
from explorer.teaching.lessons import FOLDER, parse

GOOD = """---
title: Two grids
goal: See what a finer grid changes.
minutes: 5
experiment: averaging
settings:
  epsilon: 0.2
  box: [0.1, 0.2, 0.3, 0.4]
---

## Steps
1. Redraw.

## Question
Why?

## Answer
Because **noise** averages out.
"""


def changed(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new)


def test_the_lessons_that_come_along_are_one_of_each_kind(monkeypatch) -> None:
    monkeypatch.delenv("EXPLORER_LESSONS", raising=False)
    found, sentences = lessons()
    assert not sentences
    assert [each.experiment for each in found] == list(EXPERIMENTS)
    for each in found:
        EXPERIMENTS[each.experiment](**each.settings)
        assert 5 <= each.minutes <= 20
        assert each.question.endswith("?")
        assert each.steps.startswith("1. ")


def test_a_lesson_has_its_words_and_checked_settings() -> None:
    one = parse(GOOD, "07_two_grids.md")
    assert one.key == "07_two_grids"
    assert (one.title, one.minutes, one.experiment) == ("Two grids", 5, "averaging")
    assert one.settings == {"epsilon": 0.2, "box": (0.1, 0.2, 0.3, 0.4)}
    assert one.answer == "Because **noise** averages out."
    assert parse(GOOD.replace("\n", "\r\n"), "a.md").steps == "1. Redraw."


def test_a_scenario_lesson_opens_a_page() -> None:
    text = changed("experiment: averaging", "experiment: scenario")
    text = text.replace(
        "settings:\n  epsilon: 0.2\n  box: [0.1, 0.2, 0.3, 0.4]\n",
        "scenario:\n  city: madeup\n  mechanisms: [ag]\n  epsilon: 0.3\n",
    )
    one = parse(text, "a.md")
    assert one.scenario is not None
    assert one.scenario.page == "explore"
    assert one.scenario.made()[0].epsilon == 0.3
    with pytest.raises(InputError, match=r"a\.md, field 'scenario': .*epsilon"):
        parse(text.replace("0.3", "-3"), "a.md")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("# Just words", "a.md does not begin with settings"),
        (changed("title: Two grids", "title: [x"), "not plain YAML near line"),
        (changed("title: Two grids", "title: &a x\ngoals: *a"), "not plain YAML"),
        (changed("title: Two grids\n", ""), "'title' is missing"),
        (changed("title: Two grids", "titel: x"), "no field 'titel'"),
        (changed("goal: See", "goal: " + "See" * 200), "'goal' is missing or no text of 1 to 300"),
        (changed("minutes: 5", "minutes: soon"), "'minutes' is not a whole number from 1 to 240"),
        (changed("averaging", "alchemy"), "'experiment' is 'alchemy'; choose one of neighbours"),
        (changed("epsilon: 0.2", "epsilon: 999"), "field 'settings', 'epsilon': Epsilon is 999"),
        (changed("epsilon: 0.2", "colour: red"), "field 'settings', 'colour': There is no setting"),
        (changed("## Question", "## Riddle"), "'## Question' is missing"),
        (changed("Why?", "Why?\n\n## More\nx"), "no section '## More'"),
        (changed("minutes: 5", "minutes: 5\nscenario: {city: x}"), "'scenario' belongs to"),
    ],
)
def test_a_bad_file_is_one_sentence_that_names_file_and_field(text, says) -> None:
    with pytest.raises(InputError, match=r"a\.md") as refused:
        parse(text, "a.md")
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_teachers_folder_adds_replaces_and_complains(tmp_path, monkeypatch) -> None:
    (tmp_path / "11_two_grids.md").write_text(GOOD)
    (tmp_path / "02_averaging.md").write_text(changed("Two grids", "My own averaging"))
    (tmp_path / "08_bad.md").write_text(changed("minutes: 5", "minutes: x"))
    (tmp_path / "09_latin.md").write_bytes(b"---\ntitle: caf\xe9\n---\n")
    (tmp_path / "10_long.md").write_text(GOOD + "x" * 200_000)
    monkeypatch.setenv("EXPLORER_LESSONS", str(tmp_path))
    found, sentences = lessons()
    titles = [each.title for each in found]
    assert len(found) == 11
    assert titles[1] == "My own averaging"
    assert titles[-1] == "Two grids"
    named = ("08_bad.md", "09_latin.md", "10_long.md")
    assert len(sentences) == 3
    assert all(name in sentence for name, sentence in zip(named, sentences, strict=True))


def test_the_lesson_on_the_page_about_lessons_is_one() -> None:
    text = (FOLDER.parents[2] / "notebooks" / "lessons.md").read_text("utf8")
    (example,) = re.findall(r"```markdown\n(---\n.*?)```", text, re.DOTALL)
    one = parse(example, "noise.md")
    assert one.experiment == "averaging"
    assert one.settings["epsilon"] == 0.2
