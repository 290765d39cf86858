"""Stories: a file comes back as it was, and every slip is one sentence that names the step."""

import pytest

from explorer.errors import InputError
from explorer.scenario import Scenario, Step, Story, presets, read_screens
from explorer.scenario.story import MOST_STEPS, TEXT

ONE = Story(
    [
        Step("Look.", Scenario(epsilon=0.5, boxes=[(0, 0, 100, 100)]), ask="Why?", minutes=5),
        Step("Talk about it.", notes="Colons: and 'quotes' # stay."),
        Step("Trips.", presets()["08-from-here-where-to"]),
    ],
    title="Mine",
    about="Three steps.",
)


def test_a_file_comes_back_as_it_was(tmp_path) -> None:
    assert Story.from_yaml(ONE.to_yaml()) == ONE
    assert ONE.minutes == 5
    path = tmp_path / "one.yaml"
    path.write_text(ONE.to_yaml(), "utf8")
    assert read_screens(path) == ONE
    path.write_text(Scenario().to_yaml(), "utf8")
    assert read_screens(path) == Scenario()


def test_every_preset_fits_into_a_step() -> None:
    whole = Story([Step(each.title or "So.", each) for each in presets().values()])
    assert Story.from_yaml(whole.to_yaml()) == whole


STEP = "story: 1\nsteps:\n- "


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[", "is not a story: it is not YAML"),
        ("steps: []", "its first entry is 'story: 1'"),
        ("story: 2\nsteps: [{text: a}]", "version 2"),
        ("story: true\nsteps: [{text: a}]", "version"),
        ("story: 1", "no steps"),
        ("story: 1\nsteps: 5", "give a list"),
        ("story: 1\nsteps: [5]", "Step 1 of the story"),
        ("story: 1\nsteps: [{text: a}]\nfoo: 1", "'foo'"),
        ("story: 1\ntitle: 5\nsteps: [{text: a}]", "title of a story is 5"),
        ("story: 1\nsteps: [{text: a}, {ask: b}]", "Step 2 of the story: It says nothing"),
        (STEP + "text: ''", "says nothing"),
        (STEP + "text: [a]", "text of the step"),
        (STEP + f"text: {'a' * (TEXT + 1)}", f"longer than {TEXT}"),
        (STEP + "text: a\n  minutes: -1", "minutes of the step is -1"),
        (STEP + "text: a\n  minutes: 2.5", "minutes of the step is 2.5"),
        (STEP + "text: a\n  foo: 1", "'foo'"),
        (STEP + "text: a\n  text: b", "'text' twice"),
        (STEP + "text: a\n  screen: 5", "Step 1 of the story"),
        (STEP + "text: a\n  screen: {scenario: 1, epsilon: 99999}", "epsilon of the scenario"),
        (STEP + "text: &a a\n  ask: *a", "no aliases"),
        ("story: 1\nsteps: [" + "{text: a}, " * (MOST_STEPS + 1) + "]", f"at most {MOST_STEPS}"),
        ("story: 1\nsteps: " + "[" * 40 + "]" * 40, "nested too deeply"),
        ("story: 1\ntitle: " + "a" * 300_000, "300 kB"),
    ],
)
def test_a_slip_is_one_sentence(text, said) -> None:
    with pytest.raises(InputError) as caught:
        Story.from_yaml(text)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
