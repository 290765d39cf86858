"""The strip "Explain this map": one panel at a time, and a panel that is not open costs nothing."""

from types import SimpleNamespace

import panel as pn

from explorer.app.explore.explain import NOTHING, Closer


class Panel:
    """Writes down what it is told."""

    def __init__(self) -> None:
        self.view = pn.Column()
        self.told: list[object] = []

    def show(self, screen) -> None:
        self.told.append(screen)

    def selected(self) -> None:
        self.told.append("selected")

    def hide(self) -> None:
        self.told.append("hidden")


def test_only_the_open_panel_is_told() -> None:
    leaf, runs, opened, refused = Panel(), Panel(), [], []
    words = {"Leaf": "About leaves.", "Runs": "About runs."}
    strip = Closer({"Leaf": leaf, "Runs": runs}, words, refused.append, opened.append)
    first, second = SimpleNamespace(), SimpleNamespace()
    strip.show(first)
    strip.selected()
    assert leaf.told == runs.told == []
    strip.choice.value = "Leaf"
    strip.show(second)
    strip.choice.value = "Runs"
    strip.selected()
    strip.close()
    strip.show(first)
    assert leaf.told == [first, second, "hidden"]
    assert runs.told == [second, "selected", "hidden"]
    assert strip.choice.value == NOTHING
    # The maps make room once, and take it back once.
    assert opened == [True, False]
    assert refused == []
