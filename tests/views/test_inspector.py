"""The card of a node: everything as text, and nothing of a file as markup."""

from explorer.views.inspector import node_card, swatches


def test_the_card_holds_decision_facts_and_budget() -> None:
    card = node_card(
        "Leaf 3 of 9",
        "stopped: 37 ≤ 50",
        "Because.",
        [("Private count", "37.0", "12 to 62"), ("True count", "41", "")],
        [("test", 0.04), ("count", 0.06)],
        "0.1 of epsilon 0.1.",
    )
    for text in ("Leaf 3 of 9", "stopped: 37 ≤ 50", "Because.", "37.0", "12 to 62", "<b>0.06</b>"):
        assert text in card
    assert 'role="status"' in card
    assert card.count("<small>") == 1


def test_markup_is_escaped() -> None:
    card = node_card("<i>", "<b>", "<u>", [("<p>", "<q>", "<s>")], [("<em>", 1.0)], "<a>")
    for tag in ("<i>", "<u>", "<q>", "<s>", "<em>", "<a>"):
        assert tag not in card
    assert "&lt;x&gt;" in swatches([("#fff", "colour")], "<x>")
