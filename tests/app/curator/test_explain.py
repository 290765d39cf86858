"""The strip "Explain this map": one panel at a time, and one that is not open costs nothing."""

from types import SimpleNamespace

import panel as pn

from explorer.app.curator.explain import OFF, Explain


class Panel:
    """Writes down what is asked of it."""

    def __init__(self) -> None:
        self.view, self.beside = pn.Column(), None
        self.asked: list[object] = []

    def show(self, screen) -> None:
        self.asked.append(screen)

    def selected(self) -> None:
        self.asked.append("selected")

    def hide(self) -> None:
        self.asked.append("hidden")


def test_only_the_open_panel_is_asked_anything() -> None:
    leaf, runs, opened, refused = Panel(), Panel(), [], []
    words = {"Leaf": "About leaves.", "Runs": "About runs."}
    strip = Explain({"Leaf": leaf, "Runs": runs}, words, refused.append, opened.append)
    assert list(strip.choice.options) == ["Boxes", "One area", "Other possible results"]
    first, second = SimpleNamespace(), SimpleNamespace()
    strip.show(first)
    strip.selected()
    assert leaf.asked == runs.asked == []
    strip.choice.value = "Leaf"
    strip.show(second)
    strip.choice.value = "Runs"
    strip.selected()
    strip.close()
    strip.show(first)
    assert leaf.asked == [first, second, "hidden"]
    assert runs.asked == [second, "selected", "hidden"]
    assert strip.choice.value == OFF
    # The maps make room once, and take it back once.
    assert opened == [True, False]
    assert refused == []


def test_a_panel_is_made_when_it_is_first_opened_and_then_once() -> None:
    made: list[Panel] = []

    def make() -> Panel:
        made.append(Panel())
        return made[-1]

    strip = Explain({"Leaf": make}, {"Leaf": "About leaves."}, pn.state.notifications)
    strip.show(SimpleNamespace())
    strip.selected()
    assert made == []
    for _ in range(2):
        strip.choice.value = "Leaf"
        assert strip.open is made[0]
        strip.choice.value = OFF
    assert len(made) == 1
    assert made[0].asked.count("hidden") == 2
