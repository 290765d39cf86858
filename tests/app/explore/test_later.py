"""A panel that is built when it is first opened."""

from types import SimpleNamespace

from explorer.app.explore.explain import Later


def test_nothing_is_built_before_the_panel_is_opened_and_then_once() -> None:
    told: list[str] = []

    def make():
        told.append("built")
        return SimpleNamespace(
            view="the panel",
            show=lambda screen: told.append(f"show {screen}"),
            selected=lambda: told.append("selected"),
            hide=lambda: told.append("hide"),
        )

    later = Later(make)
    later.selected()
    later.hide()
    assert told == []
    assert len(later.view) == 0
    later.show("first")
    later.show("second")
    later.selected()
    later.hide()
    assert told == ["built", "show first", "show second", "selected", "hide"]
    assert len(later.view) == 1
