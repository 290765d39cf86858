"""HTML tables: escaped, headed, and readable."""

from explorer.views.tables import Cell, details, progress, table


def test_texts_are_escaped_and_swatches_are_not() -> None:
    cell = Cell("<b>", "<i>", before="<svg></svg>", best=True)
    assert cell.markup() == '<td class="best"><svg></svg>&lt;b&gt; <small>&lt;i&gt;</small></td>'
    shown = table('A "caption" <x>', [("<c>", 'say "it"')], [[Cell("<r>")]])
    assert "<x>" not in shown
    assert '<th scope="col" title="say &quot;it&quot;">&lt;c&gt;</th>' in shown
    assert '<th scope="row">&lt;r&gt;</th>' in shown
    assert 'tabindex="0"' in shown


def test_progress_has_a_name_a_value_and_words() -> None:
    shown = progress("Progress", 3, 10, "3 of 10")
    assert 'role="progressbar" aria-valuemin="0" aria-label="Progress"' in shown
    assert 'aria-valuemax="10" aria-valuenow="3" aria-valuetext="3 of 10"' in shown
    assert "width:30.0%" in shown
    assert "<span>3 of 10</span>" in shown
    assert 'aria-valuemax="1" aria-valuenow="0"' in progress("Progress", 0, 0, "")


def test_details_open_with_a_line() -> None:
    assert details("More <", "<p>it</p>").startswith("<details><summary>More &lt;</summary><p>it")
