"""The message area: sentences are escaped, refusals stay, notices go."""

from explorer.app.kit.message import MessageArea


def test_a_refusal_is_an_alert_and_is_escaped() -> None:
    area = MessageArea()
    assert not area.view.visible
    area.refuse("<b>5</b> is no number & cannot be used.")
    assert area.view.visible
    assert 'role="alert"' in area.text.object
    assert "<b>" not in area.text.object


def test_a_refusal_stays_when_work_ends_and_a_notice_goes() -> None:
    area = MessageArea()
    area.inform("Reading …")
    area.done()
    assert not area.view.visible
    area.refuse("No.")
    area.done()
    assert area.view.visible
    area.close()
    assert not area.view.visible
    assert area.text.object == ""
