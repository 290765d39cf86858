"""Small panes: replaced only when the text is another one."""

from explorer.app.kit.html import html_pane, put, section


def test_the_same_text_is_not_sent_again() -> None:
    pane, changes = html_pane("<p>a</p>"), []
    pane.param.watch(changes.append, "object")
    put(pane, "<p>a</p>")
    assert not changes
    put(pane, "<p>b</p>")
    assert (len(changes), pane.object) == (1, "<p>b</p>")


def test_a_section_is_a_heading_with_words() -> None:
    assert section("Boxes", "Words.").object == "<h2>Boxes</h2><p>Words.</p>"
